"""The logs of a run in the notation of sketches: one line a replica, one column an offset, the digit is the epoch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rules.simulator.state import Batch, Broker, Cluster

LAST_DIGIT: Final = 9
WIDEST: Final = 12
"""Batches up to this wide get a column an offset, wider ones are written as a run."""


def draw(cluster: Cluster) -> str:
    """Every replica's log; `*` is the leader, `|` the high watermark, `.` an offset that nobody wrote."""
    width = max(len(str(broker.id)) for broker in cluster.brokers)
    return "\n".join(_line(cluster, broker, width) for broker in cluster.brokers)


def _line(cluster: Cluster, broker: Broker, width: int) -> str:
    leads = "*" if cluster.in_force.leader == broker.id else " "
    notes = [f"hw {broker.high_watermark}"] if not _marks_watermark(broker) else []
    notes.append("epochs " + (" ".join(f"{e.epoch}@{e.start_offset}" for e in broker.epochs) or "empty"))
    if not broker.generation.keeps_epochs:
        notes = [note for note in notes if not note.startswith("epochs")]
    body = f"broker {broker.id:<{width}}{leads} {_cells(broker)}"
    return f"{body} ; {', '.join(notes)}" if notes else body


def _marks_watermark(broker: Broker) -> bool:
    edges = {broker.log.start_offset, *(batch.end_offset for batch in broker.log.batches)}
    return broker.high_watermark in edges


def _cells(broker: Broker) -> str:
    out: list[str] = []
    at = broker.log.start_offset
    marked = not _marks_watermark(broker)
    for run in _runs(broker.log.batches, broker.high_watermark):
        first = run[0]
        if not marked and broker.high_watermark <= first.base_offset:
            out.append("|")
            marked = True
        if first.base_offset > at:
            out.append(_hole(first.base_offset - at))
        out.append(_run(run))
        at = run[-1].end_offset
    if broker.log.end_offset > at:
        out.append(_hole(broker.log.end_offset - at))
    return "".join(out) + ("" if marked else "|")


def _runs(batches: Iterable[Batch], high_watermark: int) -> list[list[Batch]]:
    """Neighbours of one record each and one epoch stand together, but not across the high watermark."""
    runs: list[list[Batch]] = []
    for batch in batches:
        last = runs[-1][-1] if runs else None
        alike = last is not None and last.count == batch.count == 1 and last.epoch == batch.epoch
        if alike and last is not None and last.end_offset == batch.base_offset != high_watermark:
            runs[-1].append(batch)
        else:
            runs.append([batch])
    return runs


def _run(run: list[Batch]) -> str:
    word = str(run[0].epoch) if run[0].epoch <= LAST_DIGIT else f"[{run[0].epoch}]"
    if run[0].count > 1:
        inside = word * run[0].count if run[0].count <= WIDEST else f"{word}x{run[0].count}"
        return f"({inside})"
    return word * len(run) if len(run) <= WIDEST else f"{word}x{len(run)}"


def _hole(offsets: int) -> str:
    return "." * offsets if offsets <= WIDEST else f".x{offsets}"
