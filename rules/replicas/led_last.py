"""Who led last by word, and who may have led since: a log that ends too early has no word of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from rules.chronicle.chronicle import Chronicle
from rules.history.clocks import NO_CLOCKS, Clocks
from rules.history.moments import Committed, gives_role
from rules.history.rotated import age
from rules.history.translation import estimated
from rules.replicas.disagreement import Difference
from rules.replicas.replica import Replica, same_topic
from rules.settings import STOPPED, Setting, Settings

_ANSWERS: Final = ("fetched", "consumed", "produced")


def elections_told(chronicle: Chronicle) -> bool:
    """Whether controllers tell who was elected, up to the newest epoch in which anybody is told to lead."""
    newest, _ = chronicle.last_leader
    return any(m.witness is None and m.kind == "leadership" and (m.epoch or 0) >= newest for m in chronicle.moments)


def perhaps_led_since(
    replicas: Sequence[Replica],
    differences: Sequence[Difference],
    chronicle: Chronicle,
    settings: Settings,
    clocks_of_all: Callable[[], Clocks],
) -> Iterator[Replica]:
    """The replicas that may have been elected after the last told leader, with other records than it has."""
    epoch, leader = chronicle.last_leader
    led = next((replica for replica in replicas if replica.broker == leader), None)
    if led is None or epoch < max(replica.last_known_epoch for replica in replicas):
        return
    others = [*_others(led, replicas, differences)]
    went_on = {*perhaps_went_on([other.broker for other in others], chronicle, settings, clocks_of_all)}
    yield from (other for other in others if other.broker in went_on)


def perhaps_went_on(
    brokers: Sequence[int], chronicle: Chronicle, settings: Settings, clocks_of_all: Callable[[], Clocks]
) -> Iterator[int]:
    """Those of some brokers that may have been elected after the last told leader.

    Only controllers tell of every election. Where they do not, a broker's own log tells of all its roles if it reaches
    its clean shutdown. It may have led still if the leader shut down cleanly before, and nobody tells who led then.
    """
    epoch, leader = chronicle.last_leader
    succeeded = any(m.epoch is not None and m.epoch > epoch for m in chronicle.moments)
    ended = None if succeeded or not brokers else stop_told(settings.states(leader))
    clocks = NO_CLOCKS if ended is None else clocks_of_all()
    for broker in brokers:
        own = settings.states(broker)
        if stop_told(own) is None or _went_on(own, ended, f"broker {leader}", clocks):
            yield broker


def surely_before(
    proofs: Iterable[Committed], since: Sequence[Replica], chronicle: Chronicle
) -> Iterator[Committed]:
    """The proofs but for those that a broker which may have led since may have learnt then, by its answers."""
    brokers = {replica.broker for replica in since}
    roles = {broker: [m.epoch or 0 for m in chronicle.told_by(broker) if gives_role(m)] for broker in brokers}
    last = {broker: max(epochs, default=-1) for broker, epochs in roles.items()}
    for proof in proofs:
        by, kind = proof.moment.witness, proof.moment.kind
        if by not in last or kind not in _ANSWERS or proof.term < last[by]:
            yield proof


def leads_by_word(
    replicas: Sequence[Replica], last: tuple[int, int], presumed: tuple[Replica, ...]
) -> tuple[Replica, ...]:
    """The told leader's log, if it is here whole; the presumed ones where none is told, or disks know a newer epoch."""
    epoch, leader = last
    if leader < 0 or epoch < max((replica.last_known_epoch for replica in replicas), default=0):
        return presumed
    return tuple(r for r in replicas if r.broker == leader and r.end_known)[:1]


def first_alike(leaders: Sequence[Replica], differences: Sequence[Difference]) -> Replica | None:
    """The first of several that may have led last, if all of them hold the same records."""
    among = {id(leader) for leader in leaders}
    apart = any(id(each.left) in among and id(each.right) in among for each in differences)
    return None if apart else next(iter(leaders), None)


def stop_untold(replica: Replica, settings: Settings) -> bool:
    """Whether its broker shut down cleanly, as its disk shows, and its server.log does not reach so far."""
    stopped = replica.clean_shutdown is not None and replica.broker in settings.tell_their_stops
    return stopped and not ends_stopped(settings.states(replica.broker))


def ends_stopped(states: Sequence[Setting]) -> bool:
    """Whether a broker's log ends with a clean stop, by the order of its files and lines: its clock may be set back."""
    last = max(states, key=lambda state: (age(state.span.source), state.span.start), default=None)
    return last is not None and last.value == STOPPED


def _others(led: Replica, replicas: Sequence[Replica], differences: Sequence[Difference]) -> Iterator[Replica]:
    """Those that hold other records than the told leader, or more."""
    differ = {id(replica) for d in differences for replica in (d.left, d.right) if led in (d.left, d.right)}
    for replica in replicas:
        apart = id(replica) in differ or replica.log_end_offset > led.log_end_offset
        if replica is not led and apart and same_topic(replica, led):
            yield replica


def stop_told(states: Sequence[Setting]) -> int | None:
    """When a broker shut down cleanly, if that is the last that it tells of itself."""
    return states[-1].since if states and states[-1].value == STOPPED else None


def _went_on(own: Sequence[Setting], ended: int | None, other: str, clocks: Clocks) -> bool:
    """Whether a broker stopped later than another one did, by the nearest that their clocks may show, or may have."""
    stopped = stop_told(own)
    if stopped is None or ended is None:
        return False
    nearest = estimated(stopped, own[-1].clock, other, clocks)
    return nearest is None or nearest > ended
