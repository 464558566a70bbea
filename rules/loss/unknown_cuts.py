"""Records that a former leader cut, and of which nothing tells of which epoch they were."""

from __future__ import annotations

from collections.abc import Iterator

from rules.chronicle.silence import Silence, would_tell
from rules.evidence import Cut, PartitionEvidence, epoch_held
from rules.loss.left_out import least_end, left_out, of_unknown_epoch
from rules.loss.perhaps_answered import untold_answers
from rules.loss.unsettled import Unsettled
from rules.words import it_or_them


def of_unknown_cuts(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """What such a cut removed that no log here holds, unless all answers of who cut it are here.

    Who had led may have written it alone. Where another log holds older records there, the leader of those had it too.
    Where no broker's log of requests is here at all, the scope of the verdict says so.
    """
    logged = any(log.here for log in evidence.request_logs.values())
    for cut in evidence.chronicle.cuts:
        led = _led_before(evidence, cut)
        end = least_end(evidence, cut) or 0
        if not led or end <= cut.offset or not of_unknown_epoch(evidence, cut):
            continue
        told_of = any(part.start < end and cut.offset < part.end for part in left_out(evidence))
        if told_of or not _replaced(evidence, cut.offset, max(led)):
            continue
        removed, following = (cut.offset, end), max(led) + 1
        if untold_answers(evidence, (min(led), following), cut.broker, removed, older=True) is not None:
            yield _question(cut, removed, blocking=logged)


def _question(cut: Cut, removed: tuple[int, int], *, blocking: bool) -> Unsettled:
    start, end = removed
    known = f"broker {cut.broker} truncated its log to {start}, and had led before"
    whose = f"It is not known of which epoch it removed records [{start}, {end})"
    return Unsettled(
        broker=cut.broker,
        words=f"{known}. {whose}, and whether it had acknowledged {it_or_them(end - start)}",
        missing=would_tell(Silence(broker=cut.broker, log="roles")),
        start_offset=start,
        end_offset=end,
        shown=((cut.moment, "the truncation"),),
        blocking=blocking,
    )


def _led_before(evidence: PartitionEvidence, cut: Cut) -> list[int]:
    """The epochs that a broker led before it cut its log."""
    leaders = evidence.chronicle.leaders
    until = max(leaders, default=-1) if cut.epoch is None else cut.epoch
    return [epoch for epoch, leader in leaders.items() if leader == cut.broker and epoch < until]


def _replaced(evidence: PartitionEvidence, offset: int, epoch: int) -> bool:
    """Whether every log here ends before an offset, or has a record of a newer epoch there."""
    for replica in evidence.current:
        held = epoch_held(replica, offset)
        gone = replica.end_known and replica.log_start_offset <= offset if held is None else held > epoch
        if replica.cleaned or not gone:
            return False
    return bool(evidence.current)
