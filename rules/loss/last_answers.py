"""The last answers of a leader: whether all of them are here, and what stands where nobody was answered any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules.asked_once import asked_once
from rules.chronicle.extents import NO_OFFSETS, Extents
from rules.evidence import Moment, PartitionEvidence
from rules.history.moments import ROLE_KINDS, STARTING, succeeded
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


@asked_once
def _answered(evidence: PartitionEvidence) -> dict[int, int]:
    """Of each epoch of which all answers are here where the last batch ends that a producer was answered for."""
    last: dict[int, int] = {}
    for m in evidence.moments:
        if succeeded(m) and m.term is not None:
            last[m.term] = max(m.offset or 0, last.get(m.term, 0))
    # Of an epoch whose last answers may not be here nothing tells that a producer had to send its records again.
    leaders, gaps = evidence.chronicle.leaders, {gap.broker for gap in evidence.gaps}
    whole = (e for e in last if e in leaders and leaders[e] not in gaps and not end_unseen(evidence, leaders[e], e))
    return {epoch: evidence.batch_end(last[epoch], epoch) for epoch in whole}


def sent_again(evidence: PartitionEvidence, epoch: int) -> Extents:
    """Offsets of an epoch at which older records stand that its leader had left out and nobody was answered for.

    A producer that is not answered sends its records again, to the next leader. Where the log of the deposed one comes
    back, the records that the next one acknowledged may be those that stand there.
    """
    opening, last = evidence.openings.get(epoch), evidence.leader_at_the_end
    if opening is None or opening.offset is None or last is None or last.cleaned:
        return NO_OFFSETS
    answered = _answered(evidence)
    older = [run for e, runs in last.runs_by_epoch.items() if e < epoch and e in answered for run in runs]
    return Extents.of((max(run.start_offset, opening.offset, answered[run.epoch]), run.end_offset) for run in older)
