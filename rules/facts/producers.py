"""What each producer wrote, and where its sequences do not meet: the join of two neighbouring stretches of a log."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from rules.facts.producing import EpochFall, ProducerFence, ProducerRun, SequenceStep, StepFields

KEEP_STEPS: Final = 4
"""Breaks of one producer that are kept; the rest is counted."""
SEQUENCES: Final = 1 << 31
"""Sequences wrap here: 0 follows the highest that 31 bits hold."""


def join_producers(
    left: tuple[ProducerRun, ...], fences: tuple[ProducerFence, ...], right: tuple[ProducerRun, ...]
) -> tuple[ProducerRun, ...]:
    """The runs of two neighbouring stretches, `left` lying before `right`; the fences are those of the left one."""
    if not right or not (left or fences):
        return left + right
    runs = {(run.producer_id, run.producer_epoch): run for run in left}
    highest: dict[int, ProducerRun | ProducerFence] = {run.producer_id: run for run in left}
    for fence in fences:
        own = highest.get(fence.producer_id)
        if own is None or own.producer_epoch < fence.producer_epoch:
            highest[fence.producer_id] = fence
    for run in right:
        earlier = runs.get((run.producer_id, run.producer_epoch))
        fallen = replace(run, fall=_first_fall(highest.get(run.producer_id), run))
        runs[run.producer_id, run.producer_epoch] = fallen if earlier is None else _joined(earlier, fallen)
    return tuple(runs[key] for key in sorted(runs))


def join_fences(left: tuple[ProducerFence, ...], right: tuple[ProducerFence, ...]) -> tuple[ProducerFence, ...]:
    """Those of two neighbouring stretches, ascending by producer id."""
    both = {fence.producer_id: fence for fence in left}
    for fence in right:
        own = both.get(fence.producer_id)
        if own is None or own.producer_epoch <= fence.producer_epoch:
            both[fence.producer_id] = fence
    return tuple(both[producer] for producer in sorted(both))


def _joined(left: ProducerRun, right: ProducerRun) -> ProducerRun:
    border = _border(left, right)
    crossing = border if border is not None and left.last_epoch != right.first_epoch else None
    return replace(
        left,
        step=left.step or crossing or right.step,
        steps=(*left.steps, *(() if border is None else (border,)), *right.steps)[:KEEP_STEPS],
        fall=left.fall or right.fall,
        last_sequence=right.last_sequence,
        last_epoch=right.last_epoch,
        last=right.last,
        last_time=right.last_time,
        end_offset=right.end_offset,
        batches=left.batches + right.batches,
        breaks=left.breaks + right.breaks + (border is not None),
    )


def _border(left: ProducerRun, right: ProducerRun) -> SequenceStep | None:
    due = (left.last_sequence + 1) % SEQUENCES
    if right.first_sequence == due:
        return None
    return SequenceStep(expected=due, found=right.first_sequence, **between(left, right))


def between(earlier: ProducerRun | ProducerFence, later: ProducerRun) -> StepFields:
    """From the last batch of one run, or a marker, to the first one of another."""
    return {
        "offset": later.first_offset,
        "epoch_before": earlier.last_epoch,
        "epoch_after": later.first_epoch,
        "span": later.first,
        "end_before": earlier.end_offset,
        "before": earlier.last,
        "time_before": earlier.last_time.time,
        "time_after": later.first_time.time,
        "broker_times": earlier.last_time.by_broker and later.first_time.by_broker,
    }


def _first_fall(highest: ProducerRun | ProducerFence | None, run: ProducerRun) -> EpochFall | None:
    """The first batch of a run behind a higher epoch, where the highest one of the stretch before is known too."""
    own = run.fall
    if highest is None or highest.producer_epoch <= run.producer_epoch:
        return own
    fenced = isinstance(highest, ProducerFence)
    later = own is not None and own.higher >= highest.producer_epoch + (own.fenced and not fenced)
    if own is not None and own.span == run.first and later:
        return own
    return EpochFall(higher=highest.producer_epoch, fenced=fenced, **between(highest, run))
