"""Open points that read the same but for a number or a path are one line with their count."""

from __future__ import annotations

from auditor.report import terminal
from auditor.report.alike import alike_points
from auditor.report.html import page
from auditor.report.json import document
from auditor.report.model import UndecidedLine
from auditor.report.postmortem import document as postmortem
from tests.auditor.dumps_at_hand import SAMPLES
from tests.lab.sample_reports import report_on
from tests.replaced import replace

POINT = UndecidedLine(
    rule="SEG003", reason="a segment of broker 3 could not be read", missing="a readable broker-3/data/t-0/7.log",
    places=(("c", "t", 0), ("c", "t", 1)), blocking=False,
)  # fmt: skip
OTHERS = (("c", "u", 0),)


def test_points_that_differ_by_a_number_or_a_path_are_told_once() -> None:
    other = replace(POINT, reason="a segment of broker 12 could not be read", missing="a readable b/d/u-9/0.log")
    (alike,) = alike_points([POINT, other])
    assert (alike.first, alike.places, alike.points) == (POINT, POINT.places * 2, 2)
    assert alike.words == "4 cases (t-0, t-1), first in t-0"


def test_points_of_several_rules_in_the_same_words_are_told_once_with_their_rules() -> None:
    told = alike_points([POINT, replace(POINT, rule="SEG002"), replace(POINT, rule="SEG001", places=OTHERS)])
    assert [(alike.rules, alike.words) for alike in told] == [
        (("SEG003", "SEG002"), "2 partitions (t-0, t-1)"),
        (("SEG001",), "partition u-0"),
    ]


def test_the_first_partitions_are_named_and_the_rest_is_counted() -> None:
    apart = tuple(("c", "t", number) for number in (0, 2, 4, 6, 7, 9))
    (alike,) = alike_points([replace(POINT, places=apart)])
    assert alike.words == "6 partitions (t-0, t-2, t-4 and 3 more partitions)"


def test_points_of_other_words_or_weight_stay_apart() -> None:
    others = [replace(POINT, reason="another one"), replace(POINT, blocking=True)]
    told = alike_points([POINT, *others])
    assert [alike.points for alike in told] == [1] * 3
    assert told[0].words == "2 partitions (t-0, t-1)"


def test_every_page_names_the_partition_that_a_question_is_about() -> None:
    report = report_on(SAMPLES / "zookeeper_restored")
    told = document(report)["coverage"]["undecided"]  # type: ignore[index]
    (question,) = (each for each in told if each["rule"] == "ACK001")
    assert [(each["topic"], each["partition"]) for each in question["places"]] == [("pay", 0)]
    assert "ACK001 not decided in partition pay-0: " in terminal.render(report, columns=200)
    assert "ACK001 not decided in partition pay-0: " in page.render(report)
    said = postmortem.render(report).replace("\\", "")
    assert "ACK001 pay-0: " in said
    assert "HW002, partition pay-0: " in said
