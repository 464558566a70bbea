"""Consumer offsets and transaction states of real clusters, held against Kafka's own decoder."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsers.internal_topics import InternalRecord, group_history, internal_record, transaction_history
from parsers.provenance import Origin
from parsers.records import decode_entry
from rules.protocol.partitioning import group_partition

SAMPLES = Path(__file__).parents[2] / "sample_logs"
OFFSET_LOGS = sorted(SAMPLES.glob("*/dump/*/data/__consumer_offsets-*/*.log"))
TRANSACTION_LOGS = sorted(SAMPLES.glob("*/dump/*/data/__transaction_state-*/*.log"))
ORIGIN = Origin(source="log", partition=0)


def records_of(path: Path) -> Iterator[InternalRecord]:
    data = path.read_bytes()
    origin = Origin(source=path.as_posix())
    position = 0
    while position < len(data):
        size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        parsed = decode_entry(data[position : position + size], origin, position, payloads=True)
        assert not parsed.refusals
        producer_id, transactional = struct.unpack_from(">q", data, position + 43)[0], bool(data[position + 22] & 0x10)
        yield from (internal_record(row, producer_id=producer_id, transactional=transactional) for row in parsed.rows)
        position += size


COMMITTED = {
    "clients_astray": {
        *((group, "pay", 0) for group in ("audit", "billing", "mail", "stock")),
        *((group, "wide", partition) for group in ("own", "kafkas") for partition in range(5)),
    },
    "migrated": {("g1", "pay", 0)},
    "never_rejoined": {("readers", "pay", 0), ("readers", "pay", 1), ("watchers", "seen", 0)},
    "thawed_follower": {
        *(("g1", topic, partition) for topic in ("one", "pay", "tx") for partition in (0, 1)), ("g1", "cut", 0),
    },
}  # fmt: skip
MEMBERS = {"clients_astray": {"own", "kafkas"}, "thawed_follower": {"g1"}}
"""Groups whose members a coordinator assigned; elsewhere consumers assigned themselves."""
STILL_OPEN = {"left_open": {"Ongoing"}}


@pytest.mark.parametrize(
    "path", OFFSET_LOGS, ids=lambda path: "-".join((path.parts[-6], path.parts[-4], path.parts[-2]))
)
def test_recorded_offsets_read_whole(path: Path) -> None:
    told = group_history(records_of(path), ORIGIN)
    assert (told.refusals, told.skipped) == ((), ())
    assert {row.group for row in told.groups} <= MEMBERS.get(path.parts[-6], set())
    committed = COMMITTED.get(path.parts[-6], {("g1", "orders", 0)})
    assert {(row.group, row.topic, row.partition) for row in told.offsets} <= committed
    assert all((row.topic_id is not None) == ("clean_4x" in path.as_posix()) for row in told.offsets)


@pytest.mark.parametrize(
    "path", TRANSACTION_LOGS, ids=lambda path: "-".join((path.parts[-6], path.parts[-4], path.parts[-2]))
)
def test_recorded_transactions_read_whole_and_lie_where_their_hash_says(path: Path) -> None:
    told = transaction_history(records_of(path), ORIGIN)
    assert (told.refusals, told.skipped) == ((), ())
    partitions = len({folder.name for folder in path.parents[3].glob("*/data/__transaction_state-*")})
    for row in told.transactions:
        assert group_partition(row.transactional_id, partitions) == int(path.parent.name.rsplit("-", 1)[1])
    ended = {row.transactional_id: row.state for row in told.transactions}
    assert set(ended.values()) <= {"CompleteCommit", "CompleteAbort", "Empty", *STILL_OPEN.get(path.parts[-6], ())}


def test_there_are_recordings() -> None:
    assert sum(path.stat().st_size > 0 for path in OFFSET_LOGS) >= 12
    assert sum(path.stat().st_size > 0 for path in TRANSACTION_LOGS) >= 24


def printed(file: str) -> Iterator[tuple[Path, int, str, str]]:
    for path in sorted(SAMPLES.glob(f"dump_log_text/*/{file}")):
        lines = path.read_text().splitlines()
        for line in lines:
            if match := re.search(r"^(?:\| )?offset: (\d+) .*? key: (.*?) payload: (.*)$", line):
                yield SAMPLES / lines[0].removeprefix("Dumping "), int(match[1]), match[2], match[3]


def test_commits_read_as_kafkas_own_decoder_prints_them() -> None:
    compared = 0
    for log, offset, key, payload in printed("offsets.out"):
        row = group_history(records_of(log), ORIGIN).offsets[offset]
        if key.startswith("{"):
            assert json.loads(key)["data"] == {"group": row.group, "topic": row.topic, "partition": row.partition}
            data = json.loads(payload)["data"]
            assert (data["offset"], data["leaderEpoch"]) == (row.committed_offset, row.committed_epoch)
            assert (len(data["metadata"]), data["commitTimestamp"]) == (row.metadata_size, row.commit_time)
        else:
            assert key == f"offset_commit::group={row.group},partition={row.topic}-{row.partition}"
            assert payload == f"offset={row.committed_offset}"
        compared += 1
    assert compared >= 3


def test_transactions_read_as_kafkas_own_decoder_prints_them() -> None:
    compared = 0
    for log, offset, key, payload in printed("transactions.out"):
        row = transaction_history(records_of(log), ORIGIN).transactions[offset]
        if payload.startswith("{"):
            data = json.loads(payload)["data"]
            parts = [
                f"{part['topic']}-{number}"
                for part in data["transactionPartitions"] or ()
                for number in part["partitionIds"]
            ]
            assert (",".join(parts), data["transactionPartitions"] is None) == (
                row.partitions or "",
                row.partitions is None,
            )
            assert (data["producerId"], data["producerEpoch"]) == (row.producer_id, row.producer_epoch)
            assert data["transactionStartTimestampMs"] == row.start_time
            assert json.loads(key)["data"]["transactionalId"] == row.transactional_id
        else:
            brackets = "Set({})" if key.startswith("transactionalId") else "[{}]"
            assert key.endswith(f"transactionalId={row.transactional_id}")
            assert payload == (
                f"producerId:{row.producer_id},producerEpoch:{row.producer_epoch},state={row.state},"
                f"partitions={brackets.format(row.partitions or '')},"
                f"txnLastUpdateTimestamp={row.last_update_time},txnTimeoutMs={row.timeout_ms}"
            )
        compared += 1
    assert compared >= 40
