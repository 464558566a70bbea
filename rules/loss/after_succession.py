"""Answers that a leader may have given after another had taken its place: nobody may have waited for them any more.

A leader that stood still, as in a long pause of its JVM, takes what clients had sent meanwhile before it hears of its
successor. Its log tells of an answer where the client has closed the connection too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rules.asked_once import asked_once
from rules.evidence import Moment, PartitionEvidence, translated
from rules.history.clocks import FAR, WANDER_MS, Clocks, estimated
from rules.history.moments import ROLE_KINDS, succeeded
from rules.history.statements import Produced, RoleTaken

_LOADED: Final = ("log-loaded", "log-created")


def late_answers(evidence: PartitionEvidence, epoch: int) -> Callable[[Produced], bool]:
    """Tells of answers in an epoch whether, by the clocks, another broker may have opened a newer one before them.

    One for all replicas shows that its leader still led: the followers had gone else. Whoever started again before it
    took a role had heard of no successor; it had to stand still and to die soon after.
    """
    clocks, led_until = evidence.replayed.clocks, _surely_led_until(evidence)
    newer = [opening for number, opening in evidence.openings.items() if number > epoch]

    def is_late(answer: Produced) -> bool:
        at = answer.time
        if answer.acks == -1 or at is None or at <= led_until.get((epoch, answer.clock), -1):
            return False
        died = _died(evidence.chronicle.told_by(answer.witness), at) if answer.witness is not None else False
        others = (opening for opening in newer if opening.broker != answer.witness)
        return any(_opened(opening, answer, clocks, likely=died) <= at for opening in others)

    return is_late


@asked_once
def _surely_led_until(evidence: PartitionEvidence) -> dict[tuple[int | None, str], int]:
    """By epoch and clock when its broker answered last for all replicas."""
    until: dict[tuple[int | None, str], int] = {}
    for m in evidence.moments:
        if succeeded(m) and m.acks == -1:
            until[m.term, m.clock] = max(m.time or 0, until.get((m.term, m.clock), 0))
    return until


def _opened(opening: RoleTaken, answer: Produced, clocks: Clocks, *, likely: bool) -> int:
    """When a broker may have opened an epoch, or most likely did, by the clock of an answer.

    Clocks that nothing keeps from showing the same are taken to do so, within a second. One set back tells nothing.
    """
    at, source, target = opening.time or 0, opening.clock, answer.clock
    earliest, _ = translated(at, source, target, clocks) or (-FAR, FAR)
    if not likely and earliest > -FAR:
        return earliest
    if opening.set_back or answer.set_back:
        return FAR
    most = estimated(at, source, target, clocks)
    return (at if most is None else most) - (0 if likely else 2 * WANDER_MS)


def _died(own: Sequence[Moment], time: int) -> bool:
    """Whether a broker started again after a time, before it took another role."""
    kinds = (*ROLE_KINDS, *_LOADED)
    following = next((m for m in own if m.kind in kinds and m.time is not None and m.time > time), None)
    return following is not None and following.kind in _LOADED
