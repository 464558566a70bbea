"""Open points that read the same but for a number or a path are one line with their count."""

from __future__ import annotations

from dataclasses import replace

from auditor.report.alike import alike_points
from auditor.report.model import UndecidedLine

POINT = UndecidedLine(
    rule="SEG003", reason="a segment of broker 3 could not be read", missing="a readable broker-3/data/t-0/7.log",
    partitions=2, blocking=False,
)  # fmt: skip


def test_points_that_differ_by_a_number_or_a_path_are_told_once() -> None:
    other = replace(POINT, reason="a segment of broker 12 could not be read", missing="a readable b/d/u-9/0.log")
    (alike,) = alike_points([POINT, other])
    assert (alike.first, alike.partitions, alike.points) == (POINT, 4, 2)
    assert alike.words == "4 cases like this one"


def test_points_of_several_rules_in_the_same_words_are_told_once_with_their_rules() -> None:
    told = alike_points([POINT, replace(POINT, rule="SEG002"), replace(POINT, rule="SEG001", partitions=1)])
    assert [(alike.rules, alike.partitions) for alike in told] == [(("SEG003", "SEG002"), 2), (("SEG001",), 1)]


def test_points_of_other_words_or_weight_stay_apart() -> None:
    others = [replace(POINT, reason="another one"), replace(POINT, blocking=True)]
    told = alike_points([POINT, *others])
    assert [alike.points for alike in told] == [1] * 3
    assert told[0].words == "2 partitions"
