"""Folders that hold another log than their name says accuse nobody, and stand in for no replica."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

from auditor.report.advice.advice_text import text
from auditor.report.model import AuditReport
from rules.finding import Severity
from tests.auditor.dumps_at_hand import audited, copied
from tests.rules.broken_dumps import Yard, wrote


def swapped(dump: Path, broker: str, names: tuple[str, str]) -> Path:
    one, other, aside = (dump / broker / "data" / name for name in (*names, "aside"))
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    return dump


def foreign(report: AuditReport) -> set[tuple[str | None, int | None, int]]:
    return {(r.topic, r.partition, r.replica.broker) for r in report.replicas if r.replica.state == "foreign"}


@pytest.mark.parametrize(
    ("sample", "names"),
    [
        ("clean_4x", ("orders-1", "state-1")),
        ("clean_4x", ("orders-0", "orders-1")),
        ("clean_1_1", ("orders-0", "orders-1")),
    ],
)
def test_folders_that_were_swapped_accuse_nobody(sample: str, names: tuple[str, str], tmp_path: Path) -> None:
    report = audited(swapped(copied(sample, tmp_path / "dump", logs=True), "broker-2", names))
    grave = (finding for finding in report.violations if finding.severity > Severity.INFO)
    assert {(finding.rule, finding.brokers) for finding in grave} == {("LOG007", (2,))}
    assert foreign(report) == {(name[:-2], int(name[-1]), 2) for name in names}
    assert report.coverage.replicas_lacking == 2


@pytest.mark.parametrize("brokers", [("broker-2",), ("broker-1", "broker-2")])
def test_the_ends_that_brokers_told_tell_on_which_of_them_folders_were_swapped(
    brokers: tuple[str, ...], tmp_path: Path
) -> None:
    dump = copied("clean_4x", tmp_path / "dump", logs=True)
    for broker in brokers:
        swapped(dump, broker, ("orders-0", "orders-1"))
    if len(brokers) == 1:
        shutil.rmtree(dump / "broker-3")
    report = audited(dump, topic=("orders",))
    wrong = {int(broker[-1]) for broker in brokers}
    grave = {(f.rule, f.brokers) for f in report.violations if f.severity > Severity.INFO}
    assert grave == {("LOG007", (broker,)) for broker in wrong}
    assert foreign(report) == {("orders", partition, broker) for partition in (0, 1) for broker in wrong}


def test_where_nothing_tells_whose_folders_were_swapped_nobody_is_accused(tmp_path: Path) -> None:
    """Both logs of release 1.1.1 end at one offset, bear no topic ids, and a cleaner took the beginning of one."""
    report = audited(swapped(copied("clean_1_1", tmp_path / "dump", logs=True), "broker-2", ("orders-1", "state-1")))
    assert (report.verdict, [f for f in report.violations if f.severity > Severity.INFO]) == ("unknown", [])
    assert foreign(report) == {(topic, 1, broker) for topic in ("orders", "state") for broker in (1, 2, 3)}


def test_of_one_broker_its_own_word_of_the_ends_tells_it(tmp_path: Path) -> None:
    dump = swapped(copied("clean_4x", tmp_path / "dump", logs=True), "broker-2", ("orders-0", "state-1"))
    for broker in ("broker-1", "broker-3"):
        shutil.rmtree(dump / broker)
    report = audited(dump)
    grave = {(f.rule, f.topic, f.partition) for f in report.violations if f.severity > Severity.LOW}
    assert grave == {("LOG007", "orders", 0), ("LOG007", "state", 1)}


def test_ids_that_logs_give_to_no_life_of_a_topic_are_not_its_own_though_no_other_is_here(tmp_path: Path) -> None:
    dump = swapped(copied("clean_4x", tmp_path / "dump", logs=True), "broker-2", ("orders-0", "state-1"))
    for broker in ("broker-1", "broker-3"):
        shutil.rmtree(dump / broker)
    (dump / "broker-2/data/recovery-point-offset-checkpoint").unlink()
    report = audited(dump)
    assert {("orders", 0, 2), ("state", 1, 2)} <= foreign(report)
    assert {f.rule for f in report.violations if f.severity > Severity.LOW} == {"LOG007"}


def test_a_copy_of_a_deleted_topic_is_none_of_the_topic_that_was_made_since(tmp_path: Path) -> None:
    dump = copied("recreated_topic", tmp_path / "dump", logs=True)
    for broker in ("broker-1", "broker-2"):
        shutil.rmtree(dump / broker / "data/again-0")
    report = audited(dump)
    assert (report.verdict, report.coverage.replicas_assigned_elsewhere) == ("unknown", 2)
    assert [finding.rule for finding in report.violations] == ["LOG006"]
    assert ("again", 0, 3) in foreign(report)


ENDS = 60, 90


def two_partitions(yard: Yard, ends: tuple[int, int] = ENDS, *, start: int = 0) -> dict[tuple[int, int], Path]:
    """The folders of two partitions on three brokers."""
    return {
        (broker, partition): yard.broker(
            broker,
            wrote(0, start if broker == 1 else 0, end, "ab"[partition]),
            partition=partition,
            segments=(30,) if end else (),
        )
        for broker in (1, 2, 3)
        for partition, end in enumerate(ends)
    }


def exchange(one: Path, other: Path) -> None:
    swapped(one.parents[2], one.parents[1].name, (one.name, other.name))


def answers(yard: Yard) -> tuple[list[tuple[str, tuple[int, ...]]], set[int], set[tuple[int | None, int]]]:
    """Findings of weight, whom open questions of exchanged folders name, and which folders are put aside."""
    report = yard.report()
    grave = sorted({(f.rule, f.brokers) for f in report.violations if f.severity > Severity.INFO})
    asked = {b for f in report.findings if f.rule == "LOG007" and f.verdict == "undecided" for b in f.brokers}
    return grave, asked, {(partition, broker) for _, partition, broker in foreign(report)}


def test_an_exchange_with_an_empty_partition_is_told(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard, (60, 0))
    exchange(folders[1, 0], folders[1, 1])
    assert answers(yard) == ([("LOG007", (1,))], set(), {(0, 1), (1, 1)})


def test_an_exchange_of_logs_whose_beginnings_are_retired_is_told(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard, start=30)
    exchange(folders[1, 0], folders[1, 1])
    assert answers(yard) == ([("LOG007", (1,))], set(), {(0, 1), (1, 1)})


def test_an_exchange_on_every_broker_is_told_by_their_ends(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard)
    for broker in (1, 2, 3):
        exchange(folders[broker, 0], folders[broker, 1])
    every = {(partition, broker) for partition in (0, 1) for broker in (1, 2, 3)}
    assert answers(yard) == ([("LOG007", (1,)), ("LOG007", (2,)), ("LOG007", (3,))], set(), every)


def test_an_exchange_of_logs_of_one_length_is_asked_of_both_sides(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard, (60, 60))
    exchange(folders[1, 0], folders[1, 1])
    every = {(partition, broker) for partition in (0, 1) for broker in (1, 2, 3)}
    assert answers(yard) == ([], {1, 2, 3}, every)


@pytest.mark.parametrize(("ends", "told"), [(ENDS, [("LOG007", (1,))]), ((60, 60), [])])
def test_a_folder_that_was_copied_over_another_is_told_or_asked(
    ends: tuple[int, int], told: list[tuple[str, tuple[int, ...]]], tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard, ends)
    shutil.rmtree(folders[1, 0])
    shutil.copytree(folders[1, 1], folders[1, 0])
    assert answers(yard) == (told, set() if told else {1}, {(0, 1)})


def test_folders_that_changed_places_between_two_brokers_are_told(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard)
    aside = tmp_path / "aside"
    folders[1, 0].rename(aside)
    folders[2, 1].rename(folders[1, 0])
    aside.rename(folders[2, 1])
    assert answers(yard) == ([("LOG007", (1,)), ("LOG007", (2,))], set(), {(0, 1), (1, 2)})


def test_a_broker_that_has_one_of_both_alone_tells_it(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard, (60, 60))
    shutil.rmtree(folders[3, 1])
    exchange(folders[1, 0], folders[1, 1])
    assert answers(yard)[0] == [("LOG007", (1,))]


def test_a_folder_whose_beginning_a_cleaner_took_is_asked_where_it_was_copied_over_another(tmp_path: Path) -> None:
    """No batch shows that the two logs were never one. But one broker has the same one twice, and no other has."""
    dump = copied("clean_1_1", tmp_path / "dump", logs=True)
    shutil.rmtree(dump / "broker-1/data/state-1")
    shutil.copytree(dump / "broker-1/data/state-0", dump / "broker-1/data/state-1")
    report = audited(dump)
    assert (report.verdict, [f for f in report.violations if f.severity > Severity.INFO]) == ("unknown", [])
    assert foreign(report) == {("state", 1, 1)}


def test_partitions_that_were_written_alike_are_in_their_places(tmp_path: Path) -> None:
    """One's beginning was cleaned on some brokers, the other's on others; a log that parted is no other partition's."""
    yard = Yard(tmp_path)
    log = wrote(0, 0, 60)
    for broker, partition in product((1, 2, 3), (0, 1)):
        yard.broker(broker, log[1:] if broker == 2 else log, partition=partition, segments=(0,), cleaner=30)
    assert answers(yard) == ([], set(), set())


def test_a_log_that_parted_is_accused_as_ever(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, wrote(0, 0, 60, "x" if broker == 1 else "y"))
        yard.broker(broker, wrote(0, 0, 60, "z"), partition=1)
    grave, asked, aside = answers(yard)
    assert ("LOG001", (1, 2, 3)) in grave
    assert (asked, aside) == (set(), set())


@pytest.mark.parametrize(
    ("ends", "restart", "first"),
    [
        (
            (60, 90),
            "Its folder {a} holds the log of t-1. Its own log seems to lie in {b}. What it would cut is not known.",
            "put each log into its own folder: {a} and {b} seem to have changed places",
        ),
        (
            (60, 60),
            "Its folder {a} may hold the log of t-1. Its own log may lie in {b}. What it would cut is not known.",
            "see whether {a} and {b} changed places",
        ),
    ],
)
def test_advice_says_which_log_a_folder_holds_and_where_its_own_lies(
    ends: tuple[int, int], restart: str, first: str, tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    folders = two_partitions(yard, ends)
    exchange(folders[1, 0], folders[1, 1])
    report = yard.report()
    placed = next(placed for placed in report.advice if placed.partition == 0)
    named = {letter: folders[1, partition].relative_to(tmp_path) for letter, partition in (("a", 0), ("b", 1))}
    gate = next(gate for gate in placed.advice.gates if gate.action == "restart broker 1")
    assert (gate.going, gate.because) == ("unknown", f"cannot be judged. {restart.format(**named)}")
    assert gate.first == first.format(**named)
    assert 1 not in placed.advice.absent
    told = " ".join(text(report.advice).split())
    assert "Its copy is not in this dump" not in told
    assert "Broker 1 is assigned, not in this dump" not in told


def test_advice_says_whose_topic_id_a_folder_bears(tmp_path: Path) -> None:
    report = audited(swapped(copied("clean_4x", tmp_path / "dump", logs=True), "broker-2", ("orders-1", "state-1")))
    placed = next(placed for placed in report.advice if (placed.topic, placed.partition) == ("orders", 1))
    gate = next(gate for gate in placed.advice.gates if gate.action == "restart broker 2")
    assert "Its folder broker-2/data/orders-1 bears topic id " in gate.because
    assert "which is that of topic 'state'. Its own log was not found." in gate.because
    named = "orders-1 of broker 2 (its folder holds another log; replicas here: of brokers 1 and 3)"
    assert named in report.coverage.elsewhere
