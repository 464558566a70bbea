"""Tables of what brokers were asked and what they answered: fetch traces and the requests around them."""

from __future__ import annotations

from typing import Annotated, Literal

from parsers.tables.column import flag, i8, i16, i32, i64, text
from parsers.tables.place import AddressedRow, Partition, Topic

RequestTopicId = Annotated[str | None, text("Topic id as the request or answer names it; null where it names the topic.")]
Replica = Annotated[int | None, i32("Id of the asking replica; -1 for a consumer; null where the line does not tell.")]
ErrorCode = Annotated[int | None, i16("Kafka error code of the partition's answer; null where there is no answer.")]


class RequestLogRow(AddressedRow, frozen=True, kw_only=True):
    """A row of one line of a request log."""

    time_text: Annotated[str, text("Time of the line as written: the end of sending the answer, in the zone of the serving broker.")]
    client_id: Annotated[str | None, text("client.id of the request header; null where the line does not tell.")]
    correlation_id: Annotated[int | None, i32("Correlation id of the request header.")]


class TimedRequest(RequestLogRow, frozen=True, kw_only=True):
    """A request and how long each part of it took; the times stand before the address."""

    api_version: Annotated[int | None, i16("Version of the request.", minimum=0)]
    total_time_us: Annotated[int | None, i64("Microseconds from receiving the request to the end of sending its answer.")]
    queue_time_us: Annotated[int | None, i64("Microseconds in the request queue.")]
    local_time_us: Annotated[int | None, i64("Microseconds of handling; the leader's state has changed by then.")]
    remote_time_us: Annotated[int | None, i64("Microseconds of waiting in purgatory; the answer was read after them.")]
    response_queue_time_us: Annotated[int | None, i64("Microseconds that the answer, made by then, waited for its connection.")]
    send_time_us: Annotated[int | None, i64("Microseconds of sending the answer.")]


class Fetch(TimedRequest, frozen=True, kw_only=True):
    """One partition in one fetch: where the fetcher stood, what it was told."""

    replica: Replica
    replica_epoch: Annotated[int | None, i64("Broker epoch of the asking replica (Fetch 15 and later).")]
    min_bytes: Annotated[int | None, i32("Bytes of records for which the fetch waits; null where the line does not tell.")]
    session_id: Annotated[int | None, i32("Session the request names; 0 for none; null before Fetch 7.")]
    session_epoch: Annotated[int | None, i32("Epoch of the session; 0 opens, -1 is sessionless; null before Fetch 7.")]
    answer_session_id: Annotated[int | None, i32("Session of the answer; 0 when there is none, or no longer.")]
    session_error: Annotated[int | None, i16("Error code of the whole answer (70, 71, 106 refuse the session).")]
    topic: Topic
    topic_id: RequestTopicId
    partition: Partition
    fetch_offset: Annotated[int | None, i64("Offset asked for: a follower's log end offset; null where unknown.")]
    last_fetched_epoch: Annotated[int | None, i32("Epoch of the follower's last record (Fetch 12 and later); -1 for none.")]
    current_leader_epoch: Annotated[int | None, i32("Leader epoch in which the fetcher believes (Fetch 9 and later).")]
    log_start_offset: Annotated[int | None, i64("Log start offset of the follower (Fetch 5 and later); -1 for a consumer.")]
    request_high_watermark: Annotated[int | None, i64("High watermark the fetcher knows (Fetch 18 and later).")]
    error_code: ErrorCode
    high_watermark: Annotated[int | None, i64("High watermark of the leader; -1 beside an error.")]
    last_stable_offset: Annotated[int | None, i64("Last stable offset of the leader; null where the answer leaves it open.")]
    leader_log_start_offset: Annotated[int | None, i64("Log start offset of the leader; -1 beside an error.")]
    diverging_epoch: Annotated[int | None, i32("Epoch at which the follower's log diverges; null where it does not.")]
    diverging_end_offset: Annotated[int | None, i64("End offset of that epoch on the leader.")]
    answer_leader: Annotated[int | None, i32("Leader named by the answer, where it names one.")]
    answer_leader_epoch: Annotated[int | None, i32("Leader epoch named by the answer, where it names one.")]
    records_size: Annotated[int | None, i64("Bytes of records in the answer; null where the line does not tell.")]
    implied: Annotated[bool, flag("Whether the request left the partition out because nothing had changed.")]
    answer_implied: Annotated[bool, flag("Whether the answer left the partition out because nothing had changed.")]
    possibly_stale: Annotated[bool, flag("Whether lines of the session are missing since a value taken from it was stated.")]
    session_start_missing: Annotated[bool, flag("Whether the session's beginning was not seen, so other partitions may be in it.")]


SessionGapReason = Literal[
    "session_start_missing",  # the log begins after the session did
    "lines_lost",  # session epochs were skipped
    "epoch_went_back",  # a session epoch was seen again or out of order
    "session_refused",  # the broker refused the session: the request had no effect
    "answer_missing",  # the line carries no answer
]


class SessionGap(RequestLogRow, frozen=True, kw_only=True):
    """A place at which a fetch session cannot be followed without doubt."""

    replica: Replica
    session_id: Annotated[int, i32("The session.")]
    session_epoch: Annotated[int, i32("Session epoch of the line.")]
    reason: Annotated[SessionGapReason, text("Why the session is in doubt.")]
    lost: Annotated[int | None, i32("How many requests are missing, where the epochs tell.")]
    error_code: Annotated[int | None, i16("Error code of the whole answer.")]


class Produce(TimedRequest, frozen=True, kw_only=True):
    """One partition in one produce request."""

    acks: Annotated[int | None, i16("Acknowledgements asked for: -1 all, 1 leader, 0 none.")]
    transactional: Annotated[bool | None, flag("Whether a transactional id was sent; null where the line does not tell.")]
    topic: Topic
    topic_id: RequestTopicId
    partition: Partition
    error_code: ErrorCode
    base_offset: Annotated[int | None, i64("Offset given to the first record; -1 beside an error.")]
    log_start_offset: Annotated[int | None, i64("Log start offset of the leader; -1 beside an error.")]
    records_size: Annotated[int | None, i64("Bytes of records sent; null where the line does not tell.")]


class EpochRequest(TimedRequest, frozen=True, kw_only=True):
    """One partition in one OffsetsForLeaderEpoch request: the end of which epoch was asked, and answered."""

    replica: Replica
    topic: Topic
    topic_id: RequestTopicId
    partition: Partition
    current_leader_epoch: Annotated[int | None, i32("Leader epoch in which the asker believes (version 2 and later).")]
    asked_epoch: Annotated[int | None, i32("Leader epoch whose end offset was asked.")]
    error_code: ErrorCode
    answered_epoch: Annotated[int | None, i32("Largest epoch not above the asked one (version 1 and later); -1 unknown.")]
    end_offset: Annotated[int | None, i64("End offset of the answered epoch, exclusive; -1 unknown.")]


class OffsetRequest(TimedRequest, frozen=True, kw_only=True):
    """One partition in one ListOffsets request of a replica: it is finding out where the leader's log begins or ends."""

    replica: Replica
    topic: Topic
    topic_id: RequestTopicId
    partition: Partition
    current_leader_epoch: Annotated[int | None, i32("Leader epoch in which the asker believes.")]
    timestamp: Annotated[int | None, i64("What was asked: -1 latest, -2 earliest, -4 earliest local, else a time, ms.")]
    error_code: ErrorCode
    offset: Annotated[int | None, i64("Offset answered; -1 for none.")]
    leader_epoch: Annotated[int | None, i32("Leader epoch of that offset; -1 unknown.")]


IsrApi = Literal["ALTER_PARTITION", "LEADER_AND_ISR", "METADATA"]


class IsrRequest(TimedRequest, frozen=True, kw_only=True):
    """One partition whose leader and ISR one broker told another: proposed, ordered, or reported (see `replica_ids`)."""

    api: Annotated[IsrApi, text("ALTER_PARTITION (also its elder name ALTER_ISR), LEADER_AND_ISR, or METADATA (what a client was told).")]
    answered: Annotated[bool, flag("Whether the values are those of the answer; false: those of the request.")]
    sender: Annotated[int | None, i32("Broker or controller that asked; null for clients.")]
    sender_epoch: Annotated[int | None, i64("Broker epoch (ALTER_PARTITION) or controller epoch (LEADER_AND_ISR) of the sender.")]
    topic: Topic
    topic_id: RequestTopicId
    partition: Partition
    leader: Annotated[int | None, i32("Leader; -1 for none; null where the row does not tell.")]
    leader_epoch: Annotated[int | None, i32("Leader epoch.")]
    isr: Annotated[str | None, text("In-sync replicas, broker ids joined by commas as named; null where the row does not tell.")]
    replicas: Annotated[str | None, text("Assigned replicas, broker ids joined by commas; null where the row does not tell.")]
    partition_epoch: Annotated[int | None, i32("Partition epoch (zkVersion, currentIsrVersion) of the state named.")]
    leader_recovery_state: Annotated[int | None, i8("0 recovered, 1 recovering from an unclean election.")]
    is_new: Annotated[bool | None, flag("Whether the controller calls the replica new (LEADER_AND_ISR).")]
    error_code: ErrorCode


RequestApi = Literal["STOP_REPLICA", "CONTROLLED_SHUTDOWN", "BROKER_REGISTRATION", "WRITE_TXN_MARKERS", "DELETE_RECORDS"]


class RequestEvent(TimedRequest, frozen=True, kw_only=True):
    """A request that moves or marks logs without fetching or producing."""

    api: Annotated[RequestApi, text("Name of the request.")]
    sender: Annotated[int | None, i32("Broker or controller that asked, or that the request speaks of.")]
    topic: Topic
    topic_id: RequestTopicId
    partition: Partition
    leader_epoch: Annotated[int | None, i32("STOP_REPLICA: leader epoch; -2 topic deletion, -1 unknown.")]
    delete_partition: Annotated[bool | None, flag("STOP_REPLICA: whether the replica is to be deleted.")]
    offset: Annotated[int | None, i64("DELETE_RECORDS: offset before which records are deleted; -1 the high watermark.")]
    low_watermark: Annotated[int | None, i64("DELETE_RECORDS: log start offset reached; -1 beside an error.")]
    producer_id: Annotated[int | None, i64("WRITE_TXN_MARKERS: producer id.")]
    producer_epoch: Annotated[int | None, i16("WRITE_TXN_MARKERS: producer epoch.")]
    committed: Annotated[bool | None, flag("WRITE_TXN_MARKERS: true commits, false aborts.")]
    coordinator_epoch: Annotated[int | None, i32("WRITE_TXN_MARKERS: coordinator epoch.")]
    broker_epoch: Annotated[int | None, i64("Broker epoch sent (CONTROLLED_SHUTDOWN) or given (BROKER_REGISTRATION).")]
    previous_broker_epoch: Annotated[int | None, i64("BROKER_REGISTRATION: epoch of the last clean shutdown; -1 for none.")]
    error_code: ErrorCode
