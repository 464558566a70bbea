"""What a broker says of a partition while it starts, where it loads several folders of that partition.

One that waits for its deletion is loaded too. Lines of snapshots name the partition alone, as those of loads up to 2.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from rules.history.moments import Moment, gives_role, ordered
from rules.history.statements import LogEvent


def of_one_folder(moments: Sequence[Moment], several: Iterable[int]) -> list[Moment]:
    """The statements without what brokers with several folders may have said of another one while they started.

    That a log was loaded stays told, without its ends where the loads disagree.
    """
    clocks = {f"broker {broker}" for broker in several}
    if not clocks:
        return list(moments)
    changed: dict[int, Moment | None] = {}
    for start in _starts(m for m in ordered(moments) if m.clock in clocks):
        loads = [m for m in start if m.kind == "log-loaded"]
        if len(loads) > 1:
            ends = {(m.end_offset, m.log_start_offset) for m in loads}
            first = replace(loads[0], end_offset=None, log_start_offset=None) if len(ends) > 1 else loads[0]
            changed |= {id(m): None for m in start if m.kind in ("log-loaded", "producer-state-saved")}
            changed[id(loads[0])] = first
    kept = (changed.get(id(moment), moment) for moment in moments)
    return [moment for moment in kept if moment is not None]


def _starts(moments: Iterable[Moment]) -> Iterator[list[LogEvent]]:
    """What each broker says of its logs between two roles, or since its log was made or deleted."""
    own: list[LogEvent] = []
    clock = ""
    for moment in moments:
        if moment.clock != clock or gives_role(moment) or moment.kind in ("log-created", "log-deleted"):
            yield own
            own, clock = [], moment.clock
        elif isinstance(moment, LogEvent):
            own.append(moment)
    yield own
