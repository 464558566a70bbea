"""What healthy clusters do to their disks: none of it may be told as worse than information (or low, where said)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import pytest

from parsers.writers.segments import CONTROL, TRANSACTIONAL, Record, batch_bytes, legacy_bytes
from rules.catalog import RULES
from rules.finding import Severity
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.lab.written_bytes import marker_bytes
from tests.rules.broken_dumps import OTHER_TOPIC_ID, Batch, Yard, batch, chain, kept, position, segment, wrote

LOG = wrote(0, 0, 60) + wrote(1, 60, 100)
LEVELS = ("quick", "full", "deep")


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def lawful(yard: Yard, *, least: Severity = Severity.LOW, undecided: bool = False) -> None:
    """Nothing of this severity at any level, and no verdict left open unless that is said."""
    for level in LEVELS:
        assert yard.told(level, least=least) == [], level
        assert undecided or yard.undecided(level) == [], level


def test_segments_begin_elsewhere(yard: Yard) -> None:
    yard.broker(1, LOG, segments=[30])
    yard.broker(2, LOG, segments=[20, 50, 90])
    yard.broker(3, LOG)
    lawful(yard, least=Severity.INFO)


def test_retention_took_more_from_one_replica(yard: Yard) -> None:
    yard.broker(1, LOG)
    yard.broker(2, LOG[3:], epochs=[(0, 30), (1, 60)])
    yard.broker(3, LOG[7:], epochs=[(1, 70)])
    lawful(yard, least=Severity.INFO)


def test_deleted_records_end_inside_a_batch(yard: Yard) -> None:
    yard.broker(1, LOG, start=35, epochs=[(0, 35), (1, 60)])
    yard.broker(2, LOG[3:], start=35, epochs=[(0, 35), (1, 60)])
    yard.broker(3, LOG, start=35, epochs=[(0, 35), (1, 60)])
    lawful(yard, least=Severity.INFO)


def test_batches_wholly_below_the_log_start_need_no_entry(yard: Yard) -> None:
    yard.broker(1, LOG, start=100, epochs=[(6, 100)])
    yard.broker(2, LOG, start=80, epochs=[(1, 80)])
    lawful(yard, least=Severity.INFO)


@pytest.mark.parametrize(
    ("older", "epochs", "accused"),
    [("---", "2@5", set()), ("000", "2@5", {1}), ("---", "empty", {1}), ("---", "3@5", {1})],
)
def test_the_first_records_with_epochs_need_no_entry_where_their_epoch_has_one(
    older: str, epochs: str, accused: set[int]
) -> None:
    sketch = read_sketch(f"broker 1 {older}222| ; epochs {epochs}\nbroker 2 {older}222|")
    found = [f for f in judge(sketch.evidence, RULES).findings if f.rule == "EPOCH003"]
    assert {broker for finding in found for broker in finding.brokers} == accused


TOLD = "t2 leads 2 epoch 2 at 4 hw 4\nt3 loads 1 at 6\n"


@pytest.mark.parametrize(
    ("told", "severity"),
    [
        (f"t1 leads 1 epoch 0 at 0 hw 0\n{TOLD}", Severity.LOW),  # its log of then may be missing
        (f"t1 leads 1 epoch 0 at 0 hw 0\n{TOLD}t4 follows 1 epoch 2 at 6 hw 4\n", Severity.HIGH),
        (f"t1 leads 2 epoch 0 at 0 hw 0\n{TOLD}", Severity.HIGH),
        ("", Severity.HIGH),
    ],
)
def test_a_leader_may_have_deleted_records_alone_which_cut_its_epoch_file(told: str, severity: Severity) -> None:
    sketch = read_sketch(f"broker 1 000022| ; epochs 2@4\nbroker 2 000022|\n{told}")
    (found,) = (f for f in judge(sketch.evidence, RULES).findings if f.rule == "EPOCH003")
    assert found.severity == severity


def test_watermarks_lag(yard: Yard) -> None:
    yard.broker(1, LOG, hw=90, clean=False, recovery=60)
    yard.broker(2, LOG, hw=70, clean=False, recovery=60)
    yard.broker(3, LOG, hw=None, recovery=None)
    lawful(yard, least=Severity.INFO)


def test_a_follower_is_behind_or_still_filling(yard: Yard) -> None:
    yard.broker(1, LOG)
    yard.broker(2, LOG[:7], hw=70)
    yard.broker(3, LOG[:1], hw=0)
    yard.broker(4, [], hw=0)
    lawful(yard, least=Severity.INFO)


def test_a_suffix_above_the_watermark_is_told_as_information(yard: Yard) -> None:
    yard.broker(1, wrote(0, 0, 100), hw=60)
    yard.broker(2, LOG)
    lawful(yard, undecided=True)  # nobody tells whether a producer was answered for it, and a restart takes it away
    assert [told[0] for told in yard.told(least=Severity.INFO)] == ["LOG002", "TRUNC004"]


def test_an_unflushed_tail_is_lost_and_copied_back(yard: Yard) -> None:
    yard.broker(1, LOG)
    yard.broker(2, LOG[:8], hw=90, clean=False, recovery=60)
    lawful(yard, least=Severity.MEDIUM)


def test_epochs_without_batches(yard: Yard) -> None:
    yard.broker(1, LOG, epochs=[(0, 0), (1, 60), (2, 100)])
    yard.broker(2, LOG, epochs=[(0, 0), (1, 60), (5, 100)])
    yard.broker(3, LOG)
    lawful(yard)


def test_two_epochs_begin_at_one_offset_up_to_2_0_0(yard: Yard) -> None:
    log = wrote(0, 0, 60) + wrote(2, 60, 100)
    yard.broker(1, log, epochs=[(0, 0), (1, 60), (2, 60)])
    yard.broker(2, log)
    lawful(yard)


def test_preallocated_zeros(yard: Yard) -> None:
    for broker in (1, 2):
        path = segment(yard.broker(broker, LOG, segments=[60], clean=False, recovery=60), 60 if broker == 1 else 0)
        path.write_bytes(path.read_bytes() + bytes(100_000))
    yard.broker(3, LOG)
    lawful(yard, least=Severity.INFO)


def test_a_future_replica_is_shorter(yard: Yard) -> None:
    yard.broker(1, LOG)
    yard.broker(2, LOG)
    yard.broker(1, LOG[:4], log_dir="data2", suffix=f".{'a' * 32}-future")
    lawful(yard, least=Severity.INFO)


@pytest.mark.parametrize("suffix", ["delete", "stray"])
def test_copies_out_of_use(yard: Yard, suffix: str) -> None:
    yard.broker(1, LOG)
    yard.broker(2, LOG)
    yard.broker(1, wrote(0, 0, 30, "old"), suffix=f".{'a' * 32}-{suffix}")
    lawful(yard, least=Severity.INFO)


def test_two_log_dirs_of_one_broker(yard: Yard) -> None:
    yard.broker(1, LOG, log_dir="data1")
    yard.broker(1, LOG, log_dir="data2", partition=1)
    yard.broker(2, LOG)
    yard.broker(2, LOG, partition=1)
    lawful(yard, least=Severity.INFO)


def test_twins_of_a_compaction_under_way(yard: Yard) -> None:
    yard.broker(1, LOG)
    folder = yard.broker(2, LOG, segments=[30, 60])
    shutil.copy(segment(folder), folder / f"{0:020d}.log.cleaned")
    shutil.copy(segment(folder, 30), folder / f"{30:020d}.log.deleted")
    lawful(yard)


def test_a_swap_segment_is_the_truth(yard: Yard) -> None:
    yard.broker(1, LOG)
    folder = yard.broker(2, LOG, segments=[60])
    segment(folder).rename(folder / f"{0:020d}.log.swap")
    lawful(yard)


def test_a_topic_created_again(yard: Yard) -> None:
    yard.broker(1, LOG)
    yard.broker(2, LOG)
    yard.broker(3, wrote(0, 0, 60, "old") + wrote(7, 60, 90), topic_id=OTHER_TOPIC_ID)
    lawful(yard)
    assert ("LOG006", "info", (1, 2, 3), None, None) in yard.told(least=Severity.INFO)
    (finding,) = [finding for finding in yard.report().violations if finding.rule == "LOG006"]
    assert finding.confidence == "possible"
    yard.broker(3, wrote(0, 0, 60, "old"), topic_id=OTHER_TOPIC_ID, partition=1)
    lawful(yard)
    known = [finding for finding in yard.report().violations if finding.rule == "LOG006"]
    assert [finding.confidence for finding in known] == ["certain"]


def test_the_same_records_under_two_topic_ids_are_no_two_topics(yard: Yard) -> None:
    """No life of a topic shares a batch with another one: an id is damaged, and what was not compared is left open."""
    yard.broker(1, LOG)
    yard.broker(2, LOG)
    yard.broker(3, LOG, topic_id=OTHER_TOPIC_ID)
    lawful(yard, undecided=True)
    assert yard.undecided() == [("LOG006", (1, 2, 3))]
    assert yard.report().verdict == "unknown"


# --- copies -----------------------------------------------------------------------------------------------------------


def test_segments_alone(yard: Yard) -> None:
    for broker in (1, 2, 3):
        folder = yard.broker(broker, LOG, hw=None, recovery=None, topic_id=None, clean=False)
        (folder / "leader-epoch-checkpoint").unlink()
    lawful(yard, undecided=True)
    assert yard.undecided() == [("EPOCH003", (1, 2, 3))]


def test_segments_of_a_compacted_topic_alone(yard: Yard) -> None:
    log = [one for one in wrote(0, 0, 60, size=1) if one.base % 3]
    for broker in (1, 2):
        folder = yard.broker(broker, log, hw=None, recovery=None, topic_id=None, clean=False)
        (folder / "leader-epoch-checkpoint").unlink()
    lawful(yard, least=Severity.MEDIUM, undecided=True)


LIVE = {
    "the log is newer than its checkpoints": {"hw": 60, "recovery": 20, "epochs": [(0, 0)]},
    "checkpoints are newer than the log": {"hw": 130, "recovery": 120, "epochs": [(0, 0), (1, 60), (2, 130)]},
    "the epoch file shows a cut that the log does not": {"hw": 60, "epochs": [(0, 0), (1, 60), (2, 90)]},
    "the log start is older than the epoch file": {"epochs": [(0, 30), (1, 60)]},
}


@pytest.mark.parametrize("moment", LIVE)
def test_a_live_copy_is_of_several_moments(yard: Yard, moment: str) -> None:
    yard.broker(1, LOG, clean=False)
    yard.broker(2, LOG, clean=False)
    yard.broker(3, LOG, clean=False, **LIVE[moment])  # type: ignore[arg-type]
    lawful(yard, least=Severity.MEDIUM, undecided=moment == "checkpoints are newer than the log")


def test_a_live_copy_ends_in_a_torn_batch(yard: Yard) -> None:
    for broker in (1, 2):
        path = segment(yard.broker(broker, LOG, hw=90, recovery=60, clean=False))
        path.write_bytes(path.read_bytes()[:-5])
    lawful(yard)


def test_a_live_copy_took_a_segment_before_it_was_full(yard: Yard) -> None:
    yard.broker(1, LOG, clean=False)
    path = segment(yard.broker(2, LOG, segments=[60], clean=False))
    path.write_bytes(path.read_bytes()[: position(LOG, 40) + 9])
    lawful(yard, least=Severity.MEDIUM)


def test_live_copies_end_at_different_moments(yard: Yard) -> None:
    yard.broker(1, LOG[:8], hw=80, clean=False, epochs=chain(LOG[:8]))
    yard.broker(2, LOG, hw=90, clean=False)
    yard.broker(3, LOG + wrote(2, 100, 120), hw=110, clean=False)
    lawful(yard)


# --- compaction -------------------------------------------------------------------------------------------------------


KEY = b"k"
KEYED = wrote(0, 0, 60, key=KEY) + wrote(1, 60, 100, key=KEY)
"""Each record takes the place of all before it."""


def test_each_replica_is_cleaned_on_its_own(yard: Yard) -> None:
    yard.broker(1, KEYED)
    left = [kept(KEYED[0], [3, 9], KEY), kept(KEYED[2], []), *KEYED[3:]]
    yard.broker(2, left, cleaner=30, epochs=chain(KEYED))
    yard.broker(3, [kept(KEYED[1], [10], KEY), *KEYED[3:]], cleaner=30, segments=(0,), epochs=chain(KEYED))
    for level in ("full", "deep"):
        assert yard.told(level) == []
        assert yard.undecided(level) == []


def test_a_compacted_partition_is_undecided_at_level_quick_where_digests_differ(yard: Yard) -> None:
    yard.broker(1, KEYED)
    yard.broker(2, [kept(KEYED[0], [3, 9], KEY), *KEYED[3:]], cleaner=30, epochs=chain(KEYED))
    assert yard.told("quick") == []
    assert yard.undecided("quick") == [("LOG001", (1, 2))]
    assert yard.undecided("full") == []


def test_a_compacted_partition_that_agrees_is_decided_at_level_quick(yard: Yard) -> None:
    log = [kept(LOG[0], [3, 9]), *LOG[3:]]
    for broker in (1, 2):
        yard.broker(broker, log, cleaner=30, epochs=chain(LOG))
    assert yard.told("quick") == []
    assert yard.undecided("quick") == []


def test_other_content_at_one_offset_is_no_compaction(yard: Yard) -> None:
    yard.broker(1, [kept(LOG[0], [3, 9]), *LOG[3:]], cleaner=30, epochs=chain(LOG))
    yard.broker(2, [*LOG[:4], batch(0, 40, 50, "other"), *LOG[5:]])
    told = yard.told()
    assert ("LOG003", "critical", (1, 2), 40, 50) in told
    assert {one[3:] for one in told} == {(40, 50)}


def test_delete_horizons_are_each_cleaner_s_own(yard: Yard) -> None:
    def with_horizon(horizon: int) -> Batch:
        content = batch_bytes(
            base_offset=0,
            leader_epoch=0,
            records=[Record(offset_delta=0, timestamp_delta=1000 - horizon, key=b"k")],
            attributes=1 << 6,
            base_timestamp=horizon,
            max_timestamp=1000,
        )
        return Batch(0, 1, 0, content)

    for broker, horizon in ((1, 5000), (2, 7000)):
        yard.broker(broker, [with_horizon(horizon), *wrote(0, 1, 41)], cleaner=1)
    assert yard.told("full", least=Severity.INFO) == []
    assert yard.told("deep", least=Severity.INFO) == []


# --- transactions and old formats -----------------------------------------------------------------------------------


def test_transactions_with_markers_that_go_back_in_time(yard: Yard) -> None:
    records = [Record(offset_delta=delta, value=b"x") for delta in range(10)]
    data = batch_bytes(
        base_offset=0,
        records=records,
        attributes=TRANSACTIONAL,
        base_timestamp=9000,
        producer_id=7,
        producer_epoch=0,
        base_sequence=0,
    )
    marker = marker_bytes(offset=10, leader_epoch=0, producer_id=7, producer_epoch=0, commit=False, timestamp=10)
    assert marker[22] & CONTROL
    log = [Batch(0, 10, 0, data), Batch(10, 11, 0, marker), *wrote(0, 11, 41)]
    yard.healthy(log, 1, 2, 3)
    lawful(yard, least=Severity.INFO)


def old(magic: Literal[0, 1], start: int, end: int) -> list[Batch]:
    return [Batch(offset, offset + 1, -1, old_message(magic, offset)) for offset in range(start, end)]


def old_message(magic: Literal[0, 1], offset: int) -> bytes:
    value = f"0-{offset}".encode() * 4
    return legacy_bytes(magic=magic, offset=offset, value=value, timestamp=0 if magic else -1)


def test_old_formats_carry_no_epoch(yard: Yard) -> None:
    log = old(0, 0, 20) + old(1, 20, 40)
    yard.broker(1, log, epochs=[], topic_id=None)
    yard.broker(2, log, epochs=[], topic_id=None)
    lawful(yard, least=Severity.INFO)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_follower_that_was_served_an_old_format(yard: Yard, magic: Literal[0, 1]) -> None:
    """Converted copies lose epochs and markers, whose offsets are holes then."""
    marker = marker_bytes(offset=60, leader_epoch=0, producer_id=7, producer_epoch=0, commit=True)
    leader = [*wrote(0, 0, 60), Batch(60, 61, 0, marker), *wrote(0, 61, 101)]
    yard.broker(1, leader, topic_id=None)
    yard.broker(2, old(magic, 0, 60) + old(magic, 61, 101), epochs=[], topic_id=None)
    for level in ("full", "deep"):
        assert yard.told(level) == []
        assert yard.undecided(level) == []
