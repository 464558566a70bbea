"""What each producer wrote, and where its sequences do not meet: the join of two neighbouring stretches of a log."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rules.facts.producing import ProducerRun, SequenceStep

KEEP_STEPS: Final = 4
"""Breaks of one producer that are kept; the rest is counted."""
SEQUENCES: Final = 1 << 31
"""Sequences wrap here: 0 follows the highest that 31 bits hold."""


def join_producers(left: tuple[ProducerRun, ...], right: tuple[ProducerRun, ...]) -> tuple[ProducerRun, ...]:
    """The runs of two neighbouring stretches, `left` lying before `right`."""
    if not left or not right:
        return left + right
    runs = {(run.producer_id, run.producer_epoch): run for run in left}
    for run in right:
        earlier = runs.get((run.producer_id, run.producer_epoch))
        runs[run.producer_id, run.producer_epoch] = run if earlier is None else _joined(earlier, run)
    return tuple(runs[key] for key in sorted(runs))


def _joined(left: ProducerRun, right: ProducerRun) -> ProducerRun:
    border = _border(left, right)
    crossing = border if border is not None and left.last_epoch != right.first_epoch else None
    return replace(
        left,
        step=left.step or crossing or right.step,
        steps=(*left.steps, *(() if border is None else (border,)), *right.steps)[:KEEP_STEPS],
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
    return SequenceStep(
        expected=due,
        found=right.first_sequence,
        offset=right.first_offset,
        epoch_before=left.last_epoch,
        epoch_after=right.first_epoch,
        span=right.first,
        end_before=left.end_offset,
        before=left.last,
        time_before=left.last_time.time,
        time_after=right.first_time.time,
        broker_times=left.last_time.by_broker and right.first_time.by_broker,
    )
