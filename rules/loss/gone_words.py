"""What ACK001 says of acknowledged records that are gone: their epochs, their offsets, what is there in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from rules.evidence import PartitionEvidence, epoch_held
from rules.finding import offsets_told
from rules.history.repetitions import times_told
from rules.history.statements import Produced, RoleTaken
from rules.loss.after_succession import Lateness
from rules.replicas.replica import Replica
from rules.words import counted, epoch_or_range, numbered

NAMED: Final = 2
"""Acknowledged offsets that are named one by one."""
WHERE_LATE: Final[Mapping[Lateness, str]] = {
    "": "",
    "perhaps": ". It is not known whether another broker led already when broker {leader} answered. If one did, the"
    " producer no longer waited and was promised nothing",
    "untimed": ". Nothing here tells when another broker took its place. If one led already when broker {leader}"
    " answered, perhaps the producer sent these records again",
    "likely": ". By the clocks another broker led already when broker {leader} answered. Perhaps the producer sent"
    " these records again",
}


def epochs_of(answers: Sequence[Produced], epoch: int) -> str:
    """The epoch in which they were given, or those of which it is one."""
    latest = max(m.newest_term(epoch) for m in answers)
    if latest == epoch:
        return f"epoch {epoch}"
    if any(m.latest_term in (None, epoch) for m in answers):
        later = f"epoch {latest}" if latest == epoch + 1 else f"later ones up to {latest}"
        return f"epoch {epoch}, some perhaps of {later}"
    return epoch_or_range(epoch, latest)


def asked_for(answers: Sequence[Produced]) -> str:
    """Which acknowledgements producers asked for, and how many answers were given for each where both were."""
    for_all, by_one = [m for m in answers if m.acks == -1], [m for m in answers if m.acks != -1]
    if not (for_all and by_one):
        return "acks=all" if for_all else "acks=1"
    least = "at least " if any(m.left_out for m in answers) else ""
    return f"{least}{counted(times_told(for_all), 'answer')} with acks=all, {least}{times_told(by_one)} with acks=1"


def offsets_seen(answers: Sequence[Produced]) -> str:
    """The offsets whose answers are seen, where some between them may not have been answered."""
    sure = sorted({_offset(m) for m in answers})
    return numbered("offset", sure) if len(sure) <= NAMED else counted(len(sure), "record")


def others_between(answers: Sequence[Produced], first: int, end: int, *, apart: bool) -> str:
    """Of which no answer is seen: by their offsets where they are one stretch; behind much else in a sentence."""
    seen = [first - 1, *sorted({_offset(m) for m in answers if _offset(m) >= first}), end]
    gaps = [(before + 1, after) for before, after in pairwise(seen) if after - before > 1]
    which = offsets_told(*gaps[0]) if len(gaps) == 1 else f"the others of {offsets_told(first, end)}"
    return f". Perhaps it acknowledged {which} too" if apart else f", and perhaps {which}"


def rest_of_batch(answers: Sequence[Produced]) -> str:
    """Behind the last record that is told: an answer names the first one of its batch."""
    last = max(map(_offset, answers))
    whose = "its batch" if {last} == {*map(_offset, answers)} else f"the batch that begins at offset {last}"
    return f". That includes the rest of {whose}"


def earlier_ones(lowest: int, first: int) -> str:
    """What may have been acknowledged before the first that is told."""
    return f". Perhaps it acknowledged {offsets_told(lowest, first)} too" if lowest < first else ""


def instead_of(
    evidence: PartitionEvidence, epoch: int, following: RoleTaken, first: int, end: int, them: str
) -> str:
    """What is there in their place; where the opening does not show that they are gone, whose records are."""
    leading = evidence.leader_at_the_end
    if (following.offset or 0) > first and leading is not None:
        return f"the leader's log (broker {leading.broker}) now has {_there(leading, first, end)}"
    who = "an unknown broker" if following.broker is None else f"broker {following.broker}"
    last = f" (last offset {(following.offset or 0) - 1})" if 0 < (following.offset or 0) < first else ""
    ended = f"with log end offset {following.offset}{last}, and so without {them}"
    led = f"opened epoch {epoch} once more" if following.epoch == epoch else f"became leader in epoch {following.epoch}"
    return f"{who} then {led} {ended}"


def _there(leading: Replica, first: int, end: int) -> str:
    """What its log has at these offsets, as far as records of one epoch go; and where it is no longer than that."""
    held, until = epoch_held(leading, first), min(end, leading.log_end_offset)
    others = (run.start_offset for run in leading.runs_within(first, until) if run.epoch != held)
    stop = min(others, default=until)
    if not leading.holds(first, stop):
        stop = first + 1
    some = "a record of epoch {}" if stop - first == 1 else "records of epoch {}"
    short = f". Its log end offset is {until}" if stop == until < end and leading.end_known else ""
    return f"{some.format(held)} at {offsets_told(first, stop)}{short}"


def _offset(answer: Produced) -> int:
    return answer.offset or 0
