"""Records of an epoch that may stand in the log that leads after all, as an older leader had written them first."""

from __future__ import annotations

from rules.asked_once import asked_once
from rules.chronicle.extents import NO_OFFSETS, Extents
from rules.evidence import PartitionEvidence
from rules.history.moments import succeeded
from rules.loss.last_answers import end_unseen


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
