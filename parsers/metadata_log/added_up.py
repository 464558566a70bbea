"""One metadata record after another, added up to a state; every change of it becomes a row."""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec.structs import replace

from parsers.metadata_log.image import MetadataImage, clear_elr, merge, with_flags
from parsers.metadata_log.records import (
    BrokerRegistrationChange,
    ClearElr,
    Config,
    FeatureLevel,
    FenceBroker,
    MetadataRecord,
    Partition,
    PartitionChange,
    RegisterBroker,
    RegisterController,
    RemoveTopic,
    Skipped,
    Topic,
    UnfenceBroker,
    UnregisterBroker,
)
from parsers.metadata_log.state_rows import (
    Stamp,
    Texts,
    broker_row,
    config_row,
    controller_row,
    feature_row,
    partition_row,
    topic_row,
)
from parsers.refusal import refuse
from parsers.tables import Refusal
from parsers.tables.metadata import (
    BrokerChange,
    BrokerChangeKind,
    ConfigChange,
    FeatureChange,
    MetadataChange,
    MetadataChangeKind,
    QuorumChange,
    TopicChange,
)

_TOPIC: Final = 2
_INT32_MAX: Final = (1 << 31) - 1


class Fold:
    """A builder for one pass: a state that would be copied for every record makes long logs quadratic.

    With `against` it reads a snapshot: only what differs from that older state becomes a row.
    """

    def __init__(self, against: MetadataImage | None = None) -> None:
        self.image = MetadataImage()
        self.against = against
        self.texts: Texts = {}
        self.partitions: list[MetadataChange] = []
        self.topics: list[TopicChange] = []
        self.brokers: list[BrokerChange] = []
        self.configs: list[ConfigChange] = []
        self.features: list[FeatureChange] = []
        self.quorum: list[QuorumChange] = []
        self.refusals: list[Refusal] = []
        self.skipped: Counter[str] = Counter()
        self._orphans: set[tuple[str, int]] = set()

    def apply(self, record: MetadataRecord, stamp: Stamp) -> None:
        """Add one record: partitions and topics here, as most records are theirs."""
        match record:
            case PartitionChange():
                self._partition_change(record, stamp)
            case Partition():
                self._partition(record, stamp)
            case Topic():
                self._topic(record, stamp)
            case RemoveTopic():
                self._remove_topic(record.topic_id, stamp)
            case ClearElr():
                for state in self.image.holders_of_elr(record.topic):
                    self._partition_change(clear_elr(state), stamp)
            case _:
                self._apply_to_cluster(record, stamp)

    def _apply_to_cluster(self, record: MetadataRecord, stamp: Stamp) -> None:
        """Add one record about brokers, controllers, settings or features."""
        match record:
            case BrokerRegistrationChange():
                kind = _registration_kind(record)
                self._broker_change(stamp, kind, record.broker_id, record.broker_epoch, record)
            case RegisterBroker():
                self._register_broker(record, stamp)
            case Config():
                self._config(record, stamp)
            case FeatureLevel():
                self._feature(record.name, record.level, stamp)
            case UnregisterBroker():
                self.image.brokers.pop(record.broker_id, None)
                self.brokers.append(broker_row(stamp, "unregistered", record.broker_id, record.broker_epoch, None))
            case FenceBroker():
                self._broker_change(stamp, "fenced", record.broker_id, record.broker_epoch, None)
            case UnfenceBroker():
                self._broker_change(stamp, "unfenced", record.broker_id, record.broker_epoch, None)
            case RegisterController():
                self._register_controller(record, stamp)
            case Skipped():
                self.skipped[record.name] += 1

    def _partition_change(self, change: PartitionChange, stamp: Stamp) -> None:
        before = self.image.partition(change.topic_id, change.partition)
        if before is None:
            self._orphan(change, stamp)
            return
        after = merge(before, change)
        if max(after.leader_epoch, after.partition_epoch) > _INT32_MAX:
            self.refuse(stamp, "epochs within int32", f"{after.leader_epoch} and {after.partition_epoch}")
            return
        self.image.put(after)
        self._partition_row(stamp, after, before, "changed")

    def _partition(self, after: Partition, stamp: Stamp) -> None:
        before = self.image.partition(after.topic_id, after.partition)
        self.image.put(after)
        known = self.against.partition(after.topic_id, after.partition) if self.against else None
        if known != after:
            self._partition_row(stamp, after, before, "changed" if before else "created")

    def _partition_row(
        self, stamp: Stamp, after: Partition, before: Partition | None, kind: MetadataChangeKind
    ) -> None:
        topic = self.image.topics.get(after.topic_id)
        self.partitions.append(partition_row(stamp, topic, after, before, kind, self.texts))

    def _orphan(self, change: PartitionChange, stamp: Stamp) -> None:
        """Without its registration a change has no epochs; said once a partition."""
        key = (change.topic_id, change.partition)
        self.skipped["PartitionChange of an unknown partition"] += 1
        if key not in self._orphans:
            self._orphans.add(key)
            found = f"a change of partition {change.partition} of topic id {change.topic_id}"
            self.refuse(stamp, "the partition's registration before its changes", found)

    def _topic(self, record: Topic, stamp: Stamp) -> None:
        self.image.name_topic(record.topic_id, record.name)
        if self.against is None or self.against.topics.get(record.topic_id) != record.name:
            self.topics.append(topic_row(stamp, record.name, record.topic_id, "created"))

    def _remove_topic(self, topic_id: str, stamp: Stamp) -> None:
        known = topic_id in self.image.topics
        name, partitions = self.image.remove_topic(topic_id)
        if not known:
            self.refuse(stamp, "a topic that exists", f"the removal of topic id {topic_id}")
            return
        for state in partitions:
            self.partitions.append(partition_row(stamp, name, state, state, "removed", self.texts))
        self.topics.append(topic_row(stamp, name, topic_id, "removed"))

    def _register_broker(self, record: RegisterBroker, stamp: Stamp) -> None:
        self.image.brokers[record.broker_id] = record
        if self.against is None or self.against.brokers.get(record.broker_id) != record:
            self.brokers.append(broker_row(stamp, "registered", record.broker_id, record.broker_epoch, record))

    def _broker_change(
        self,
        stamp: Stamp,
        kind: BrokerChangeKind,
        node: int,
        broker_epoch: int,
        change: BrokerRegistrationChange | None,
    ) -> None:
        known = self.image.brokers.get(node)
        if known is not None:
            fenced = change.fenced if change else kind == "fenced"
            known = with_flags(known, fenced, change.in_controlled_shutdown if change else None)
            if change and change.log_dirs is not None:
                known = replace(known, log_dirs=change.log_dirs)
            if change and change.cordoned_log_dirs is not None:
                known = replace(known, cordoned_log_dirs=change.cordoned_log_dirs)
            self.image.brokers[node] = known
        self.brokers.append(broker_row(stamp, kind, node, broker_epoch, known))

    def _register_controller(self, record: RegisterController, stamp: Stamp) -> None:
        self.image.controllers[record.controller_id] = record
        if self.against is None or self.against.controllers.get(record.controller_id) != record:
            self.brokers.append(controller_row(stamp, record))

    def _config(self, record: Config, stamp: Stamp) -> None:
        key = (record.resource_type, record.resource, record.name)
        if record.value is None:
            self.image.configs.pop(key, None)
        else:
            self.image.configs[key] = record.value
        if self.against is None or self.against.configs.get(key) != record.value:
            self.configs.append(self._config_row(record, stamp))

    def _config_row(self, record: Config, stamp: Stamp) -> ConfigChange:
        topic_id = self.image.ids.get(record.resource) if record.resource_type == _TOPIC else None
        return config_row(stamp, record, topic_id)

    def _feature(self, name: str, level: int, stamp: Stamp) -> None:
        self.image.features[name] = level
        if self.against is None or self.against.features.get(name) != level:
            self.features.append(feature_row(stamp, name, level))

    def refuse(self, stamp: Stamp, expected: str, found: str) -> None:
        """Refuse a record that decodes but contradicts the state."""
        origin = replace(stamp.origin, source=stamp.span.source)
        self.refusals.append(
            refuse(origin, "malformed", stamp.span.start, stamp.span.end, expected=expected, found=found)
        )

    def adopt(self, snapshot: Fold, stamp: Stamp) -> None:
        """Restart from a snapshot: its news are rows already; what it no longer names is gone."""
        old, new = self.image, snapshot.image
        self.partitions += snapshot.partitions
        self.topics += snapshot.topics
        self.brokers += snapshot.brokers
        self.configs += snapshot.configs
        self.features += snapshot.features
        for topic_id in [topic_id for topic_id in old.topics if topic_id not in new.topics]:
            self._remove_topic(topic_id, stamp)
        for node in [node for node in old.brokers if node not in new.brokers]:
            self.brokers.append(broker_row(stamp, "unregistered", node, old.brokers[node].broker_epoch, None))
        for kind, resource, name in [key for key in old.configs if key not in new.configs]:
            gone = Config(resource_type=kind, resource=resource, name=name, value=None)
            self.configs.append(self._config_row(gone, stamp))
        for name in [name for name, level in old.features.items() if level and name not in new.features]:
            self.features.append(feature_row(stamp, name, 0))
        self.image = new


def _registration_kind(record: BrokerRegistrationChange) -> BrokerChangeKind:
    if record.fenced is not None:
        return "fenced" if record.fenced else "unfenced"
    return "controlled-shutdown" if record.in_controlled_shutdown else "changed"
