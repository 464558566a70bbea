"""Records without keys around the holes of compacted logs: no cleaner that went over them would have left them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from auditor.engines.opened.opening import entry_at
from auditor.engines.witnesses.texts import is_text
from parsers.files import place_of
from parsers.provenance import Span
from parsers.records import BATCH_LIMIT, keyed_batch
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.holes import holes

HOLES_LOOKED_AT: Final = 8
"""Of one replica: whoever writes records without keys into a topic most often writes no others."""


def with_keyless(evidence: PartitionEvidence, dump: str) -> PartitionEvidence:
    """The evidence with records without keys of logs that have holes, where nobody read all keys of these logs."""
    if not evidence.compacted or evidence.level == "quick" or evidence.keyless_from is not None:
        return evidence
    if not any(True for replica in evidence.current for _ in holes(replica)):
        return evidence
    found = ((replica.path, _first_keyless(replica, dump)) for replica in evidence.current)
    return replace(evidence, keyless_from={path: offset for path, offset in found if offset is not None})


def _first_keyless(replica: Replica, dump: str) -> int | None:
    """The first record without a key among the first batch and those beside holes."""
    for span in dict.fromkeys(_looked_at(replica)):
        if is_text(place_of(dump, span.source)):
            return None
        batch = keyed_batch(entry_at(dump, span), BATCH_LIMIT)
        keyless = [offset for offset, key, _ in batch.records if key is None] if batch is not None else []
        if keyless:
            return keyless[0]
    return None


def _looked_at(replica: Replica) -> Iterator[Span]:
    yield from (run.first for run in replica.log.epochs[:1])
    for hole in islice(holes(replica), HOLES_LOOKED_AT):
        yield from (span for span in (hole.before, hole.after) if span is not None)
