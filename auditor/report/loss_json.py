"""One loss as a part of the JSON report: what went, what it was worth, where it still stands, whom it concerns."""

from __future__ import annotations

from auditor.report.model import (
    Contents,
    GroupAtRisk,
    Loss,
    LostClient,
    LostProducer,
    LostReader,
    Portion,
    RemoteCopy,
    Survivor,
)

Json = dict[str, object]


def loss_document(loss: Loss) -> Json:
    """The loss."""
    start = loss.start_offset
    return {
        "epoch": loss.epoch,
        "latestEpoch": loss.latest_epoch,
        "leader": loss.leader,
        "nextEpoch": loss.next_epoch,
        "nextLeader": loss.next_leader,
        "startOffset": start,
        "endOffset": loss.end_offset,
        "endOffsetKnown": loss.end_known,
        "endOffsetAtMost": loss.end_at_most,
        "openedAgain": loss.again,
        "committed": [start, loss.committed_end],
        "acknowledged": [start, max(loss.acknowledged_end, loss.committed_end)],
        "portions": [_portion(portion) for portion in loss.portions],
        "reused": [start, loss.reused_end],
        "reusedEpochs": list(loss.reused_epochs),
        "answers": loss.answers,
        "answersKnown": loss.answers_known,
        "firstTime": loss.first_time,
        "lastTime": loss.last_time,
        "clock": loss.clock,
        "contents": None if loss.contents is None else _contents(loss.contents),
        "clients": [_client(client) for client in loss.clients],
        "readers": [_reader(reader) for reader in loss.readers],
        "groups": [_group(group) for group in loss.groups],
        "groupsKnown": loss.groups_known,
        "survivors": [_survivor(survivor) for survivor in loss.survivors],
        "remote": [_remote(copy) for copy in loss.remote],
        "searched": list(loss.searched),
        "restored": loss.restored,
        "perhapsHeldBy": list(loss.unread),
        "because": loss.because,
    }


def _remote(copy: RemoteCopy) -> Json:
    return {
        "segment": copy.segment,
        "broker": copy.broker,
        "epoch": copy.epoch,
        "startOffset": copy.start_offset,
        "endOffset": copy.end_offset,
        "evidence": {"path": copy.span.source, "start": copy.span.start, "end": copy.span.end},
    }


def _portion(portion: Portion) -> Json:
    return {
        "worth": portion.worth,
        "startOffset": portion.start_offset,
        "endOffset": portion.end_offset,
        "records": portion.records,
        "bytes": portion.bytes,
        "atLeast": {"records": portion.records_at_least, "bytes": portion.bytes_at_least},
        "divided": portion.divided,
    }


def _contents(contents: Contents) -> Json:
    return {
        "offsets": contents.offsets,
        "complete": contents.complete,
        "records": contents.records,
        "bytes": contents.bytes,
        "firstTimestamp": contents.first_timestamp,
        "lastTimestamp": contents.last_timestamp,
        "producers": [_producer(producer) for producer in contents.producers],
        "producerCount": contents.producer_count,
        "keys": list(contents.keys),
        "keyCount": contents.key_count,
        "nullKeys": contents.null_keys,
    }


def _producer(producer: LostProducer) -> Json:
    return {
        "producerId": producer.producer_id,
        "producerEpoch": producer.producer_epoch,
        "firstSequence": producer.first_sequence,
        "lastSequence": producer.last_sequence,
        "startOffset": producer.start_offset,
        "endOffset": producer.end_offset,
        "records": producer.records,
        "transactional": producer.transactional,
    }


def _client(client: LostClient) -> Json:
    return {
        "clientId": client.client_id,
        "answers": client.answers,
        "firstOffset": client.first_offset,
        "lastOffset": client.last_offset,
        "bytes": client.bytes,
    }


def _reader(reader: LostReader) -> Json:
    return {"clientId": reader.client_id, "upTo": reader.up_to}


def _group(group: GroupAtRisk) -> Json:
    return {
        "group": group.group,
        "committedOffset": group.offset,
        "committedEpoch": group.epoch,
        "commitTime": group.time,
        "standing": group.standing,
    }


def _survivor(survivor: Survivor) -> Json:
    return {
        "broker": survivor.broker,
        "kind": survivor.kind,
        "path": survivor.path,
        "startOffset": survivor.start_offset,
        "endOffset": survivor.end_offset,
    }
