"""Lines of the epoch negotiation between follower and leader, and of the leader epoch cache."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_FETCHER: Final = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
_CACHE: Final = "[LeaderEpochCache t-0] "
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
                sample=_FETCHER + "Based on follower's leader epoch, leader replied with an offset 15 >= the follower's log end "
                "offset 15 in ff-0. No truncation needed.",
                expect={"broker": 2, "leader": 1, "topic": "ff", "offset": None, "answer_offset": 15, "log_end_offset": 15},
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
                sample=_FETCHER + "Based on follower's leader epoch, leader replied with an unknown offset in t-0. "
                "High watermark 40 will be used for truncation.",
                expect={"topic": "t", "offset": 40, "high_watermark": 40},
            ),
            Wording(
                text="Based on " + _WHO + "'s leader epoch, leader replied with an unknown offset in {tp}. The initial fetch "
                "offset {offset} will be used for truncation.",
                since="1.1",
                sample=_FETCHER + "Based on follower's leader epoch, leader replied with an unknown offset in t-0. "
                "The initial fetch offset 60 will be used for truncation.",
                expect={"topic": "t", "partition": 0, "offset": 60},
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
                sample=_FETCHER + "Leader or replica is on protocol version where leader epoch is not considered in the "
                "OffsetsForLeaderEpoch response. The leader's offset 15 will be used for truncation in t-0.",
                expect={"topic": "t", "offset": 15},
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
                sample=_FETCHER + "Based on replica's leader epoch, leader replied with epoch 3 unknown to the replica for t-0. "
                "Will truncate to 20 and send another leader epoch request to the leader.",
                expect={"topic": "t", "epoch": 3, "offset": 20},
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
                sample=_FETCHER + "Based on replica's leader epoch, leader replied with epoch 1 below any replica's tracked "
                "epochs for t-0. The leader's offset only 20 will be used for truncation.",
                expect={"topic": "t", "epoch": 1, "offset": 20},
            ),
        ),
    ),
    Event(
        kind="epoch-request-retried",
        means="The leader answered the epoch request with an error.",
        wordings=(
            Wording(
                text="Retrying leaderEpoch request for partition {tp} as the leader reported an error: {detail}", since="0.11",
                sample=_FETCHER + "Retrying leaderEpoch request for partition t-0 as the leader reported an error: NOT_LEADER_FOR_PARTITION",
                expect={"topic": "t", "detail": "NOT_LEADER_FOR_PARTITION"},
            ),
        ),
    ),
    Event(
        kind="older-epoch",
        means="The leader is in a newer epoch than the follower (epoch): fetching waits for the metadata.",
        wordings=(
            Wording(
                text="Partition {tp} has an older epoch ({epoch}) than the current leader.", since="2.1",
                sample=_FETCHER + "Partition orders-2 has an older epoch (0) than the current leader. Will await the new "
                "LeaderAndIsr state before resuming fetching.",
                expect={"topic": "orders", "partition": 2, "epoch": 0},
            ),
        ),
    ),
    Event(
        kind="newer-epoch",
        means="The follower (epoch) is ahead of the leader's epoch: it asks again later.",
        wordings=(
            Wording(
                text="Partition {tp} has <an new|a new|a newer|an newer> epoch ({epoch}) than the current leader.", since="2.5",
                sample=_FETCHER + "Partition __transaction_state-0 has an new epoch (2) than the current leader. retry the partition later",
                expect={"topic": "__transaction_state", "epoch": 2},
            ),
        ),
    ),
    Event(
        kind="marked-as-failed",
        means="Fetching of the partition stops until its next leader epoch.",
        wordings=(
            Wording(
                text="Partition {tp} marked as failed", since="2.3",
                sample=_FETCHER + "Partition orders-2 marked as failed", expect={"topic": "orders", "partition": 2, "broker": 2},
            ),
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
                sample="Updated PartitionLeaderEpoch. New: {epoch:2, offset:15}, Current: {epoch:1, offset:10} for Partition: ff-0. "
                "Cache now contains 2 entries.",
                expect={"topic": "ff", "epoch": 2, "offset": 15, "previous_epoch": 1, "previous_offset": 10, "count": 2},
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
                sample="Cleared earliest 0 entries from epoch cache based on passed offset 150 leaving 1 in EpochFile for partition short-0",
                expect={"topic": "short", "offset": 150, "count": 1, "detail": "earliest 0"},
            ),
            Wording(
                text="Cleared entries {detail} from epoch cache after truncating to <end|start> offset {offset}, leaving {count} entries in the cache.",
                since="2.0",
                sample=_CACHE + "Cleared entries Buffer(EpochEntry(epoch=1, startOffset=10)) from epoch cache after truncating to "
                "end offset 10, leaving 1 entries in the cache.",
                expect={"topic": "t", "offset": 10, "count": 1, "detail": "Buffer(EpochEntry(epoch=1, startOffset=10))"},
            ),
        ),
    ),
    Event(
        kind="epoch-cache-refused",
        means="The cache was given an epoch or a start offset below its latest.",
        wordings=(
            Wording(
                text="Received a PartitionLeaderEpoch assignment for an <epoch|offset> {detail}", since="0.11", until="2.0",
                sample="Received a PartitionLeaderEpoch assignment for an epoch < latestEpoch. This implies messages have arrived out of order.",
                expect={"detail": "< latestEpoch. This implies messages have arrived out of order."},
            ),
            Wording(
                text="Received leader epoch assignment EpochEntry(epoch={epoch}, startOffset={offset}) which {detail}",
                since="2.0.1", until="2.7",
                sample=_CACHE + "Received leader epoch assignment EpochEntry(epoch=1, startOffset=10) which has an epoch less than the latest epoch",
                expect={"topic": "t", "epoch": 1, "offset": 10},
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
                sample=_CACHE + "New epoch entry EpochEntry(epoch=3, startOffset=20) caused truncation of conflicting entries "
                "ListBuffer(EpochEntry(epoch=2, startOffset=25)). Cache now contains 2 entries.",
                expect={"topic": "t", "epoch": 3, "offset": 20, "count": 2, "detail": "ListBuffer(EpochEntry(epoch=2, startOffset=25))"},
            ),
        ),
    ),
    Event(
        kind="epoch-cache-dropped",
        means="The whole epoch cache goes because the message format is too old for epochs.",
        wordings=(
            Wording(
                text="Clearing leader epoch cache after unexpected append with message format v{count}", since="2.3",
                sample="[Log partition=t-0, dir=/d] Clearing leader epoch cache after unexpected append with message format v1",
                expect={"topic": "t", "count": 1},
            ),
            Wording(
                text="Deleting non-empty leader epoch cache due to incompatible message format {detail}", since="2.1.1",
                sample="[Log partition=t-0, dir=/d] Deleting non-empty leader epoch cache due to incompatible message format 0.10.2",
                expect={"topic": "t", "detail": "0.10.2"},
            ),
        ),
    ),
)  # fmt: skip
