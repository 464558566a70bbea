"""What remote storage still holds of lost records, by the bill of the report: it is not in the dump to be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.salvage.copies_of_lost import Lost, losses_told
from rules.finding import offsets_told


def kept_remotely(lost: Lost, report: Mapping[str, object]) -> Iterator[str]:
    """A sentence for each epoch whose lost records segments in remote storage hold."""
    found: dict[int, set[tuple[int, int, str]]] = {}
    for loss in losses_told(report, lost):
        for copy in loss.get("remote", ()):
            start, end = max(copy["startOffset"], lost.start), min(copy["endOffset"], lost.end)
            if start < end and lost.means(copy["epoch"]):
                found.setdefault(copy["epoch"], set()).add((start, end, copy["segment"]))
    for epoch, stretches in sorted(found.items()):
        held = sorted(stretches)
        offsets = " and ".join(offsets_told(*stretch) for stretch in _joined((start, end) for start, end, _ in held))
        segments = ", ".join(segment for _, _, segment in held)
        yield f"Remote storage holds {offsets} of epoch {epoch}, by __remote_log_metadata: segments {segments}."


def _joined(stretches: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches in order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, end in stretches:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
