"""Batches that are gone from either end of a log, which only the names of its segments tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.broken_dumps import Yard, chain, segment, wrote

LOG = wrote(0, 0, 60) + wrote(1, 60, 100)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    made = Yard(tmp_path)
    made.healthy(LOG, 1, 2)
    return made


def seg005(start: int, end: int, severity: str = "high") -> tuple[object, ...]:
    return ("SEG005", severity, (3,), start, end)


def test_the_first_batch_is_missed(yard: Yard) -> None:
    yard.broker(3, LOG[1:], segments=(0,), epochs=chain(LOG))
    assert yard.told() == [seg005(0, 10)]
    (finding,) = yard.report().violations
    assert "at offsets 0–9, at the beginning of its log. Brokers 1 and 2 hold offsets 0–9." in finding.message


@pytest.mark.parametrize("missing", [1, 3, 5])
def test_so_are_all_batches_of_the_first_segment(yard: Yard, missing: int) -> None:
    yard.broker(3, LOG[missing:], segments=(0, 10 * missing), epochs=chain(LOG))
    assert yard.told() == [seg005(0, 10 * missing)]


def test_a_segment_that_begins_behind_its_name_is_a_hole_wherever_it_stands(yard: Yard) -> None:
    yard.broker(3, LOG[:3] + LOG[4:], segments=(0, 30), epochs=chain(LOG))
    assert yard.told() == [seg005(30, 40)]


def test_the_last_batches_before_an_empty_segment_are_missed(yard: Yard) -> None:
    yard.broker(3, LOG[:-1], segments=(0, 100), hw=100, recovery=100, epochs=chain(LOG))
    assert yard.told() == [seg005(90, 100)]
    (finding,) = yard.report().violations
    assert "below the name of its last segment" in finding.message


def test_a_log_of_which_only_the_names_are_left_is_missed_whole(yard: Yard) -> None:
    folder = yard.broker(3, LOG, segments=(0, 100), epochs=chain(LOG))
    segment(folder).write_bytes(b"")
    assert seg005(0, 100) in yard.told()


def test_deleted_records_are_not_missed(yard: Yard) -> None:
    yard.broker(3, LOG[1:], segments=(0,), start=10, epochs=[(0, 10), (1, 60)])
    assert yard.told() == []


def test_of_a_log_start_amid_what_is_missing_the_rest_counts(yard: Yard) -> None:
    yard.broker(3, LOG[2:], segments=(0,), start=10, epochs=[(0, 10), (1, 60)])
    assert yard.told() == [seg005(10, 20)]


def test_retention_begins_a_log_at_its_first_segment(yard: Yard) -> None:
    yard.broker(3, LOG[3:], segments=(30,), start=30, epochs=[(0, 30), (1, 60)])
    assert yard.told() == []


def test_compaction_may_take_the_first_batches_and_those_before_a_later_segment(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        log = LOG if broker < 3 else [*LOG[1:3], *LOG[4:]]
        yard.broker(broker, log, segments=(0, 30), cleaner=80, epochs=chain(LOG))
    assert yard.told() == []


def test_what_no_broker_holds_any_more_is_one_question_and_never_clean(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, [LOG[1], *LOG[3:]], segments=(0,), epochs=chain(LOG))
    assert yard.told() == []
    assert yard.undecided() == [("LOG008", (1, 2, 3))]
    assert yard.report().verdict == "unknown"
    (asked,) = (found for found in yard.report().findings if found.rule == "LOG008")
    assert "records at offsets 0–9 and 1 more stretch are lost" in asked.message


def test_of_a_topic_that_was_compacted_it_is_none(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, LOG[1:], segments=(0,), cleaner=60, epochs=chain(LOG))
    # Its records have no keys, of which a cleaner keeps none: SEG005 asks who took the others.
    assert (yard.told(), {rule for rule, _ in yard.undecided()}) == ([], {"SEG005"})


def test_unreadable_bytes_at_the_beginning_are_damage_and_no_second_finding(yard: Yard) -> None:
    path = segment(yard.broker(3, LOG))
    data = path.read_bytes()
    path.write_bytes(bytes(100) + data[100:])
    assert [rule for rule, *_ in yard.told()] == ["SEG002"]
