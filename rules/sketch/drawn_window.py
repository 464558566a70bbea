"""Draw a window of real replicas in the notation of `rules.sketch`, so that the drawing reads back into evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from rules.evidence import COMPACTED_TOPICS, METADATA_TOPIC, PartitionEvidence, Replica
from rules.protocol.epochs import EpochChain, truncate_from_start
from rules.protocol.offsets import Offset
from rules.sketch.marks_of_replica import (
    Letters,
    cell,
    first_offset,
    in_physical_order,
    letters_of,
    marks,
    points,
    tail,
)

MARGIN: Final = 5
REPLICAS_DRAWN: Final = 6
COLUMNS: Final = 48
"""A window in which more changes than this is drawn up to here."""


def draw(evidence: PartitionEvidence, brokers: Sequence[int], start: int | None, end: int | None) -> str:
    """The partition around `[start, end)`, or around its log ends; the named brokers first."""
    named = [replica for replica in evidence.current if replica.broker in brokers]
    others = [replica for replica in evidence.current if replica.broker not in brokers]
    chosen = [*named, *others][:REPLICAS_DRAWN]
    if not chosen:
        return ""
    replicas = [replica for replica in evidence.current if any(replica is one for one in chosen)]
    letters = letters_of(replicas, evidence.differences)
    low, high = _window(named or replicas, start, end)
    columns = _columns(replicas, letters, low, high)
    rows = [_row(replica, columns, own) for replica, own in zip(replicas, letters, strict=True)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
    lines = [_line(evidence, replica, row, widths, columns[-1][1]) for replica, row in zip(replicas, rows, strict=True)]
    return "\n".join([*_head(evidence), *lines])


def _head(evidence: PartitionEvidence) -> Iterator[str]:
    if evidence.topic in COMPACTED_TOPICS or evidence.topic == METADATA_TOPIC:
        yield f"topic {evidence.topic}"
    if evidence.copied_live:
        yield "live"


def _window(replicas: Sequence[Replica], start: int | None, end: int | None) -> tuple[int, int]:
    ends = [replica.log_end_offset for replica in replicas]
    begins = min(min(first_offset(replica), replica.log_start_offset) for replica in replicas)
    low = max(begins, (min(ends) if start is None else start) - MARGIN)
    high = min(max(*ends, low + 1), max(max(ends) if end is None else end, start or 0) + MARGIN)
    return min(low, high), max(low, high)


def _columns(replicas: Sequence[Replica], letters: Sequence[Letters], low: int, high: int) -> list[tuple[int, int]]:
    """Ranges within which no replica changes, and a last empty one for what stands at the window's end."""
    changes = {point for replica, own in zip(replicas, letters, strict=True) for point in points(replica, own)}
    inside = sorted({low, high} | {point for point in changes if low <= point <= high})[: COLUMNS + 1]
    return [*pairwise(inside), (inside[-1], inside[-1])]


def _row(replica: Replica, columns: Sequence[tuple[int, int]], letters: Letters) -> list[str]:
    low, high = columns[0][0], columns[-1][1]
    if any(step.found < high and low < step.expected for step in replica.log.overlaps):
        return [in_physical_order(replica, low, high), *("" for _ in columns[1:])]
    drawn = [marks(replica, start) + cell(replica, start, end, letters) for start, end in columns]
    # The first offset drawn is said, unless it is 0.
    begins = min(max(low, first_offset(replica)), max(replica.log_end_offset, replica.log_start_offset))
    place = max((index for index, (start, _) in enumerate(columns) if start <= begins), default=0)
    drawn[place] = (f"@{begins}:" if begins else "") + drawn[place]
    if replica.log_end_offset <= high:
        drawn[-1] += tail(replica)
    return drawn


def _line(evidence: PartitionEvidence, replica: Replica, row: Sequence[str], widths: Sequence[int], high: int) -> str:
    body = " ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    leads = "*" if replica is evidence.leader_at_the_end else " "
    return f"broker {replica.broker}{leads} {body} ; {', '.join(_notes(evidence, replica, row, high))}".rstrip(" ;")


def _notes(evidence: PartitionEvidence, replica: Replica, row: Sequence[str], high: int) -> Iterator[str]:
    watermark = replica.high_watermark
    yield f"hw {'none' if watermark is None else watermark.offset}"
    if replica.log_end_offset > high:
        yield f"leo {replica.log_end_offset}"
    if replica.log_start_claim is not None and not any("<" in text for text in row):
        yield f"start {replica.log_start_claim.offset}"
    yield from _recovery(replica)
    if replica.cleaner_offset is not None:
        yield f"cleaner {replica.cleaner_offset.offset}"
    yield from _epochs(replica, row, high)
    if len({other.topic_id for other in evidence.current}) > 1 and replica.topic_id is not None:
        yield f"topic-id {replica.topic_id}"
    if replica.voters:
        yield "voters " + " ".join(map(str, replica.voters))
    if replica.indexes.faults:
        yield f"index-fault {replica.indexes.faults[0].kind}"


def _recovery(replica: Replica) -> Iterator[str]:
    """The recovery point where it is not what a clean shutdown leaves, and the lack of such a stop."""
    point = None if replica.recovery_point is None else replica.recovery_point.offset
    expected = None if replica.clean_shutdown is None else replica.log_end_offset
    if point != expected:
        yield f"recovery {'none' if point is None else point}"
    if replica.clean_shutdown is None:
        yield "unclean"


def _epochs(replica: Replica, row: Sequence[str], high: int) -> Iterator[str]:
    """The leader-epoch-checkpoint, where it says other than the drawn batches."""
    file = replica.epoch_file
    if file.state in ("missing", "malformed", "unreadable") or (file.state == "empty" and replica.log.epochs):
        yield f"epochs {file.state}"
        return
    jump = next((text for text in row if "@" in text), "")
    low = int(jump.partition("@")[2].partition(":")[0]) if jump else 0
    entries = [entry for entry in replica.file_chain if entry.start_offset < high or replica.log_end_offset <= high]
    drawn = _clipped(tuple(entry for entry in replica.log_chain if entry.start_offset < high), low)
    if _clipped(tuple(entries), low) != drawn:
        yield "epochs " + " ".join(f"{entry.epoch}@{entry.start_offset}" for entry in entries or replica.file_chain)


def _clipped(chain: EpochChain, low: int) -> EpochChain:
    return truncate_from_start(chain, Offset(low))
