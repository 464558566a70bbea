"""Acknowledged records of which it is not known whether they are gone: what stands against it, and what would tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules.chronicle.silence import Silence, would_tell
from rules.evidence import PartitionEvidence
from rules.history.moments import Moment
from rules.history.statements import Produced
from rules.loss.gone import HeldOn
from rules.loss.last_answers import REQUESTS
from rules.loss.unanswered import Unanswered, not_of_all_seen
from rules.loss.unplaced import Unplaced
from rules.replicas.later import latest_epoch

_FIRST = "the first acknowledgement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """One question about what a broker answered, or may have answered, to producers."""

    broker: int | None
    words: str
    missing: str
    start_offset: int | None = None
    end_offset: int | None = None
    shown: tuple[tuple[Moment, str], ...] = ()
    """Statements that the question rests on, each with what it is."""
    blocking: bool = True


def held_or_not(evidence: PartitionEvidence, epoch: int, found: HeldOn) -> Unsettled:
    """A leader had them not, but one that had them led again, or may have."""
    answers, holder, following = found.answers, found.holder, found.following
    why = f"Broker {following.broker} opened epoch {following.epoch} without them, but broker {holder.broker} had them"
    if found.passed:
        why = f"Broker {following.broker} had written others there before"
    start, end = _range(evidence, epoch, answers)
    opening = () if holder.opening is None else ((holder.opening, "the leader opens its epoch"),)
    return Unsettled(
        broker=answers[0].witness,
        words=f"broker {answers[0].witness} acknowledged records [{start}, {end}) of epoch {epoch}. {why},"
        f" {holder.words}. Whether the log that leads now holds them is not known",
        missing=f"the log of who led last, or broker {holder.broker}'s own log (server.log) whole",
        start_offset=start,
        end_offset=end,
        shown=((answers[0], _FIRST), *opening),
    )


def sent_again_or_not(epoch: int, answers: Sequence[Produced], held: int | None) -> Unsettled:
    """Answers of no certain epoch at whose offsets records of another one stand."""
    first, last = answers[0], answers[-1]
    one, latest = first.offset == last.offset, max(latest_epoch(m, epoch) for m in answers)
    when = f"in epoch {epoch}" if latest == epoch else f"in an epoch from {epoch} to {latest}"
    roles = would_tell(Silence(broker=first.witness, log="roles"))
    what = f"a record at {first.offset}" if one else f"records between {first.offset} and {last.offset}"
    return Unsettled(
        broker=first.witness,
        words=f"broker {first.witness} acknowledged {what} {when}. Records of epoch {held} stand at {first.offset}."
        " Either those that it acknowledged are gone, or a producer sent them again and these are they",
        missing="a record of what its producers sent" if latest == epoch else roles,
        start_offset=first.offset,
        end_offset=(last.offset or 0) + 1,
        shown=((first, _FIRST),),
    )


def damaged_there(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced], leader: int) -> Unsettled:
    """The log of who led last is damaged at their offsets: which records it held is not known."""
    start, end = _range(evidence, epoch, answers)
    return Unsettled(
        broker=answers[0].witness,
        words=f"broker {answers[0].witness} acknowledged records [{start}, {end}) of epoch {epoch}. A later leader"
        f" began below them, and broker {leader}, which led last, holds damaged batches there",
        missing=f"a sound copy of broker {leader}'s log",
        start_offset=start,
        end_offset=end,
        shown=((answers[0], _FIRST),),
    )


def of_no_known_place(found: Unplaced) -> Unsettled:
    """Where the next epochs opened, or the ones in which the broker answered, a log of roles would tell."""
    of, asked = f"in which broker {found.broker} answered producers", found.broker
    opened = f"opened {of}"
    if found.of_known_epochs:
        opened, asked = f"after those of broker {found.broker}'s answers opened", found.successor
    words = f"no log tells at which offsets the epochs {opened}"
    missing = would_tell(Silence(broker=asked, log="roles"))
    if not found.gone:
        return Unsettled(broker=None, words=words, missing=missing, blocking=False)
    first, last = min(found.gone), max(found.gone)
    return Unsettled(
        broker=found.broker,
        words=f"{words}. Records that it acknowledged, between {first} and {last}, are not in the log that leads",
        missing=missing,
        start_offset=first,
        end_offset=last + 1,
    )


def perhaps_answered(part: Unanswered) -> Unsettled:
    """What a leader wrote last, of which no answer is told though one may have been given."""
    asked = Silence(broker=part.leader, log="requests", window="whole up to its end")
    return Unsettled(
        broker=part.leader,
        words=part.words,
        missing=would_tell(asked, "a record of what its producers were told"),
        start_offset=part.start,
        end_offset=part.end,
        shown=() if part.opening is None else ((part.opening, "the next leader opens its epoch"),),
        blocking=part.by_one or part.log_missing or part.end_unseen,
    )


def of_a_silent_leader(evidence: PartitionEvidence, broker: int, offset: int | None) -> Unsettled:
    """What a leader may have written and answered whose logs tell nothing of its reign, as those of others may."""
    beyond = "" if offset is None else f" from offset {offset} on"
    return Unsettled(
        broker=broker,
        words=f"broker {broker} may have acknowledged records{beyond} before it lost leadership",
        missing=would_tell(Silence(broker=broker, log="server and requests")),
        start_offset=offset,
        blocking=not_of_all_seen(evidence.moments) or _is_silent_here(evidence, broker),
    )


def _is_silent_here(evidence: PartitionEvidence, broker: int) -> bool:
    """Whether others' requests are told, and the broker's own log of them is here without any: it was cut.

    Where its log is not here at all, the scope of the verdict says so.
    """
    return broker in evidence.requests_until and any(moment.kind in REQUESTS for moment in evidence.moments)


def _range(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced]) -> tuple[int, int]:
    return answers[0].offset or 0, evidence.batch_end(answers[-1].offset or 0, epoch)
