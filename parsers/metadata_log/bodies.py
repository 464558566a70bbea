"""The body of each metadata record, by api key; a version differs from the one before by the fields named here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from parsers.metadata_log.compact_wire import MetadataCursor, tagged
from parsers.metadata_log.records import (
    AbortTransaction,
    BeginTransaction,
    BrokerRegistrationChange,
    ClearElr,
    Config,
    Endpoint,
    EndTransaction,
    FeatureLevel,
    FeatureRange,
    FenceBroker,
    MetadataRecord,
    NoOp,
    Partition,
    PartitionChange,
    ProducerIds,
    RegisterBroker,
    RegisterController,
    RemoveTopic,
    Topic,
    UnfenceBroker,
    UnregisterBroker,
    ZkMigrationState,
)
from parsers.wire import Malformed

Decoder = Callable[[MetadataCursor, int], MetadataRecord]
NO_OP: Final = NoOp()
_NO_LEADER_CHANGE: Final = -2
_ENDPOINT_LEAST: Final = 7
_FEATURE_LEAST: Final = 6


def _endpoint(cursor: MetadataCursor) -> Endpoint:
    endpoint = Endpoint(
        name=cursor.string(), host=cursor.string(), port=cursor.uint16(), security_protocol=cursor.int16()
    )
    cursor.tags()
    return endpoint


def _feature(cursor: MetadataCursor) -> FeatureRange:
    feature = FeatureRange(name=cursor.string(), minimum=cursor.int16(), maximum=cursor.int16())
    cursor.tags()
    return feature


def _endpoints(cursor: MetadataCursor) -> tuple[Endpoint, ...]:
    return cursor.array(lambda: _endpoint(cursor), _ENDPOINT_LEAST)


def _features(cursor: MetadataCursor) -> tuple[FeatureRange, ...]:
    return cursor.array(lambda: _feature(cursor), _FEATURE_LEAST)


def _register_broker(cursor: MetadataCursor, version: int) -> RegisterBroker:
    broker_id = cursor.int32()
    migrating = cursor.flag() if version >= 2 else False
    incarnation_id, broker_epoch = cursor.uuid(), cursor.int64()
    endpoints, features = _endpoints(cursor), _features(cursor)
    rack, fenced = cursor.nullable_string(), cursor.flag()
    stopping = cursor.flag() if version >= 1 else False
    tags = cursor.tags()
    return RegisterBroker(
        broker_id=broker_id,
        migrating_from_zookeeper=migrating,
        incarnation_id=incarnation_id,
        broker_epoch=broker_epoch,
        endpoints=endpoints,
        features=features,
        rack=rack,
        fenced=fenced,
        in_controlled_shutdown=stopping,
        log_dirs=tagged(tags, 0, MetadataCursor.uuids, ()) if version >= 3 else (),
        cordoned_log_dirs=tagged(tags, 1, MetadataCursor.nullable_uuids, None) if version >= 4 else None,
    )


def _place(cursor: MetadataCursor) -> tuple[int, str]:
    partition = cursor.int32()
    if partition < 0:
        raise Malformed("a partition number", str(partition))
    return partition, cursor.uuid()


def _partition(cursor: MetadataCursor, version: int) -> Partition:
    partition, topic_id = _place(cursor)
    replicas, isr, removing, adding = (cursor.int32s() for _ in range(4))
    leader, leader_epoch, partition_epoch = cursor.int32(), cursor.int32(), cursor.int32()
    directories = cursor.uuids() if version >= 1 else ()
    # leaderRecoveryState stands in the middle of the schema and yet is tagged.
    tags = cursor.tags()
    return Partition(
        partition=partition,
        topic_id=topic_id,
        replicas=replicas,
        isr=isr,
        removing_replicas=removing,
        adding_replicas=adding,
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        directories=directories,
        leader_recovery_state=tagged(tags, 0, MetadataCursor.int8, 0),
        elr=tagged(tags, 1, MetadataCursor.int32s, ()) if version >= 2 else (),
        last_known_elr=tagged(tags, 2, MetadataCursor.int32s, ()) if version >= 2 else (),
    )


def _partition_change(cursor: MetadataCursor, version: int) -> PartitionChange:
    partition, topic_id = _place(cursor)
    tags = cursor.tags()
    leader = tagged(tags, 1, MetadataCursor.int32, _NO_LEADER_CHANGE)
    recovery = tagged(tags, 5, MetadataCursor.int8, -1)
    return PartitionChange(
        partition=partition,
        topic_id=topic_id,
        isr=tagged(tags, 0, MetadataCursor.nullable_int32s, None),
        leader=None if leader == _NO_LEADER_CHANGE else leader,
        replicas=tagged(tags, 2, MetadataCursor.nullable_int32s, None),
        removing_replicas=tagged(tags, 3, MetadataCursor.nullable_int32s, None),
        adding_replicas=tagged(tags, 4, MetadataCursor.nullable_int32s, None),
        leader_recovery_state=None if recovery == -1 else recovery,
        elr=tagged(tags, 6, MetadataCursor.nullable_int32s, None) if version >= 2 else None,
        last_known_elr=tagged(tags, 7, MetadataCursor.nullable_int32s, None) if version >= 2 else None,
        directories=tagged(tags, 8, MetadataCursor.nullable_uuids, None) if version >= 1 else None,
    )


def _registration_change(cursor: MetadataCursor, version: int) -> BrokerRegistrationChange:
    broker_id, broker_epoch = cursor.int32(), cursor.int64()
    tags = cursor.tags()
    fenced = tagged(tags, 0, MetadataCursor.int8, 0)
    stopping = tagged(tags, 1, MetadataCursor.int8, 0)
    if fenced not in (-1, 0, 1) or stopping not in (0, 1):
        raise Malformed("fenced -1, 0 or 1 and inControlledShutdown 0 or 1", f"{fenced} and {stopping}")
    return BrokerRegistrationChange(
        broker_id=broker_id,
        broker_epoch=broker_epoch,
        fenced=None if fenced == 0 else fenced == 1,
        in_controlled_shutdown=True if stopping else None,
        log_dirs=tagged(tags, 2, MetadataCursor.nullable_uuids, None) if version >= 2 else None,
        cordoned_log_dirs=tagged(tags, 3, MetadataCursor.nullable_uuids, None) if version >= 3 else None,
    )


def _begin_transaction(cursor: MetadataCursor, _version: int) -> BeginTransaction:
    return BeginTransaction(name=tagged(cursor.tags(), 0, MetadataCursor.nullable_string, None))


def _abort_transaction(cursor: MetadataCursor, _version: int) -> AbortTransaction:
    return AbortTransaction(reason=tagged(cursor.tags(), 0, MetadataCursor.nullable_string, None))


def _plain(kind: Callable[..., MetadataRecord], **fields: Callable[[MetadataCursor], object]) -> Decoder:
    """Of a record whose fields stand one behind the other, in every version the same."""

    def decoded(cursor: MetadataCursor, _version: int) -> MetadataRecord:
        record = kind(**{name: read(cursor) for name, read in fields.items()})
        cursor.tags()
        return record

    # A refusal names the record by this.
    decoded.__name__ = re.sub(r"\B(?=[A-Z])", "_", kind.__name__).lower()
    return decoded


def _remove_feature_level(cursor: MetadataCursor, _version: int) -> FeatureLevel:
    record = FeatureLevel(name=cursor.string(), level=0)
    cursor.tags()
    return record


_Wire = MetadataCursor
_BROKER: Final = {"broker_id": _Wire.int32, "broker_epoch": _Wire.int64}
BODIES: Final[dict[int, tuple[int, Decoder]]] = {
    0: (4, _register_broker),
    1: (0, _plain(UnregisterBroker, **_BROKER)),
    2: (0, _plain(Topic, name=_Wire.string, topic_id=_Wire.uuid)),
    3: (2, _partition),
    4: (0, _plain(
        Config, resource_type=_Wire.int8, resource=_Wire.string, name=_Wire.string, value=_Wire.nullable_string,
    )),
    5: (2, _partition_change),
    7: (0, _plain(FenceBroker, **_BROKER)),
    8: (0, _plain(UnfenceBroker, **_BROKER)),
    9: (0, _plain(RemoveTopic, topic_id=_Wire.uuid)),
    12: (0, _plain(FeatureLevel, name=_Wire.string, level=_Wire.int16)),
    15: (0, _plain(ProducerIds, **_BROKER, next_producer_id=_Wire.int64)),
    16: (0, _remove_feature_level),
    17: (3, _registration_change),
    20: (0, _plain(NoOp)),
    21: (0, _plain(ZkMigrationState, state=_Wire.int8)),
    23: (0, _begin_transaction),
    24: (0, _plain(EndTransaction)),
    25: (0, _abort_transaction),
    27: (0, _plain(
        RegisterController, controller_id=_Wire.int32, incarnation_id=_Wire.uuid, zk_migration_ready=_Wire.flag,
        endpoints=_endpoints, features=_features,
    )),
    28: (0, _plain(ClearElr, topic=_Wire.string)),
}  # fmt: skip
"""Latest known version and decoder of each record, by api key."""
