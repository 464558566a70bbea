"""How far the witnesses' clocks stand apart, estimated from what two of them tell of one event.

An election is written by the controller and then, later, by every broker that takes a role in its epoch. The smallest
delay seen is taken for the difference of the clocks; how much the delays vary is told beside it. Nothing that is
judged rests on an estimate alone: it narrows the time in which something came into force, by its slack on either side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rules.history.moments import Moment, gives_role
from rules.history.statements import PartitionState

LEAST_SLACK_MS: Final = 1000
ENOUGH_EVENTS: Final = 3
"""Fewer may all be of restarts, after which a broker takes its roles late."""
LATEST_MS: Final = 30_000
"""How late at most."""
MOST_SLACK_MS: Final = 5000
"""What varies more tells of brokers that were down when the others wrote, not of their clocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """A witness's clock against the reference: its time minus the reference's, as far as shared events tell."""

    clock: str
    reference: str
    milliseconds: int
    spread: int
    pairs: int

    @property
    def slack(self) -> int:
        """How far from the estimate a time may lie; few events may all have been written late."""
        late = min(abs(self.milliseconds), LATEST_MS) if 0 < self.pairs < ENOUGH_EVENTS else 0
        return max(LEAST_SLACK_MS + late, self.spread)

    @property
    def stands_apart(self) -> bool:
        """Whether the clocks differ by more than the estimate may err; a smaller offset is no reason to shift."""
        return abs(self.milliseconds) > self.slack

    @property
    def words(self) -> str:
        """The estimate, or that it says too little to be one."""
        events = f"{self.pairs} shared event{'' if self.pairs == 1 else 's'}"
        if self.slack > MOST_SLACK_MS and not self.stands_apart:
            return f"not aligned with {self.reference}: {events}, written up to {self.slack} ms after each other"
        return f"{self.milliseconds:+d} ms against {self.reference}, give or take {self.slack} ms, by {events}"


Sightings = dict[str, dict[tuple[int, int], int]]
"""When each clock first shows a partition state: leader epoch, and partition epoch or -1 for the taking of a role."""


def clock_offsets(moments: Sequence[Moment]) -> tuple[ClockOffset, ...]:
    """Every clock's offset from the reference: the controller's own, or else the one that shares most elections."""
    seen = _sightings(moments)
    if not seen:
        return ()
    reference = _reference(seen)
    offsets = [ClockOffset(clock=reference, reference=reference, milliseconds=0, spread=0, pairs=0)]
    for clock in sorted(seen):
        if clock == reference:
            continue
        shared = seen[clock].keys() & seen[reference].keys()
        delays = sorted(seen[clock][key] - seen[reference][key] for key in shared)
        if delays:
            # Whoever writes later writes a delay beside the clocks' difference: the smallest has the least of it.
            best = delays[0] if reference == "controller" else min(delays, key=abs)
            offsets.append(
                ClockOffset(
                    clock=clock,
                    reference=reference,
                    milliseconds=best,
                    spread=delays[-1] - delays[0] if len(delays) > 1 else 0,
                    pairs=len(delays),
                )
            )
    return tuple(offsets)


def _sightings(moments: Sequence[Moment]) -> Sightings:
    seen: Sightings = {}
    # A state without a time was there before the next one of its epoch, which is then no first sight of it.
    older = {moment.epoch for moment in moments if moment.time is None and moment.clock == "controller"}
    # How long a clock stood still when it was set back is not told: its times since are of no other clock.
    set_back = {moment.clock for moment in moments if moment.set_back != 0}
    for moment in moments:
        if moment.time is None or moment.epoch is None or moment.doubtful or moment.clock in set_back:
            continue
        if gives_role(moment) or (moment.clock == "controller" and moment.epoch not in older):
            seen.setdefault(moment.clock, {}).setdefault((moment.epoch, -1), moment.time)
        if not isinstance(moment, PartitionState) or moment.partition_epoch is None:
            continue
        if moment.kind == "isr" or moment.clock == "controller":
            seen.setdefault(moment.clock, {}).setdefault((moment.epoch, moment.partition_epoch), moment.time)
    return seen


def _reference(seen: Sightings) -> str:
    if "controller" in seen:
        return "controller"
    return max(sorted(seen), key=lambda clock: len(seen[clock]))


def translated(
    time: int | None, source: str, target: str, offsets: Mapping[str, ClockOffset]
) -> tuple[int, int] | None:
    """The earliest and the latest time on the target's clock that a time on the source's may be; None when unknown."""
    there, here = offsets.get(source), offsets.get(target)
    if time is None or there is None or here is None:
        return None
    slack = (there.slack if there.pairs else 0) + (here.slack if here.pairs else 0)
    middle = time - there.milliseconds + here.milliseconds
    return middle - slack, middle + slack


def on_reference(moment: Moment, offsets: Mapping[str, ClockOffset]) -> int | None:
    """A statement's time brought to the reference clock; as it stands where nothing aligns its clock."""
    offset = offsets.get(moment.clock)
    if moment.time is None:
        return None
    return moment.time - (offset.milliseconds if offset else 0)
