"""Requests that tell leader and ISR: proposed by a leader, ordered by a controller, reported to a client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.provenance import Origin
from parsers.request_log.fields import Struct, WrongShape, flag, i16, i32, i64, integers, partition_number, structs
from parsers.request_log.head import Head, NamedTopic, head_of, named
from parsers.request_log.request import Request
from parsers.tables.metadata import join_ids
from parsers.tables.requests import IsrApi, IsrRequest

_NONE: Final[Struct] = {}
_EPOCH_NAMES: Final = ("partitionEpoch", "zkVersion", "currentIsrVersion")


def alter_partition(request: Request, origin: Origin) -> Iterator[IsrRequest]:
    """ALTER_PARTITION, ALTER_ISR: a row for the proposal, and one for the state answered, if one was."""
    sender, epoch = i32(request.body, "brokerId"), i64(request.body, "brokerEpoch")
    whole_error = i16(request.answer or _NONE, "errorCode")
    errors = {place: i16(state, "errorCode") for place, _, state in _partitions(request.answer or _NONE)}
    head = head_of(request, origin)
    for place, name, state in _partitions(request.body):
        error, isr = errors.get(place, whole_error), _proposed(state)
        yield _row(head, "ALTER_PARTITION", name, state, (sender, epoch), isr=isr, error=error)
    for _, name, state in _partitions(request.answer or _NONE):
        error = i16(state, "errorCode")
        # The zeros beside an error are no state.
        answered_state = state if error == 0 else {"partitionIndex": state.get("partitionIndex")}
        isr = integers(state, "isr") if error == 0 else None
        yield _row(head, "ALTER_PARTITION", name, answered_state, (sender, epoch), isr=isr, error=error, answered=True)


def _proposed(state: Struct) -> tuple[int, ...] | None:
    if "newIsrWithEpochs" not in state:
        return integers(state, "newIsr")
    brokers = tuple(i32(member, "brokerId") for member in structs(state, "newIsrWithEpochs"))
    if None in brokers:
        raise WrongShape("a broker id in newIsrWithEpochs")
    return tuple(broker for broker in brokers if broker is not None)


def leader_and_isr(request: Request, origin: Origin) -> Iterator[IsrRequest]:
    """LEADER_AND_ISR: the controller's order, with the error the broker answered."""
    sender = i32(request.body, "controllerId"), i64(request.body, "controllerEpoch")
    errors, whole_error = _order_errors(request.answer or _NONE), i16(request.answer or _NONE, "errorCode")
    head = head_of(request, origin)
    for name, state in _ordered(request.body):
        number = partition_number(state, "partitionIndex", "partition")
        by_name = errors.get((name["topic"], number), whole_error)
        error = errors.get((name["topic_id"], number), by_name) if name["topic_id"] else by_name
        yield _row(head, "LEADER_AND_ISR", name, state, sender, isr=integers(state, "isr"), error=error)


def _ordered(body: Struct) -> Iterator[tuple[NamedTopic, Struct]]:
    """Partition states, flat until 2.1, by topic since."""
    for topic in structs(body, "topicStates"):
        for state in structs(topic, "partitionStates"):
            yield named(topic), state
    for state in structs(body, "ungroupedPartitionStates", "partitionStates"):
        yield named(state), state


def _order_errors(answer: Struct) -> dict[tuple[str | None, int], int | None]:
    errors: dict[tuple[str | None, int], int | None] = {}
    for topic in structs(answer, "topics"):
        for state in structs(topic, "partitionErrors"):
            errors[named(topic)["topic_id"], partition_number(state, "partitionIndex")] = i16(state, "errorCode")
    for state in structs(answer, "partitionErrors", "partitions"):
        errors[named(state)["topic"], partition_number(state, "partitionIndex", "partition")] = i16(state, "errorCode")
    return errors


def metadata(request: Request, origin: Origin) -> Iterator[IsrRequest]:
    """METADATA: what the broker told a client about leaders; a partition's error says why a client might find none."""
    head = head_of(request, origin)
    for topic in structs(request.answer or _NONE, "topics", "topicMetadata"):
        for state in structs(topic, "partitions", "partitionMetadata"):
            isr, error = integers(state, "isrNodes", "isr"), i16(state, "errorCode", "partitionErrorCode")
            yield _row(head, "METADATA", named(topic), state, (None, None), isr=isr, error=error, answered=True)


def _partitions(struct: Struct) -> Iterator[tuple[tuple[str | None, str | None, int], NamedTopic, Struct]]:
    for topic in structs(struct, "topics"):
        name = named(topic)
        for state in structs(topic, "partitions"):
            yield (name["topic"], name["topic_id"], partition_number(state, "partitionIndex")), name, state


def _row(
    head: Head,
    api: IsrApi,
    name: NamedTopic,
    state: Struct,
    sender: tuple[int | None, int | None],
    *,
    isr: tuple[int, ...] | None,
    error: int | None,
    answered: bool = False,
) -> IsrRequest:
    return IsrRequest(
        **head,
        **name,
        api=api,
        answered=answered,
        sender=sender[0],
        sender_epoch=sender[1],
        partition=partition_number(state, "partitionIndex", "partition", "partitionId"),
        leader=i32(state, "leaderId", "leader"),
        leader_epoch=i32(state, "leaderEpoch"),
        isr=join_ids(isr),
        replicas=join_ids(integers(state, "replicas", "replicaNodes")),
        partition_epoch=i32(state, *_EPOCH_NAMES),
        leader_recovery_state=_recovery_state(state),
        is_new=flag(state, "isNew"),
        error_code=error,
    )


def _recovery_state(state: Struct) -> int | None:
    value = i16(state, "leaderRecoveryState")
    if value is None or -128 <= value < 128:
        return value
    raise WrongShape("a leaderRecoveryState of one byte")
