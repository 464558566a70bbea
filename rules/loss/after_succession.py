"""Answers that a leader may have given after another had taken its place: nobody may have waited for them any more.

A leader that stood still, as in a long pause of its JVM, takes what clients had sent meanwhile before it hears of its
successor. Its log tells of an answer where the client has closed the connection too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from rules.chronicle.reigns import Reign
from rules.evidence import Moment, PartitionEvidence, translated
from rules.evidence.asked_once import asked_once
from rules.history.clocks import Clocks
from rules.history.if_set import FAR
from rules.history.moments import gives_role, succeeded
from rules.history.statements import Produced
from rules.history.translation import estimated

Lateness = Literal["", "perhaps", "untimed", "likely"]
"""Whether another may have led by then, whose time nothing tells, or most likely did; empty of an answer in time."""
_LOADED: Final = ("log-loaded", "log-created")


def late_answers(evidence: PartitionEvidence, epoch: int) -> Callable[[Produced], Lateness]:
    """Tells of answers in an epoch whether, by the clocks, another broker may have opened a newer one before them.

    It most likely had where the clocks show it unless they stand apart by more than anything tells. Where nothing
    tells when another broker took its place, that may have been so long before as well.

    One for all replicas shows that its leader still led, in the newest epoch that it may be of: the followers had gone
    else. Whoever started again before it took a role had heard of no successor; it had to stand still and to die soon
    after.
    """
    clocks, until = evidence.clocks, _led_for_all_until(evidence)
    newer = [(number, sign) for number, signs in _signs(evidence).items() if number > epoch for sign in signs]
    # Of an epoch that nothing names it is not known either who led it, and when.
    following = range(epoch + 1, max((*evidence.openings, *evidence.chronicle.leaders, epoch)) + 1)

    def led_later(sign: Moment, answer: Produced) -> bool:
        """Whether its leader surely opened an epoch after the answer, no newer one than the sign is of."""
        own = (o for n, o in evidence.openings.items() if epoch < n <= (sign.epoch or 0) and o.broker == _leader(sign))
        return any(o.time is not None and _earliest(o, answer, clocks) > (answer.time or 0) for o in own)

    def lateness(answer: Produced) -> Lateness:
        at = answer.time
        if answer.acks == -1 or at is None:
            return ""
        own = (latest for latest, time in until.get(answer.clock, {}).items() if latest >= epoch and at <= time)
        newest = min(own, default=FAR)
        others = [sign for number, sign in newer if number <= newest and _leader(sign) != answer.witness]
        if any(_likely(sign, answer, clocks) <= at for sign in others):
            return "likely"
        between = range(following.start, min(max(following.stop, answer.newest_term(answer.term or 0) + 1), newest + 1))
        if (unseen := _unseen(evidence, between, answer)) == "untimed":
            return unseen
        late = unseen or any(_earliest(sign, answer, clocks) <= at and not led_later(sign, answer) for sign in others)
        return "perhaps" if late and not _died(evidence, answer) else ""

    return lateness


def late_in_reign(evidence: PartitionEvidence, reign: Reign, answers: Sequence[Produced]) -> Lateness:
    """The same of answers in a reign where leader epochs have no order: by the other brokers' reigns and the clocks.

    Of a broker that took part and whose log tells no role here it is not known when it led.
    """
    first, begun = min(answers, key=lambda m: m.time or 0), reign.opening.time
    if first.time is None or begun is None or any(m.acks == -1 for m in answers):
        return ""
    telling = {m.witness for m in evidence.moments if gives_role(m) and m.clock == f"broker {m.witness}"}
    if not evidence.chronicle.taking_part <= telling:
        return "untimed"
    at, clocks = max(m.time or 0 for m in answers), evidence.clocks
    others = [each.opening for each in evidence.chronicle.reigns if each.broker != reign.broker]
    if any(begun < _likely(opening, first, clocks) <= at for opening in others):
        return "likely"
    within = (_earliest(each, first, clocks) <= at and begun < _latest(each, first, clocks) for each in others)
    return "perhaps" if any(within) else ""


def _unseen(evidence: PartitionEvidence, following: Sequence[int], answer: Produced) -> Lateness:
    """What it means that another broker led, or may have, before anything that surely came later, at no known time.

    Who led again itself later need not have heard by then of who led after that.
    """
    found: Lateness = "untimed"
    for newer in following:
        opening = evidence.openings.get(newer)
        leader = evidence.chronicle.leaders.get(newer, None if opening is None else opening.broker)
        own, dated = leader == answer.witness, opening is not None and opening.time is not None
        if not (own or dated or newer in evidence.chronicle.led_by_nobody):
            return found
        if opening is not None and dated and _earliest(opening, answer, evidence.clocks) > (answer.time or 0):
            if not own:
                return ""
            found = "perhaps"
    return ""


@asked_once
def _signs(evidence: PartitionEvidence) -> Mapping[int, Sequence[Moment]]:
    """By epoch its leader's own word that it began; where no line here is that, every other broker's first word of it.

    A controller decides before anybody hears of it: until then the one before leads, and its clients wait for it.
    """
    openings = evidence.openings
    signs: dict[int, dict[str, Moment]] = {epoch: {"": opening} for epoch, opening in openings.items()}
    for moment in evidence.moments:
        epoch, led = moment.epoch, gives_role(moment) and (moment.leader or -1) >= 0 and moment.time is not None
        if epoch is None or not led or (epoch in openings and openings[epoch].time is not None):
            continue
        first = signs.setdefault(epoch, {}).setdefault(moment.clock, moment)
        if (moment.time or 0) < (first.time or 0):
            signs[epoch][moment.clock] = moment
    return {epoch: tuple(own.values()) for epoch, own in signs.items()}


def _leader(sign: Moment) -> int | None:
    return sign.broker if sign.kind == "leader-starts" else sign.leader


@asked_once
def _led_for_all_until(evidence: PartitionEvidence) -> dict[str, dict[int, int]]:
    """By clock, and by the newest epoch that they may be of, when its broker answered last for all replicas."""
    until: dict[str, dict[int, int]] = {}
    for m in evidence.moments:
        if succeeded(m) and m.acks == -1 and m.term is not None:
            own, latest = until.setdefault(m.clock, {}), m.newest_term(m.term)
            own[latest] = max(m.time or 0, own.get(latest, 0))
    return until


def _likely(opening: Moment, answer: Produced, clocks: Clocks) -> int:
    """When a broker most likely opened an epoch, by the clock of an answer; one that was set back tells nothing.

    Clocks that nothing keeps from showing the same are taken to do so.
    """
    if opening.time is None or opening.set_back or answer.set_back:
        return FAR
    most = estimated(opening.time, opening.clock, answer.clock, clocks)
    return opening.time if most is None else most


def _earliest(opening: Moment, answer: Produced, clocks: Clocks) -> int:
    """When a broker may have opened an epoch, by the clock of an answer; at any time where nothing bounds it."""
    if opening.time is None:
        return -FAR
    earliest, _ = translated(opening.time, opening.clock, answer.clock, clocks) or (-FAR, FAR)
    return earliest


def _latest(opening: Moment, answer: Produced, clocks: Clocks) -> int:
    """When a broker may have opened an epoch at the latest, by the clock of an answer."""
    if opening.time is None:
        return FAR
    _, latest = translated(opening.time, opening.clock, answer.clock, clocks) or (-FAR, FAR)
    return latest


def _died(evidence: PartitionEvidence, answer: Produced) -> bool:
    """Whether a broker started again after an answer before it took another role, and its log lacks none."""
    if answer.witness is None or evidence.lacked_roles.get(answer.witness):
        return False
    own = (m for m in evidence.chronicle.told_by(answer.witness) if gives_role(m) or m.kind in _LOADED)
    later = (m for m in own if m.time is not None and m.time > (answer.time or 0))
    following = next(later, None)
    return following is not None and following.kind in _LOADED
