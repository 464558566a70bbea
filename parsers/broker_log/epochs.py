"""Lines of the epoch negotiation between follower and leader, and of the leader epoch cache."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_WHO: Final = "<follower|replica|future replica>"

EPOCHS: Final = (
    Event(
        kind="epoch-answer-kept",
        means="The leader's answer is not below the follower's log end offset: nothing is cut.",
        wordings=(
            Wording(
                text="Based on follower's leader epoch, leader replied with an offset {answer_offset} >= the follower's log end offset "
                "{log_end_offset} in {tp}. No truncation needed.",
                since="0.11", until="2.0",
            ),
        ),
    ),
    Event(
        kind="epoch-answer-unknown",
        means="The leader knows no end offset for the follower's epoch: the high watermark or the first position decides.",
        wordings=(
            Wording(
                text="Based on follower's leader epoch, leader replied with an unknown offset in {tp}. High watermark "
                "{high_watermark} will be used for truncation.",
                copies={"offset": "high_watermark"}, since="0.11", until="1.1",
            ),
            Wording(
                text="Based on " + _WHO + "'s leader epoch, leader replied with an unknown offset in {tp}. The initial fetch "
                "offset {offset} will be used for truncation.",
                since="1.1",
            ),
        ),
    ),
    Event(
        kind="epoch-answer-without-epoch",
        means="One side speaks a protocol whose answer carries no epoch: the leader's offset is used as it is (KIP-101).",
        wordings=(
            Wording(
                text="Leader or " + _WHO + " is on protocol version where leader epoch is not considered in the "
                "OffsetsForLeaderEpoch response. The leader's offset {offset} will be used for truncation in {tp}.",
                copies={"answer_offset": "offset"}, since="2.0",
            ),
        ),
    ),
    Event(
        kind="epoch-round",
        means="The leader answered with an epoch that the follower does not have: cut to offset and ask again.",
        wordings=(
            Wording(
                text="Based on " + _WHO + "'s leader epoch, leader replied with epoch {epoch} unknown to the " + _WHO + " for {tp}. "
                "Will truncate to {offset} and send another leader epoch request to the leader.",
                since="2.0",
            ),
        ),
    ),
    Event(
        kind="epoch-answer-below-cache",
        means="The leader answered with an epoch below all that the follower tracks: the leader's offset alone decides.",
        wordings=(
            Wording(
                text="Based on " + _WHO + "'s leader epoch, leader replied with epoch {epoch} below any " + _WHO + "'s tracked "
                "epochs for {tp}. The leader's offset only {offset} will be used for truncation.",
                copies={"answer_offset": "offset"}, since="2.0",
            ),
        ),
    ),
    Event(
        kind="epoch-request-retried",
        means="The leader answered the epoch request with an error.",
        wordings=(
            Wording(
                text="Retrying leaderEpoch request for partition {tp} as the leader reported an error: {detail}",
                since="0.11",
            ),
        ),
    ),
    Event(
        kind="older-epoch",
        means="The leader is in a newer epoch than the follower (epoch): fetching waits for the metadata.",
        wordings=(
            Wording(text="Partition {tp} has an older epoch ({epoch}) than the current leader.", since="2.1"),
        ),
    ),
    Event(
        kind="newer-epoch",
        means="The follower (epoch) is ahead of the leader's epoch: it asks again later.",
        wordings=(
            Wording(
                text="Partition {tp} has <an new|a new|a newer|an newer> epoch ({epoch}) than the current leader.",
                since="2.5",
            ),
        ),
    ),
    Event(
        kind="marked-as-failed",
        means="Fetching of the partition stops until its next leader epoch.",
        wordings=(
            Wording(text="Partition {tp} marked as failed", since="2.3"),
        ),
    ),
    Event(
        kind="epoch-cache-updated",
        means="A new epoch begins at offset in the replica's epoch cache.",
        wordings=(
            Wording(
                text="Updated PartitionLeaderEpoch. New: {epoch:{epoch}, offset:{offset}}, Current: {epoch:{previous_epoch}, "
                "offset<:|>{previous_offset}} for Partition: {tp}. Cache now contains {count} entries.",
                since="0.11", until="2.0",
            ),
        ),
    ),
    Event(
        kind="epoch-cache-cleared",
        means="Epoch entries were dropped: the latest after a truncation to offset, the earliest after the log start moved there.",
        wordings=(
            Wording(
                text="Cleared {detail} entries from epoch cache based on passed offset {offset} leaving {count} in EpochFile for partition {tp}",
                since="0.11", until="2.0",
            ),
            Wording(
                text="Cleared entries {detail} from epoch cache after truncating to <end|start> offset {offset}, leaving {count} entries in the cache.",
                since="2.0",
            ),
        ),
    ),
    Event(
        kind="epoch-cache-refused",
        means="The cache was given an epoch or a start offset below its latest.",
        wordings=(
            Wording(
                text="Received a PartitionLeaderEpoch assignment for an <epoch|offset> {detail}",
                since="0.11", until="2.0",
            ),
            Wording(
                text="Received leader epoch assignment EpochEntry(epoch={epoch}, startOffset={offset}) which {detail}",
                since="2.0.1", until="2.7",
            ),
        ),
    ),
    Event(
        kind="epoch-cache-conflict",
        means="A new epoch entry pushed conflicting entries out: the epoch history was rewritten.",
        wordings=(
            Wording(
                text="New epoch entry EpochEntry(epoch={epoch}, startOffset={offset}) caused truncation of conflicting entries {detail}. "
                "Cache now contains {count} entries.",
                since="2.0.1",
            ),
        ),
    ),
    Event(
        kind="epoch-cache-dropped",
        means="The whole epoch cache goes because the message format is too old for epochs.",
        wordings=(
            Wording(
                text="Clearing leader epoch cache after unexpected append with message format v{count}",
                since="2.3",
            ),
            Wording(
                text="Deleting non-empty leader epoch cache due to incompatible message format {detail}",
                since="2.1.1",
            ),
        ),
    ),
)  # fmt: skip
