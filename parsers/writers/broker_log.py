"""Lines of a broker's own logs as its release words them: the inverse of `parsers.broker_log` for what it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from parsers.tables import BrokerEvent
from parsers.tables.events import EventKind

Release = tuple[int, ...]
"""A binary's version, such as (3, 9, 1)."""
Worded = tuple[str, str]
"""A message with its prefix, and the logger."""
_PARTITION: Final = "kafka.cluster.Partition"
_FETCHER: Final = "kafka.server.ReplicaFetcherThread"
_LOG_MANAGER: Final = "kafka.log.LogManager"
_STATE_CHANGE: Final = "state.change.logger"


class Unwritten(ValueError):
    """A kind of line that no wording stands here for."""


def event_line(row: BrokerEvent, release: Release) -> bytes:
    """The line that this release prints for a statement."""
    worded = _WORDINGS.get(row.kind)
    if worded is None:
        raise Unwritten(row.kind)
    message, logger = worded(row, release)
    return f"[{row.time_text}] {row.level or 'INFO'} {message} ({logger})\n".encode()


def start_lines(time_text: str, release: Release, settings: Mapping[str, str], metadata_version: str | None) -> bytes:
    """What a process prints when it starts: its settings and its release, and under KRaft the metadata version."""
    lines = [f"[{time_text}] INFO KafkaConfig values: \n"]
    lines += [f"\t{name} = {value}\n" for name, value in sorted(settings.items())]
    lines.append(" (kafka.server.KafkaConfig)\n")
    colon = ":" if release >= (2, 1) else " :"
    version = ".".join(map(str, release))
    lines.append(f"[{time_text}] INFO Kafka version{colon} {version} (org.apache.kafka.common.utils.AppInfoParser)\n")
    if metadata_version is not None:
        publisher = f"BrokerMetadataPublisher id={settings.get('node.id', '0')}"
        text = f"Publishing initial metadata at offset OffsetAndEpoch(offset=1, epoch=1) with metadata.version {metadata_version}."
        lines.append(f"[{time_text}] INFO [{publisher}] {text} (kafka.server.metadata.BrokerMetadataPublisher)\n")
    return "".join(lines).encode()


def _name(row: BrokerEvent) -> str:
    return f"{row.topic}-{row.partition}"


def _leader_starts(row: BrokerEvent, release: Release) -> Worded:
    name = _name(row)
    if release >= (3, 3):
        leader = "None" if row.previous_leader is None else f"Some({row.previous_leader})"
        return (
            f"[Broker id={row.broker}] Leader {name} with topic id Some({row.topic_id}) starts at leader epoch {row.epoch}"
            f" from offset {row.offset} with partition epoch {row.partition_epoch}, high watermark {row.high_watermark},"
            f" ISR [{row.isr or ''}], adding replicas [] and removing replicas [] . Previous leader {leader} and"
            f" previous leader epoch was {row.previous_epoch}."
        ), _STATE_CHANGE
    if release >= (2, 6):
        return (
            f"[Broker id={row.broker}] Leader {name} starts at leader epoch {row.epoch} from offset {row.offset} with high"
            f" watermark {row.high_watermark} ISR [{row.isr or ''}] addingReplicas [] removingReplicas []. Previous"
            f" leader epoch was {row.previous_epoch}."
        ), _STATE_CHANGE
    prefix = f"[Partition {name} broker={row.broker}] {name} starts at"
    if release >= (2, 4):
        return (
            f"{prefix} leader epoch {row.epoch} from offset {row.offset} with high watermark {row.high_watermark}."
            f" Previous leader epoch was {row.previous_epoch}."
        ), _PARTITION
    return (
        f"{prefix} Leader Epoch {row.epoch} from offset {row.offset}. Previous Leader Epoch was: {row.previous_epoch}"
    ), _PARTITION


def _follower_starts(row: BrokerEvent, release: Release) -> Worded:
    start = (
        f"[Broker id={row.broker}] Follower {_name(row)} starts at leader epoch {row.epoch} from offset {row.offset}"
    )
    partition_epoch = f" partition epoch {row.partition_epoch} and" if release >= (3, 3) else ""
    current = f" Current leader is {row.leader}." if release >= (3, 5) else ""
    leader = "None" if row.previous_leader is None else f"Some({row.previous_leader})"
    previous = f"{leader} and previous leader " if release >= (3, 6) else ""
    return (
        f"{start} with{partition_epoch} high watermark {row.high_watermark}.{current} Previous leader {previous}epoch was"
        f" {row.previous_epoch}."
    ), _STATE_CHANGE


def _log_loaded(row: BrokerEvent, release: Release) -> Worded:
    if release < (2, 8):
        return (
            f"{_log_prefix(row, release)}Completed load of log with {row.count} segments, log start offset"
            f" {row.log_start_offset} and log end offset {row.log_end_offset} in 5 ms"
        ), "kafka.log.Log"
    topic_id = f" topicId={row.topic_id}," if release >= (3,) else ""
    behind = f", local-log-start-offset {row.log_start_offset} and log-end-offset {row.log_end_offset}"
    return (
        f"Completed load of Log(dir={row.directory},{topic_id} topic={row.topic}, partition={row.partition}, highWatermark=0,"
        f" lastStableOffset=0, logStartOffset={row.log_start_offset}, logEndOffset={row.log_end_offset}) with {row.count}"
        f" segments{behind if release >= (3, 6) else ''} in 5ms (1/1 loaded in {str(row.directory).rpartition('/')[0]})"
    ), "kafka.log.LogManager"


def _topic_configured(row: BrokerEvent, release: Release) -> Worded:
    """Under KRaft a part of the broker takes settings over, under ZooKeeper another one hears of a change."""
    if release >= (3, 3):
        publisher = "DynamicConfigPublisher broker" if release >= (3, 5) else "BrokerMetadataPublisher"
        words = f"Updating topic {row.topic} with new configuration : {row.detail}"
        return f"[{publisher} id={row.broker}] {words}", "kafka.server.metadata.DynamicConfigPublisher"
    words = f"Processing override for entityPath: topics/{row.topic} with config: {row.detail}"
    return words, "kafka.server.DynamicConfigManager"


def _first_high_watermark(row: BrokerEvent, _release: Release) -> Worded:
    name = _name(row)
    if row.kind == "replica-loaded":
        return (
            f"Replica loaded for partition {name} with initial high watermark {row.high_watermark}",
            "kafka.cluster.Replica",
        )
    words = f"Log loaded for partition {name} with initial high watermark {row.high_watermark}"
    return f"{_partition_prefix(row)}{words}", _PARTITION


def _no_checkpoint(row: BrokerEvent, _release: Release) -> Worded:
    return f"{_partition_prefix(row)}No checkpointed highwatermark is found for partition {_name(row)}", _PARTITION


def _isr(row: BrokerEvent, release: Release) -> Worded:
    prefix = _partition_prefix(row)
    if row.kind == "isr-updated":
        if release >= (3, 7):
            return f"{prefix}ISR updated to {row.isr}  and version updated to {row.partition_epoch}", _PARTITION
        if release >= (3, 2):
            return f"{prefix}ISR updated to {row.isr} and version updated to {row.partition_epoch}", _PARTITION
        if release >= (2, 7):
            return f"{prefix}ISR updated to {row.isr} and version updated to [{row.partition_epoch}]", _PARTITION
        return f"{prefix}ISR updated to [{row.isr}] and zkVersion updated to [{row.partition_epoch}]", _PARTITION
    if row.kind == "isr-update-rejected":
        words = f"Cached zkVersion [{row.partition_epoch}] not equal to that in zookeeper, skip updating ISR"
        return f"{prefix}{words}", _PARTITION
    if row.kind == "isr-expanding":
        return f"{prefix}Expanding ISR from {row.previous_isr} to {row.isr}", _PARTITION
    words = f"{prefix}Shrinking ISR from {row.previous_isr} to {row.isr or ''}"
    if row.detail is not None:
        words += (
            f". Leader: (highWatermark: {row.high_watermark}, endOffset: {row.log_end_offset})."
            f" Out of sync replicas: {row.detail}"
        )
    return words, _PARTITION


def _truncating(row: BrokerEvent, release: Release) -> Worded:
    if release < (1,):
        return f"Truncating log {_name(row)} to offset {row.offset}.", "kafka.log.Log"
    return f"{_log_prefix(row, release)}Truncating to offset {row.offset}", _log_logger(release)


def _start_moved(row: BrokerEvent, release: Release) -> Worded:
    if release >= (2, 6):
        words = f"Incremented log start offset to {row.log_start_offset} due to {row.detail}"
    else:
        words = f"Incrementing log start offset to {row.log_start_offset}"
    return f"{_log_prefix(row, release)}{words}", _log_logger(release)


def _no_effect(row: BrokerEvent, release: Release) -> Worded:
    last = (row.log_end_offset or 0) - 1
    words = f"Truncating to {row.offset} has no effect as the largest offset in the log is {last}"
    return f"{_log_prefix(row, release)}{words}", _log_logger(release)


def _watermark_cut(row: BrokerEvent, release: Release) -> Worded:
    prefix = _log_prefix(row, release)
    if row.kind == "truncating-below-high-watermark":
        words = f"Truncating {_name(row)} to offset {row.offset} below high watermark {row.high_watermark}"
        return f"{_fetcher_prefix(row)}{words}" if row.leader is not None else f"{prefix}{words}", _FETCHER
    before, after = (f"(offset={offset}, segment=[0:0])" for offset in (row.previous_offset, row.high_watermark))
    return f"{prefix}Non-monotonic update of high watermark from {before} to {after}", _log_logger(release)


def _by_word(row: BrokerEvent, release: Release) -> Worded:
    """By whose word a fetcher cuts."""
    name, prefix = _name(row), _fetcher_prefix(row)
    state = f"Truncating partition {name} with TruncationState(offset={row.offset}, completed=true) due to"
    if row.kind == "truncating-by-epoch-answer":
        answer = f"EpochEndOffset(errorCode=0, partition={row.partition}, leaderEpoch={row.epoch}, endOffset={row.answer_offset})"
        return f"{prefix}{state} leader epoch and offset {answer}", _FETCHER
    if row.kind == "truncating-to-high-watermark":
        if release >= (3, 1):
            return f"{prefix}{state} local high watermark {row.high_watermark}", _FETCHER
        return f"{prefix}Truncating partition {name} to local high watermark {row.high_watermark}", _FETCHER
    reply = f"{prefix}Based on follower's leader epoch, leader replied with an"
    if row.kind == "epoch-answer-kept":
        return (
            f"{reply} offset {row.answer_offset} >= the follower's log end offset {row.log_end_offset} in {name}. No"
            " truncation needed."
        ), _FETCHER
    if release < (1, 1):
        return f"{reply} unknown offset in {name}. High watermark {row.offset} will be used for truncation.", _FETCHER
    return (
        f"{reply} unknown offset in {name}. The initial fetch offset {row.offset} will be used for truncation."
    ), _FETCHER


def _out_of_range(row: BrokerEvent, release: Release) -> Worded:
    name, before, after = _name(row), row.previous_offset, row.offset
    prefix = _fetcher_prefix(row) if release >= (1, 1) else f"[ReplicaFetcherThread-0-{row.other_broker or 0}]: "
    if row.kind == "fetch-offset-out-of-range":
        typical = "is out of range, which typically implies a leader change. Reset fetch offset to"
        return f"{prefix}Current offset {before} for partition {name} {typical} {after}", _FETCHER
    if row.kind == "full-truncation":
        start = f"the current leader's start offset {after}"
        why = "because the local replica's end offset is smaller than the current leader's start offsets."
        return f"{prefix}Truncate fully and reset fetch offset for partition {name} from {before} to {start} {why}", _FETCHER
    whose = {
        "reset-fetch-offset-to-latest": "current leader's latest offset",
        "reset-fetch-offset-to-start": "current leader's start offset",
        "full-truncation-no-effect": "the current local replica's end offset",
    }[row.kind]
    return f"{prefix}Reset fetch offset for partition {name} from {before} to {whose} {after}", _FETCHER


def _partition_prefix(row: BrokerEvent) -> str:
    return f"[Partition {_name(row)} broker={row.broker}] "


def _fetcher_prefix(row: BrokerEvent) -> str:
    return f"[ReplicaFetcher replicaId={row.broker}, leaderId={row.leader}, fetcherId=0] "


def _log_prefix(row: BrokerEvent, release: Release) -> str:
    return f"[{'UnifiedLog' if release >= (3,) else 'Log'} partition={_name(row)}, dir={row.directory}] "


def _log_logger(release: Release) -> str:
    if release >= (4,):
        return "org.apache.kafka.storage.internals.log.UnifiedLog"
    return "kafka.log.UnifiedLog" if release >= (3,) else "kafka.log.Log"


def _replica_created(row: BrokerEvent, _release: Release) -> Worded:
    name = _name(row)
    return f"Created log for partition {name} in {row.directory}/{name} with properties {{}}", _LOG_MANAGER


def _replica_deleted(row: BrokerEvent, _release: Release) -> Worded:
    return f"Log for partition {_name(row)} is renamed to {row.detail} and is scheduled for deletion", _LOG_MANAGER


_WORDINGS: Final[Mapping[EventKind, Callable[[BrokerEvent, Release], Worded]]] = {
    "leader-starts": _leader_starts,
    "follower-starts": _follower_starts,
    "replica-created": _replica_created,
    "replica-deleted": _replica_deleted,
    "log-loaded": _log_loaded,
    "topic-configured": _topic_configured,
    "no-checkpointed-high-watermark": _no_checkpoint,
    "truncating": _truncating,
    "truncation-no-effect": _no_effect,
    "log-start-incremented": _start_moved,
    **dict.fromkeys(("initial-high-watermark", "replica-loaded"), _first_high_watermark),
    **dict.fromkeys(("isr-updated", "isr-update-rejected", "isr-expanding", "isr-shrinking"), _isr),
    **dict.fromkeys(("truncating-below-high-watermark", "non-monotonic-high-watermark"), _watermark_cut),
    **dict.fromkeys(
        ("truncating-by-epoch-answer", "truncating-to-high-watermark", "epoch-answer-kept", "epoch-answer-unknown"),
        _by_word,
    ),
    **dict.fromkeys(
        (
            "fetch-offset-out-of-range", "reset-fetch-offset-to-latest", "reset-fetch-offset-to-start",
            "full-truncation", "full-truncation-no-effect",
        ),
        _out_of_range,
    ),
}
