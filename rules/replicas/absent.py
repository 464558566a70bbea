"""Segments that were on a replica's disk and are not in its copy, as what stands beside them tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from parsers.provenance import Span
from rules.facts.stretch import UnreadBytes
from rules.replicas.replica import Replica


def with_absent_tail(replica: Replica) -> Replica:
    """The replica with the segment that must begin where its copy ends, if the copy shows that there was one.

    A snapshot of producers stands where a segment begins or the broker stopped. Where the log ends just there, and the
    replica knows of more, a file is missing: no page was lost out of one. Segments a cut takes are put aside first.
    """
    end = replica.log_end_offset
    begins = next((claim for claim in replica.snapshot_offsets if claim.offset == end), None)
    unended = not replica.end_known or replica.log.unread or not replica.segments
    aside = any(leftover.base_offset >= end for leftover in replica.leftovers)
    known = max(_known(replica), default=0)
    if begins is None or aside or unended or replica.segments[-1].base_offset >= end or known <= end:
        return replica
    absent = UnreadBytes(
        kind="not_copied",
        expected_offset=end,
        next_offset=None,
        expected="a segment that begins where the newest snapshot stands",
        found="no such file",
        span=Span(source=f"{replica.path}/{end:020d}.log", start=0, end=0),
    )
    log = replace(replica.log, unread=(absent,), unread_count=1)
    return replace(replica, log=log)


def _known(replica: Replica) -> Iterator[int]:
    """How far the replica's log went, by what it wrote beside it."""
    claims = (replica.high_watermark, replica.recovery_point, *replica.snapshot_offsets)
    yield from (claim.offset for claim in claims if claim is not None)
