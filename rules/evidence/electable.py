"""Who can be elected while nobody leads, by the controllers' last word: the ISR, or who is eligible where it is empty.

The disks may let another replica lead, whose log is longer: it left the ISR, and is cut when it follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from rules.chronicle.stories import TURNS
from rules.evidence import CRASHED, PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.history.moments import ROLE_KINDS, ZOOKEEPER_CLOCK, Moment, own_log_end
from rules.history.statements import PartitionState
from rules.replicas.led_last import stop_told
from rules.replicas.replica import Replica

NOBODY: Final = -1


class Vacancy(Struct, frozen=True, kw_only=True):
    """A partition that nobody leads, as far as anything is told."""

    electable: frozenset[int] = frozenset()
    """The brokers of which one can be elected without an unclean election; nobody where somebody leads."""
    at_rest: tuple[Replica, ...] = ()
    """The replicas whose logs are as their brokers told them since nobody leads."""


@asked_once
def vacancy(evidence: PartitionEvidence) -> Vacancy:
    """Who can be elected, and whose logs cannot have grown since."""
    state = _vacant(evidence.moments)
    if state is None:
        return Vacancy()
    at_rest = tuple(_at_rest(evidence.current, evidence.moments, state))
    return Vacancy(electable=frozenset(state.isr or state.elr or ()), at_rest=at_rest)


def leads_meanwhile(evidence: PartitionEvidence) -> int | None:
    """Who led last by word, where its log is here and nothing shows that its broker stopped."""
    leader = evidence.chronicle.last_leader[1]
    log = next((replica for replica in evidence.current if replica.broker == leader), None)
    runs = log is not None and log.may_be_live and evidence.copied not in CRASHED
    return leader if runs and stop_told(evidence.settings.states(leader)) is None else None


def _vacant(moments: Iterable[Moment]) -> PartitionState | None:
    """The last state of the partition, where nobody leads in it and nothing is told of a later epoch."""
    in_epochs = [m for m in moments if m.epoch is not None]
    states = [m for m in in_epochs if m.kind == "leadership" and m.partition_epoch is not None and m.isr is not None]
    last = max(states, key=lambda m: (m.epoch or 0, m.partition_epoch or 0), default=None)
    if last is None or last.leader != NOBODY or last.clock == ZOOKEEPER_CLOCK:
        return None
    return None if any((m.epoch or 0) > (last.epoch or 0) for m in in_epochs) else last


def _at_rest(replicas: Sequence[Replica], moments: Sequence[Moment], state: PartitionState) -> Iterator[Replica]:
    """The replicas whose logs are as their brokers told them since the epoch began that nobody leads.

    No copy of such a log is too early: in that epoch nothing is appended.
    """
    for replica in replicas:
        own = [m for m in moments if m.clock == f"broker {replica.broker}" and m.kind in TURNS]
        epochs = [m.epoch if m.kind in ROLE_KINDS else None for m in own]
        since = own[epochs.index(state.epoch) :] if state.epoch in epochs else []
        ends = {None if m.doubtful else own_log_end(m) for m in since}
        alone = sum(other.broker == replica.broker for other in replicas) == 1
        if alone and ends == {replica.log_end_offset}:
            yield replica


def would_follow(evidence: PartitionEvidence) -> Iterator[tuple[Replica, Replica]]:
    """Every follower with the first of those that could lead its incarnation of the topic.

    While nobody leads it is one of the ISR, whatever a longer log outside of it holds.
    """
    vacant = vacancy(evidence)
    for replicas in evidence.incarnations:
        leader = next((replica for replica in evidence.presumed_leaders if replica in replicas), None)
        if leader is not None and vacant.electable and leader.broker not in vacant.electable:
            elected = (r for r in vacant.at_rest if r in replicas)
            leader = next((r for r in elected if r.broker in vacant.electable), leader)
        yield from ((follower, leader) for follower in replicas if leader is not None and follower is not leader)
