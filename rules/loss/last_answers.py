"""Whether a leader's log of requests goes on behind its lead: then all that it answered in it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules.evidence import Moment, PartitionEvidence
from rules.history.moments import ROLE_KINDS, STARTING
from rules.history.statements import LogEvent, RoleTaken

REQUESTS: Final = ("fetched", "consumed", "produced")


def end_unseen(evidence: PartitionEvidence, leader: int, epoch: int) -> bool:
    """Whether requests are logged, and none that a leader answered after it had led the epoch: its log may be cut.

    A request of any partition shows that its log goes on.
    """
    _, following = reign_of(evidence.chronicle.told_by(leader), epoch)
    told = [m for m in evidence.moments if m.kind in REQUESTS]
    if not told or following is None or following.time is None:
        return bool(told)
    times = (m.last_time or m.time or 0 for m in told if m.witness == leader)
    return max(evidence.requests_until.get(leader, 0), *times, 0) <= following.time


def reign_of(own: Sequence[Moment], epoch: int) -> tuple[int | None, RoleTaken | LogEvent | None]:
    """When a broker opened an epoch, and the role or the start after it."""
    opened = next((m.time for m in own if m.kind == "leader-starts" and m.epoch == epoch), None)
    if opened is None:
        return None, None
    after = (m for m in own if m.time is not None and m.time > opened and m.epoch != epoch)
    return opened, next((m for m in after if m.kind in (*ROLE_KINDS, *STARTING)), None)
