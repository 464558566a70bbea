"""Who leads: the choice among assigned replicas, by what set it off and by what the configuration allows."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId

Assignment = tuple[BrokerId, ...]


class Election(Struct, frozen=True, kw_only=True):
    """An election's outcome; without a leader the partition is offline and its last ISR is kept."""

    leader: BrokerId | None
    isr: Brokers
    unclean: bool
    because: str


def elect_leader(assignment: Assignment, alive: Brokers, isr: Brokers) -> Election:
    """The leader is gone: the first replica of the assignment that lives and is in the ISR."""
    leader = _first(assignment, alive & isr)
    if leader is None:
        return Election(leader=None, isr=isr, unclean=False, because="no in-sync replica is alive")
    return Election(
        leader=leader, isr=isr & alive, unclean=False, because="first of the assignment that lives and is in sync"
    )


def elect_leader_or_unclean(assignment: Assignment, alive: Brokers, isr: Brokers) -> Election:
    """The same with unclean.leader.election.enable: any living replica rather than none, and its log is the truth."""
    clean = elect_leader(assignment, alive, isr)
    leader = clean.leader if clean.leader is not None else _first(assignment, alive)
    if clean.leader is not None or leader is None:
        return clean
    return Election(
        leader=leader, isr=frozenset({leader}), unclean=True, because="first of the assignment that lives, out of sync"
    )


def elect_eligible_leader(
    assignment: Assignment, alive: Brokers, isr: Brokers, elr: Brokers, last_known: BrokerId | None = None
) -> Election:
    """The same with eligible leader replicas (KIP-966): these hold all that was committed, so it stays clean.

    They stand in for an ISR of which nobody lives. Where both sets are empty the last leader known is taken, uncleanly.
    """
    if alive & isr:
        return elect_leader(assignment, alive, isr)
    leader = _first(assignment, alive & elr)
    if leader is not None:
        because = "first of the assignment that lives and is an eligible leader replica"
        return Election(leader=leader, isr=frozenset({leader}), unclean=False, because=because)
    if not isr and not elr and last_known is not None and last_known in alive:
        because = "the last leader known, nobody is in sync or eligible"
        return Election(leader=last_known, isr=frozenset({last_known}), unclean=True, because=because)
    because = "no in-sync or eligible replica is alive"
    return Election(leader=None, isr=frozenset(), unclean=False, because=because)


def elect_at_reassignment(target: Assignment, alive: Brokers, isr: Brokers) -> Election:
    """A reassignment drops the leader: the first of the new assignment that lives and is in sync."""
    return elect_leader(target, alive, isr)


def elect_preferred(assignment: Assignment, alive: Brokers, isr: Brokers) -> Election:
    """A preferred leader election: the first replica of the assignment, or nobody and the present leader stays."""
    election = elect_leader(assignment[:1], alive, isr)
    if election.leader is None:
        return replace(election, because="the preferred replica is not alive and in sync: the leader stays")
    return election


def elect_at_controlled_shutdown(
    assignment: Assignment, alive: Brokers, isr: Brokers, shutting_down: Brokers
) -> Election:
    """A leader that shuts down hands over: as `elect_leader`, without those that are on their way out."""
    return elect_leader(assignment, alive - shutting_down, isr)


def _first(assignment: Assignment, candidates: Brokers) -> BrokerId | None:
    return next((broker for broker in assignment if broker in candidates), None)
