"""What remote storage still holds of lost records, by the bill of the report: it is not in the dump to be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.salvage.copies_of_lost import Lost, losses_told
from rules.chronicle.extents import Extents
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
        offsets = " and ".join(offsets_told(*stretch) for stretch in Extents.of(each[:2] for each in held).parts)
        segments = ", ".join(segment for _, _, segment in held)
        yield f"Remote storage holds {offsets} of epoch {epoch}, by __remote_log_metadata: segments {segments}."
