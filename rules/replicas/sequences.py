"""Where a producer's sequences do not meet or its epoch falls, and what a leader may have forgotten by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal

from msgspec import Struct, structs
from msgspec.structs import replace

from parsers.provenance import Span
from rules.facts.producers import SEQUENCES, between
from rules.facts.producing import EpochFall, ProducerRun, ProducerStep, SequenceStep
from rules.replicas.replica import Replica

BreakKind = Literal["gap", "again", "anew", "fallen"]
"""Sequences are left out, some come again, they begin at 0 again, or a lower epoch writes behind a higher one."""
_HALF: Final = SEQUENCES // 2
_NOWHERE: Final = Span(source="", start=0, end=0)


class SequenceBreak(Struct, frozen=True, kw_only=True):
    """Two batches of one producer in a log, of which the later one does not go on where the producer had come to."""

    producer_id: int
    producer_epoch: int
    kind: BreakKind
    step: SequenceStep | EpochFall

    @property
    def missing(self) -> int:
        """How many sequences are left out, or come again."""
        return 0 if isinstance(self.step, EpochFall) else abs(_ahead(self.step))

    @property
    def by_marker(self) -> bool:
        """Whether a marker alone shows the higher epoch."""
        return isinstance(self.step, EpochFall) and self.step.fenced

    @property
    def words(self) -> str:
        """The break as people say it."""
        step = self.step
        if isinstance(step, EpochFall):
            a_batch = f"a batch of its epoch {step.higher} that ends before offset {step.end_before}"
            a_marker = f"its marker of epoch {step.higher} at offset {step.end_before - 1}"
            return (
                f"producer {self.producer_id} goes on in epoch {self.producer_epoch} at offset {step.offset},"
                f" behind {a_marker if step.fenced else a_batch}"
            )
        return (
            f"producer {self.producer_id} of epoch {self.producer_epoch} goes on with sequence {step.found} at offset"
            f" {step.offset}, where sequence {step.expected} was due"
        )


def sequence_breaks(replica: Replica) -> Iterator[SequenceBreak]:
    """The breaks that no hole of the log explains; none of a log that was cleaned, or that holds older formats."""
    if replica.cleaned or len(replica.log.magics) != 1:
        return
    for run in replica.log.producers:
        for step in _own_steps(run.steps):
            if replica.holds(step.end_before - 1, step.offset + 1):
                yield _break(run, step)
    for earlier, later in pairwise(replica.log.producers):
        entrance = _entrance(earlier, later)
        if entrance is not None and replica.holds(entrance.end_before - 1, entrance.offset + 1):
            yield SequenceBreak(
                producer_id=later.producer_id, producer_epoch=later.producer_epoch, kind="gap", step=entrance
            )


def fallen_epochs(replica: Replica) -> Iterator[SequenceBreak]:
    """Batches of a producer behind those of a higher epoch, in a log of any kind: no cleaning changes their order."""
    for run in replica.log.producers:
        fall = run.fall
        if fall is not None and all(replica.holds(at, at + 1) for at in (fall.end_before - 1, fall.offset)):
            yield SequenceBreak(
                producer_id=run.producer_id, producer_epoch=run.producer_epoch, kind="fallen", step=fall
            )


def _own_steps(steps: Sequence[SequenceStep]) -> Iterator[SequenceStep]:
    """Breaks without those that only lead back behind sequences which came again."""
    back: SequenceStep | None = None
    for step in steps:
        if back is None or step.found != back.expected:
            yield step
        back = step if _ahead(step) < 0 else None


def _break(run: ProducerRun, step: SequenceStep) -> SequenceBreak:
    kind: BreakKind = "gap" if _ahead(step) > 0 else "again" if step.found else "anew"
    return SequenceBreak(producer_id=run.producer_id, producer_epoch=run.producer_epoch, kind=kind, step=step)


def _ahead(step: SequenceStep) -> int:
    """How far the found sequence lies beyond the one that was due; sequences wrap."""
    return (step.found - step.expected + _HALF) % SEQUENCES - _HALF


def _entrance(earlier: ProducerRun, later: ProducerRun) -> SequenceStep | None:
    """Where a producer's next epoch does not begin with sequence 0, though the one before stands in the same log."""
    follows = earlier.producer_id == later.producer_id and earlier.end_offset <= later.first_offset
    if not follows or later.first_sequence == 0:
        return None
    return SequenceStep(expected=0, found=later.first_sequence, **between(earlier, later))


def remembered(replica: Replica, step: ProducerStep, expiry_ms: int) -> bool:
    """Whether the leader surely still knew the producer when it took the later batch.

    A leader forgets a producer whose last batch is older than the expiry: older by the time in the batch, which may be
    the producer's own. So the leader's clock must be known, by the later batch or by one behind it.
    """
    if step.time_before is None:
        return False
    clock = replica.log.last_clock
    behind = clock.time if clock is not None and clock.offset > step.offset else None
    then = step.time_after if step.broker_times else behind
    return then is not None and then - step.time_before < expiry_ms


def merged(found: Sequence[tuple[int, SequenceBreak]]) -> list[tuple[tuple[int, ...], SequenceBreak]]:
    """Breaks with the brokers whose logs show them, each once."""
    brokers: dict[SequenceBreak, list[int]] = {}
    first: dict[SequenceBreak, SequenceBreak] = {}
    for broker, each in found:
        place = replace(each, step=structs.replace(each.step, span=_NOWHERE, before=None))
        first.setdefault(place, each)
        brokers.setdefault(place, []).append(broker)
    return [(tuple(sorted(set(brokers[place]))), each) for place, each in first.items()]
