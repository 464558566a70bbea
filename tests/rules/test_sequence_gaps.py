"""Sequences of producers on real bytes: what a leader that knows them never took, and what explains the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from parsers.writers.segments import Record, batch_bytes
from rules.finding import Severity
from tests.lab.written_bytes import marker_bytes
from tests.rules.broken_dumps import Batch, Yard, change, kept, position, segment, wrote

APPENDED = 0x08
HOUR = 3_600_000
LAST = (1 << 31) - 1


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def sent(
    base: int, sequence: int, *, at: int = 0, producer: int = 7, epoch: int = 0, by_broker: bool = True, leader: int = 0
) -> Batch:
    """Ten records of an idempotent producer, at an hour of the log."""
    records = [Record(offset_delta=delta, value=f"{producer}-{sequence + delta}".encode()) for delta in range(10)]
    content = batch_bytes(
        base_offset=base, leader_epoch=leader, records=records, producer_id=producer, producer_epoch=epoch,
        base_sequence=sequence, attributes=APPENDED if by_broker else 0, base_timestamp=at * HOUR,
    )  # fmt: skip
    return Batch(base, base + 10, leader, content)


def marker(offset: int, *, at: int, producer: int = 9, epoch: int = 0) -> Batch:
    """A marker, which its broker dated; of another producer unless told otherwise."""
    content = marker_bytes(
        offset=offset, leader_epoch=0, producer_id=producer, producer_epoch=epoch, commit=False, timestamp=at * HOUR
    )
    return Batch(offset, offset + 1, 0, content)


def found(yard: Yard, log: Sequence[Batch]) -> list[tuple[tuple[int, ...], int | None, int | None]]:
    yard.healthy(log, 1, 2)
    return [(brokers, start, end) for rule, _, brokers, start, end in yard.told() if rule == "TXN004"]


def asked(yard: Yard, level: str = "full") -> list[str]:
    return [point.reason for point in yard.report(level).coverage.undecided if point.rule == "TXN004"]


def test_a_gap_is_told_once_for_all_replicas(yard: Yard) -> None:
    assert found(yard, [sent(0, 0), sent(10, 10), sent(20, 50)]) == [((1, 2), 20, 21)]
    (finding,) = (each for each in yard.report().findings if each.rule == "TXN004")
    facts = finding.values()
    assert (facts["producers"], facts["breaks"], facts["sequences"]) == (1, 1, 30)
    assert finding.message == (
        "On brokers 1 and 2, records of producer 7 are missing between two batches that lie side by side. Producer 7"
        " of epoch 0 goes on with sequence 50 at offset 20, where sequence 20 was due."
    )
    shown = {exhibit.role: exhibit.span for exhibit in finding.exhibits}
    batch_before = shown["producer 7's batch before"]
    content = (yard.root / batch_before.source).read_bytes()[batch_before.start : batch_before.end]
    assert content == sent(10, 10).content


LAWFUL = {
    "they follow on": [sent(0, 0), sent(10, 10), sent(20, 20)],
    "they wrap": [sent(0, LAST - 9), sent(10, 0)],
    "they wrap inside a batch": [sent(0, LAST - 4), sent(10, 5)],
    "a higher epoch begins anew": [sent(0, 0), sent(10, 0, epoch=1), sent(20, 10, epoch=1)],
    "another producer writes between": [sent(0, 0), sent(10, 0, producer=8), sent(20, 10)],
    "the log began later": [sent(0, 70), sent(10, 80)],
    "the producer had been forgotten": [sent(0, 0), sent(10, 50, at=24)],
}


@pytest.mark.parametrize("log", LAWFUL.values(), ids=LAWFUL)
def test_what_is_lawful_is_no_finding(yard: Yard, log: list[Batch]) -> None:
    assert found(yard, log) == []


@pytest.mark.parametrize("name", [name for name in LAWFUL if "forgotten" not in name])
def test_what_is_lawful_leaves_no_question(yard: Yard, name: str) -> None:
    yard.healthy(LAWFUL[name], 1, 2)
    assert asked(yard) == []


def test_a_hole_in_the_log_explains_the_gap(yard: Yard) -> None:
    yard.healthy([sent(0, 0), sent(20, 20)], 1, 2)
    assert yard.told() == []
    assert yard.undecided() == [("LOG008", (1, 2))]
    assert asked(yard) == []


def test_the_cleaner_leaves_gaps(yard: Yard) -> None:
    log = [kept(wrote(0, 0, 10)[0], [3]), sent(10, 0), sent(20, 50)]
    for broker in (1, 2):
        yard.broker(broker, log, cleaner=20)
    assert ([told for told in yard.told() if told[0] == "TXN004"], asked(yard)) == ([], [])


def test_sequences_that_come_again_need_no_clock(yard: Yard) -> None:
    """The batch after them goes on where it would have gone on without them: that is no second break."""
    plain = [sent(base, sequence, by_broker=False) for base, sequence in ((0, 0), (10, 10), (20, 10), (30, 20))]
    assert found(yard, plain) == [((1, 2), 20, 21)]
    (finding,) = (each for each in yard.report().findings if each.rule == "TXN004")
    assert (finding.values()["breaks"], finding.values()["sequences"]) == (1, 10)
    assert "are in the log twice" in finding.message


def test_a_higher_epoch_that_does_not_begin_at_0(yard: Yard) -> None:
    assert found(yard, [sent(0, 0), sent(10, 30, epoch=1)]) == [((1, 2), 10, 11)]


def test_a_producer_that_begins_at_0_again_is_left_open(yard: Yard) -> None:
    assert found(yard, [sent(0, 0), sent(10, 10), sent(20, 0)]) == []
    (reason,) = asked(yard)
    assert reason.startswith("producer 7 of epoch 0 goes on with sequence 0 at offset 20, where sequence 20 was due")


@pytest.mark.parametrize(("hours", "verdict"), [(23, "unknown"), (24, "clean")])
def test_producers_times_leave_a_gap_open(yard: Yard, hours: int, verdict: str) -> None:
    """Records may well be missing, unless so much time had passed that leaders forget whoever wrote before."""
    assert found(yard, [sent(0, 0, by_broker=False), sent(10, 50, by_broker=False, at=hours)]) == []
    assert len(asked(yard)) == 1
    assert yard.report().verdict == verdict


@pytest.mark.parametrize(("hours", "told"), [(23, [((1, 2), 10, 11)]), (24, [])])
def test_a_marker_behind_them_tells_how_late_it_was_at_most(
    yard: Yard, hours: int, told: list[tuple[tuple[int, ...], int, int]]
) -> None:
    log = [sent(0, 0, by_broker=False), sent(10, 50, by_broker=False), marker(20, at=hours)]
    assert found(yard, log) == told


def test_a_shorter_expiry_that_a_broker_printed_counts(yard: Yard) -> None:
    yard.healthy([sent(0, 0), sent(10, 50, at=2)], 1, 2)
    home = next(yard.root.rglob("broker-1"))
    (home / "server.properties").write_text("broker.id=1\nproducer.id.expiration.ms=3600000\n")
    assert [told for told in yard.told() if told[0] == "TXN004"] == []
    assert len(asked(yard)) == 1


def test_headers_alone_prove_nothing(yard: Yard) -> None:
    yard.healthy([sent(0, 0), sent(10, 50)], 1, 2)
    assert [told for told in yard.told("quick", least=Severity.INFO) if told[0] == "TXN004"] == []
    assert [reason.endswith("were not recomputed") for reason in asked(yard, "quick")] == [True]


def test_of_many_producers_one_finding_is_made(yard: Yard) -> None:
    log = [sent(20 * n + 10 * half, 30 * half, producer=n) for n in range(1, 40) for half in (0, 1)]
    assert found(yard, log) == [((1, 2), 30, 791)]
    (finding,) = (each for each in yard.report().findings if each.rule == "TXN004")
    assert (finding.values()["producers"], finding.values()["sequences"]) == (39, 39 * 20)


def told_of_falls(yard: Yard) -> list[tuple[str, tuple[int, ...], int | None, int | None]]:
    found = [each for each in yard.report().violations if each.rule == "TXN004"]
    return [(each.confidence, each.brokers, each.start_offset, each.end_offset) for each in found]


FALLEN = [sent(0, 0, epoch=2), sent(10, 0, epoch=3), sent(20, 10, epoch=2), sent(30, 10, epoch=3)]


def test_a_lower_epoch_behind_a_higher_one_was_fenced(yard: Yard) -> None:
    yard.healthy(FALLEN, 1, 2)
    yard.broker(3, FALLEN[:2])
    assert told_of_falls(yard) == [("likely", (1, 2), 20, 21)]
    (finding,) = (each for each in yard.report().violations if each.rule == "TXN004")
    assert finding.message == (
        "On brokers 1 and 2, producer 7 wrote in an epoch that had been left for a higher one. Producer 7 goes on in"
        " epoch 2 at offset 20, behind a batch of its epoch 3 that ends before offset 20."
    )
    assert {exhibit.span.start for exhibit in finding.exhibits} == {len(FALLEN[0].content), 2 * len(FALLEN[0].content)}


def test_by_producers_own_times_a_fall_is_possible(yard: Yard) -> None:
    log = [sent(0, 0, epoch=3, by_broker=False), sent(10, 0, epoch=2, by_broker=False)]
    yard.healthy(log, 1, 2)
    assert told_of_falls(yard) == [("possible", (1, 2), 10, 11)]


def test_a_leader_takes_any_epoch_of_a_producer_that_it_had_forgotten(yard: Yard) -> None:
    yard.healthy([sent(0, 0, epoch=3), sent(10, 0, epoch=2, at=24)], 1, 2)
    assert told_of_falls(yard) == []
    (reason,) = asked(yard)
    assert "goes on in epoch 2 at offset 10" in reason


def test_an_epoch_that_falls_shows_in_a_cleaned_log_too(yard: Yard) -> None:
    for broker in (1, 2):
        yard.broker(broker, [FALLEN[1], *FALLEN[2:]], cleaner=40)
    assert [brokers for _, brokers, *_ in told_of_falls(yard)] == [(1, 2)]


FENCED = [sent(0, 0), marker(10, at=0, producer=7, epoch=1), sent(11, 10), marker(21, at=1)]


def releases(yard: Yard, *brokers: int, release: str) -> None:
    for broker in brokers:
        home = next(yard.root.rglob(f"broker-{broker}"))
        (home / "logs").mkdir(exist_ok=True)
        line = f"INFO Kafka version: {release} (org.apache.kafka.common.utils.AppInfoParser)\n"
        (home / "logs" / "server.log").write_text(f"[2026-11-24 10:00:00,000] {line}")


@pytest.mark.parametrize(("release", "confidence"), [("2.4.0", "likely"), ("2.3.1", "possible"), (None, "possible")])
def test_what_a_fenced_producer_writes_behind_the_marker_was_refused(
    yard: Yard, release: str | None, confidence: str
) -> None:
    yard.healthy(FENCED, 1, 2)
    if release is not None:
        releases(yard, 1, 2, release=release)
    assert told_of_falls(yard) == [(confidence, (1, 2), 11, 12)]
    (finding,) = (each for each in yard.report().violations if each.rule == "TXN004")
    assert finding.message == (
        "On brokers 1 and 2, producer 7 wrote in an epoch that had been left for a higher one. Producer 7 goes on in"
        " epoch 0 at offset 11, behind its marker of epoch 1 at offset 10."
    )
    assert [exhibit.role for exhibit in finding.exhibits] == ["producer 7's marker before", "producer 7's next batch"]


def test_a_fence_of_long_ago_may_be_forgotten(yard: Yard) -> None:
    yard.healthy([*FENCED[:2], sent(11, 10, at=24), marker(21, at=25)], 1, 2)
    releases(yard, 1, 2, release="3.9.1")
    assert told_of_falls(yard) == []
    (reason,) = asked(yard)
    assert "behind its marker of epoch 1 at offset 10" in reason


RISING = {
    "a marker of the producer's own epoch": [sent(0, 0), marker(10, at=0, producer=7), sent(11, 10)],
    "another producer's marker of a higher epoch": [sent(0, 0), marker(10, at=0, epoch=1), sent(11, 10)],
    "a fence, and the producer in its next epoch": [
        sent(0, 0), marker(10, at=0, producer=7, epoch=1), sent(11, 0, epoch=1), marker(21, at=0, producer=7, epoch=1),
    ],
    "markers of each next epoch, as since 4.0": [
        sent(0, 0), marker(10, at=0, producer=7, epoch=1), sent(11, 0, epoch=1), marker(21, at=0, producer=7, epoch=2),
        sent(22, 0, epoch=2),
    ],
    "epochs that rise, as markers of KIP-890 let them": [sent(10 * n, 0, epoch=n) for n in range(4)],
    "a lower epoch of another producer": [sent(0, 0, epoch=3), sent(10, 0, epoch=2, producer=8)],
    "a log that was cut and written anew": [sent(0, 0, epoch=2), sent(10, 10, epoch=2, leader=1)],
}


@pytest.mark.parametrize("log", RISING.values(), ids=RISING)
def test_epochs_that_do_not_fall_are_no_finding(yard: Yard, log: list[Batch]) -> None:
    yard.healthy(log, 1, 2)
    assert (told_of_falls(yard), asked(yard)) == ([], [])


def test_a_damaged_header_is_no_fall(yard: Yard) -> None:
    log = [FALLEN[0], sent(10, 10, epoch=2), sent(20, 20, epoch=2)]
    yard.healthy(log, 1, 2)
    path = segment(next(yard.root.glob("*/broker-2/data/t-0")))
    change(path, position(log, 10) + 52, lambda byte: byte ^ 4)  # the producer epoch of the second batch
    assert [told for told in told_of_falls(yard) if 2 in told[1]] == []
