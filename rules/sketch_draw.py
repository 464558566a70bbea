"""Draw the offending window of real replicas in the notation of `rules.sketch`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rules.evidence import PartitionEvidence, Replica

MARGIN: Final = 5
PLAIN_COLUMNS: Final = 60
"""Windows up to this wide get one column an offset; wider ones are drawn as runs."""


def draw(evidence: PartitionEvidence, brokers: Sequence[int], start: int | None, end: int | None) -> str:
    """The named replicas (all when none is named) around `[start, end)`, or around their log ends."""
    drawn = [r for r in evidence.current if not brokers or r.broker in brokers] or list(evidence.current)
    if not drawn:
        return ""
    low, high = _window(drawn, start, end)
    cuts = _cuts(drawn, low, high)
    rows = [[_cell(replica, a, b, end - start if start is not None and end else 0) for a, b in cuts] for replica in drawn]
    widths = [max(len(row[i]) for row in rows) for i in range(len(cuts))]
    lines = [_line(replica, row, widths) for replica, row in zip(drawn, rows, strict=True)]
    return "\n".join([f"offsets {low} to {high}", *lines])


def _window(replicas: Iterable[Replica], start: int | None, end: int | None) -> tuple[int, int]:
    ends = [replica.log_end_offset for replica in replicas]
    starts = [replica.log_start_offset for replica in replicas]
    low = max(min(starts), (min(ends) if start is None else start) - MARGIN)
    high = min(max(max(ends), low + 1), (max(ends) if end is None else end) + MARGIN)
    return min(low, high), max(low, high)


def _cuts(replicas: Iterable[Replica], low: int, high: int) -> list[tuple[int, int]]:
    """Ranges within which no drawn replica changes: one column each."""
    points = {low, high}
    for replica in replicas:
        watermark = replica.high_watermark.offset if replica.high_watermark else low
        points |= {watermark, replica.log_start_offset, replica.log_end_offset}
        for run in replica.log.epochs:
            points |= {run.start_offset, run.end_offset}
        for step in replica.log.gaps:
            points |= {step.expected, step.found}
        for fault in replica.log.checksum_faults:
            points |= {fault.base_offset, fault.end_offset}
    inside = sorted(point for point in points if low <= point <= high)
    return list(zip(inside, inside[1:], strict=False))


def _cell(replica: Replica, start: int, end: int, _width: int = 0) -> str:
    marks = "|" if replica.high_watermark and replica.high_watermark.offset == start else ""
    marks += "<" if replica.log_start_claim and replica.log_start_offset == start > 0 else ""
    if start >= replica.log_end_offset:
        return marks
    word, count = _word(replica, start), end - start
    if len(word) * count <= 8:
        return marks + word * count
    return f"{marks}{word}×{count}"


def _word(replica: Replica, offset: int) -> str:
    for unread in replica.log.unread:
        swallowed = (unread.expected_offset, unread.next_offset)
        if swallowed[0] is not None and swallowed[1] is not None and swallowed[0] <= offset < swallowed[1]:
            return "#"
    if any(step.expected <= offset < step.found for step in replica.log.gaps):
        return "."
    bad = "!" if any(f.base_offset <= offset < f.end_offset for f in replica.log.checksum_faults) else ""
    epoch = next((r.epoch for r in replica.log.epochs if r.start_offset <= offset < r.end_offset), None)
    if epoch is None:
        return "."
    return ("-" if epoch < 0 else str(epoch) if epoch <= 9 else f"[{epoch}]") + bad


def _line(replica: Replica, cells: Sequence[str], widths: Sequence[int]) -> str:
    body = " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
    watermark = replica.high_watermark.offset if replica.high_watermark else "none"
    return f"broker {replica.broker}  {body} ; hw {watermark}, leo {replica.log_end_offset}"
