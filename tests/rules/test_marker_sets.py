"""Markers of transactions on real bytes: replicas that decide alike, and replicas that do not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from parsers.writers.segments import TRANSACTIONAL, Record, batch_bytes
from rules.finding import Finding, Severity
from tests.lab.written_bytes import marker_bytes
from tests.rules.broken_dumps import Batch, Yard, change, position, segment

Told = tuple[tuple[int, ...], int | None, int | None]


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def writes(base: int, *, producer: int = 7, keys: str = "ab", sequence: int | None = None) -> Batch:
    """Two keyed records, of which a marker follows each time."""
    records = [Record(offset_delta=delta, key=key.encode(), value=b"v") for delta, key in enumerate(keys) if key != "."]
    content = batch_bytes(
        base_offset=base, records=records, attributes=TRANSACTIONAL, last_offset_delta=1,
        producer_id=producer, producer_epoch=0, base_sequence=2 * (base // 3) if sequence is None else sequence,
    )  # fmt: skip
    return Batch(base, base + 2, 0, content)


def ends(offset: int, *, commit: bool = True, producer: int = 7) -> Batch:
    content = marker_bytes(offset=offset, leader_epoch=0, producer_id=producer, producer_epoch=0, commit=commit)
    return Batch(offset, offset + 1, 0, content)


def plain(base: int) -> Batch:
    """One record of nobody."""
    return Batch(base, base + 1, 0, batch_bytes(base_offset=base, records=[Record(key=b"z", value=b"z")]))


LOG = [writes(0), ends(2), writes(3), ends(5, commit=False), plain(6), plain(7)]


def found(yard: Yard) -> list[Finding]:
    return [each for each in yard.report().violations if each.rule == "TXN002"]


def places(yard: Yard) -> list[Told]:
    return [(each.brokers, each.start_offset, each.end_offset) for each in found(yard)]


def with_other(yard: Yard, other: Sequence[Batch], *, cleaner: int | None = None, hw: int | None = -1) -> Yard:
    """Brokers 1 and 2 hold the log, broker 3 another one; the high watermark is that of all."""
    for broker in (1, 2):
        yard.broker(broker, LOG, hw=hw)
    yard.broker(3, other, hw=hw, cleaner=cleaner)
    return yard


def test_equal_logs_decide_alike(yard: Yard) -> None:
    with_other(yard, LOG)
    assert yard.told(least=Severity.INFO) == []


def test_a_replica_without_the_marker_of_what_it_holds(yard: Yard) -> None:
    """Its next marker aborts what the others commit."""
    with_other(yard, [writes(0), plain(2), *LOG[2:]])
    assert places(yard) == [((1, 3), 0, 3), ((2, 3), 0, 3)]
    first = found(yard)[0]
    assert first.message == (
        "Broker 3 lacks producer 7's marker at offset 2, which broker 1 has. The transaction begins at offset 0, and"
        " on broker 3 the marker at 5 decides it."
    )
    assert first.implied_by[:2] == ("LOG001", "LOG003")
    shown = {exhibit.role: exhibit.span for exhibit in first.exhibits}
    marker = shown["broker 1's batch"]
    assert (yard.root / marker.source).read_bytes()[marker.start : marker.end] == LOG[1].content


def test_a_replica_whose_last_marker_is_missing_keeps_the_transaction_open(yard: Yard) -> None:
    with_other(yard, [*LOG[:3], plain(5), *LOG[4:]])
    assert places(yard) == [((1, 3), 3, 6), ((2, 3), 3, 6)]
    assert found(yard)[0].message.endswith("The transaction begins at offset 3, and on broker 3 it is open.")


def test_markers_of_one_offset_that_say_other_things(yard: Yard) -> None:
    with_other(yard, [*LOG[:3], ends(5), *LOG[4:]])
    assert places(yard) == [((1, 3), 5, 6), ((2, 3), 5, 6)]
    assert found(yard)[0].message == (
        "At offset 5 broker 3 commits producer 7's transaction, and broker 1 aborts it. Consumers with"
        " isolation.level=read_committed get its records from one of them only."
    )
    assert {exhibit.role for exhibit in found(yard)[0].exhibits} == {
        "the marker that commits", "the marker that aborts",
    }  # fmt: skip


LAWFUL: dict[str, tuple[list[Batch], dict[str, int | None]]] = {
    "a follower that lags": (LOG[:3], {}),
    "a marker above the high watermark": ([*LOG[:3], plain(5), *LOG[4:]], {"hw": 5}),
    "no high watermark": ([*LOG[:3], plain(5), *LOG[4:]], {"hw": None}),
    "a log that begins behind the records": (LOG[3:], {}),
    "the cleaner took the transaction": ([*LOG[2:]], {"cleaner": 6}),
    "the cleaner took some of its records": ([writes(0, keys=".b"), *LOG[1:]], {"cleaner": 6}),
}


@pytest.mark.parametrize("name", LAWFUL)
def test_what_is_lawful_is_no_finding(yard: Yard, name: str) -> None:
    log, claims = LAWFUL[name]
    with_other(yard, log, **claims)  # type: ignore[arg-type]
    assert places(yard) == []


def test_a_compacted_log_that_kept_the_records_and_not_their_marker(yard: Yard) -> None:
    """The marker was compacted away before the log was copied: its own cleaner would have kept it."""
    with_other(yard, [LOG[0], *LOG[2:]], cleaner=6)
    assert places(yard) == [((1, 3), 0, 3), ((2, 3), 0, 3)]


def test_a_damaged_marker_is_damage_and_nothing_more(yard: Yard) -> None:
    folder = with_other(yard, LOG).root
    log = segment(next(folder.glob("*/broker-3/data/t-0")))
    change(log, position(LOG, 2) + 50, lambda byte: byte ^ 4)  # its producer id
    assert [told[0] for told in yard.told()] == ["SEG001"]


def test_headers_alone_ask_for_a_full_audit(yard: Yard) -> None:
    with_other(yard, [writes(0), plain(2), *LOG[2:]])
    assert [each.rule for each in yard.report("quick").violations if each.rule == "TXN002"] == []
    asked = [point for point in yard.report("quick").coverage.undecided if point.rule == "TXN002"]
    assert [point.asked_at_level for point in asked] == ["full"]


def test_many_markers_are_told_up_to_a_limit(yard: Yard) -> None:
    begun = [writes(3 * n, producer=n + 1, sequence=0) for n in range(50)]
    log = [each for n, one in enumerate(begun) for each in (one, ends(3 * n + 2, producer=n + 1))]
    gone = [each for n, one in enumerate(begun) for each in (one, plain(3 * n + 2))]
    yard.healthy(log, 1)
    yard.broker(2, gone)
    assert len(found(yard)) == 32
    assert {each.values()["like_it"] for each in found(yard)} == {50}


@pytest.mark.parametrize(
    ("other", "costs"),
    [
        ([writes(0), plain(2), *LOG[2:]], "2, so that the marker at 5 decides the records from offset 0 on"),
        ([*LOG[:3], plain(5), *LOG[4:]], "5, so that the transaction from offset 3 on is open there"),
    ],
)
def test_a_replica_that_decides_otherwise_is_not_to_be_elected(yard: Yard, other: list[Batch], costs: str) -> None:
    with_other(yard, other)
    (advised,) = (placed.advice for placed in yard.report().advice)
    going = {gate.action: gate.going for gate in advised.gates}
    assert (advised.candidates[-1].broker, going["elect broker 3"]) == (3, "no-go")
    assert f"it lacks producer 7's marker at offset {costs}" in advised.candidates[-1].damage


def test_a_replica_whose_marker_the_cleaner_took_may_lead(yard: Yard) -> None:
    with_other(yard, LOG[2:], cleaner=6)
    assert not any(c.damage or c.doubts for placed in yard.report().advice for c in placed.advice.candidates)
