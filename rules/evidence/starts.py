"""Where a replica's log began, by what stands beside its segments and by its broker's log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rules.chronicle.log_starts import log_start_after
from rules.evidence import PartitionEvidence
from rules.evidence.without_entry import file_may_be_of_another_moment, lies_before_the_file
from rules.facts.stretch import EpochRun
from rules.history.moments import gives_role
from rules.history.statements import LogCut, LogEvent
from rules.protocol.versions import parse_kafka_version
from rules.replicas.replica import Replica

_TELLS_OF_STARTS: Final = (0, 11)
"""Since then a broker prints every move of a log start."""
_SNAPSHOTS_MAY_STAY: Final = (2, 8)
"""Since then a snapshot within a segment may outlast that segment until the next start."""


class KnownStart(Struct, frozen=True, kw_only=True):
    """An offset at or above which a log began, before anything moved its start that is told."""

    offset: int
    teller: str
    """Who has it begin there, in words."""


def known_starts(replica: Replica, evidence: PartitionEvidence) -> Iterator[KnownStart]:
    """Every start that is known.

    Wherever the log start moves to, by retention, by a client or by the leader, the epoch file is cut before a segment
    goes. So where it reaches back to the first segment it knows best. Formats before epochs leave it empty.
    """
    entries = [entry.start_offset for entry in replica.file_chain]
    if entries:
        yield KnownStart(offset=min(entries), teller="the leader-epoch-checkpoint begins")
        if min(entries) <= replica.log_start_offset:
            return
    yield from _by_checkpoint(replica)
    yield from _by_snapshots(replica, evidence)
    yield from _by_its_broker(replica, evidence)


def _by_checkpoint(replica: Replica) -> Iterator[KnownStart]:
    """Only a start inside the first segment is written down, at the latest when the broker shuts down cleanly.

    A topic that is kept in remote storage may have its start anywhere below.
    """
    claim = replica.log_start_claim
    if claim is not None and claim.offset > 0 and replica.clean_shutdown is not None:
        yield KnownStart(offset=claim.offset, teller="the log-start-offset-checkpoint has the log begin")


def _by_snapshots(replica: Replica, evidence: PartitionEvidence) -> Iterator[KnownStart]:
    """A move of the log start takes the snapshots below it away at once, up to 2.7."""
    release = evidence.release_of(replica.broker)
    if release is not None and not release.at_least(*_SNAPSHOTS_MAY_STAY):
        for claim in replica.snapshot_offsets:
            yield KnownStart(offset=claim.offset, teller="the oldest snapshot of producers is")


def _by_its_broker(replica: Replica, evidence: PartitionEvidence) -> Iterator[KnownStart]:
    """Where the log began when it was loaded or made last, and where it has been moved since, by its broker's word."""
    start: int | None = None
    for moment in evidence.moments:
        if moment.clock == f"broker {replica.broker}" and isinstance(moment, LogEvent | LogCut):
            start = log_start_after(moment, start, tells=tells_of_starts(replica.broker, evidence))
    if start is not None:
        yield KnownStart(offset=start, teller=f"broker {replica.broker}'s server.log has the log begin")


def tells_of_starts(broker: int, evidence: PartitionEvidence) -> bool:
    """Whether every release that the broker ran, by its own logs, prints where it moves a log start to."""
    releases = [parse_kafka_version(release) for release in evidence.settings.releases_told(broker)]
    return bool(releases) and all(each is not None and each.at_least(*_TELLS_OF_STARTS) for each in releases)


def once_started_there(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the log may have started where its epoch file begins: a move of its start reaches who fetches then.

    The file is cut at once. The start on disk follows within a minute, and after a crash the older one holds.
    """
    begins = replica.epoch_file.entries[0].start_offset
    beside = (other for other in evidence.current if other is not replica and other.epoch_file.entries)
    others = [other.epoch_file.entries[0].start_offset for other in beside]
    if evidence.deleted.highest >= begins or (others and min(others) >= begins):
        return True
    if others:
        return not _tells_all(replica, evidence) and _led_before(replica, evidence)
    return not evidence.chronicle.has_server_log(replica.broker)


def _tells_all(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the broker's own logs lack no role up to the epoch with which its epoch file goes on."""
    chronicle, since = evidence.chronicle, replica.epoch_file.entries[0].epoch
    own = chronicle.told_by(replica.broker)
    goes_on = any(gives_role(moment) and (moment.epoch or 0) >= since for moment in own)
    return goes_on and chronicle.has_server_log(replica.broker) and not evidence.lacked_roles.get(replica.broker)


def _led_before(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the broker led before its epoch file goes on: what it deleted then, alone, reached nobody.

    Where leader epochs began again, that alone explains the file.
    """
    if evidence.epochs_used_twice:
        return False
    until = replica.epoch_file.entries[0].epoch
    return any(epoch <= until and leader == replica.broker for epoch, leader in evidence.chronicle.leaders.items())


def why_without_entry(replica: Replica, run: EpochRun, evidence: PartitionEvidence) -> str:
    """What else explains that the epoch file gives batches no epoch; empty where the file has lost it for sure."""
    starts_move = any(other.log_start_offset > 0 for other in evidence.current)
    if file_may_be_of_another_moment(replica, run, starts_move=starts_move):
        return "perhaps the file was copied at another time than the log"
    if lies_before_the_file(replica, run) and once_started_there(replica, evidence):
        begins = replica.epoch_file.entries[0].start_offset
        began = "perhaps the log began there too, before a crash brought older records back"
        return f"its first entry begins at offset {begins}; {began}"
    return ""
