"""Every record of a stretch of log decoded while its batches go by: what level deep asks for."""

from __future__ import annotations

from msgspec.structs import replace

from parsers.provenance import Origin, row_span
from parsers.records import BATCH_LIMIT, Prover, decode_entry
from parsers.segment import SegmentChunk
from parsers.tables import Refusal
from rules.facts.join import KEEP
from rules.facts.stretch import LogFacts, UnreadBytes


class Decoding:
    """Every batch of a stretch decoded while it goes by, and those of them that cannot be."""

    def __init__(self) -> None:
        self._prover = Prover(BATCH_LIMIT)
        self._decoded, self._broken = 0, list[UnreadBytes]()

    def go_by(self, chunk: SegmentChunk, origin: Origin) -> None:
        """Batches whose checksums hold, with their bytes at hand."""
        batches = list(chunk.entries(("base_offset", "last_offset")))
        self._decoded += len(batches)
        for (row, entry), sound in zip(batches, self._prover.proves([entry for _, entry in batches]), strict=True):
            refusals = () if sound else decode_entry(entry, origin, row["span_start"]).refusals
            offsets = row["base_offset"], row["last_offset"]
            self._broken.extend(_undecodable(refusal, *offsets) for refusal in refusals[:1])

    def added_to(self, facts: LogFacts) -> LogFacts:
        """The facts with what decoding has shown."""
        broken = tuple(self._broken[:KEEP])
        return replace(
            facts, decoded_batches=self._decoded, undecodable=broken, undecodable_count=len(self._broken)
        )


def _undecodable(refusal: Refusal, base: int | None, last: int) -> UnreadBytes:
    return UnreadBytes(
        kind=refusal.kind,
        expected_offset=last if base is None else base,
        next_offset=last + 1,
        expected=refusal.expected,
        found=refusal.found,
        span=row_span(refusal),
    )
