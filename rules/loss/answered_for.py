"""What became of records that producers were told are written: which are gone, and of which that is not known.

Of those it is said what stands against it, and what would tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.chronicle.silence import Silence, would_tell
from rules.evidence import COMPACTED_TOPICS, PartitionEvidence
from rules.finding import sentences
from rules.history.moments import Moment
from rules.history.statements import Produced
from rules.loss.gone import Fate, Gone, fates
from rules.loss.held_on import HeldOn
from rules.loss.last_answers import REQUESTS
from rules.loss.unanswered import Unanswered, not_of_all_seen, silent_leaders, unanswered
from rules.loss.unplaced_answers import Unplaced, unplaced
from rules.loss.whatever_order import NotHeld, not_held
from rules.replicas.later import latest_epoch
from rules.words import it_or_them

_FIRST = "the first acknowledgement"
Shown = tuple[tuple[Moment, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """One question about what a broker answered, or may have answered, to producers."""

    broker: int | None
    words: str
    missing: str
    start_offset: int | None = None
    end_offset: int | None = None
    shown: Shown = ()
    """Statements that the question rests on, each with what it is."""
    blocking: bool = True


def answered_for(evidence: PartitionEvidence) -> Iterator[Gone | NotHeld | Unsettled]:
    """Every epoch's answers whose records are gone or may be; where epochs have no order, by what each log holds."""
    if evidence.epochs_used_twice:
        yield from (found if found.doubt is None else _in_doubt(found, found.doubt) for found in not_held(evidence))
        return
    for fate in fates(evidence):
        yield from fate.gone
        yield from _open(evidence, fate)
    yield from map(_of_no_known_place, unplaced(evidence))
    if evidence.topic not in COMPACTED_TOPICS:  # brokers themselves write those
        yield from map(_perhaps_answered, unanswered(evidence))
        for broker, offset in sorted(silent_leaders(evidence).items()):
            yield _of_a_silent_leader(evidence, broker, offset)


def _open(evidence: PartitionEvidence, fate: Fate) -> Iterator[Unsettled]:
    if fate.held_on is not None:
        yield _held_or_not(evidence, fate.epoch, fate.held_on)
    if fate.unsure:
        yield _sent_again_or_not(fate.epoch, fate.unsure, fate.stands)
    if fate.unread and evidence.leader_at_the_end is not None:
        yield _damaged_there(evidence, fate.epoch, fate.unread, evidence.leader_at_the_end.broker)


def _in_doubt(found: NotHeld, missing: str) -> Unsettled:
    stretch = found.start_offset, found.end_offset
    return _acknowledged(found.leader, found.epoch, stretch, sentences(found.instead), missing, found.shown)


def _held_or_not(evidence: PartitionEvidence, epoch: int, found: HeldOn) -> Unsettled:
    """A leader had them not, but one that had them led again, or may have."""
    first, following, stretch = found.answers[0], found.following, _range(evidence, epoch, found.answers)
    who, them = f"Broker {following.broker}", _them(stretch)
    why = f"{who} opened epoch {following.epoch} without {them}, but broker {found.broker} had {them}"
    if found.passed:
        why = f"{who} had written others there before"
    why += f", {found.words}. Whether the log that leads now holds {them} is not known"
    missing = f"the log of who led last, or broker {found.broker}'s own log (server.log) whole"
    opening = () if found.opening is None else ((found.opening, "the leader opens its epoch"),)
    return _acknowledged(first.witness, epoch, stretch, why, missing, ((first, _FIRST), *opening))


def _sent_again_or_not(epoch: int, answers: Sequence[Produced], held: int | None) -> Unsettled:
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


def _damaged_there(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced], leader: int) -> Unsettled:
    """The log of who led last is damaged at their offsets: which records it held is not known."""
    first, stretch = answers[0], _range(evidence, epoch, answers)
    below = f"A later leader began below {_them(stretch)}"
    why = f"{below}, and broker {leader}, which led last, holds damaged batches there"
    missing = f"a sound copy of broker {leader}'s log"
    return _acknowledged(first.witness, epoch, stretch, why, missing, ((first, _FIRST),))


def _acknowledged(
    broker: int | None, epoch: int, stretch: tuple[int, int], why: str, missing: str, shown: Shown
) -> Unsettled:
    """Answers of a known epoch, and why it is open what became of their records."""
    start, end = stretch
    return Unsettled(
        broker=broker,
        words=f"broker {broker} acknowledged records [{start}, {end}) of epoch {epoch}. {why}",
        missing=missing,
        start_offset=start,
        end_offset=end,
        shown=shown,
    )


def _of_no_known_place(found: Unplaced) -> Unsettled:
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


def _perhaps_answered(part: Unanswered) -> Unsettled:
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


def _of_a_silent_leader(evidence: PartitionEvidence, broker: int, offset: int | None) -> Unsettled:
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


def _them(stretch: tuple[int, int]) -> str:
    start, end = stretch
    return it_or_them(end - start)


def _range(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced]) -> tuple[int, int]:
    return answers[0].offset or 0, evidence.batch_end(answers[-1].offset or 0, epoch)
