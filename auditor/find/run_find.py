"""The find command: the replicas of one partition, each looked up in, and the answers told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.archives import at_hand
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import gather
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import plan
from auditor.engines.reading import read_unit
from auditor.exit_codes import ExitCode
from auditor.find.lookup import ReplicaLookup, find_offset, find_time
from auditor.find.segment import OpenSegment
from auditor.report.plain import plain
from auditor.report.utc_times import moment
from auditor.streams import say
from auditor.unmatched import require_matches
from parsers.files import found_at
from parsers.inventory import Inventory, take_inventory
from parsers.provenance import Origin
from rules.evidence import PartitionEvidence
from rules.finding import offsets_told
from rules.narrow.assemble import assemble
from rules.narrow.facts import Fact, Surroundings

KINDS: Final = ("log", "directory", "root")
LONGEST_TIME: Final = 15
"""Digits of milliseconds: enough for thirty thousand years."""
HIGHEST: Final = (1 << 63) - 1


class Sought(Struct, frozen=True, kw_only=True):
    """What the user looks for."""

    dumps: Sequence[Path]
    topic: str
    partition: int
    offset: int | None = None
    timestamp: str | None = None
    broker: int | None = None
    explain: bool = False


def run_find(asked: Sought, config: AuditConfig) -> int:
    """Look up and tell; the exit code says whether a log has the offset, an index misleads, or a part is unread."""
    if (asked.offset is None) == (asked.timestamp is None):
        found = "neither" if asked.offset is None else "both"
        raise ConfigError(f"expected one of --offset and --timestamp, found {found}")
    if asked.offset is not None and asked.offset > HIGHEST:
        raise ConfigError("--offset: no offset is that high")
    with at_hand(asked.dumps) as here:
        answers = [*_answers(replace(asked, dumps=here.folders), config)]
    say(answer_text(asked.topic, asked.partition, _sought(asked), answers, explain=asked.explain))
    if any(answer.misled for answer in answers):
        return int(ExitCode.FINDINGS)
    if not answers or any(answer.unread for answer in answers):
        return int(ExitCode.UNKNOWN)
    return int(ExitCode.FINDINGS if all(answer.outside for answer in answers) else ExitCode.CLEAN)


def _sought(asked: Sought) -> str:
    return f"offset {asked.offset}" if asked.timestamp is None else f"timestamp {_time(asked.timestamp)}"


def _answers(asked: Sought, config: AuditConfig) -> Iterator[ReplicaLookup]:
    root = gather(asked.dumps).root
    for evidence in _evidence(asked, root, config):
        for replica in evidence.current:
            if asked.broker not in (None, replica.broker):
                continue
            origin = Origin(source=replica.path, broker=replica.broker, topic=asked.topic, partition=asked.partition)
            segments = [OpenSegment(root, origin, file) for file in replica.segments]
            if asked.offset is not None:
                yield find_offset(replica, segments, asked.offset)
            else:
                yield find_time(replica, segments, _time(asked.timestamp or ""))


def _evidence(asked: Sought, root: Path, config: AuditConfig) -> list[PartitionEvidence]:
    """The partition as the disks of each cluster show it; headers are believed."""
    inventory = _inventory(asked, root, config)
    units = plan(str(root), inventory, Selection(topics=(asked.topic,), partitions=(asked.partition,)))
    facts: dict[str | None, list[Fact]] = {}
    for unit in units:
        for fact in read_unit(unit, "quick") if unit.kind in KINDS else ():
            if (fact.topic, fact.partition) == (asked.topic, asked.partition):
                facts.setdefault(fact.cluster_id, []).append(fact)
    found = [assemble(own, Surroundings(cluster_id=cluster)) for cluster, own in facts.items()]
    brokers = sorted({replica.broker for evidence in found for replica in evidence.current})
    if asked.broker is not None and asked.broker not in brokers:
        holders = ", ".join(map(str, brokers))
        raise ConfigError(f"--broker {asked.broker}: holds no replica here; brokers that do: {holders}")
    return found


def _inventory(asked: Sought, root: Path, config: AuditConfig) -> Inventory:
    for broker, path in config.log_dir_overrides:
        if found_at(root / path) != "a folder":
            raise ConfigError(f"{config.named('log_dir')} {broker}={path}: no such folder in {root}")
    inventory = take_inventory(root, log_dirs=config.log_dir_overrides, parts=gather(asked.dumps).parts)
    held = {(replica.origin.topic, replica.origin.partition) for replica in inventory.replicas}
    require_matches(config.selection, held, config, root)
    return inventory


def _time(text: str) -> int:
    """Milliseconds since 1970 in UTC, from their number or from a date with a time."""
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_TIME:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        example = "2026-11-21T05:49:42, or milliseconds since 1970"
        raise ConfigError(f"--timestamp: expected a time such as {example}, found {text[:80]!r}") from error
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def answer_text(topic: str, partition: int, sought: str, answers: Sequence[ReplicaLookup], *, explain: bool) -> str:
    """All answers, one replica after the other."""
    lines = [f"{topic}-{partition}, {sought}"]
    for answer in answers:
        lines += ["", *_answer(answer, explain=explain)]
    if not answers:
        lines.append("no replica in plain use is here")
    return "\n".join(map(plain, lines)) + "\n"


def _answer(answer: ReplicaLookup, *, explain: bool) -> Iterator[str]:
    replica = answer.replica
    watermark = "unknown" if replica.high_watermark is None else str(replica.high_watermark.offset)
    log = offsets_told(replica.log_start_offset, replica.log_end_offset)
    yield f"broker {replica.broker}  log {log}  high watermark {watermark}"
    if answer.found is not None:
        found = answer.found
        if answer.offset is not None:
            yield f"  offset   {answer.offset}"
        yield f"  file     {found.source}"
        yield f"  bytes    [{found.start}, {found.end})"
        records = "an unknown number of records" if found.records is None else f"{found.records} records"
        yield f"  batch    {found.offsets}, {records}, latest timestamp {_told_time(found.max_timestamp)}"
        yield f"  epoch    {'none: an old format' if found.leader_epoch < 0 else found.leader_epoch}"
    if answer.remark:
        yield f"  {answer.remark}"
    if answer.misled:
        yield f"  its index misleads the broker: {answer.misled}"
        yield "  (while the broker is stopped, delete the segment's indexes: it builds them again)"
    if answer.unread:
        yield "  a part of these segments is no batch, or could not be read: `tidemark audit` says which"
    for number, step in enumerate(answer.steps if explain else (), start=1):
        yield f"  {number:2}. {step}"


def _told_time(milliseconds: int) -> str:
    time = moment(milliseconds)
    return f"{milliseconds} ({time} UTC)" if time else "none"
