"""Every small file and index of every recorded dump reads without a refusal and is written back byte for byte.

Of a file that was damaged on purpose the refusal is just the one that its truth tells.
"""

from __future__ import annotations

from collections import Counter

import pytest

from parsers.checkpoints import (
    OFFSET_CHECKPOINTS,
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_offset_checkpoint,
    read_partition_metadata,
    read_producer_snapshot,
    read_properties,
    read_quorum_state,
)
from parsers.files import read_source
from parsers.indexes import INDEX_KINDS, read_index
from parsers.inventory import take_inventory
from parsers.provenance import Source
from parsers.tables import Refusal
from parsers.writers.checkpoints import (
    write_clean_shutdown,
    write_partition_metadata,
    write_properties,
    write_static_quorum_state,
)
from tests.lab.recorded_damage import SAMPLES, damage_of, left_out
from tests.lab.written_bytes import (
    write_index,
    write_leader_epoch_checkpoint,
    write_offset_checkpoint,
    write_producer_snapshot,
)

DUE = frozenset({"replication-offset-checkpoint", "leader-epoch-checkpoint", "meta-properties", "offset-index"})
CASES = sorted(path.parent.name for path in SAMPLES.glob("*/dump"))


def read_and_write(file: Source, data: bytes) -> tuple[bytes, tuple[Refusal, ...]] | None:
    """What the writer makes of what the reader read, and what the reader refused; None for other kinds."""
    origin, kind, base = file.origin, file.kind, file.base_offset or 0
    if kind in OFFSET_CHECKPOINTS:
        offsets = read_offset_checkpoint(data, origin, OFFSET_CHECKPOINTS[kind])
        return write_offset_checkpoint(offsets.rows) if data else b"", offsets.refusals
    if kind in INDEX_KINDS:
        index = read_index(data, origin, base, INDEX_KINDS[kind])
        return write_index(index.rows, INDEX_KINDS[kind], size=len(data)), index.refusals
    if kind == "leader-epoch-checkpoint":
        epochs = read_leader_epoch_checkpoint(data, origin)
        return b"" if epochs.state == "empty" else write_leader_epoch_checkpoint(epochs.entries), epochs.refusals
    if kind == "producer-snapshot":
        snapshot = read_producer_snapshot(data, origin, base)
        return write_producer_snapshot(snapshot.rows) if data else b"", snapshot.refusals
    if kind == "meta-properties":
        properties = read_properties(data, origin)
        comments = [line[1:] for line in data.decode().splitlines() if line.startswith("#")]
        pairs = [(entry.key, entry.value) for entry in properties.entries]
        return write_properties(pairs, comments=comments), properties.refusals
    return read_and_write_value(file, data)


def read_and_write_value(file: Source, data: bytes) -> tuple[bytes, tuple[Refusal, ...]] | None:
    if file.kind == "partition-metadata":
        metadata = read_partition_metadata(data, file.origin)
        return write_partition_metadata(metadata.topic_id or ""), metadata.refusals
    if file.kind == "clean-shutdown":
        clean = read_clean_shutdown(data, file.origin)
        return write_clean_shutdown(clean.broker_epoch), clean.refusals
    if file.kind == "quorum-state":
        state = read_quorum_state(data, file.origin)
        return write_static_quorum_state(
            leader_id=state.leader_id or 0,
            leader_epoch=state.leader_epoch or 0,
            voted_id=state.voted_id or 0,
            applied_offset=state.applied_offset or 0,
            current_voters=state.current_voters,
        ), state.refusals
    return None


@pytest.mark.parametrize("case", CASES)
def test_all_small_files_read_and_write_back(case: str) -> None:
    root = SAMPLES / case / "dump"
    seen: Counter[str] = Counter()
    for file in take_inventory(root).files:
        content = read_source(root, file.origin)
        assert isinstance(content, bytes)
        result = read_and_write(file, content)
        if result:
            seen[file.kind] += 1
            written, refusals = result
            assert [refusal.kind for refusal in refusals] == damage_of(root / file.origin.source), file.origin.source
            assert refusals or written == content, file.origin.source
    assert seen.keys() & (DUE | left_out(case)) == DUE - left_out(case)


def test_known_contents_of_a_recording() -> None:
    root = SAMPLES / "clean_1_1" / "dump"
    files = {file.origin.source: file for file in take_inventory(root).files}
    epochs = files["broker-1/data/orders-0/leader-epoch-checkpoint"]
    data = read_source(root, epochs.origin)
    assert isinstance(data, bytes)
    entries = read_leader_epoch_checkpoint(data, epochs.origin).entries
    assert [(entry.epoch, entry.start_offset) for entry in entries] == [
        (0, 0), (1, 71), (2, 91), (3, 162), (4, 254), (5, 345), (6, 365), (7, 436),
    ]  # fmt: skip
    assert {(entry.topic, entry.partition, entry.broker) for entry in entries} == {("orders", 0, 1)}
    watermarks = files["broker-1/data/replication-offset-checkpoint"]
    data = read_source(root, watermarks.origin)
    assert isinstance(data, bytes)
    rows = read_offset_checkpoint(data, watermarks.origin, "replication").rows
    assert ("orders", 0, 456) in {(row.topic, row.partition, row.offset) for row in rows}
