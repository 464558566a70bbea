"""What compaction left of each key: lawful cleaning is never accused, a delete that a replica missed always is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.model import AuditReport
from parsers.provenance import Span
from parsers.writers.segments import Record, batch_bytes
from rules.catalog import RULES
from rules.evidence import OffsetClaim, Replica, SegmentFile
from rules.facts.stretch import LogFacts
from rules.judging.judge import judge
from rules.narrow.last_of_keys import KeyLedger
from rules.narrow.surviving_keys import NOTHING_DELETED, KeyedReplica, keys_apart
from rules.replicas.keys_apart import KeysApart
from rules.sketch.notation import read_sketch
from tests.auditor.dumps_at_hand import audited, copied
from tests.mutants.mutant import Change, judged, said, unchanged
from tests.mutants.on_disks import BASE, batch, gone, on_healed
from tests.mutants.surgery import Copy
from tests.rules.broken_dumps import Batch, Yard, wrote


@dataclass(frozen=True)
class Written:
    """A record of a leader's log."""

    offset: int
    key: int
    deletes: bool


HISTORIES = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=24).map(
    lambda rows: [Written(offset, key, deletes) for offset, (key, deletes) in enumerate(rows)]
)


def cleaned(log: Sequence[Written], point: int, horizon: int) -> list[Written]:
    """What a cleaner leaves that came as far as `point` and forgot deletes below `horizon`."""
    last = {record.key: record.offset for record in log if record.offset < point}
    kept = [r for r in log if r.offset >= last.get(r.key, 0)]
    return [r for r in kept if not (r.deletes and r.offset < min(horizon, point))]


def replica(broker: int, log: Sequence[Written], end: int, *, cleaner: int | None = None) -> KeyedReplica:
    ledger = KeyLedger(0)
    for record in log:
        if record.offset < end:
            span = Span(source=f"{broker}", start=record.offset, end=record.offset + 1)
            ledger.batch(span, [(record.key, record.offset, record.deletes)], producer=None)
            ledger.held(record.offset, record.offset + 1, [record.offset])
    claim = None if cleaner is None else OffsetClaim(offset=cleaner, span=Span(source="c", start=0, end=1))
    told = Replica(
        broker=broker,
        log_dir="d",
        path=f"{broker}/t-0",
        segments=(SegmentFile(base_offset=0, source=f"{broker}", size=1),),
        log=LogFacts(end_offset=end),
        cleaner_offset=claim,
    )
    return KeyedReplica(replica=told, last=ledger.close(end))


def apart(*replicas: KeyedReplica, committed: int = 1 << 40) -> list[KeysApart]:
    return list(keys_apart([(r, min(committed, r.replica.log_end_offset)) for r in replicas], NOTHING_DELETED))


@given(HISTORIES, st.data())
def test_lawful_cleaning_is_never_accused(log: list[Written], data: st.DataObject) -> None:
    """Deletes are forgotten only once everybody has them: their time is a day, and a follower's lag is not."""
    ends = data.draw(st.lists(st.integers(0, len(log)), min_size=3, max_size=3))
    copies = []
    for broker, end in enumerate(ends, start=1):
        point, horizon = data.draw(st.integers(0, end)), data.draw(st.integers(0, min(ends)))
        left = cleaned([r for r in log if r.offset < end], point, horizon)
        copies.append(replica(broker, left, end, cleaner=point))
    assert apart(*copies) == []


@given(HISTORIES, st.data())
def test_tails_that_were_never_committed_are_never_held_against_a_cleaned_log(
    log: list[Written], data: st.DataObject
) -> None:
    """What a deposed leader wrote behind its watermark stands until its next fetch, whatever its successor cleaned."""
    ends = data.draw(st.lists(st.integers(0, len(log)), min_size=2, max_size=3))
    copies = []
    for broker, end in enumerate(ends, start=1):
        tail = data.draw(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=4))
        own = [*log[:end], *(Written(end + n, key, deletes) for n, (key, deletes) in enumerate(tail))]
        point, horizon = data.draw(st.integers(0, end)), data.draw(st.integers(0, min(ends)))
        copies.append((replica(broker, cleaned(own, point, horizon), len(own), cleaner=point), end))
    assert list(keys_apart(copies, NOTHING_DELETED)) == []


@given(HISTORIES, st.data())
def test_a_delete_that_was_never_copied_is_found(log: list[Written], data: st.DataObject) -> None:
    """A replica that was away from `away` on copies the rest of a log whose deletes are gone."""
    end = len(log)
    away = data.draw(st.integers(0, end))
    leader = cleaned(log, end, end)
    behind = [r for r in log if r.offset < away] + [r for r in leader if r.offset >= away]
    found = apart(replica(1, leader, end, cleaner=end), replica(2, behind, end))
    before = {r.key: r for r in log if r.offset < away}
    after = {r.key: r for r in log}
    dead = [k for k, r in before.items() if not r.deletes and after[k].deletes and after[k].offset >= away]
    assert sum(gap.keys for gap in found) == len(dead)
    assert {gap.remains for gap in found} <= {"unsure"}
    assert all(gap.holders == (2,) and gap.lacking == (1,) for gap in found)
    assert {gap.copied for gap in found} <= {True}


@given(HISTORIES, st.data())
def test_a_lost_survivor_is_found(log: list[Written], data: st.DataObject) -> None:
    """The last record of a key is taken out of one copy; where no delete can have stood behind it, it was lost."""
    end = len(log)
    live = sorted({r.key: r for r in log}.values(), key=lambda r: r.offset)
    lost = data.draw(st.sampled_from(live))
    short = [r for r in log if r != lost]
    found = apart(replica(1, log, end), replica(2, short, end))
    if lost.deletes:
        held = [r for r in short if r.key == lost.key]
        alive = bool(held) and not held[-1].deletes
        assert [(gap.remains, gap.holders) for gap in found] == ([("dead", (2,))] if alive else [])
    else:
        assert [(gap.remains, gap.keys, gap.start_offset) for gap in found] in (
            [("stale", 1, lost.offset)],
            [("gone", 1, lost.offset)],
        )
        assert found[0].lacking == (2,)


def test_what_is_not_committed_is_not_judged() -> None:
    log = [Written(0, 1, deletes=False), Written(1, 2, deletes=False)]
    assert apart(replica(1, log, 2), replica(2, log[:1], 2), committed=1) == []


def test_a_transaction_counts_where_it_ended_and_as_it_ended() -> None:
    def closed(*, commits: bool | None) -> list[int]:
        ledger = KeyLedger(0)
        span = Span(source="s", start=0, end=1)
        ledger.batch(span, [(7, 0, False)], producer=1)
        if commits is not None:
            ledger.marker(1, commits=commits)
        last = ledger.close(2)
        assert last.waiting.height == (commits is None)
        return list(last.frame["offset"])

    assert (closed(commits=True), closed(commits=False), closed(commits=None)) == ([0], [], [])


def keyed(base: int, *rows: tuple[int, bytes, bytes | None], end: int | None = None, epoch: int = 0) -> Batch:
    """A batch of records at these offsets, as the cleaner left it where some are missing."""
    last = max(offset for offset, _, _ in rows) + 1 if end is None else end
    records = [Record(offset_delta=offset - base, key=key, value=value) for offset, key, value in rows]
    content = batch_bytes(base_offset=base, leader_epoch=epoch, records=records, last_offset_delta=last - base - 1)
    return Batch(base, last, epoch, content)


WHOLE = [
    keyed(0, (0, b"a", b"1"), (1, b"b", b"1")),
    keyed(2, (2, b"a", b"2"), (3, b"c", b"1")),
    keyed(4, (4, b"d", b"1")),
]
SUPERSEDED = [keyed(0, (1, b"b", b"1"), end=2), *WHOLE[1:]]
LOST = [keyed(0, (1, b"b", b"1"), end=2), keyed(2, (2, b"a", b"2"), end=4), WHOLE[2]]


def test_replicas_that_were_cleaned_at_different_times_are_sound(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, WHOLE)
    yard.broker(2, SUPERSEDED, cleaner=4)
    assert yard.told() == []
    assert [rule for rule, _ in yard.undecided() if rule.startswith("LOG")] == []


def test_a_survivor_that_the_cleaner_took_is_named(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, WHOLE)
    yard.broker(2, LOST, cleaner=4)
    assert ("LOG004", "high", (2,), 3, 4) in yard.told()


def of_a_deposed_leader(yard: Yard, hw: int | None) -> Yard:
    """Broker 2 wrote offset 1 in epoch 0; broker 1 leads epoch 1 from there, and its cleaner is at 5."""
    common = keyed(0, (0, b"a", b"1"))
    since = [keyed(offset, (offset, b"key %d" % offset, b"1"), epoch=1) for offset in range(1, 8)]
    yard.broker(1, [common, *since], cleaner=5)
    yard.broker(2, [common, keyed(1, (1, b"b", b"1"))], hw=hw)
    return yard


def test_a_tail_that_the_protocol_will_cut_is_no_survivor_that_another_lost(tmp_path: Path) -> None:
    yard = of_a_deposed_leader(Yard(tmp_path), hw=1)
    assert yard.told() == []
    assert yard.undecided() == []
    assert {broker: damage for broker, (_, damage, _) in elections(yard).items()} == {1: (), 2: ()}


def test_a_record_below_the_high_watermark_of_a_deposed_leader_is_one_that_its_successor_lost(tmp_path: Path) -> None:
    yard = of_a_deposed_leader(Yard(tmp_path), hw=2)
    assert ("LOG004", "high", (1,), 1, 2) in yard.told()


def test_a_replica_of_which_nothing_tells_what_is_committed_is_not_compared(tmp_path: Path) -> None:
    yard = of_a_deposed_leader(Yard(tmp_path), hw=None)
    assert [told for told in yard.told() if told[0].startswith("LOG")] == []
    assert ("LOG004", (2,)) in yard.undecided()


def test_without_a_high_watermark_the_question_stays_open(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, WHOLE, hw=None)
    yard.broker(2, SUPERSEDED, hw=None, cleaner=4)
    assert {("LOG004", (1, 2)), ("LOG005", (1, 2))} <= set(yard.undecided())


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied("compaction_race", tmp_path_factory.mktemp("race") / "dump", logs=True)


def test_deletes_that_still_wait_for_their_removal_make_it_certain(race: Path) -> None:
    found = {f.rule: f for f in audited(race).violations}["LOG005"]
    assert (found.confidence, found.brokers, found.start_offset, found.end_offset) == ("certain", (3,), 0, 5)
    for leftover in race.rglob("*.deleted"):
        leftover.unlink()
    found = {f.rule: f for f in audited(race).violations}["LOG005"]
    assert (found.confidence, found.brokers, found.start_offset, found.end_offset) == ("likely", (3,), 0, 5)


def test_a_quick_look_reads_no_records_and_leaves_the_verdict_open(race: Path) -> None:
    report = audited(race, level="quick")
    assert report.violations == ()
    assert report.exit_code == 3


def with_a_count_that_lies(change: Change) -> AuditReport:
    """Where a batch of a topic says that it has nine records of ten, as if a cleaner had taken one."""
    return judged(BASE, on_healed(batch(2, at=45, record_count=9), change), "full")


def left_open(report: AuditReport) -> set[str]:
    return {point.rule for point in report.coverage.undecided}


def without_settings(copy: Copy) -> None:
    copy.without("*/logs", "controller-100", "*/data/__cluster_metadata-0")


def compacts(copy: Copy) -> None:
    """A broker's default is to compact, which no topic overrides."""
    copy.log("broker-1", "server.log", r"log\.cleanup\.policy = \[delete\]", "log.cleanup.policy = [compact]")


def compacted_once(copy: Copy) -> None:
    """It was so until the broker was started again."""
    pattern = r"log\.cleanup\.policy = \[delete\]"
    copy.log("broker-1", "server.log", pattern, "log.cleanup.policy = [compact]", count=1)


def visited(copy: Copy) -> None:
    (copy.dump / "broker-1" / "data" / "cleaner-offset-checkpoint").write_text("0\n1\nd 0 60\n", encoding="utf-8")


def test_keys_are_not_asked_of_a_topic_that_nothing_compacts() -> None:
    assert not left_open(with_a_count_that_lies(unchanged)) & {"LOG004", "LOG005"}
    assert not left_open(with_a_count_that_lies(lambda copy: copy.without("broker-*/logs"))) & {"LOG004", "LOG005"}


@pytest.mark.parametrize("change", [without_settings, compacts, compacted_once, visited])
def test_keys_are_asked_where_something_may_have_been_compacted(change: Change) -> None:
    assert left_open(with_a_count_that_lies(change)) >= {"LOG004", "LOG005"}


def test_a_header_that_lies_on_one_broker_hides_no_hole_of_another() -> None:
    """Holes are lawful where a log is compacted, and its header alone does not make it so."""
    assert said(with_a_count_that_lies(gone(1, at=85)), "SEG005") == (("high", (1,), 80, 90),)


EVERY = [keyed(offset, (offset, b"key %d" % offset, b"1")) for offset in range(10)]
DROPPED = [EVERY[0], *EVERY[2:5], *EVERY[6:]]
KEPT = [*EVERY[:5], *EVERY[6:]]


def elections(yard: Yard) -> dict[int, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """What is said of each broker's election, and what it is said for."""
    (advised,) = (placed.advice for placed in yard.report().advice)
    going = {gate.action: gate.going for gate in advised.gates}
    return {c.broker: (going[f"elect broker {c.broker}"], c.damage, c.doubts) for c in advised.candidates}


def test_a_replica_that_probably_serves_deleted_keys_is_not_to_be_elected(tmp_path: Path) -> None:
    """Offset 5 is missing in every log: there a delete of what broker 3 alone still holds may have stood."""
    yard = Yard(tmp_path)
    yard.broker(1, DROPPED, cleaner=10)
    yard.broker(2, DROPPED, cleaner=10)
    yard.broker(3, KEPT, cleaner=0)
    assert [(f.rule, f.confidence) for f in yard.report().violations] == [("LOG005", "likely")]
    assert elections(yard) == {
        1: ("go", (), ()),
        2: ("go", (), ()),
        3: ("no-go", ("it probably serves 1 key that was deleted",), ()),
    }


def test_where_either_side_may_be_wrong_no_election_is_judged(tmp_path: Path) -> None:
    """One replica of three lacks the key, and the cleaners of all of them ran: it may have lost the key."""
    yard = Yard(tmp_path)
    yard.broker(1, KEPT, cleaner=10)
    yard.broker(2, KEPT, cleaner=10)
    yard.broker(3, DROPPED, cleaner=10)
    (found,) = yard.report().violations
    assert (found.rule, found.confidence, found.brokers) == ("LOG005", "possible", (1, 2, 3))
    assert "before they were copied, or broker 3 lost the last record of it." in found.message
    assert elections(yard) == {
        1: ("unknown", (), ("it may serve 1 key that was deleted",)),
        2: ("unknown", (), ("it may serve 1 key that was deleted",)),
        3: ("unknown", (), ("it may lack the last record of 1 key, which brokers 1 and 2 kept",)),
    }


CUT_OFF = """
    broker 1* ..0b0c|0d ; cleaner 4
    broker 2  0a.0b0c|0d
    {cut}
"""


@pytest.mark.parametrize(
    ("cut", "confidence", "why"),
    [
        ("", "likely", "The records that delete them were compacted away before they were copied."),
        ("t1 follows 1 epoch 0 at 9 hw 3\n    t2 truncates 1 to 5", "possible", "or a later record of each key"),
    ],
)
def test_a_record_that_was_cut_off_may_have_replaced_what_the_cleaner_dropped(
    cut: str, confidence: str, why: str
) -> None:
    """After the cut the older record counts again, and only who had not cleaned it still has it."""
    (found,) = [f for f in judge(read_sketch(CUT_OFF.format(cut=cut)).evidence, RULES).findings if f.rule == "LOG005"]
    assert found.confidence == confidence
    assert why in found.message


REFILLED = """
    broker 1  .0b0c0d1e1f| ; cleaner 4
    broker 2* 0a0b0c0d1e1f|
    {told}
"""
LED = "t1 leads 2 epoch 1 at 4 hw 4\n    t2 follows 1 epoch 1 at 4 hw 4\n    t3 loads 1 at 6"
STORIES = {
    "": "a later record of it was at offset 4 or behind and was cut off when epoch 1 began",
    LED: "no delete explains that",
}


@pytest.mark.parametrize("told", STORIES)
def test_a_later_record_may_have_been_cut_off_before_the_next_epoch_filled_its_place(told: str) -> None:
    """Broker 1's cleaner was right then; where its own log tells of that role, it tells no cut."""
    findings = judge(read_sketch(REFILLED.format(told=told)).evidence, RULES).findings
    (found,) = [f for f in findings if f.rule == "LOG004"]
    assert (found.brokers, STORIES[told] in found.message) == ((1,), True), found.message
    assert found.message.startswith("Broker 1 lacks the last record of 1 key, which broker 2 kept at offset 0.")


def test_an_epoch_that_began_before_the_key_was_written_explains_nothing(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    since = [keyed(offset, (offset, b"key %d" % offset, b"1"), epoch=1) for offset in range(2, 8)]
    yard.broker(1, [*EVERY[:2], *since[1:]], cleaner=8)
    yard.broker(2, [*EVERY[:2], *since], cleaner=0)
    (found,) = [f for f in yard.report().violations if f.rule == "LOG004"]
    assert "no delete explains that" in found.message


KEYLESS = wrote(0, 0, 60) + wrote(1, 60, 100)
"""Records without keys, of which a cleaner keeps none."""
CUT_OUT = [one for one in KEYLESS if one.base != 30]


@pytest.mark.parametrize("cleaners", [{1: 100, 2: 100, 3: 100}, {2: 100}, {1: 100}])
def test_a_hole_above_records_without_keys_is_no_cleaners(cleaners: dict[int, int], tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, CUT_OUT if broker == 2 else KEYLESS, cleaner=cleaners.get(broker))
    assert (yard.told(), yard.undecided()) == ([], [("SEG005", (2,))])


def test_a_leader_whose_cleaner_took_all_records_without_keys_explains_a_followers_hole(tmp_path: Path) -> None:
    """Broker 2 had copied the first records before, and the rest after it."""
    yard = Yard(tmp_path)
    yard.broker(1, KEYLESS[6:], cleaner=60, epochs=[(0, 0), (1, 60)], segments=(0,))
    yard.broker(2, [*KEYLESS[:3], *KEYLESS[6:]])
    assert (yard.told(), yard.undecided()) == ([], [])


def test_where_all_logs_end_below_what_a_cleaner_had_reached_it_is_asked_what_stood_there(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, EVERY[:6], cleaner=8)
    assert (yard.told(), yard.undecided()) == ([], [("LOG008", (1, 2))])
    (asked,) = [f for f in yard.report().findings if f.rule == "LOG008"]
    assert "No replica here holds readable records there. The cleaner of broker 1 had reached offset 8" in asked.message
