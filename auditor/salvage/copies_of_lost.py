"""Which copies hold the records that a finding says are lost, and in which batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.compute as pc
from msgspec import Struct

from auditor.config import ConfigError
from auditor.engines.leftovers import with_leftovers
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import plan
from auditor.engines.reading import read_unit
from auditor.memory import Remembered
from parsers.files import disk_name
from parsers.inventory import take_inventory
from parsers.provenance import Origin, Span
from parsers.segment import scan_source
from rules.catalog import BEARINGS
from rules.evidence import PartitionEvidence
from rules.finding import RecordsMeant, offsets_told, place_of
from rules.loss.survivors import Survivor, survivors
from rules.narrow.assemble import assemble
from rules.narrow.facts import Surroundings
from rules.protocol.offsets import UNDEFINED_EPOCH, without
from rules.words import numbered

SALVAGEABLE: Final = {rule: bearing.records for rule, bearing in BEARINGS.items() if bearing.records is not None}
"""By the ids of rules, which records their findings mean."""


class Lost(Struct, frozen=True, kw_only=True):
    """The records that a finding speaks of."""

    finding: str
    rule: str
    cluster_id: str | None
    topic: str
    topic_id: str | None
    partition: int
    start: int
    end: int
    brokers: tuple[int, ...]
    """Whose copies to take; none for any copy that holds what the log that leads now does not."""
    newest_epoch: int | None = None
    """The newest epoch whose records the finding can mean; null where it names none, or a person chose the copy."""
    oldest_epoch: int = UNDEFINED_EPOCH
    """The oldest one: where a leader kept older records in their place, those are not lost."""

    def means(self, epoch: int) -> bool:
        """Whether the finding can mean records of an epoch."""
        return self.newest_epoch is None or self.oldest_epoch <= epoch <= self.newest_epoch


class LostBatch(Struct, frozen=True, kw_only=True):
    """One batch to write again, and which of its offsets."""

    epoch: int
    start: int
    end: int
    last_offset: int
    copy: str
    """Path of the copy that holds it."""
    span: Span


def lost_of(finding: Mapping[str, object], broker: int | None) -> Lost:
    """What a finding of a report calls lost; refuses findings that name no records."""
    name, rule = str(finding.get("id")), str(finding.get("rule"))
    partition, start, end = (finding.get(key) for key in ("partition", "startOffset", "endOffset"))
    meant = SALVAGEABLE.get(rule)
    if meant is None:
        raise ConfigError(f"{name} {rule}: only findings of {', '.join(SALVAGEABLE)} name lost records")
    if not (isinstance(partition, int) and isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
        raise ConfigError(f"{name} {rule}: it names no range of offsets in a partition")
    brokers = (broker,) if broker is not None else _side(finding, meant)
    if meant.held_by and not brokers:
        named_brokers = finding.get("brokers")
        named = numbered("broker", named_brokers if isinstance(named_brokers, list) else [])
        raise ConfigError(f"{name}: the disks do not tell which side is right; choose one of {named} with --broker")
    cluster_id, topic_id = finding.get("clusterId"), finding.get("topicId")
    return Lost(
        finding=name,
        rule=rule,
        cluster_id=cluster_id if isinstance(cluster_id, str) else None,
        topic=str(finding.get("topic")),
        topic_id=topic_id if isinstance(topic_id, str) else None,
        partition=partition,
        start=start,
        end=end,
        brokers=brokers,
        newest_epoch=None if brokers else _newest(finding, meant),
        oldest_epoch=UNDEFINED_EPOCH if brokers else _oldest(finding),
    )


def _newest(finding: Mapping[str, object], meant: RecordsMeant) -> int | None:
    """An opening loses what older epochs wrote, and a leader acknowledged nothing newer than its own epoch.

    A leader that opened its epoch once more, with an empty log, lost what it had written in that epoch.
    """
    only = _fact(finding, "onlyEpoch")
    epoch, committed = _fact(finding, "epoch") if only is None else only, _fact(finding, "committedInEpoch")
    if epoch is None or meant.newest == "any":
        return None
    return epoch - 1 if meant.newest == "the epoch before" and committed != epoch else epoch


def _oldest(finding: Mapping[str, object]) -> int:
    held, only = _fact(finding, "heldEpoch"), _fact(finding, "onlyEpoch")
    return (UNDEFINED_EPOCH if only is None else only) if held is None else held + 1


def _fact(finding: Mapping[str, object], name: str) -> int | None:
    facts = finding.get("facts")
    value = facts.get(name) if isinstance(facts, dict) else None
    return value if isinstance(value, int) else None


def _side(finding: Mapping[str, object], meant: RecordsMeant) -> tuple[int, ...]:
    facts = finding.get("facts")
    holders = facts.get(meant.held_by) if isinstance(facts, dict) else None
    given = holders if isinstance(holders, list) else [holders]
    return tuple(broker for broker in given if isinstance(broker, int))


def partition_evidence(remembered: Remembered, lost: Lost) -> PartitionEvidence:
    """What stands on the disks of the partition, put together as an audit does; no logs and no traces."""
    log_dirs = sorted(set(_log_dirs(remembered.report, lost)))
    if not log_dirs:
        raise ConfigError(f"{lost.finding}: the report names no replica of {lost.topic}-{lost.partition}")
    if remembered.moved:
        raise ConfigError(remembered.moved)
    parts = lost_log_dirs(remembered, lost)
    given = [(broker, disk_name(path)) for broker, path in log_dirs]
    try:
        inventory = take_inventory(remembered.dump, log_dirs=given, parts=() if "." in parts else parts)
    except OSError as error:
        raise ConfigError(f"{remembered.dump}: cannot be read: {error.strerror}") from error
    selection = Selection(topics=(lost.topic,), partitions=(lost.partition,))
    units = plan(str(remembered.dump), inventory, selection)
    wanted = (unit for unit in units if unit.topic is not None or unit.kind == "root")
    read = (fact for unit in wanted for fact in read_unit(unit, "quick"))
    facts = [fact for fact in read if selection.admits(fact.topic, fact.partition)]
    if not any(fact.path is not None for fact in facts):
        none = f"{remembered.dump} holds no replica of {lost.topic}-{lost.partition}"
        raise ConfigError(f"{lost.finding}: {none}{remembered.instead}")
    evidence = assemble(facts, Surroundings(cluster_id=lost.cluster_id, level="quick"))
    return with_leftovers(evidence, lost.end, str(remembered.dump))


def lost_log_dirs(remembered: Remembered, lost: Lost) -> tuple[str, ...]:
    """The log dirs, relative to the dump, in which the report saw replicas of the partition."""
    return tuple(sorted({path for _, path in _log_dirs(remembered.report, lost)}))


def _log_dirs(report: Mapping[str, object], lost: Lost) -> Iterator[tuple[int, str]]:
    place = place_of(lost)
    replicas = report.get("replicas")
    for replica in replicas if isinstance(replicas, list) else ():
        if tuple(replica.get(key) for key in ("clusterId", "topic", "partition")) == place:
            yield int(replica["broker"]), str(replica["logDir"])


def sources(evidence: PartitionEvidence, lost: Lost, report: Mapping[str, object]) -> tuple[Survivor, ...]:
    """The copies to take the records from, the most lasting first; without epochs, those that were billed.

    Unless a person chose the copy, none of records that the bill says the log that leads holds again.
    """
    runs = [run for replica in evidence.replicas for run in replica.log.epochs]
    runs += [run for replica in evidence.replicas for leftover in replica.leftovers for run in leftover.epochs]
    epochs = sorted({run.epoch for run in runs if run.start_offset < lost.end and run.end_offset > lost.start})
    meant = [epoch for epoch in epochs if lost.means(epoch)]
    if lost.brokers:
        chosen = (copy for epoch in meant for copy in survivors(evidence, epoch, lost.start, lost.end))
        return tuple(copy for copy in chosen if copy.broker in lost.brokers)
    again = held_again(lost, report)
    gone = ((e, *part) for e in meant for part in without(lost.start, lost.end, again.get(e, ())))
    found = [copy for epoch, start, end in gone for copy in survivors(evidence, epoch, start, end)]
    billed = _billed(report, lost)
    if billed and all(copy.epoch == UNDEFINED_EPOCH for copy in found):
        return tuple(copy for copy in found if copy.path in billed)
    return tuple(copy for copy in found if not _leads_now(copy, evidence))


def held_again(lost: Lost, report: Mapping[str, object]) -> dict[int, list[tuple[int, int]]]:
    """By epoch what of the records the report's bills say that the log that leads holds again."""
    found: dict[int, list[tuple[int, int]]] = {}
    for loss in losses_told(report, lost):
        if loss["restored"]:
            start, end = max(loss["startOffset"], lost.start), min(loss["endOffset"], lost.end)
            found.setdefault(loss["epoch"], []).append((start, end))
    return found


def _billed(report: Mapping[str, object], lost: Lost) -> frozenset[str]:
    """Paths of the copies that the report's bills name: logs told it whose records they are, where no epoch does."""
    gone = (loss for loss in losses_told(report, lost) if not loss["restored"])
    return frozenset(str(survivor["path"]) for loss in gone for survivor in loss["survivors"])


def losses_told(report: Mapping[str, object], lost: Lost) -> Iterator[dict[str, Any]]:
    """The report's losses of the partition that touch the offsets."""
    histories = report.get("histories")
    place = place_of(lost)
    for history in histories if isinstance(histories, list) else ():
        if tuple(history.get(key) for key in ("clusterId", "topic", "partition")) == place:
            own = (loss for loss in history["losses"] if loss["startOffset"] < lost.end)
            yield from (loss for loss in own if loss["endOffset"] > lost.start)


def why_none(evidence: PartitionEvidence, lost: Lost, report: Mapping[str, object]) -> str:
    """Why no copy can be taken."""
    what = offsets_told(lost.start, lost.end)
    if lost.brokers:
        return f"broker {', '.join(map(str, lost.brokers))} holds none of {what}"
    again = [part for epoch, parts in held_again(lost, report).items() if lost.means(epoch) for part in parts]
    if again and not [*without(lost.start, lost.end, again)]:
        return f"the leader's log has {what} again, by the report's bill; choose a copy with --broker to write them"
    if all(replica.last_epoch < 0 for replica in evidence.replicas):
        return f"this format carries no epochs, so nothing tells whose {what} were lost; choose with --broker"
    taken = any(run.end_offset > lost.start for replica in evidence.replicas for run in replica.log.epochs)
    since = ": what is at these offsets is of the leader's log now" if taken else ""
    return f"no copy of {what} is in this dump{since}"


def _leads_now(copy: Survivor, evidence: PartitionEvidence) -> bool:
    """Whether the log that would lead holds the same epoch at all these offsets, so that nothing of it is lost."""
    leaders = evidence.presumed_leaders
    return bool(leaders) and all(
        any(
            run.epoch == copy.epoch and run.start_offset <= copy.start_offset and copy.end_offset <= run.end_offset
            for run in leader.log.epochs
        )
        for leader in leaders
    )


def places(chosen: Sequence[Survivor], dump: Path) -> list[LostBatch]:
    """The batches of the copies whose checksums hold, by epoch and offset; the more lasting copy first."""
    found = [place for copy in chosen for place in _batches(copy, dump)]
    return sorted(found, key=lambda place: (place.epoch, place.last_offset))


def written_first(found: Sequence[LostBatch]) -> list[LostBatch]:
    """The batches that bring records which no batch before them brings, as long as every one of them can be read."""
    due: dict[int, int] = {}
    first: list[LostBatch] = []
    for place in found:
        end = min(place.last_offset + 1, place.end)
        if end > max(place.start, due.get(place.epoch, 0)):
            due[place.epoch] = end
            first.append(place)
    return first


def _batches(copy: Survivor, dump: Path) -> Iterator[LostBatch]:
    for span in copy.spans:
        origin = Origin(source=span.source)
        for chunk in scan_source(dump, origin, start=span.start, end=span.end):
            headers = chunk.headers
            base = pc.coalesce(headers["base_offset"], headers["last_offset"])
            after = pc.greater_equal(headers["last_offset"], copy.start_offset)
            inside = pc.and_(after, pc.less(base, copy.end_offset))
            for row in headers.filter(pc.and_(inside, headers["crc_valid"])).to_pylist():
                if (-1 if row["leader_epoch"] is None else row["leader_epoch"]) == copy.epoch:
                    yield _place(row, copy, span.source)


def _place(row: Mapping[str, int], copy: Survivor, source: str) -> LostBatch:
    return LostBatch(
        epoch=copy.epoch,
        start=copy.start_offset,
        end=copy.end_offset,
        last_offset=row["last_offset"],
        copy=copy.path,
        span=Span(source=source, start=row["span_start"], end=row["span_end"]),
    )
