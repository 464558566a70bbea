"""What tools' `--describe` options printed, as statements about partitions, settings and what groups committed.

Such an output bears no time, and a file's time of change is nobody's word: its statements are shown, never ordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from auditor.engines.witnesses.statements_of_rows import Named, ids
from parsers.describe_text import split_settings
from parsers.provenance import Origin, Span, row_span
from parsers.refusal import refuse
from parsers.tables import Description, Refusal
from parsers.tables.metadata import replica_ids
from parsers.tables.secrets import shown
from rules.evidence import METADATA_TOPIC
from rules.history.moments import DESCRIPTION_CLOCK
from rules.history.statements import PartitionState
from rules.replicas.commits_of_groups import GroupCommit
from rules.settings import Setting

Place = tuple[str, int]
_QUORUM: Place = (METADATA_TOPIC, 0)


def of_descriptions(rows: Sequence[Description]) -> Iterator[Named]:
    """Leaders and in-sync replicas of partitions, and how far the replicas of the metadata log were."""
    ids = {row.topic: row.topic_id for row in rows if row.kind == "topic"}
    for row in rows:
        if row.kind == "partition" and row.topic is not None and row.partition is not None:
            yield (row.topic, row.partition), ids.get(row.topic), _partition(row)
        elif row.kind == "quorum-replica":
            yield _QUORUM, None, _quorum_replica(row)
    for status in _statuses(rows):
        yield _QUORUM, None, _quorum(status)


def _statuses(rows: Iterable[Description]) -> Iterator[list[Description]]:
    """The lines of each status; where a name comes again the next one begins, printed right behind."""
    status: list[Description] = []
    for row in rows:
        own = row.kind == "quorum-status"
        if status and (not own or any(row.name == line.name for line in status)):
            yield status
            status = []
        if own:
            status.append(row)
    if status:
        yield status


def of_the_cluster(rows: Sequence[Description], origin: Origin) -> tuple[Sequence[Description], tuple[Refusal, ...]]:
    """The rows, and a refusal instead of them all where the text names another cluster than the one around it."""
    named = next((row for row in rows if row.name == "ClusterId" and row.value != origin.cluster_id), None)
    if named is None or origin.cluster_id is None:
        return rows, ()
    found = f"an output about cluster {named.value}"
    expected = f"an output about cluster {origin.cluster_id}"
    return (), (refuse(origin, "ambiguous", named.span_start, named.span_end, expected=expected, found=found),)


def _partition(row: Description) -> PartitionState:
    return PartitionState(
        kind="described",
        clock=DESCRIPTION_CLOCK,
        leader=row.leader,
        isr=ids(row.isr),
        elr=ids(row.elr),
        replicas=replica_ids(row.replicas) or None,
        trust="medium",
        span=row_span(row),
    )


def _quorum_replica(row: Description) -> PartitionState:
    return PartitionState(
        kind="described",
        clock=DESCRIPTION_CLOCK,
        broker=row.broker,
        end_offset=row.log_end_offset,
        trust="medium",
        span=row_span(row),
    )


def _quorum(rows: Sequence[Description]) -> PartitionState:
    """The lines of one status are one statement."""
    lines = {row.name: row for row in rows}
    leader, epoch = lines.get("LeaderId"), lines.get("LeaderEpoch")
    watermark, voters = lines.get("HighWatermark"), lines.get("CurrentVoters")
    return PartitionState(
        kind="described",
        clock=DESCRIPTION_CLOCK,
        leader=leader.leader if leader else None,
        epoch=epoch.epoch if epoch else None,
        high_watermark=watermark.high_watermark if watermark else None,
        replicas=(replica_ids(voters.replicas) or None) if voters else None,
        trust="medium",
        span=Span(source=rows[0].source, start=rows[0].span_start, end=rows[-1].span_end),
    )


class DescribedCommits(Struct, frozen=True, kw_only=True):
    """What groups had committed when a tool asked, and lines that do not say of which group they are."""

    commits: tuple[tuple[Place, GroupCommit], ...] = ()
    refusals: tuple[Refusal, ...] = ()


def described_commits(rows: Iterable[Description], origin: Origin) -> DescribedCommits:
    """Committed offsets; releases up to 1.1 print no column of groups, but may name the group above the table."""
    commits: list[tuple[Place, GroupCommit]] = []
    nameless: list[Description] = []
    named: str | None = None
    for row in rows:
        named = row.group if row.kind == "group-state" else named
        if row.kind != "group-offset" or row.topic is None or row.partition is None or row.offset is None:
            continue
        group = row.group or named
        if group is None:
            nameless.append(row)
        else:
            commits.append(((row.topic, row.partition), _commit(row, group)))
    return DescribedCommits(commits=tuple(commits), refusals=tuple(_nameless(nameless, origin)))


_ALL_BROKERS: Final = ("brokers in the cluster", "the default broker", "default broker")


def described_settings(rows: Iterable[Description]) -> Iterator[Setting]:
    """Settings of topics and brokers that were in force when a tool asked."""
    for row in rows:
        if row.kind == "topic" and row.topic is not None:
            for name, value in split_settings(row.value or ""):
                span = row_span(row)
                yield Setting(name=name, value=shown(name, value), origin="describe", topic=row.topic, span=span)
        elif row.kind == "config" and row.name is not None and _is_of_a_broker_or_topic(row):
            stated = None if row.value == "null" else shown(row.name, row.value)
            broker = row.broker if row.topic is None else None
            yield Setting(
                name=row.name, value=stated, origin="describe", broker=broker, topic=row.topic, span=row_span(row)
            )


def _is_of_a_broker_or_topic(row: Description) -> bool:
    entity = row.entity or ""
    return row.topic is not None or entity.lower().startswith("broker ") or entity in _ALL_BROKERS


def _commit(row: Description, group: str) -> GroupCommit:
    return GroupCommit(
        group=group,
        offset=-1 if row.offset is None else row.offset,
        leader_epoch=row.epoch,
        end_offset=row.log_end_offset,
        told_by="description",
        span=row_span(row),
    )


def _nameless(rows: Sequence[Description], origin: Origin) -> Iterator[Refusal]:
    if rows:
        expected = "a GROUP column, or a line \"Consumer group 'NAME' has …\" above the table"
        found = "committed offsets of a group that nothing names"
        yield refuse(origin, "ambiguous", rows[0].span_start, rows[-1].span_end, expected=expected, found=found)
