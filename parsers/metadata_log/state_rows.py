"""From states and records to rows of the tables, each with the place and moment of the record that made it."""

from __future__ import annotations

from typing import Final, TypedDict

from msgspec import Struct

from parsers.metadata_log.image import elected_uncleanly
from parsers.metadata_log.quorum import ControlRecord, Voter
from parsers.metadata_log.records import Config, Endpoint, Partition, RegisterBroker, RegisterController
from parsers.provenance import Origin, Span
from parsers.tables.metadata import (
    BrokerChange,
    BrokerChangeKind,
    ConfigChange,
    FeatureChange,
    MetadataChange,
    MetadataChangeKind,
    QuorumChange,
    TopicChange,
    TopicChangeKind,
    join_ids,
)
from parsers.tables.secrets import shown

_RESOURCE_TYPES: Final = {2: "topic", 4: "broker", 8: "broker-logger", 16: "client-metrics", 32: "group"}


class StampColumns(TypedDict):
    """What a record gives to all of its rows, by the names that it has in their tables."""

    cluster_id: str | None
    broker: int | None
    log_dir: str | None
    offset: int
    controller_epoch: int
    time: int
    source: str
    span_start: int
    span_end: int


class Stamp(Struct, frozen=True, kw_only=True):
    """The moment and address of one record, as all of its rows repeat them."""

    origin: Origin
    offset: int
    controller_epoch: int
    time: int
    span: Span
    from_snapshot: bool = False

    def columns(self) -> StampColumns:
        """The columns that every row of the record has from it."""
        return StampColumns(
            cluster_id=self.origin.cluster_id,
            broker=self.origin.broker,
            log_dir=self.origin.log_dir,
            offset=self.offset,
            controller_epoch=self.controller_epoch,
            time=self.time,
            source=self.span.source,
            span_start=self.span.start,
            span_end=self.span.end,
        )


Texts = dict[tuple[int | str, ...], str]
"""Sets as tables show them: each distinct set is written once, however many rows show it."""


def joined(ids: tuple[int | str, ...], texts: Texts) -> str:
    """A set as text, shared."""
    text = texts.get(ids)
    if text is None:
        text = texts[ids] = ",".join(map(str, ids))
    return text


def partition_row(
    stamp: Stamp,
    topic: str | None,
    after: Partition,
    before: Partition | None,
    kind: MetadataChangeKind,
    texts: Texts,
) -> MetadataChange:
    """A partition after a record; a removed one is given as it last stood."""
    return MetadataChange(
        **stamp.columns(),
        topic=topic,
        topic_id=after.topic_id,
        partition=after.partition,
        kind="snapshot" if stamp.from_snapshot and kind == "created" else kind,
        leader=after.leader,
        leader_epoch=after.leader_epoch,
        partition_epoch=after.partition_epoch,
        isr=joined(after.isr, texts),
        replicas=joined(after.replicas, texts),
        adding_replicas=joined(after.adding_replicas, texts),
        removing_replicas=joined(after.removing_replicas, texts),
        elr=joined(after.elr, texts),
        last_known_elr=joined(after.last_known_elr, texts),
        leader_recovery_state=after.leader_recovery_state,
        directories=joined(after.directories, texts),
        previous_leader=before.leader if before else None,
        previous_isr=joined(before.isr, texts) if before else None,
        unclean=before is not None and elected_uncleanly(before, after),
    )


def topic_row(stamp: Stamp, topic: str | None, topic_id: str, kind: TopicChangeKind) -> TopicChange:
    """A topic that came or went."""
    return TopicChange(
        **stamp.columns(),
        topic=topic,
        topic_id=topic_id,
        partition=None,
        kind=kind,
    )


def broker_row(
    stamp: Stamp, kind: BrokerChangeKind, node: int, broker_epoch: int, known: RegisterBroker | None
) -> BrokerChange:
    """A broker after a record; `known` is its whole registration, None where the record speaks of one never seen."""
    named = known if kind == "registered" else None
    return BrokerChange(
        **stamp.columns(),
        topic=None,
        topic_id=None,
        partition=None,
        kind="snapshot" if stamp.from_snapshot and kind == "registered" else kind,
        node=node,
        broker_epoch=broker_epoch,
        fenced=known.fenced if known else {"fenced": True, "unfenced": False}.get(kind),
        in_controlled_shutdown=known.in_controlled_shutdown if known else None,
        migrating_from_zookeeper=known.migrating_from_zookeeper if known else None,
        incarnation_id=known.incarnation_id if known else None,
        rack=known.rack if known else None,
        endpoints=_endpoints(named.endpoints) if named else None,
        directories=",".join(named.log_dirs) if named else None,
    )


def controller_row(stamp: Stamp, record: RegisterController) -> BrokerChange:
    """A controller that registered."""
    return BrokerChange(
        **stamp.columns(),
        topic=None,
        topic_id=None,
        partition=None,
        kind="controller-registered",
        node=record.controller_id,
        broker_epoch=None,
        fenced=None,
        in_controlled_shutdown=None,
        migrating_from_zookeeper=None,
        incarnation_id=record.incarnation_id,
        rack=None,
        endpoints=_endpoints(record.endpoints),
        directories=None,
    )


def config_row(stamp: Stamp, record: Config, topic_id: str | None) -> ConfigChange:
    """A setting; what Kafka would hide on its screens is hidden here too."""
    resource_type = _RESOURCE_TYPES.get(record.resource_type, str(record.resource_type))
    return ConfigChange(
        **stamp.columns(),
        topic=record.resource if resource_type == "topic" else None,
        topic_id=topic_id if resource_type == "topic" else None,
        partition=None,
        resource_type=resource_type,
        resource=record.resource,
        name=record.name,
        value=shown(record.name, record.value),
    )


def feature_row(stamp: Stamp, name: str, level: int) -> FeatureChange:
    """A feature's level."""
    return FeatureChange(
        **stamp.columns(),
        topic=None,
        topic_id=None,
        partition=None,
        name=name,
        level=level,
    )


def quorum_row(stamp: Stamp, record: ControlRecord) -> QuorumChange:
    """A control record."""
    return QuorumChange(
        **stamp.columns(),
        topic=stamp.origin.topic,
        topic_id=stamp.origin.topic_id,
        partition=stamp.origin.partition,
        kind=record.kind,
        leader=record.leader,
        voters=_nodes(record.voters),
        granting_voters=_nodes(record.granting_voters),
        voter_directories=_voter_directories(record.voters),
        kraft_version=record.kraft_version,
        contained_time=record.contained_time,
    )


def _nodes(voters: tuple[Voter, ...] | None) -> str | None:
    return None if voters is None else join_ids(tuple(voter.node for voter in voters))


def _voter_directories(voters: tuple[Voter, ...] | None) -> str | None:
    if voters is None or any(voter.directory_id is None for voter in voters):
        return None
    return ",".join(str(voter.directory_id) for voter in voters)


def _endpoints(endpoints: tuple[Endpoint, ...]) -> str:
    return ",".join(f"{endpoint.name}://{endpoint.host}:{endpoint.port}" for endpoint in endpoints)
