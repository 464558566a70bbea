"""Cuts that producers tell of: a snapshot that knows other records, a sequence that the log does not lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.tables import ProducerState
from parsers.writers.segments import Record, batch_bytes
from rules.finding import Severity
from tests.lab.written_bytes import write_producer_snapshot
from tests.rules.broken_dumps import Batch, Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def sent(epoch: int, base: int, sequence: int, producer: int = 7, producer_epoch: int = 0) -> Batch:
    """Ten records that an idempotent producer sent."""
    records = [Record(offset_delta=delta, value=f"{producer}-{sequence + delta}".encode()) for delta in range(10)]
    content = batch_bytes(
        base_offset=base, leader_epoch=epoch, records=records, producer_id=producer, producer_epoch=producer_epoch,
        base_sequence=sequence,
    )  # fmt: skip
    return Batch(base, base + 10, epoch, content)


def snapshot(folder: Path, at: int, *, producer: int, last_offset: int, last_sequence: int) -> None:
    row = ProducerState(
        cluster_id=None, broker=None, log_dir=None, topic=None, topic_id=None, partition=None, snapshot_offset=at,
        producer_id=producer, producer_epoch=0, last_sequence=last_sequence, last_offset=last_offset, offset_delta=9,
        timestamp=0, coordinator_epoch=-1, current_txn_first_offset=-1, source="", span_start=0, span_end=0,
    )  # fmt: skip
    (folder / f"{at:020d}.snapshot").write_bytes(write_producer_snapshot([row]))


TRUNCATED = "{} was truncated from log end offset {} to {} or lower. That was "
LOG = [sent(0, 0, 0), sent(0, 10, 10), sent(1, 20, 0, producer=9), sent(1, 30, 10, producer=9)]


def asked(yard: Yard) -> list[tuple[str, str]]:
    """What TRUNC001 leaves open in the ledger."""
    return [(line.reason, line.missing) for line in yard.report().coverage.undecided if line.rule == "TRUNC001"]


def test_a_snapshot_that_knows_other_records_is_a_cut(yard: Yard) -> None:
    folder = yard.broker(1, LOG)
    yard.broker(2, LOG)
    snapshot(folder, 40, producer=8, last_offset=39, last_sequence=19)
    assert yard.told(least=Severity.INFO) == []
    ((reason, missing),) = asked(yard)
    assert reason.startswith(TRUNCATED.format("broker 1's log", 40, 30) + "after it wrote the snapshot at 40")
    assert "before it held epoch 1's records from 30 on" in reason
    assert "server.log" in missing
    (placed,) = yard.report().counterfactuals
    assert (placed.table.follower, placed.table.start_offset, placed.table.end_offset) == (1, 30, 40)


@pytest.mark.parametrize(
    ("producer", "last_offset", "last_sequence"),
    [
        (9, 39, 19),  # it agrees
        (7, 19, 19),  # of an earlier producer, which wrote no more
        (8, -1, -1),  # markers alone
        (8, 49, 19),  # beyond the log end, where a copy made at two moments explains it
    ],
)
def test_a_snapshot_that_the_log_bears_out_is_none(
    yard: Yard, producer: int, last_offset: int, last_sequence: int
) -> None:
    folder = yard.broker(1, LOG)
    yard.broker(2, LOG)
    snapshot(folder, 40, producer=producer, last_offset=last_offset, last_sequence=last_sequence)
    assert yard.told(least=Severity.INFO) == []
    assert asked(yard) == []


def test_a_producer_that_enters_a_later_epoch_in_the_middle_of_its_sequence(yard: Yard) -> None:
    yard.healthy([sent(0, 0, 0), sent(0, 10, 10), sent(1, 20, 40, producer=8)], 1, 2)
    ((reason, _),) = asked(yard)
    assert reason.startswith(TRUNCATED.format("a log with epoch 0", 60, 20) + "after epoch 0 had written 40 more")
    assert "Producer 8 of epoch 0 goes on with sequence 40 at offset 20, where sequence 0 was due" in reason


def test_a_sequence_ahead_of_the_one_due_in_a_new_epoch(yard: Yard) -> None:
    yard.healthy([sent(0, 0, 0), sent(0, 10, 10), sent(1, 20, 50)], 1, 2)
    ((reason, missing),) = asked(yard)
    assert reason.startswith(TRUNCATED.format("a log with epoch 0", 50, 20) + "after epoch 0 had written 30 more")
    assert "goes on with sequence 50 at offset 20, where sequence 20 was due" in reason
    assert missing.startswith("the logs of the broker that led epoch 0")


@pytest.mark.parametrize(
    "log",
    [
        [sent(0, 0, 0), sent(0, 10, 10), sent(1, 20, 20)],  # it goes on
        [sent(0, 0, 0), sent(0, 10, 10), sent(1, 20, 0, producer_epoch=1)],  # its epoch was bumped
        [sent(0, 0, 0), sent(0, 10, 10), sent(1, 20, 0, producer=8)],  # another producer
        [sent(0, 0, 0), sent(0, 10, 10), sent(0, 20, 50)],  # no new leader
        [sent(0, 0, 30), sent(0, 10, 40), sent(1, 20, 50)],  # its state had expired
        [sent(0, 0, 0), sent(1, 20, 50)],  # a hole tells why
        [sent(0, 0, 40), sent(1, 10, 50)],  # the topic was created again under its feet
        [sent(0, 10, 0), sent(1, 20, 40, producer=8)],  # the log's beginning was deleted
    ],
)
def test_a_sequence_that_something_else_explains(yard: Yard, log: list[Batch]) -> None:
    yard.healthy(log, 1, 2)
    assert asked(yard) == []
