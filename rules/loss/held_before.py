"""What a leader's log had held before it was made anew, cut as damaged or lost its beginning, by no clear word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from operator import is_not

from rules.chronicle.damaged_ends import DamagedEnd
from rules.chronicle.log_starts import RisenStart
from rules.chronicle.made_anew import MadeAnew, led_throughout, made_in
from rules.chronicle.silence import Silence, would_tell
from rules.chronicle.stories import NO_STORY
from rules.evidence import COMPACTED_TOPICS, PartitionEvidence, gives_role
from rules.evidence.remote_head import may_lie_remotely
from rules.evidence.starts import tells_of_starts
from rules.finding import offsets_told
from rules.history.moments import Moment, log_end
from rules.loss.last_answers import Answering
from rules.loss.left_out import left_out
from rules.loss.unsettled import Unsettled
from rules.words import numbered


def of_logs_made_anew(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """Every reign of which the log went, but those that wrote nothing by all their answers, or whose loss is known."""
    known = {(stretch.epoch, stretch.next_epoch) for stretch in left_out(evidence)}
    for log in (*evidence.chronicle.made_anew, *_by_the_disks(evidence)):
        if (log.before, log.after) not in known and not _all_heard(evidence, log):
            yield _question(evidence, log)


def of_damaged_ends(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """What was cut off the log of a leader as damaged, unless that loss is known or the leader before had no more."""
    for log in evidence.chronicle.damaged_ends:
        known = any(part.next_epoch == log.after and log.offset in part.extent for part in left_out(evidence))
        if not known and not _ended_there(evidence, log):
            yield _cut_off(evidence, log)


def of_removed_heads(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """What a leader's log had held at its beginning, unless leaders had deleted it or remote storage may hold it."""
    tiered = any(may_lie_remotely(r, r.log_start_offset, evidence) for r in evidence.current if r.segments)
    for log in evidence.chronicle.risen_starts if not tiered else ():
        former = None if log.before is None else evidence.chronicle.leaders[log.before]
        begun = evidence.deleted.lost_later(former, log.before or 0, log.end_offset, log.after)
        if max(begun, log.start_offset) < log.end_offset and tells_of_starts(log.broker, evidence):
            yield _removed(evidence, log, max(begun, log.start_offset))


def _removed(evidence: PartitionEvidence, log: RisenStart, start: int) -> Unsettled:
    who, what = f"broker {log.broker}", offsets_told(start, log.end_offset)
    held = [replica.broker for replica in evidence.current if replica.holds(start, log.end_offset)]
    kept = f". In this dump, {numbered('broker', held, 'has')} it still" if held else ""
    return Unsettled(
        broker=log.broker,
        words=f"when {who}'s log was loaded, it no longer had {what}, and no line tells of a deletion. Then {who}"
        f" led in epoch {log.after}. Followers delete what lies before their leader's log, so that may be lost{kept}",
        missing=f"{who}'s server.log without gaps, or a copy of the disk that it had before it was started again",
        start_offset=start,
        end_offset=log.end_offset,
        shown=((log.loaded, "the log is loaded without its beginning"), (log.leads, "its broker leads with it")),
    )


def _ended_there(evidence: PartitionEvidence, log: DamagedEnd) -> bool:
    """Whether the leader before wrote no more: by the role that it took next, or by all that it answered.

    Its role tells where its log ended, unless that was cut as damaged as well.
    """
    if log.before is None:
        return False
    leader = evidence.chronicle.leaders[log.before]
    own = evidence.chronicle.told_by(leader)
    next_role = evidence.chronicle.stories.get(f"broker {leader}", NO_STORY).following(log.before)
    if next_role is not None and gives_role(next_role) and not any(m.kind == "damaged-end-cut" for m in own):
        return (ended := log_end(next_role)) is not None and ended <= log.offset
    return _heard(evidence, leader, log.before, log.offset)


def _cut_off(evidence: PartitionEvidence, log: DamagedEnd) -> Unsettled:
    who, leader = f"broker {log.broker}", None if log.before is None else evidence.chronicle.leaders[log.before]
    requests = Silence(broker=leader, log="requests", window="up to its very end (nothing cut off)")
    return Unsettled(
        broker=log.broker,
        words=f"{who} could not read its log from {log.cut.offset} on when it loaded it, and cut it there. Then it led"
        f" in epoch {log.after} with log end offset {log.offset}. No log tells how far the part that was cut off had"
        " gone. Committed records may be lost with it",
        missing=would_tell(requests, f"a copy of the disk that {who} had before it was started again"),
        start_offset=log.offset,
        epoch=log.before,
        shown=((log.cut, "the log is cut as it is loaded"), (log.leads, "its broker leads with the log that is left")),
    )


def _by_the_disks(evidence: PartitionEvidence) -> Iterator[MadeAnew]:
    """The same of brokers that tell of no role before: one made its log once more, which begins with a later epoch.

    Whoever only made it had no log before. What it held may have been deleted in order if its log begins later. Of the
    new log is what it tells since it led in that epoch; what it loaded was not the old one, or that would be here.
    """
    for replica in evidence.current:
        first = next(iter(replica.log.epochs), None)
        if first is None or first.start_offset > 0 or replica.log_start_offset > 0:
            continue
        own = [*takewhile(partial(_may_be_before, first.epoch), evidence.chronicle.told_by(replica.broker))]
        made, leaders = made_in([m for m in own if m.kind != "log-loaded"]), evidence.chronicle.leaders
        before = max((e for e, leader in leaders.items() if leader == replica.broker and e < first.epoch), default=None)
        if made is None or before is None or any(map(gives_role, own)) or not _had_a_log(own, made):
            continue
        if leaders.get(first.epoch) == replica.broker and led_throughout(replica.broker, before, first.epoch, leaders):
            yield MadeAnew(
                broker=replica.broker, before=before, begun=None, made=made, after=first.epoch, leads=None
            )


def _may_be_before(epoch: int, moment: Moment) -> bool:
    """Whether a broker may have told it before it had a role in an epoch."""
    return not (gives_role(moment) and moment.epoch is not None and moment.epoch >= epoch)


def _had_a_log(own: Sequence[Moment], made: Moment) -> bool:
    """Whether a broker tells of its log before it made it once more."""
    return any(m.kind in ("log-created", "log-loaded") for m in takewhile(partial(is_not, made), own))


def _all_heard(evidence: PartitionEvidence, log: MadeAnew) -> bool:
    return _heard(evidence, log.broker, log.before, log.begun or 0)


def _heard(evidence: PartitionEvidence, leader: int, epoch: int, begun: int) -> bool:
    """Whether all that it answered is here; brokers themselves write compacted topics, and are not answered."""
    own = Answering(evidence, leader, epoch)
    return evidence.topic not in COMPACTED_TOPICS and own.saw_its_last and not own.begins_behind(begun)


def _question(evidence: PartitionEvidence, log: MadeAnew) -> Unsettled:
    who, led, leads = f"broker {log.broker}", log.before, log.after
    again = f"epoch {leads}" if leads != led else f"epoch {leads} once more"
    requests = Silence(broker=log.broker, log="requests", window="up to its very end (nothing cut off)")
    led_again = () if log.leads is None else ((log.leads, "its broker leads with an empty log"),)
    copy = f"a copy of the disk that {who} had before"
    return Unsettled(
        broker=log.broker,
        words=f"{who} led in epoch {led}. Then it created its log anew, and led in {again} with an empty log."
        " No log tells what it had written before, so all of it may be lost",
        missing=copy if evidence.topic in COMPACTED_TOPICS else would_tell(requests, copy),
        start_offset=log.begun,
        epoch=led,
        shown=((log.made, "the log is created anew"), *led_again),
    )
