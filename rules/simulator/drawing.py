"""The logs of a run in the notation of sketches: one line a replica, one column an offset, the digit is the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rules.simulator.state import Batch, Broker, Cluster

LAST_DIGIT: Final = 9
WIDEST: Final = 12
"""Batches up to this wide get a column an offset, wider ones are written as a run."""


def draw(cluster: Cluster) -> str:
    """Every replica's log; `*` is the leader, `|` the high watermark, `.` an offset that nobody wrote."""
    width = max(len(str(broker.id)) for broker in cluster.brokers)
    return "\n".join(_line(cluster, broker, width) for broker in cluster.brokers if broker.holds)


def _line(cluster: Cluster, broker: Broker, width: int) -> str:
    leads = "*" if cluster.in_force.leader == broker.id else " "
    marks = _marks(broker)
    notes = [] if broker.high_watermark in marks else [f"hw {broker.high_watermark}"]
    if broker.log.start_offset and broker.log.start_offset not in marks:
        notes.append(f"start {broker.log.start_offset}")
    if broker.generation.keeps_epochs:
        notes.append("epochs " + (" ".join(f"{e.epoch}@{e.start_offset}" for e in broker.epochs) or "empty"))
    body = f"broker {broker.id:<{width}}{leads} {_cells(broker, marks)}"
    return f"{body} ; {', '.join(notes)}" if notes else body


def _marks(broker: Broker) -> dict[int, str]:
    """The log start and the high watermark, where they fall between two batches."""
    edges = {_first(broker), *(batch.end_offset for batch in broker.log.batches)}
    start, watermark = int(broker.log.start_offset), int(broker.high_watermark)
    marks = {start: "<"} if start in edges and start else {}
    return marks | ({watermark: marks.get(watermark, "") + "|"} if watermark in edges else {})


def _first(broker: Broker) -> int:
    """Where what is drawn begins."""
    return min([broker.log.start_offset, *(batch.base_offset for batch in broker.log.batches[:1])])


def _cells(broker: Broker, marks: Mapping[int, str]) -> str:
    at = _first(broker)
    out = [f"@{at}:"] if at else []
    left = dict(marks)
    for run in _runs(broker.log.batches, marks):
        first = run[0].base_offset
        out += [left.pop(offset) for offset in sorted(left) if offset <= first]
        if first > at:
            out.append(_hole(first - at))
        out.append(_run(run))
        at = run[-1].end_offset
    if broker.log.end_offset > at:
        out.append(_hole(broker.log.end_offset - at))
    return "".join([*out, *(left[offset] for offset in sorted(left))])


def _runs(batches: Iterable[Batch], marks: Mapping[int, str]) -> list[list[Batch]]:
    """Neighbours of one record each and one epoch stand together, but not across a mark."""
    runs: list[list[Batch]] = []
    for batch in batches:
        last = runs[-1][-1] if runs else None
        alike = last is not None and last.count == batch.count == 1 and last.epoch == batch.epoch
        if alike and last is not None and last.end_offset == batch.base_offset and batch.base_offset not in marks:
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
