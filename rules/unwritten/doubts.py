"""What a follower may have copied in another lead of its leader than in the one that its roles name."""

from __future__ import annotations

from rules.unwritten.epoch_log import PossibleLog
from rules.unwritten.log_turns import OwnLead
from rules.unwritten.places import Growth
from rules.unwritten.ways import Open
from rules.unwritten.written_logs import WrittenLogs


def doubted(fold: WrittenLogs) -> frozenset[tuple[int, int]]:
    """The growths that may be of another lead in which other epochs stood there; by broker and turn."""
    return frozenset((growth.broker, growth.place) for growth in fold.copying.growths if _in_doubt(growth, fold))


def _in_doubt(growth: Growth, fold: WrittenLogs) -> bool:
    others = [lead for lead in fold.leads[growth.leads[0].broker] if lead not in growth.leads] if growth.leads else []
    for lead in others:
        served = fold.copying.traces.served(growth.broker, lead, growth.start, growth.end)
        if served is not False and not _agrees(growth, lead, fold):
            return True
    return False


def _agrees(growth: Growth, other: OwnLead, fold: WrittenLogs) -> bool:
    """Whether another lead's log holds the same epochs where the follower's grew, as far as it reaches."""
    theirs = fold.copying.as_source(other)
    for lead in growth.leads:
        ours = fold.copying.as_source(lead)
        if ours is None or isinstance(ours, Open) or theirs is None or isinstance(theirs, Open):
            return False
        if not all(_same(mine, log, growth) for mine in ours for log in theirs):
            return False
    return True


def _same(mine: PossibleLog, other: PossibleLog, growth: Growth) -> bool:
    """Whether both would have sent the same; what reaches no farther than the follower's log has sent nothing."""
    end = min(growth.end, other.log_end_offset)
    edges = {growth.start, *(run.start_offset for run in (*mine.runs, *other.runs))}
    return all(mine.epoch_at(at) == other.epoch_at(at) for at in edges if growth.start <= at < end)
