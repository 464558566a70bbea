"""Transactions that a log leaves open, on real bytes: young ones, overdue ones, and those that hang."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from parsers.writers.segments import TRANSACTIONAL, Record, batch_bytes
from rules.facts import transactions
from rules.finding import Finding, Severity
from tests.lab.written_bytes import marker_bytes
from tests.rules.broken_dumps import Batch, Yard
from tests.rules.cluster_dumps import TRANSACTIONS, MetadataLog, entry, state_key, state_value, topic_id, with_metadata

EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMMITTED, ABORTED = range(6)
MINUTE = 60_000
APPENDED = 0x08


@dataclass
class Scene:
    """One log of partition t-0, and what coordinators hold; times are minutes."""

    root: Path
    log: list[Batch] = field(default_factory=list)
    states: dict[int, list[Batch]] = field(default_factory=dict)

    @property
    def _end(self) -> int:
        return self.log[-1].end if self.log else 0

    def writes(self, producer: int, at: int, *, epoch: int = 0, by_broker: bool = False) -> int:
        """Five records in a transaction; their first offset."""
        base = self._end
        records = [Record(offset_delta=delta, value=b"v") for delta in range(5)]
        content = batch_bytes(
            base_offset=base, records=records, attributes=TRANSACTIONAL | (APPENDED if by_broker else 0),
            producer_id=producer, producer_epoch=epoch, base_sequence=0, base_timestamp=at * MINUTE,
        )  # fmt: skip
        self.log.append(Batch(base, base + 5, 0, content))
        return base

    def ends(self, producer: int, at: int, *, commit: bool = True) -> None:
        """Its marker."""
        base = self._end
        content = marker_bytes(
            offset=base, leader_epoch=0, producer_id=producer, producer_epoch=0, commit=commit, timestamp=at * MINUTE
        )
        self.log.append(Batch(base, base + 1, 0, content))

    def passes(self, at: int) -> None:
        """Another producer's transaction comes and goes: its marker bears the broker's time."""
        self.writes(99, at)
        self.ends(99, at)

    def told(self, name: str, value: bytes | None, at: int, partition: int = 0) -> None:
        """A coordinator's record."""
        log = self.states.setdefault(partition, [])
        base = log[-1].end if log else 0
        log.append(entry(base, [(state_key(name), value)], base_timestamp=at * MINUTE))

    def of_seven(self, status: int, at: int, **fields: int | Sequence[int]) -> None:
        """The state of the transactional id pay, whose producer is 7."""
        self.told("pay", state_value(7, status, at=at * MINUTE, **fields), at)  # type: ignore[arg-type]

    def yard(self, *brokers: int, clean: bool = True, assigned: bool = True, states: int | None = 1) -> Yard:
        """All of it on these brokers' disks; `states` is how many partitions the coordinators' topic has, if told."""
        yard = Yard(self.root)
        for broker in brokers or (1, 2):
            yard.topic = "t"
            yard.broker(broker, self.log, clean=clean, topic_id=topic_id(1))
            yard.topic = TRANSACTIONS
            for partition, log in self.states.items():
                yard.broker(broker, log, clean=clean, partition=partition, topic_id=topic_id(2))
        log = MetadataLog()
        if assigned:
            log.topic("t", 1, [[1, 2]])
        if states is not None:
            log.topic(TRANSACTIONS, 2, [[1, 2]] * states)
        if assigned or states is not None:
            with_metadata(self.root, log)
        return yard


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def found(yard: Yard) -> list[Finding]:
    return [each for each in yard.report().violations if each.rule == "TXN001"]


def asked(yard: Yard, level: str = "full") -> list[str]:
    return [point.reason for point in yard.report(level).coverage.undecided if point.rule == "TXN001"]


def blocking(yard: Yard) -> list[bool]:
    """Of each question whether it keeps the verdict open."""
    return sorted(point.blocking for point in yard.report().coverage.undecided if point.rule == "TXN001")


def hangs(scene: Scene, *, live: bool = False) -> Scene:
    """Producer 7 writes after its transaction was aborted, and others go on for half an hour."""
    scene.writes(7, 0)
    scene.ends(7, 1, commit=False)
    scene.of_seven(ABORTED, 1)
    scene.writes(7, 2)
    if live:
        scene.passes(3)
        scene.told("other", state_value(99, COMMITTED, at=3 * MINUTE), 3)
    scene.passes(32)
    scene.told("other", state_value(99, COMMITTED, at=32 * MINUTE), 32)
    return scene


def test_a_write_behind_the_marker_hangs(scene: Scene) -> None:
    yard = hangs(scene).yard()
    (finding,) = found(yard)
    assert (finding.brokers, finding.start_offset, finding.severity) == ((1,), 6, Severity.MEDIUM)
    assert finding.message == (
        "Producer id 7 has a transaction open since offset 6 in broker 1's log. It hangs: the coordinator of"
        " transactional id pay has none ongoing here. Its last state is CompleteAbort. It was open for 1800 s at"
        " least. Review it, then abort it: kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic t"
        " --partition 0 --start-offset 6."
    )
    shown = {exhibit.role: exhibit.span for exhibit in finding.exhibits}
    first = shown["the transaction's first batch"]
    assert (yard.root / first.source).read_bytes()[first.start : first.end] == scene.log[2].content
    word = shown["the coordinator's last word"]
    assert b"pay" in (yard.root / word.source).read_bytes()[word.start : word.end]
    assert asked(yard) == []


def test_a_live_copy_needs_brokers_times_on_both_sides(scene: Scene) -> None:
    yard = hangs(scene).yard(clean=False)
    assert (found(yard), blocking(yard)) == ([], [True])
    (reason,) = asked(yard)
    assert reason.endswith("open from offset 6 on; no broker's time tells how long it has been open")


def test_a_live_copy_with_brokers_times_on_both_sides(scene: Scene) -> None:
    (finding,) = found(hangs(scene, live=True).yard(clean=False))
    assert finding.values()["open_ms"] == 29 * MINUTE


@pytest.mark.parametrize(("minutes", "told"), [(6, []), (7, [6])])
def test_five_minutes_are_allowed_beyond_the_time_out(scene: Scene, minutes: int, told: list[int]) -> None:
    scene.writes(7, 0)
    scene.ends(7, 0)
    scene.writes(7, 0)
    scene.of_seven(COMMITTED, 0)
    scene.passes(minutes)
    scene.told("other", state_value(99, COMMITTED, at=minutes * MINUTE), minutes)
    yard = scene.yard()
    assert ([each.start_offset for each in found(yard)], asked(yard)) == (told, [])


def test_one_that_its_coordinator_has_within_its_time_out_is_lawful(scene: Scene) -> None:
    scene.writes(7, 0)
    scene.of_seven(ONGOING, 0, partitions=[0], started=0, timeout=60 * MINUTE)
    scene.passes(50)
    yard = scene.yard()
    assert (found(yard), asked(yard)) == ([], [])


@pytest.mark.parametrize("clean", [True, False])
def test_one_that_its_coordinator_has_beyond_its_time_out_is_overdue(scene: Scene, clean: bool) -> None:
    scene.writes(7, 0)
    scene.of_seven(ONGOING, 0, partitions=[0], started=0)
    scene.passes(50)
    (finding,) = found(scene.yard(clean=clean))
    assert finding.message.endswith("Its coordinator has kept it open for 3000 s, and its time-out is 60 s.")


@pytest.mark.parametrize(("status", "word"), [(PREPARE_COMMIT, "commit"), (PREPARE_ABORT, "abort")])
def test_a_decision_that_never_arrived(scene: Scene, status: int, word: str) -> None:
    scene.writes(7, 0)
    scene.of_seven(status, 1, partitions=[0], started=0)
    scene.passes(50)
    (finding,) = found(scene.yard())
    assert f"Its coordinator decided to {word} it 2940 s before, and no marker was written." in finding.message


def test_the_last_state_of_an_id_counts(scene: Scene) -> None:
    scene.of_seven(ONGOING, 0, partitions=[0], started=0)
    scene.writes(7, 0)
    scene.of_seven(COMMITTED, 1)
    scene.passes(50)
    (finding,) = found(scene.yard())
    assert finding.values()["standing"] == "hanging"


def test_another_partition_of_an_ongoing_transaction_does_not_count(scene: Scene) -> None:
    scene.writes(7, 0)
    scene.of_seven(ONGOING, 0, partitions=[1, 2], started=0)
    scene.passes(50)
    (finding,) = found(scene.yard())
    assert finding.values()["standing"] == "hanging"


def test_without_coordinators_it_is_left_open(scene: Scene) -> None:
    scene.writes(7, 0)
    scene.passes(50)
    yard = scene.yard()
    assert found(yard) == []
    (reason,) = asked(yard)
    assert reason == (
        "producer id 7's transaction is open from offset 0 on; no copy of __transaction_state is here that could tell"
        " whether it is ongoing"
    )
    assert (blocking(yard), yard.report().verdict) == ([True], "unknown")


@pytest.mark.parametrize(("minutes", "open_points"), [(20, [False]), (21, [False, True])])
def test_of_a_live_copy_producers_times_keep_the_verdict_open_beyond_the_time_out(
    scene: Scene, minutes: int, open_points: list[bool]
) -> None:
    scene.writes(7, 0)
    scene.writes(8, minutes)
    yard = scene.yard(clean=False)
    assert (found(yard), blocking(yard)) == ([], open_points)


@pytest.mark.parametrize(("minutes", "open_points"), [(20, []), (21, [True])])
def test_within_its_time_out_brokers_times_leave_no_question(
    scene: Scene, minutes: int, open_points: list[bool]
) -> None:
    scene.writes(7, 0, by_broker=True)
    scene.passes(minutes)
    assert blocking(scene.yard(clean=False)) == open_points


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize(("minutes", "told", "open_points"), [(6, [], []), (7, [0], [])])
def test_what_its_coordinator_still_has_when_its_own_log_ends_is_overdue_whenever_the_copy_was_made(
    scene: Scene, minutes: int, told: list[int], open_points: list[bool], clean: bool
) -> None:
    """The time-out is a minute; no broker's time stands in the partition's own log."""
    scene.writes(7, 0)
    scene.of_seven(ONGOING, 0, partitions=[0], started=0)
    scene.told("other", state_value(99, COMMITTED, at=minutes * MINUTE), minutes)
    yard = scene.yard(clean=clean, assigned=False)
    assert ([each.start_offset for each in found(yard)], blocking(yard)) == (told, open_points)


def test_a_coordinators_log_with_a_gap_proves_nothing_late(scene: Scene) -> None:
    scene.writes(7, 0)
    scene.of_seven(ONGOING, 0, partitions=[0], started=0)
    scene.told("other", state_value(99, COMMITTED, at=50 * MINUTE), 50)
    yard = scene.yard(clean=False)
    for segment in yard.root.rglob("__transaction_state-0/*.log"):
        content = bytearray(segment.read_bytes())
        content[len(scene.states[0][0].content) + 70] ^= 1
        segment.write_bytes(bytes(content))
    assert (found(yard), blocking(yard)) == ([], [True])


@pytest.mark.parametrize(("producer_clock", "open_points"), [(6, []), (7, [True])])
def test_of_one_that_its_coordinator_has_later_times_in_its_log_keep_the_verdict_open(
    scene: Scene, producer_clock: int, open_points: list[bool]
) -> None:
    """The coordinator's log is an older copy; a producer's clock may be wrong."""
    scene.writes(7, 0)
    scene.of_seven(ONGOING, 0, partitions=[0], started=0)
    scene.writes(8, producer_clock)
    yard = scene.yard(clean=False)
    assert (found(yard), [each for each in blocking(yard) if each]) == ([], open_points)


def test_where_no_time_is_told_behind_its_beginning_it_is_a_question(scene: Scene) -> None:
    """Its brokers stopped; when, their disks do not tell."""
    scene.passes(0)
    scene.writes(7, 5)
    scene.of_seven(COMMITTED, 0)
    yard = scene.yard()
    assert (found(yard), blocking(yard)) == ([], [False])


@pytest.mark.parametrize(("later", "open_points"), [(1, [True]), (2, [False])])
def test_coordinators_logs_of_a_later_copy_leave_a_question(
    scene: Scene, later: int, open_points: list[bool]
) -> None:
    """Of its own broker they keep the verdict open: all its logs were copied alike."""
    scene.writes(7, 0, by_broker=True)
    scene.passes(1)
    yard = scene.yard(states=None)
    scene.told("other", state_value(99, COMMITTED, at=50 * MINUTE), 50)
    yard.topic = TRANSACTIONS
    yard.broker(later, scene.states[0], clean=False, topic_id=topic_id(2))
    for marker in yard.root.rglob(".kafka_cleanshutdown"):
        marker.unlink()
    yard.topic = "t"
    assert (found(yard), blocking(yard)) == ([], open_points)


def test_of_too_many_producers_nothing_is_said(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "KEEP", 2)
    for producer in (7, 8, 9):
        scene.writes(producer, 0)
    yard = scene.yard()
    assert asked(yard) == ["too many producers wrote transactions into broker 1's log to tell which are open"]
    (compared,) = (point for point in yard.report().coverage.undecided if point.rule == "TXN002")
    assert compared.reason.startswith("too many producers wrote transactions into the logs of brokers 1 and 2")
    assert waiting(yard) == ["Too many producers wrote transactions into broker 1's log."]


@pytest.mark.parametrize(("partitions", "told"), [(1, [0]), (2, []), (None, [])])
def test_a_producer_that_nobody_knows_needs_all_partitions_of_the_coordinators_topic(
    scene: Scene, partitions: int | None, told: list[int]
) -> None:
    scene.writes(7, 0)
    scene.passes(50)
    scene.told("other", state_value(99, COMMITTED, at=50 * MINUTE), 50)
    yard = scene.yard(states=partitions)
    assert [each.start_offset for each in found(yard)] == told
    assert len(asked(yard)) == 1 - len(told)


@pytest.mark.parametrize(("minutes", "told"), [(20, []), (21, [0])])
def test_the_longest_time_out_that_brokers_admit_counts_where_the_producer_is_unknown(
    scene: Scene, minutes: int, told: list[int]
) -> None:
    """By default a quarter of an hour."""
    scene.writes(7, 0)
    scene.passes(minutes)
    scene.told("other", state_value(99, COMMITTED, at=minutes * MINUTE), minutes)
    assert [each.start_offset for each in found(scene.yard())] == told


def test_a_forgotten_id_knows_nothing(scene: Scene) -> None:
    scene.of_seven(COMMITTED, 0)
    scene.told("pay", None, 1)
    scene.writes(7, 2)
    scene.passes(50)
    scene.told("other", state_value(99, COMMITTED, at=50 * MINUTE), 50)
    (finding,) = found(scene.yard())
    assert "It hangs: no coordinator knows the producer." in finding.message


def test_a_coordinators_log_of_another_time_leaves_it_open(scene: Scene) -> None:
    scene.of_seven(COMMITTED, 0)
    scene.passes(1)
    scene.writes(7, 10)
    scene.passes(11)
    scene.passes(50)
    yard = scene.yard(clean=False)
    assert found(yard) == []
    (reason,) = asked(yard)
    assert reason.endswith("its coordinator's log ends before the transaction began")


def test_a_damaged_coordinators_log_leaves_it_open(scene: Scene) -> None:
    yard = hangs(scene).yard()
    for segment in yard.root.rglob("__transaction_state-0/*.log"):
        content = bytearray(segment.read_bytes())
        content[-1] ^= 1
        segment.write_bytes(bytes(content))
    assert found(yard) == []
    (reason,) = asked(yard)
    assert reason.endswith("its coordinator's log is not known up to the transaction's beginning")


def test_a_follower_that_lags_is_not_judged(scene: Scene) -> None:
    hangs(scene)
    scene.ends(7, 33)
    yard = scene.yard(1)
    scene.log = scene.log[:3]
    scene.yard(2, assigned=False, states=None)
    assert (found(yard), asked(yard)) == ([], [])


def test_an_assigned_replica_that_is_not_here_may_have_led_on(scene: Scene) -> None:
    """Then only the log's own times count, and it has none."""
    scene.of_seven(COMMITTED, 0)
    scene.writes(7, 1)
    scene.told("other", state_value(99, COMMITTED, at=50 * MINUTE), 50)
    yard = scene.yard(1)
    assert found(yard) == []
    (reason,) = asked(yard)
    assert reason.endswith("no broker's time tells how long it has been open")


def test_all_assigned_replicas_here_tell_the_time_by_what_their_broker_copied(scene: Scene) -> None:
    scene.of_seven(COMMITTED, 0)
    scene.writes(7, 1)
    scene.told("other", state_value(99, COMMITTED, at=50 * MINUTE), 50)
    (finding,) = found(scene.yard(1, 2))
    assert finding.values()["open_ms"] == 49 * MINUTE


def test_headers_alone_ask_for_a_full_audit(scene: Scene) -> None:
    yard = hangs(scene).yard()
    assert [each.rule for each in yard.report("quick").violations if each.rule == "TXN001"] == []
    (reason,) = asked(yard, "quick")
    assert reason.endswith("level quick does not read what coordinators hold")


def stuck(yard: Yard) -> list[tuple[tuple[int, ...], int | None, int | None]]:
    return [(f.brokers, f.start_offset, f.end_offset) for f in yard.report().violations if f.rule == "TXN003"]


def waiting(yard: Yard) -> list[str]:
    """Why it is not known whether consumers wait."""
    undecided = (point for point in yard.report().coverage.undecided if point.rule == "TXN003")
    return [point.reason.removeprefix("it is not known whether consumers wait. ") for point in undecided]


def test_what_hangs_without_a_high_watermark_leaves_open_who_waits(scene: Scene) -> None:
    yard = hangs(scene).yard()
    assert (len(stuck(yard)), waiting(yard)) == (1, [])
    for claims in yard.root.rglob("replication-offset-checkpoint"):
        claims.unlink()
    assert (len(found(yard)), stuck(yard), waiting(yard)) == (1, [], ["No high watermark of broker 1 is here."])


def test_one_that_hangs_holds_back_readers_of_committed_records(scene: Scene) -> None:
    yard = hangs(scene).yard()
    assert stuck(yard) == [((1,), 6, 17)]
    (cause,) = found(yard)
    (finding,) = (each for each in yard.report().violations if each.rule == "TXN003")
    assert finding.values()["behind"] == 11
    assert "TXN001" in finding.implied_by
    assert cause.id != finding.id


def test_the_oldest_one_decides_what_readers_wait_for(scene: Scene) -> None:
    """It is young: nobody waits for the one that hangs behind it."""
    scene.told("long", state_value(8, ONGOING, partitions=[0], started=0, timeout=120 * MINUTE), 0)
    scene.writes(8, 0)
    yard = hangs(scene).yard()
    assert (len(found(yard)), stuck(yard)) == (1, [])


def test_nothing_waits_behind_one_that_is_not_replicated(scene: Scene) -> None:
    yard = hangs(scene).yard()
    for claims in yard.root.rglob("replication-offset-checkpoint"):
        claims.write_text(claims.read_text().replace("t 0 17", "t 0 6"))
    assert (len(found(yard)), stuck(yard)) == (1, [])
