"""The beginning of a log that no disk here holds and that may lie in remote storage: what is told of its copies."""

from __future__ import annotations

from msgspec import Struct

from rules.evidence import PartitionEvidence
from rules.evidence.starts import known_starts
from rules.protocol.offsets import without
from rules.replicas.replica import Replica
from rules.settings import REMOTE_STORAGE, REMOTE_SYSTEM


class RemoteHead(Struct, frozen=True, kw_only=True):
    """Offsets below every log here, which were not deleted as far as is told."""

    brokers: tuple[int, ...]
    start_offset: int
    end_offset: int
    untold: tuple[tuple[int, int], ...]
    """Those of them that no copy in remote storage is told to hold."""
    notes: bool
    """Whether anything tells of copies there."""


def remote_head(evidence: PartitionEvidence) -> RemoteHead | None:
    """What lies in remote storage alone, or nowhere; nothing where some disk holds the log from its start on.

    Each broker may know of an older log start than the others. The newest one counts.
    """
    held = [replica for replica in evidence.current if replica.segments]
    known = {replica.broker: start for replica in held if (start := known_start(replica, evidence)) is not None}
    first = min((first_held(replica) for replica in held), default=0)
    start = max(known.values(), default=first)
    brokers = tuple(r.broker for r in held if r.broker in known and may_lie_remotely(r, first, evidence))
    if not brokers or start >= first:
        return None
    copies = [(copy.start_offset, copy.end_offset) for copy in evidence.remote_copies]
    return RemoteHead(
        brokers=brokers,
        start_offset=start,
        end_offset=first,
        untold=tuple(without(start, first, copies)),
        notes=bool(copies),
    )


def first_held(replica: Replica) -> int:
    """Where what is here of a log begins."""
    named, held = replica.segments[0].base_offset, replica.log.first_offset
    return named if held is None else min(named, held)


def known_start(replica: Replica, evidence: PartitionEvidence) -> int | None:
    """The lowest start that something tells of it."""
    return min((start.offset for start in known_starts(replica, evidence)), default=None)


def may_lie_remotely(replica: Replica, first: int, evidence: PartitionEvidence) -> bool:
    """Whether what comes before the first segment may lie in remote storage, and nowhere else.

    Only of a topic that is kept there does the checkpoint of log starts name offset 0, and then on every broker.
    """
    settings = evidence.settings
    if evidence.remote_copies:
        return first <= max(copy.end_offset for copy in evidence.remote_copies)
    of_topic = {each.value for rank in settings.ranks(evidence.topic, replica.broker, REMOTE_STORAGE) for each in rank}
    system = settings.in_force(None, replica.broker, REMOTE_SYSTEM)
    if of_topic or (system is not None and system.value == "false"):
        return "true" in of_topic
    denied = any(_names_it_not(peer) for peer in evidence.followers_of(replica))
    return not denied and replica.log_start_claim is not None and replica.log_start_claim.offset == 0


def _names_it_not(replica: Replica) -> bool:
    """Whether its broker shut down cleanly and wrote no start of this log down, as of logs that are on disk alone."""
    read = replica.clean_shutdown is not None and "log-start-offset-checkpoint" not in replica.untold
    return read and replica.log_start_claim is None
