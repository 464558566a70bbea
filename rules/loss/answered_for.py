"""What became of records that producers were told are written: which are gone, and of which that is not known.

It is open where logs are silent. Nothing may tell where a later epoch opened. Of records that no later leader had, no
answer may be told. A leader may tell nothing of its reign. And its log may be made anew: then no log tells what it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rules.chronicle.extents import Extents
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import COMPACTED_TOPICS, PartitionEvidence, gives_role
from rules.history.moments import succeeded
from rules.history.statements import Answered, Produced
from rules.loss.accounts import accounts
from rules.loss.before_reopening import before_reopenings, lost_by_reopening
from rules.loss.gone import Gone, fates, gone_with
from rules.loss.held_again import held_again, surely_gone
from rules.loss.held_before import of_damaged_ends, of_logs_made_anew, of_removed_heads
from rules.loss.later import perhaps_replaced, stands_no_more
from rules.loss.left_out import left_out
from rules.loss.lost_stretch import LeftOut
from rules.loss.perhaps_answered import UntoldAnswers, answered_by_one, untold_answers
from rules.loss.survivors import survivors
from rules.loss.unknown_cuts import of_unknown_cuts
from rules.loss.unsettled import Unsettled, of_answers, them
from rules.loss.whatever_order import not_held
from rules.words import it_or_them


def answered_for(evidence: PartitionEvidence) -> Iterator[Gone | Unsettled]:
    """Every epoch's answers whose records are gone or may be; where epochs have no order, by what each log holds."""
    if evidence.epochs_used_twice:
        yield from not_held(evidence)
        return
    yield from fates(evidence)
    yield from _before_reopenings(evidence)
    yield from _of_no_known_place(evidence)
    yield from of_logs_made_anew(evidence)
    yield from of_damaged_ends(evidence)
    yield from of_removed_heads(evidence)
    if evidence.topic not in COMPACTED_TOPICS:  # brokers themselves write those
        yield from _perhaps_answered(evidence)
        yield from _of_silent_leaders(evidence)
        yield from of_unknown_cuts(evidence)


# --- answers before their epoch was opened once more ----------------------------------------------------------------


def _before_reopenings(evidence: PartitionEvidence) -> Iterator[Gone | Unsettled]:
    """What a leader answered for and had no more when it opened its epoch once more, unless its log has it again."""
    given: dict[int, list[Produced]] = {}
    every = filter(succeeded, evidence.moments if before_reopenings(evidence) else ())
    for answer in sorted(every, key=lambda m: m.offset or 0):
        given.setdefault(id(lost_by_reopening(evidence, answer)), []).append(answer)
    for part in before_reopenings(evidence):
        if (opening := part.reopening) is None:
            continue
        begun = evidence.deleted.lost_later(part.leader, part.epoch, part.end, part.next_epoch, opening)
        answers = [m for m in given.get(id(part), ()) if (m.offset or 0) >= begun]
        held = held_again(evidence, part)
        gone = surely_gone(evidence, part) - held.possible
        yield from gone_with(evidence, part.epoch, opening, answers, [m for m in answers if (m.offset or 0) in gone])
        if unsure := [m for m in answers if (m.offset or 0) in part.extent - gone - held.sure]:
            lacked = f"with log end offset {opening.offset}, and so without {them(evidence, part.epoch, unsure)}"
            there = "Records of that epoch are there now. Whether those are the same ones is not known"
            why = f"It opened epoch {part.epoch} once more {lacked}. {there}"
            disk = f"the disk and the whole server.log of broker {part.next_leader}"
            yield of_answers(evidence, part.epoch, unsure, why, disk, (opening, "its leader opens its epoch once more"))


# --- answers after which nothing tells where a later epoch opened ---------------------------------------------------


def _of_no_known_place(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """By broker what it answered of which no opening tells what became."""
    leaders, answers = evidence.chronicle.leaders, _unplaced(evidence)
    newest = max(leaders, default=-1)
    last = leaders.get(newest, -1)
    rewritten, taken = _rewritten(evidence, last) if answers else (), _may_have_led(evidence, last, newest)
    for (known, broker), own in sorted(answers.items()):
        shown = taken or not known
        gone = [m.offset or 0 for m in own if _is_gone(evidence, m, leaders, rewritten, known=known, shown=shown)]
        others = [] if gone else [m.offset or 0 for m in own if perhaps_replaced(evidence, m, leaders)]
        # It may be told in which epochs it answered, and only not where the next ones opened.
        asked = f"opened in which broker {broker} answered producers"
        asked = f"after those of broker {broker}'s answers opened" if known else asked
        words = f"no log tells at which offsets the epochs {asked}"
        missing = would_tell(Silence(broker=last if known else broker, log="roles"))
        if open_offsets := gone or others:
            first, end = min(open_offsets), max(open_offsets)
            what = f"a record at {first}" if first == end else f"records between {first} and {end}"
            cut = "and truncated its log there since: the leader's log may hold others"
            there = "that the leader's log does not hold" if gone else cut
            yield Unsettled(
                broker=broker,
                words=f"{words}. It acknowledged {what} {there}",
                missing=missing,
                start_offset=first,
                end_offset=end + 1,
            )
        elif not known:
            yield Unsettled(broker=None, words=words, missing=missing, blocking=False)


def _unplaced(evidence: PartitionEvidence) -> Mapping[tuple[bool, int], Sequence[Produced]]:
    """Such answers by broker, and by whether it is told in which epochs it gave them."""
    telling, sure = {m.clock for m in evidence.moments if m.kind == "leader-starts"}, evidence.chronicle.sure_terms
    ordered, newest = evidence.chronicle.given_terms, max(evidence.openings, default=-1)
    placed = max((epoch for epoch, opening in evidence.openings.items() if opening.offset is not None), default=-1)
    answers: dict[tuple[bool, int], list[Produced]] = {}
    for m in evidence.moments:
        if succeeded(m) and m.witness is not None:
            known = m.clock in telling or (m.clock, m.term) in sure
            sure_of = (m.clock, m.term) in ordered and m.latest_term is None
            judged = (m.term or 0) < placed if known else sure_of and (m.term or 0) < newest
            if not judged:
                answers.setdefault((known, m.witness), []).append(m)
    return answers


def _is_gone(
    evidence: PartitionEvidence,
    answer: Produced,
    leaders: Mapping[int, int],
    rewritten: Sequence[tuple[int, int]],
    *,
    known: bool,
    shown: bool,
) -> bool:
    """Whether who led last shows, by its log or by its own answers, that it has not the record, or every log does."""
    newest, latest = max(leaders, default=-1), answer.newest_term(answer.term or 0)
    led_on = newest > latest and leaders[newest] != answer.witness
    if led_on and any(epoch > latest and offset <= (answer.offset or 0) for epoch, offset in rewritten):
        return True
    if known and not led_on:
        return False
    logs = evidence.current or (None,)
    nowhere = all(stands_no_more(answer, replica, leaders) for replica in logs)
    return nowhere or (shown and stands_no_more(answer, evidence.leader_at_the_end, leaders))


def _may_have_led(evidence: PartitionEvidence, leader: int, newest: int) -> bool:
    """Whether an elected broker took its role for all that is known: its own words reach so far, or none are here."""
    own = [m.epoch or 0 for m in evidence.moments if m.clock == f"broker {leader}" and gives_role(m)]
    return not own or max(own) >= newest


def _rewritten(evidence: PartitionEvidence, leader: int) -> list[tuple[int, int]]:
    """Epochs and offsets of a leader's own answers, where its log ended when it gave them.

    Only where no batch carries an epoch: since batches do, what is sent again is answered as it was the first time.
    """
    runs = [epoch for replica in evidence.current for epoch in replica.runs_by_epoch]
    if not runs or max(runs) >= 0:
        return []
    lowest: dict[int, int] = {}
    for m in evidence.moments:
        if succeeded(m) and m.witness == leader and m.term is not None:
            lowest[m.term] = min(m.offset or 0, lowest.get(m.term, m.offset or 0))
    return sorted(lowest.items())


# --- records of which no answer is told, though one may have been given ---------------------------------------------


def _perhaps_answered(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """Every stretch that no later leader had, and whose leader was killed, or of whose last answers no log is here."""
    for stretch in left_out(evidence):
        opening = evidence.openings.get(stretch.next_epoch)
        for part in _untold_parts(evidence, stretch):
            open_answers = _open_answers(evidence, stretch, part)
            if open_answers is None:
                continue
            leader, why = open_answers
            here = leader is not None and evidence.request_log(leader).here
            asked = Silence(broker=leader, log="requests", window="up to its very end (nothing cut off)" * here)
            yield Unsettled(
                broker=leader,
                words=f"no later leader's log had records [{part[0]}, {part[1]}) of {stretch.whose}."
                f" {_may_have_acknowledged(leader, stretch.epoch, part, why, here=here)}",
                missing=would_tell(asked, "the logs of the producers"),
                start_offset=part[0],
                end_offset=part[1],
                epoch=stretch.epoch,
                shown=() if opening is None else ((opening, "the next leader opens its epoch"),),
                blocking=why.matters or (not here and _may_be_missed(evidence, stretch, leader, part)),
            )


def _open_answers(
    evidence: PartitionEvidence, stretch: LeftOut, part: tuple[int, int]
) -> tuple[int | None, UntoldAnswers] | None:
    """Of which leader it is open whether it answered for some records: of several the one for which most speaks."""
    leaders = evidence.chronicle.leaders
    wrote = {leaders.get(stretch.epoch, stretch.leader): stretch.epoch}
    for epoch in sorted(each for each in leaders if stretch.epoch < each <= stretch.newest):
        wrote.setdefault(leaders[epoch], epoch)
    every = (
        (leader, untold_answers(evidence, (epoch, stretch.next_epoch), leader, part, older=stretch.older))
        for leader, epoch in wrote.items()
    )
    known = [(leader, why) for leader, why in every if why is not None]
    return max(known, key=lambda answer: answer[1].matters, default=None)


def _may_be_missed(evidence: PartitionEvidence, stretch: LeftOut, leader: int | None, part: tuple[int, int]) -> bool:
    """Whether a copy still has what a leader wrote, or neither a finding of the loss nor any of its answers is here."""
    if survivors(evidence, stretch.epoch, *part):
        return True
    own = () if leader is None else evidence.chronicle.told_by(leader)
    lost = (term for term in evidence.lost_terms if term.epoch == stretch.next_epoch)
    found = any(term.start_offset <= part[0] and part[1] <= term.committed.end_offset for term in lost)
    return not found and not any(isinstance(moment, Answered) for moment in own)


def _may_have_acknowledged(
    leader: int | None, epoch: int, part: tuple[int, int], why: UntoldAnswers, *, here: bool
) -> str:
    """Why it is open whether somebody was told that the records are written."""
    who, them = f"the leader of epoch {epoch}" if leader is None else f"broker {leader}", it_or_them(part[1] - part[0])
    known = f"It is not known whether {who} acknowledged {them}"
    if why.by_one:
        return f"{known}. Some producers used acks=1 or acks=0, so it is possible"
    known = f"{known}. A producer with acks=1 is answered before any follower has its records"
    if why.missing and here:
        return f"{known}. Not all of the request log of {who} is here"
    unseen = f"the last requests may be missing from the request log of {who}"
    if not here:
        unseen = "who that leader was is not known" if leader is None else f"no request log of {who} is here"
    return f"{known}. This dump shows no such producer, but {unseen}"


def _untold_parts(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[tuple[int, int]]:
    """What of a stretch nobody tells to be acknowledged or committed, and is not in the log that leads."""
    epoch = stretch.epoch
    answers = accounts(evidence).answers(epoch, stretch.start, stretch.end, stretch.in_time)
    own = [m.offset or 0 for m in answers]
    if stretch.reopening is not None:
        heard = Extents.of([(min(own, default=stretch.end), stretch.end), (stretch.start, stretch.known_end)])
        yield from (stretch.extent - heard - held_again(evidence, stretch).sure).parts
        return
    known = [(min(own), evidence.batch_end(max(own), epoch))] if own else []
    known += [(0, proof.end_offset) for proof in evidence.committed_batches if proof.term == epoch]
    last = evidence.leader_at_the_end
    if last is not None:
        older = () if not stretch.older else (e for e in last.runs_by_epoch if e < epoch)
        held = (run for e in (epoch, *older) for run in last.runs_by_epoch.get(e, ()))
        known += [(run.start_offset, run.end_offset) for run in held]
        newer = (m.offset for e, m in evidence.openings.items() if e > epoch and m.offset is not None)
        known.append((0, min([last.log_start_offset, *newer])))
    yield from (stretch.extent - Extents.of(known)).parts


# --- leaders whose logs tell nothing of their reign -----------------------------------------------------------------


def _of_silent_leaders(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """What such a leader may have written and answered, as logs of others may tell."""
    requests = any(isinstance(moment, Answered) for moment in evidence.moments)
    for broker, offset in sorted(_silent_leaders(evidence).items()):
        beyond = "" if offset is None else f" from offset {offset} on"
        # Where its log of requests is not here at all, the scope of the verdict says so; one without any was cut.
        cut = requests and evidence.request_log(broker).here
        yield Unsettled(
            broker=broker,
            words=f"broker {broker} may have acknowledged records{beyond} before it lost leadership",
            missing=would_tell(Silence(broker=broker, log="server and requests")),
            start_offset=offset,
            blocking=answered_by_one(evidence) or cut,
        )


def _silent_leaders(evidence: PartitionEvidence) -> Mapping[int, int | None]:
    """Brokers that led before another one and of which no log is here, and the lowest offset where one opened next."""
    leaders = evidence.chronicle.leaders
    clocks = {moment.clock for moment in evidence.moments}
    found: dict[int, int | None] = {}
    for before, after in pairwise(sorted(leaders)):
        broker, opening = leaders[before], evidence.openings.get(after)
        if broker != leaders[after] and f"broker {broker}" not in clocks:
            offsets = [found.get(broker), None if opening is None else opening.offset]
            found[broker] = min((offset for offset in offsets if offset is not None), default=None)
    return found
