"""The keys that a sketch draws, read by the ledger that real logs go through."""

from __future__ import annotations

from itertools import groupby

from rules.evidence import PartitionEvidence, Replica
from rules.narrow.last_of_keys import KeyLedger, LastRecords
from rules.narrow.surviving_keys import KeyedReplica, keyed, replicas_to_key
from rules.sketch.written_by import COMMIT, TRANSACTIONAL


def with_drawn_keys(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with what differs among the keys of compacted replicas."""
    asked = replicas_to_key(evidence)
    return keyed(evidence, [KeyedReplica(replica=r, last=_last(r)) for r in asked]) if asked else evidence


def _last(replica: Replica) -> LastRecords:
    ledger = KeyLedger(replica.log_start_offset)
    records = [record for zoom in replica.zooms for record in zoom.records]
    drawn = {span: list(own) for span, own in groupby(records, key=lambda record: record.span)}
    for batch in (batch for zoom in replica.zooms for batch in zoom.batches):
        own = drawn.get(batch.span, [])
        keys = [(ord(r.key_hash), r.offset, r.value_size < 0) for r in own if r.key_hash is not None]
        producer, _, _, attributes = batch.written
        if batch.control:
            ledger.marker(producer, commits=any(record.control_type == COMMIT for record in own))
        else:
            ledger.batch(batch.span, keys, producer=producer if attributes & TRANSACTIONAL else None)
        ledger.held(batch.base_offset, batch.end_offset, [record.offset for record in own])
    return ledger.close(replica.log_end_offset)
