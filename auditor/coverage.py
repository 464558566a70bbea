"""The ledger of an audit: what was seen, read, compared, left unread and left undecided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import LOG_KINDS, ReadUnit
from auditor.files_due import files_lacking
from auditor.report.model import (
    DISK,
    AbsentLogs,
    ContradictedRelease,
    Coverage,
    LogTimes,
    MissingReplica,
    RefusalLine,
    UndecidedLine,
    UnnamedTopic,
)
from auditor.report.named_places import in_order
from auditor.scope import Copies, LogsRead, Telling, absent_logs, logs_of, scope_of
from parsers.broker_log import given_for
from parsers.inventory import Inventory, parse_file_name
from parsers.provenance import NOT_HERE
from rules.evidence import METADATA_TOPIC
from rules.finding import Finding, Place, place_of, with_last_offsets
from rules.verdict import PartitionVerdict, ReplicaVerdict, RuleCoverage

MISSING_NAMED: Final = 64
"""Missing replicas, and files of no known kind, that are told by name; the rest is counted."""


def coverage_of(
    inventory: Inventory,
    units: Sequence[ReadUnit],
    verdicts: Sequence[PartitionVerdict],
    refusals: Sequence[RefusalLine],
    selection: Selection,
    timezones: Sequence[str] = (),
    *,
    partial: bool = False,
    interrupted: bool = False,
) -> Coverage:
    """How much stands behind the verdicts."""
    replicas = [replica for verdict in verdicts for replica in verdict.replicas]
    missing = list(_missing(inventory, ((verdict, verdict.claimed_only) for verdict in verdicts)))
    # Without any broker's disk the verdict is about logs alone: no replica can be here.
    disks = any(v.replicas for v in verdicts if v.topic != METADATA_TOPIC)
    assigned = ((v, sorted({*v.assigned_only} - {*v.claimed_only})) for v in verdicts if v.replicas or disks)
    elsewhere = list(_missing(inventory, assigned))
    refused, read = sum(r.bytes_refused for r in replicas), sum(r.bytes_read for r in replicas)
    seen = sum(_expected(inventory, units, replicas, refusals, selection))
    times = list(_times(replicas))
    logs_read = _logs_read(inventory, units, verdicts, whole=not (interrupted or [*selection.given()]))
    unknown = _unknown(inventory)
    owners, without_disks = _owners(inventory, units), not inventory.log_dirs
    return Coverage(
        clusters=len({d.cluster_id for d in inventory.log_dirs} | {cluster for cluster, _ in owners}),
        brokers=len(owners),
        partitions=sum(bool(v.replicas) or (without_disks and v.topic not in (None, METADATA_TOPIC)) for v in verdicts),
        replicas_seen=len(replicas),
        replicas_missing=len(missing),
        replicas_lacking=sum(_keeps_open(each, verdict) for verdict, each in missing) + len(elsewhere),
        missing=tuple(each for _, each in missing[:MISSING_NAMED]),
        replicas_assigned_elsewhere=len(elsewhere),
        assigned_elsewhere=tuple(each for _, each in elsewhere[:MISSING_NAMED]),
        bytes_seen=seen,
        bytes_read=read,
        bytes_refused=refused,
        offsets_covered=sum(replica.log_end_offset - replica.log_start_offset for replica in replicas),
        offsets_compared=sum(verdict.offsets_compared for verdict in verdicts),
        batches=sum(replica.batches for replica in replicas),
        checksums_verified=sum(replica.checksums_verified for replica in replicas),
        files_seen=len(inventory.files),
        files_unread=len({refusal.path for refusal in refusals if not refusal.folder}),
        files_unknown=len(unknown),
        unknown_files=tuple(unknown[:MISSING_NAMED]),
        first_timestamp=min(times, default=None),
        last_timestamp=max(times, default=None),
        ratio=1.0 if seen == 0 else max(0, read - refused) * 1_000_000 // seen / 1_000_000,
        undecided=tuple(_undecided(verdicts)),
        log_times=tuple(_log_times(units, {broker for _, broker in owners}, timezones)),
        absent_logs=(*absent_logs(logs_read), *_without_disk(inventory, units)),
        contradicted_releases=tuple(
            ContradictedRelease(broker=broker, given=given, logged=printed)
            for broker, given, printed in sorted({each for v in verdicts for each in v.contradicted_releases})
        ),
        unnamed=tuple(_unnamed(verdicts)),
        scope=scope_of(
            logs_read,
            replicas,
            copies=_copies(verdicts, [verdict for verdict, _ in (*missing, *elsewhere)]),
            metadata_untold=_untold_by_metadata(units, verdicts),
            reaches=[verdict.log_reach for verdict in verdicts],
            files=files_lacking(inventory, selection, _stopped(verdicts)),
            partial=partial,
        ),
    )


def _copies(verdicts: Sequence[PartitionVerdict], lacking: Sequence[PartitionVerdict]) -> Copies:
    """The copies that are here, and those that verdicts lack, each verdict as often as it lacks one.

    Brokers that do not vote copy the metadata log too, and none is assigned to it.
    """
    current = [(v, each.broker) for v in verdicts for each in v.replicas if each.state == "current"]
    voting = sum(verdict.topic == METADATA_TOPIC and broker in verdict.assignment for verdict, broker in current)
    here = sum(verdict.topic != METADATA_TOPIC for verdict, _ in current)
    missing = sum(verdict.topic != METADATA_TOPIC for verdict in lacking)
    return Copies(replicas=(here, here + missing), voters=(voting, voting + len(lacking) - missing))


def _logs_read(
    inventory: Inventory, units: Sequence[ReadUnit], verdicts: Sequence[PartitionVerdict], *, whole: bool
) -> LogsRead:
    owning = {r.broker for v in verdicts if v.topic != METADATA_TOPIC for r in v.replicas}
    telling = Telling(
        roles=frozenset(source for v in verdicts for source in v.roles_told_in),
        anything=frozenset(source for v in verdicts for source in v.told_in),
        whole=whole,
    )
    return logs_of(units, owning, telling, inventory.witnesses)


def _unknown(inventory: Inventory) -> list[str]:
    """Files of no known kind; what Java writes of its garbage collection tells nothing of a cluster."""
    files = (file.origin.source for file in inventory.files if file.kind == "unknown" and file.size)
    return [path for path in files if "gc.log" not in path.rpartition("/")[2]]


def _expected(
    inventory: Inventory,
    units: Sequence[ReadUnit],
    replicas: Sequence[ReplicaVerdict],
    refusals: Sequence[RefusalLine],
    selection: Selection,
) -> Iterator[int]:
    """The bytes that are to be read, in parts: those that are not here, or that nobody asked for, count as well."""
    yield from (unit.bytes for unit in units if unit.kind == "log")
    yield from _left_out(inventory, units, selection)
    yield from (replica.bytes_seen for replica in _by_texts(replicas, units))
    yield from (replica.bytes_missing for replica in replicas)
    yield from _unread_beside(inventory, units, refusals)


def _owners(inventory: Inventory, units: Sequence[ReadUnit]) -> set[tuple[str | None, int]]:
    """Clusters and brokers of which something is here: a disk or a text of one; without any disk their logs."""
    owners = {(d.cluster_id, d.broker) for d in inventory.log_dirs if d.broker is not None}
    telling = ("dump-text", *(() if inventory.log_dirs else LOG_KINDS))
    owners |= {(unit.cluster_id, unit.broker) for unit in units if unit.kind in telling and unit.broker >= 0}
    return owners | {(None, witness.broker) for witness in inventory.witnesses if not inventory.log_dirs}


def _without_disk(inventory: Inventory, units: Sequence[ReadUnit]) -> Iterator[AbsentLogs]:
    """Brokers that tell of themselves, and of whose disks nothing is here though disks of others are."""
    with_disk = {log_dir.broker for log_dir in inventory.log_dirs}
    telling = {unit.broker for unit in units if unit.kind == "broker-log" and unit.broker >= 0}
    if None not in with_disk and (absent := telling - with_disk) and with_disk:
        yield AbsentLogs(kinds=(DISK,), brokers=tuple(sorted(absent)))


def _stopped(verdicts: Sequence[PartitionVerdict]) -> frozenset[tuple[str | None, int]]:
    """Brokers that tell of a clean shutdown last; a controller keeps no log that it would have to close."""
    brokers = [v for v in verdicts if v.topic != METADATA_TOPIC]
    return frozenset((verdict.cluster_id, broker) for verdict in brokers for broker in verdict.log_reach.stopped)


def _untold_by_metadata(units: Sequence[ReadUnit], verdicts: Sequence[PartitionVerdict]) -> int:
    """Partitions that a metadata log should tell of: its folder is here, and it is emptied, cut or older."""
    clusters = {unit.cluster_id for unit in units if unit.kind == "metadata"}
    here = [v for v in verdicts if v.cluster_id in clusters and v.topic != METADATA_TOPIC]
    return sum(any(r.state == "current" for r in v.replicas) and not v.told_by_metadata for v in here)


def _unnamed(verdicts: Sequence[PartitionVerdict]) -> Iterator[UnnamedTopic]:
    for verdict in verdicts:
        for each in verdict.unnamed:
            yield UnnamedTopic(
                cluster_id=verdict.cluster_id,
                topic_id=each.topic_id,
                partitions=each.partitions,
                statements=each.statements,
                names=each.names,
            )


def _log_times(units: Sequence[ReadUnit], brokers: set[int], timezones: Sequence[str]) -> Iterator[LogTimes]:
    """A log of several brokers may be any broker's."""
    logs = [unit.broker for unit in units if unit.kind in ("broker-log", "request-log")]
    spoken = {broker for broker in logs if broker >= 0} | (brokers if -1 in logs else set())
    by_zone: dict[str | None, list[int]] = {}
    for broker in sorted(spoken):
        given = given_for(broker, timezones)
        by_zone.setdefault(given[0] if given else None, []).append(broker)
    for timezone, own in sorted(by_zone.items(), key=lambda each: (each[0] is not None, each[0] or "")):
        yield LogTimes(timezone=timezone, brokers=tuple(own))


def _by_texts(replicas: Sequence[ReplicaVerdict], units: Sequence[ReadUnit]) -> Iterator[ReplicaVerdict]:
    """Replicas whose segments no unit reads, since texts tell of them."""
    planned = {unit.path for unit in units if unit.kind == "log"}
    return (replica for replica in replicas if replica.path not in planned)


def _left_out(inventory: Inventory, units: Sequence[ReadUnit], selection: Selection) -> Iterator[int]:
    """Bytes of segments that no unit reads: of unknown brokers, of ambiguous replicas, of no replica at all."""
    planned = {unit.path for unit in units}
    for file in inventory.files:
        folder = file.origin.source.rpartition("/")[0] or "."
        asked = file.origin.topic is None or selection.admits(file.origin.topic, file.origin.partition)
        if file.kind == "segment" and not file.suffix and folder not in planned and asked:
            yield file.size


def _unread_beside(inventory: Inventory, units: Sequence[ReadUnit], refusals: Sequence[RefusalLine]) -> Iterator[int]:
    """Bytes that could not be read of files that are neither segments nor texts of them, at least one a refusal."""
    sizes = {file.origin.source: file.size for file in inventory.files}
    texts = {piece.source for unit in units if unit.kind == "dump-text" for piece in unit.pieces}
    spans = {(line.path, line.start, line.end) for line in refusals if line.blocking and not line.folder}
    for path, start, end in spans:
        if path not in texts and parse_file_name(path.rpartition("/")[2]).kind != "segment":
            yield max(1, end - start or sizes.get(path, 0))


def _missing(
    inventory: Inventory, named: Iterable[tuple[PartitionVerdict, Sequence[int]]]
) -> Iterator[tuple[PartitionVerdict, MissingReplica]]:
    """Replicas that something names and no directory holds that lasts, not even one that was refused."""
    here = (r.origin for r in inventory.replicas if r.state not in NOT_HERE)
    held = {(origin.cluster_id, origin.topic, origin.partition, origin.broker) for origin in here}
    for verdict, brokers in named:
        place = place_of(verdict)
        current = {replica.broker for replica in verdict.replicas if replica.state == "current"}
        foreign = {replica.broker for replica in verdict.replicas if replica.state == "foreign"}
        for broker in brokers:
            if broker in foreign or (*place, broker) not in held:
                missing_one = MissingReplica(
                    cluster_id=verdict.cluster_id,
                    topic=verdict.topic or "",
                    partition=verdict.partition or 0,
                    broker=broker,
                    held_by=tuple(sorted(current)),
                    misfiled=broker in foreign,
                )
                yield verdict, missing_one


def _keeps_open(missing: MissingReplica, verdict: PartitionVerdict) -> bool:
    """Whether it may be a replica still: a checkpoint may be older than the move of a replica to other brokers."""
    return not verdict.assignment or missing.broker in verdict.assignment


def _times(replicas: Sequence[ReplicaVerdict]) -> Iterator[int]:
    for replica in replicas:
        yield from (time for time in (replica.min_timestamp, replica.max_timestamp) if time is not None)


def _undecided(verdicts: Sequence[PartitionVerdict]) -> Iterator[UndecidedLine]:
    asked: dict[UndecidedLine, list[Place]] = {}
    for verdict in verdicts:
        for point in verdict.undecided:
            whole = [(verdict.cluster_id, point.topic, partition) for partition in point.partitions]
            asked.setdefault(_point(point), []).extend(whole or [place_of(verdict)])
        for finding in verdict.findings:
            if finding.blocking:
                asked.setdefault(_open_point(finding), []).append(place_of(verdict))
    for line in sorted(asked, key=lambda line: (line.rule, line.reason, line.missing, line.blocking)):
        yield replace(line, places=tuple(in_order(asked[line])))


def _point(said: RuleCoverage) -> UndecidedLine:
    return UndecidedLine(
        rule=said.rule,
        reason=with_last_offsets(said.reason),
        missing=with_last_offsets(said.missing),
        places=(),
        blocking=False,
        asked_at_level=said.asked_at_level,
        perhaps_lost=said.perhaps_lost,
    )


def _open_point(finding: Finding) -> UndecidedLine:
    said = finding.values()
    reason, missing = str(said.get("reason", finding.message)), str(said.get("missing", ""))
    return UndecidedLine(
        rule=finding.rule,
        reason=with_last_offsets(reason),
        missing=with_last_offsets(missing),
        places=(),
        blocking=True,
    )
