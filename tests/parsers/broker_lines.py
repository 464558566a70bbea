"""A line that a broker writes for each wording of each kind of event, and the columns that it must give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from parsers.tables import EventKind

LINES: Final[Mapping[EventKind, tuple[tuple[str, Mapping[str, int | str | None]], ...]]] = {
    "truncating": (
        (
            "[UnifiedLog partition=pay-0, dir=/var/lib/kafka/data/broker-1] Truncating to offset 100",
            {"topic": "pay", "partition": 0, "offset": 100, "directory": "/var/lib/kafka/data/broker-1"},
        ),
        ("Truncating log pay-0 to offset 100.", {"topic": "pay", "partition": 0, "offset": 100}),
    ),
    "truncation-no-effect": (
        (
            "[Log partition=my-topic.v2-0, dir=/d] Truncating to 15 has no effect as the largest offset in the log is 14",
            {"topic": "my-topic.v2", "partition": 0, "offset": 15, "log_end_offset": 15},
        ),
        (
            "Truncating t-0 to 5 has no effect as the largest offset in the log is 4.",
            {"topic": "t", "partition": 0, "offset": 5, "log_end_offset": 5},
        ),
    ),
    "truncating-to-high-watermark": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition d-0 with TruncationState(offset=120, completed=true) due to local high watermark 120",
            {"broker": 1, "leader": 2, "topic": "d", "offset": 120, "high_watermark": 120},
        ),
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition orders-2 to local high watermark 0",
            {"topic": "orders", "offset": 0, "high_watermark": 0},
        ),
    ),
    "truncating-by-epoch-answer": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition pay-0 with TruncationState(offset=100, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=100)",
            {"topic": "pay", "offset": 100, "epoch": 0, "answer_offset": 100, "log_end_offset": None},
        ),
    ),
    "truncating-below-high-watermark": (
        (
            "[UnifiedLog partition=pay-0, dir=/d] Truncating pay-0 to offset 100 below high watermark 150",
            {"topic": "pay", "offset": 100, "high_watermark": 150},
        ),
    ),
    "non-monotonic-high-watermark": (
        (
            "[UnifiedLog partition=pay-0, dir=/d] Non-monotonic update of high watermark from (offset=150, segment=[0:5605]) to (offset=100, segment=[0:3700])",
            {"topic": "pay", "previous_offset": 150, "offset": None, "high_watermark": 100},
        ),
    ),
    "segments-truncated": (
        (
            "[LocalLog partition=t-0, dir=/d] Deleting segments as part of log truncation: LogSegment(baseOffset=40, size=0, lastModifiedTime=1, largestRecordTimestamp=None)",
            {"topic": "t", "detail": "LogSegment(baseOffset=40, size=0, lastModifiedTime=1, largestRecordTimestamp=None)"},
        ),
        (
            "[Log partition=t-0, dir=/d] Scheduling segments for deletion List(LogSegment(baseOffset=40, size=0))",
            {"topic": "t", "detail": "List(LogSegment(baseOffset=40, size=0))"},
        ),
    ),
    "full-truncation": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncate fully and reset fetch offset for partition t-0 from 10 to the current leader's start offset 50 because the local replica's end offset is smaller than the current leader's start offsets.",
            {"topic": "t", "previous_offset": 10, "offset": 50},
        ),
    ),
    "reset-fetch-offset-to-latest": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch offset for partition t-0 from 70 to current leader's latest offset 60",
            {"topic": "t", "previous_offset": 70, "offset": 60},
        ),
    ),
    "reset-fetch-offset-to-start": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch offset for partition t-0 from 10 to current leader's start offset 50",
            {"topic": "t", "previous_offset": 10, "offset": 50},
        ),
    ),
    "full-truncation-no-effect": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch offset for partition t-0 from 60 to the current local replica's end offset 60",
            {"topic": "t", "previous_offset": 60, "offset": 60},
        ),
    ),
    "fetch-offset-out-of-range": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Current offset 70 for partition t-0 is out of range, which typically implies a leader change. Reset fetch offset to 60",
            {"topic": "t", "previous_offset": 70, "offset": 60},
        ),
        (
            "[ReplicaFetcherThread-0-2]: Current offset 70 for partition [t,0] out of range; reset offset to 60",
            {"topic": "t", "partition": 0, "previous_offset": 70, "offset": 60},
        ),
    ),
    "truncation-not-allowed": (
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Exiting because log truncation is not allowed for partition t-0, current leader's latest offset 40 is less than replica's latest offset 60",
            {"topic": "t", "partition": 0},
        ),
    ),
    "all-segments-deleted": (
        (
            "[LogLoader partition=t-0, dir=/d] Deleting all segments because logEndOffset (40) is smaller than logStartOffset 50. ",
            {"topic": "t", "log_end_offset": 40, "log_start_offset": 50},
        ),
    ),
    "metadata-log-truncated": (
        (
            "[RaftManager id=2] Truncated to offset 40 from Fetch response from leader 3",
            {"broker": 2, "offset": 40, "leader": 3},
        ),
    ),
    "epoch-answer-kept": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Based on follower's leader epoch, leader replied with an offset 15 >= the follower's log end offset 15 in ff-0. No truncation needed.",
            {"broker": 2, "leader": 1, "topic": "ff", "offset": None, "answer_offset": 15, "log_end_offset": 15},
        ),
    ),
    "epoch-answer-unknown": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Based on follower's leader epoch, leader replied with an unknown offset in t-0. High watermark 40 will be used for truncation.",
            {"topic": "t", "offset": 40, "high_watermark": 40},
        ),
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Based on follower's leader epoch, leader replied with an unknown offset in t-0. The initial fetch offset 60 will be used for truncation.",
            {"topic": "t", "partition": 0, "offset": 60},
        ),
    ),
    "epoch-answer-without-epoch": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Leader or replica is on protocol version where leader epoch is not considered in the OffsetsForLeaderEpoch response. The leader's offset 15 will be used for truncation in t-0.",
            {"topic": "t", "offset": 15},
        ),
    ),
    "epoch-round": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Based on replica's leader epoch, leader replied with epoch 3 unknown to the replica for t-0. Will truncate to 20 and send another leader epoch request to the leader.",
            {"topic": "t", "epoch": 3, "offset": 20},
        ),
    ),
    "epoch-answer-below-cache": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Based on replica's leader epoch, leader replied with epoch 1 below any replica's tracked epochs for t-0. The leader's offset only 20 will be used for truncation.",
            {"topic": "t", "epoch": 1, "offset": 20},
        ),
    ),
    "epoch-request-retried": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Retrying leaderEpoch request for partition t-0 as the leader reported an error: NOT_LEADER_FOR_PARTITION",
            {"topic": "t", "detail": "NOT_LEADER_FOR_PARTITION"},
        ),
    ),
    "older-epoch": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Partition orders-2 has an older epoch (0) than the current leader. Will await the new LeaderAndIsr state before resuming fetching.",
            {"topic": "orders", "partition": 2, "epoch": 0},
        ),
    ),
    "newer-epoch": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Partition __transaction_state-0 has an new epoch (2) than the current leader. retry the partition later",
            {"topic": "__transaction_state", "epoch": 2},
        ),
    ),
    "marked-as-failed": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Partition orders-2 marked as failed",
            {"topic": "orders", "partition": 2, "broker": 2},
        ),
    ),
    "epoch-cache-updated": (
        (
            "Updated PartitionLeaderEpoch. New: {epoch:2, offset:15}, Current: {epoch:1, offset:10} for Partition: ff-0. Cache now contains 2 entries.",
            {"topic": "ff", "epoch": 2, "offset": 15, "previous_epoch": 1, "previous_offset": 10, "count": 2},
        ),
    ),
    "epoch-cache-cleared": (
        (
            "Cleared earliest 0 entries from epoch cache based on passed offset 150 leaving 1 in EpochFile for partition short-0",
            {"topic": "short", "offset": 150, "count": 1, "detail": "earliest 0"},
        ),
        (
            "[LeaderEpochCache t-0] Cleared entries Buffer(EpochEntry(epoch=1, startOffset=10)) from epoch cache after truncating to end offset 10, leaving 1 entries in the cache.",
            {"topic": "t", "offset": 10, "count": 1, "detail": "Buffer(EpochEntry(epoch=1, startOffset=10))"},
        ),
    ),
    "epoch-cache-refused": (
        (
            "Received a PartitionLeaderEpoch assignment for an epoch < latestEpoch. This implies messages have arrived out of order.",
            {"detail": "< latestEpoch. This implies messages have arrived out of order."},
        ),
        (
            "[LeaderEpochCache t-0] Received leader epoch assignment EpochEntry(epoch=1, startOffset=10) which has an epoch less than the latest epoch",
            {"topic": "t", "epoch": 1, "offset": 10},
        ),
    ),
    "epoch-cache-conflict": (
        (
            "[LeaderEpochCache t-0] New epoch entry EpochEntry(epoch=3, startOffset=20) caused truncation of conflicting entries ListBuffer(EpochEntry(epoch=2, startOffset=25)). Cache now contains 2 entries.",
            {"topic": "t", "epoch": 3, "offset": 20, "count": 2, "detail": "ListBuffer(EpochEntry(epoch=2, startOffset=25))"},
        ),
    ),
    "epoch-cache-dropped": (
        (
            "[Log partition=t-0, dir=/d] Clearing leader epoch cache after unexpected append with message format v1",
            {"topic": "t", "count": 1},
        ),
        (
            "[Log partition=t-0, dir=/d] Deleting non-empty leader epoch cache due to incompatible message format 0.10.2",
            {"topic": "t", "detail": "0.10.2"},
        ),
    ),
    "fetcher-added": (
        (
            "[ReplicaFetcherManager on broker 2] Added fetcher for partitions List([t-1, initOffset 8 to broker BrokerEndPoint(1,127.0.0.1,9092)] )",
            {"broker": 2, "topic": "t", "partition": 1, "offset": 8, "leader": 1},
        ),
        (
            "[ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for partitions HashMap(my-topic.v2-0 -> InitialFetchState(Some(NOz0gB3vSVOv5AMaGcxCmA),BrokerEndPoint[id=1, host=127.0.0.1, port=9092],5,1000))",
            {"topic": "my-topic.v2", "topic_id": "NOz0gB3vSVOv5AMaGcxCmA", "leader": 1, "epoch": 5, "offset": 1000},
        ),
        (
            "[ReplicaFetcherManager on broker 2] Added fetcher to broker BrokerEndPoint(id=1, host=localhost:9092) for partitions Map(t-0 -> (offset=60, leaderEpoch=2))",
            {"topic": "t", "leader": 1, "epoch": 2, "offset": 60},
        ),
    ),
    "fetcher-removed": (
        (
            "[ReplicaFetcherManager on broker 2] Removed fetcher for partitions HashSet(orders-0)",
            {"topic": "orders", "partition": 0},
        ),
    ),
    "fetch-failed": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error in response for fetch request (type=FetchRequest, replicaId=2, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={pay-0=PartitionData(topicId=xcq385rNTkaYtHO3h4VBjA, fetchOffset=100, logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[0], lastFetchedEpoch=Optional[0])}, isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)",
            {"topic": "pay", "offset": 100, "log_end_offset": 100, "log_start_offset": 0, "epoch": 0, "leader": 1},
        ),
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error in response for fetch request (type=FetchRequest, replicaId=2, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={t-0=(offset=7, logStartOffset=0, maxBytes=1048576)}, isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=1047750161, epoch=44))",
            {"topic": "t", "offset": 7, "log_end_offset": 7, "log_start_offset": 0},
        ),
    ),
    "fetch-session-ended": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error sending fetch request (sessionId=1984554761, epoch=45) to node 1: java.net.SocketException.",
            {"leader": 1, "detail": "sessionId=1984554761, epoch=45; java.net.SocketException."},
        ),
    ),
    "fetch-refused": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Node 1 was unable to process the fetch request with (sessionId=77, epoch=3): FETCH_SESSION_ID_NOT_FOUND.",
            {"leader": 1, "detail": "sessionId=77, epoch=3): FETCH_SESSION_ID_NOT_FOUND."},
        ),
    ),
    "fetch-error-from-leader": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Received UNKNOWN_TOPIC_OR_PARTITION from the leader for partition orders-0. This error may be returned transiently when the partition is being created or deleted, but it is not expected to persist.",
            {"topic": "orders", "detail": "UNKNOWN_TOPIC_OR_PARTITION"},
        ),
    ),
    "not-leader": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Remote broker is not the leader for partition my-topic.v2-0, which could indicate that the partition is being moved",
            {"topic": "my-topic.v2", "partition": 0},
        ),
    ),
    "partition-fetch-error": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error for partition orders-1 at offset 0",
            {"topic": "orders", "partition": 1, "offset": 0},
        ),
    ),
    "invalid-messages-fetched": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Found invalid messages during fetch for partition t-0 offset 40",
            {"topic": "t", "offset": 40},
        ),
        (
            "[ReplicaFetcherThread-0-1]: Found invalid messages during fetch for partition [t,0] offset 40 error bad crc",
            {"topic": "t", "partition": 0, "offset": 40},
        ),
    ),
    "fetch-processing-error": (
        (
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Unexpected error occurred while processing data for partition t-0 at offset 40",
            {"topic": "t", "offset": 40},
        ),
    ),
    "log-start-inside-batch": (
        (
            "Unexpected offset in append to t-0. First offset 70 is less than log start offset 75. Since this is the first record to be appended to the follower's log, will start the log from offset 70.",
            {"topic": "t", "offset": 70, "log_start_offset": 75},
        ),
    ),
    "leader-starts": (
        (
            "[Broker id=2] Leader pay-0 with topic id Some(xcq385rNTkaYtHO3h4VBjA) starts at leader epoch 1 from offset 100 with partition epoch 3, high watermark 100, ISR [2], adding replicas [] and removing replicas [] (under-min-isr). Previous leader Some(1) and previous leader epoch was 0.",
            {"broker": 2, "topic": "pay", "topic_id": "xcq385rNTkaYtHO3h4VBjA", "epoch": 1, "offset": 100, "partition_epoch": 3, "high_watermark": 100, "isr": "2", "previous_leader": 1, "previous_epoch": 0, "log_end_offset": 100},
        ),
        (
            "[Broker id=2] Leader orders-1 starts at leader epoch 2 from offset 40 with high watermark 38 ISR [2,3] addingReplicas [] removingReplicas []. Previous leader epoch was -1.",
            {"topic": "orders", "epoch": 2, "offset": 40, "high_watermark": 38, "isr": "2,3", "previous_epoch": -1},
        ),
        (
            "[Partition t-0 broker=2] t-0 starts at leader epoch 2 from offset 40 with high watermark 38. Previous leader epoch was 1.",
            {"broker": 2, "topic": "t", "epoch": 2, "offset": 40, "high_watermark": 38, "previous_epoch": 1},
        ),
        (
            "[Partition t-0 broker=2] t-0 starts at Leader Epoch 2 from offset 40. Previous Leader Epoch was: 1",
            {"broker": 2, "topic": "t", "epoch": 2, "offset": 40, "previous_epoch": 1, "log_end_offset": 40},
        ),
    ),
    "follower-starts": (
        (
            "[Broker id=2] Follower pay-0 starts at leader epoch 1 from offset 150 with partition epoch 4 and high watermark 150. Current leader is 3. Previous leader Some(3) and previous leader epoch was 1.",
            {"topic": "pay", "epoch": 1, "offset": 150, "partition_epoch": 4, "high_watermark": 150, "leader": 3, "previous_leader": 3, "previous_epoch": 1, "log_end_offset": 150},
        ),
    ),
    "role-unchanged": (
        (
            "[Broker id=2] Skipped the become-leader state change for pay-0 with topic id Some(xcq385rNTkaYtHO3h4VBjA) and partition state LeaderAndIsrPartitionState(topicName='pay', partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=0, isr=[1, 3], partitionEpoch=1, replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already the leader with leader epoch 0. Current high watermark 100, ISR [1,3], adding replicas [] and removing replicas [].",
            {"topic": "pay", "topic_id": "xcq385rNTkaYtHO3h4VBjA", "leader": 2, "epoch": 0, "isr": "1,3", "partition_epoch": 1, "high_watermark": 100, "detail": "leader"},
        ),
        (
            "[Broker id=2] Skipped the become-follower state change for pay-0 with topic id Some(xcq385rNTkaYtHO3h4VBjA), partition registration PartitionRegistration(replicas=[2, 3, 1], directories=[p8VHxTgsQ8ul9hUCyhFgZA, GnhG6J1j8YfqeAljkUBs-Q], isr=[2, 3], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=3, leaderRecoveryState=RECOVERED, leaderEpoch=4, partitionEpoch=9) and isNew=false since it is already a follower with leader epoch 4.",
            {"topic": "pay", "leader": 3, "epoch": 4, "isr": "2,3", "partition_epoch": 9, "high_watermark": None, "detail": "follower"},
        ),
        (
            "[Broker id=2] Skipped the become-leader state change after marking its partition as leader with correlation id 15 from controller 3 epoch 2 for partition my-topic.v2-0 (last update controller epoch 2) since it is already the leader for the partition.",
            {"topic": "my-topic.v2", "partition": 0, "detail": "leader"},
        ),
    ),
    "leader-and-isr-ignored": (
        (
            "[Broker id=2] Ignoring LeaderAndIsr request from controller 3 with correlation id 17 epoch 2 for partition my-topic.v2-0 since its associated leader epoch 3 is not higher than the current leader epoch 3",
            {"topic": "my-topic.v2", "epoch": 3},
        ),
    ),
    "follower-without-leader": (
        (
            "[Broker id=2] Received LeaderAndIsrRequest with correlation id 1 from controller 2 epoch 2 for partition t-0 (last update controller epoch 1) but cannot become follower since the new leader 1 is unavailable.",
            {"topic": "t", "leader": 1},
        ),
    ),
    "partition-recovering": (
        (
            "[Broker id=2] The topic partition pay-0 was marked as RECOVERING. Marking the topic partition as RECOVERED.",
            {"broker": 2, "topic": "pay"},
        ),
    ),
    "partition-added": (
        (
            "[Broker id=2] Creating new partition pay-0 with topic id xcq385rNTkaYtHO3h4VBjA.",
            {"topic": "pay", "topic_id": "xcq385rNTkaYtHO3h4VBjA"},
        ),
        (
            "[Broker id=2] Expected partition pay-0 with topic id xcq385rNTkaYtHO3h4VBjA to exist, but it was missing. Creating...",
            {"topic": "pay", "topic_id": "xcq385rNTkaYtHO3h4VBjA"},
        ),
    ),
    "partitions-deleted": (
        ("[Broker id=2] Deleting 1 partition(s).", {"broker": 2, "count": 1}),
    ),
    "controller-changed-partition": (
        (
            "[Controller id=1 epoch=3] Changed partition my-topic.v2-0 from OnlinePartition to OnlinePartition with state LeaderAndIsr(leader=1, leaderEpoch=6, isr=List(3, 1), zkVersion=10)",
            {"broker": 1, "topic": "my-topic.v2", "leader": 1, "epoch": 6, "isr": "3,1", "partition_epoch": 10},
        ),
        (
            "[Controller id=1 epoch=3] Changed partition t-0 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=1, leaderEpoch=6, isr=List(1), leaderRecoveryState=RECOVERED, partitionEpoch=10)",
            {"topic": "t", "leader": 1, "epoch": 6, "isr": "1", "partition_epoch": 10},
        ),
        (
            "[Controller id=1 epoch=3] Changed partition t-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=1, leaderEpoch=0, isrWithBrokerEpoch=List(BrokerState(brokerId=1, brokerEpoch=-1)), partitionEpoch=0)",
            {"topic": "t", "leader": 1, "epoch": 0, "isr": None},
        ),
    ),
    "controller-shrunk-isr": (
        (
            "[Controller id=1 epoch=3] Partition short-0 state changed to (Leader:1,ISR:3,1,LeaderEpoch:5,ZkVersion:9,ControllerEpoch:3) after removing replica 2 from the ISR as part of transition to OfflineReplica",
            {"topic": "short", "leader": 1, "isr": "3,1", "epoch": 5, "partition_epoch": 9, "other_broker": 2},
        ),
    ),
    "controller-change-failed": (
        (
            "[Controller id=1 epoch=3] Controller 1 epoch 3 failed to change state for partition short-0 from OnlinePartition to OnlinePartition",
            {"topic": "short", "epoch": 3, "broker": 1},
        ),
    ),
    "unclean-election": (
        (
            "[QuorumController id=100] UNCLEAN partition change for pay-0 with topic ID xcq385rNTkaYtHO3h4VBjA: isr: [1] -> [2], leader: 1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 0 -> 1, partitionEpoch: 2 -> 3",
            {"broker": 100, "topic": "pay", "topic_id": "xcq385rNTkaYtHO3h4VBjA", "previous_isr": "1", "isr": "2", "previous_leader": 1, "leader": 2, "previous_epoch": 0, "epoch": 1, "partition_epoch": 3},
        ),
        (
            "Setting new leader for topicId xcq385rNTkaYtHO3h4VBjA, partition 0 to 2 using an unclean election",
            {"topic": None, "topic_id": "xcq385rNTkaYtHO3h4VBjA", "partition": 0, "leader": 2},
        ),
        (
            "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for t-0. Elect leader 2 from live brokers 2. There's potential data loss.",
            {"topic": "t", "leader": 2},
        ),
    ),
    "controller-elected": (
        (
            "[QuorumController id=100] Becoming the active controller at epoch 1, next write offset 1.",
            {"broker": 100, "epoch": 1},
        ),
        ("[Controller id=1] Epoch incremented to 3", {"broker": 1, "epoch": 3}),
        (
            "[Controller id=1] 1 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3",
            {"broker": 1, "epoch": 3},
        ),
    ),
    "controller-resigned": (
        ("[Controller id=1] Resigned", {"broker": 1}),
    ),
    "isr-updated": (
        (
            "[Partition pay-0 broker=2] ISR updated to 2,3,1  and version updated to 5",
            {"broker": 2, "topic": "pay", "isr": "2,3,1", "partition_epoch": 5},
        ),
    ),
    "isr-shrinking": (
        (
            "[Partition pay-0 broker=2] Shrinking ISR from 1,2,3 to 2. Leader: (highWatermark: 40, endOffset: 60). Out of sync replicas: (brokerId: 1, endOffset: 40) (brokerId: 3, endOffset: 45).",
            {"topic": "pay", "previous_isr": "1,2,3", "isr": "2", "high_watermark": 40, "log_end_offset": 60, "detail": "(brokerId: 1, endOffset: 40) (brokerId: 3, endOffset: 45)."},
        ),
    ),
    "isr-expanding": (
        (
            "[Partition pay-0 broker=2] Expanding ISR from 3,1 to 3,1,2",
            {"topic": "pay", "previous_isr": "3,1", "isr": "3,1,2"},
        ),
        (
            "Partition [t,0] on broker 1: Expanding ISR for partition t-0 from 1 to 1,2",
            {"broker": 1, "topic": "t", "partition": 0, "isr": "1,2"},
        ),
    ),
    "isr-update-rejected": (
        (
            "[Partition pay-0 broker=2] Cached zkVersion [4] not equal to that in zookeeper, skip updating ISR",
            {"broker": 2, "topic": "pay", "partition_epoch": 4},
        ),
    ),
    "isr-update-failed": (
        (
            "[Partition pay-0 broker=2] Failed to alter partition to PendingShrinkIsr(x) since the controller rejected the request with INVALID_REQUEST",
            {"topic": "pay", "detail": "PendingShrinkIsr(x) since the controller rejected the request with INVALID_REQUEST"},
        ),
    ),
    "high-watermark-updated": (
        (
            "[Partition pay-0 broker=2] High watermark updated from (offset=40 segment=[0:1480]) to (offset=60 segment=[0:2220])",
            {"topic": "pay", "previous_offset": 40, "high_watermark": 60},
        ),
    ),
    "high-watermark-held": (
        (
            "[Partition pay-0 broker=2] Skipping update high watermark since new hw 40 is not larger than old hw 40. All current LEOs are broker 1: 40, broker 2: 60",
            {"topic": "pay", "detail": "broker 1: 40, broker 2: 60"},
        ),
        (
            "[Partition pay-0 broker=2] Not increasing HWM because partition is under min ISR",
            {"topic": "pay", "detail": None},
        ),
    ),
    "replica-position-recorded": (
        (
            "[Partition pay-0 broker=2] Recorded replica 3 log end offset (LEO) position 45 and log start offset 0.",
            {"topic": "pay", "other_broker": 3, "log_end_offset": 45, "log_start_offset": 0},
        ),
    ),
    "broker-fenced": (
        (
            "[QuorumController id=100] Fencing broker 2 at epoch 143 because its session has timed out.",
            {"broker": 100, "other_broker": 2, "broker_epoch": 143},
        ),
    ),
    "broker-unfenced": (
        (
            "[QuorumController id=100] The request from broker 3 to unfence has been granted because it has caught up with the offset of its register broker record 12.",
            {"broker": 100, "other_broker": 3},
        ),
        (
            "[BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING.",
            {"broker": 1},
        ),
    ),
    "broker-registering": (
        (
            "[BrokerLifecycleManager id=1] Incarnation ItI5AG5IS_O05jEmhIsMJw of broker 1 in cluster MkU3OEVBNTcwNTJENDM2Qg is now STARTING.",
            {"broker": 1, "other_broker": 1, "detail": "ItI5AG5IS_O05jEmhIsMJw", "cluster_id": "MkU3OEVBNTcwNTJENDM2Qg"},
        ),
    ),
    "broker-registered": (
        (
            "[QuorumController id=100] Registering a new incarnation of broker 1. Previous incarnation ID was ItI5AG5IS_O05jEmhIsMJw; new incarnation ID is C3n9JEWxTyy532UbTAezBg. Generated 0 record(s) to clean up previous incarnations. Broker epoch will become 87.",
            {"broker": 100, "other_broker": 1, "broker_epoch": 87, "detail": "ItI5AG5IS_O05jEmhIsMJw; new incarnation ID is C3n9JEWxTyy532UbTAezBg"},
        ),
        (
            "[QuorumController id=100] No previous registration found for broker 3. New incarnation ID is ItI5AG5IS_O05jEmhIsMJw.  Generated 0 record(s) to clean up previous incarnations. New broker epoch is 12.",
            {"other_broker": 3, "broker_epoch": 12, "detail": "ItI5AG5IS_O05jEmhIsMJw"},
        ),
        (
            "[BrokerLifecycleManager id=1] Successfully registered broker 1 with broker epoch 16",
            {"broker": 1, "other_broker": 1, "broker_epoch": 16},
        ),
    ),
    "broker-registration-changed": (
        (
            "[QuorumController id=100] Replayed BrokerRegistrationChangeRecord modifying the registration for broker 3: BrokerRegistrationChangeRecord(brokerId=3, brokerEpoch=12, fenced=-1, inControlledShutdown=0, logDirs=[])",
            {"other_broker": 3, "broker_epoch": 12, "detail": "fenced=-1, inControlledShutdown=0"},
        ),
    ),
    "broker-shutdown-requested": (
        (
            "[QuorumController id=100] Unfenced broker 1 has requested and been granted a controlled shutdown.",
            {"other_broker": 1, "detail": "a controlled"},
        ),
    ),
    "broker-shutdown-granted": (
        (
            "[QuorumController id=100] The request from broker 1 to shut down has been granted since the lowest active offset 96 is now greater than the broker's controlled shutdown offset 95.",
            {"other_broker": 1},
        ),
    ),
    "broker-failed": (
        ("[Controller id=3] Broker failure callback for 2", {"broker": 3, "other_broker": 2}),
    ),
    "brokers-changed": (
        (
            "[Controller id=1] Newly added brokers: 2, deleted brokers: , bounced brokers: , all live brokers: 1,2,3",
            {"broker": 1, "detail": "2, deleted brokers: , bounced brokers: , all live brokers: 1,2,3"},
        ),
    ),
    "partitions-moved": (
        (
            "[QuorumController id=100] enterControlledShutdown[1]: changing 9 partition(s)",
            {"broker": 100, "other_broker": 1, "count": 9},
        ),
        ("[QuorumController id=100] handleBrokerFenced: changing 3 partition(s)", {"broker": 100, "count": 3}),
    ),
    "broker-starting": (
        ("[BrokerServer id=1] Transition from SHUTDOWN to STARTING", {"broker": 1, "component": "BrokerServer"}),
    ),
    "cluster-joined": (
        ("Cluster ID = SP9M5FPMSuaeKS0waJUevA", {"cluster_id": "SP9M5FPMSuaeKS0waJUevA"}),
    ),
    "broker-started": (
        ("[KafkaServer id=1] started", {"broker": 1}),
        ("[BrokerServer id=1] Transition from STARTING to STARTED", {"broker": 1}),
    ),
    "broker-shutting-down": (
        ("[BrokerServer id=1] shutting down", {"broker": 1, "component": "BrokerServer"}),
    ),
    "broker-shut-down": (
        ("[KafkaServer id=1] shut down completed", {"broker": 1, "component": "KafkaServer"}),
    ),
    "controlled-shutdown-succeeded": (
        ("[KafkaServer id=1] Controlled shutdown succeeded", {"broker": 1}),
    ),
    "unclean-shutdown": (
        (
            "[KafkaServer id=3] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed",
            {"broker": 3},
        ),
    ),
    "signal-received": (
        ("Terminating process due to signal SIGTERM", {"detail": "SIGTERM"}),
    ),
    "kafka-version": (
        ("Kafka version: 3.9.1", {"detail": "3.9.1"}),
        ("Kafka version : 1.1.1", {"detail": "1.1.1"}),
    ),
    "start-instant": (
        ("Kafka startTimeMs: 1795804585988", {"detail": "1795804585988"}),
    ),
    "metadata-version": (
        (
            "[BrokerMetadataPublisher id=1] Publishing initial metadata at offset OffsetAndEpoch[offset=21, epoch=1] with metadata.version Optional[4.3-IV0].",
            {"broker": 1, "detail": "4.3-IV0"},
        ),
        (
            "[QuorumController id=100] Replayed a FeatureLevelRecord setting metadata.version to 3.9-IV0",
            {"broker": 100, "detail": "3.9-IV0"},
        ),
    ),
    "topic-created": (
        (
            "[QuorumController id=100] Replayed TopicRecord for topic orders with topic ID ItI5AG5IS_O05jEmhIsMJw.",
            {"topic": "orders", "topic_id": "ItI5AG5IS_O05jEmhIsMJw"},
        ),
    ),
    "topic-removed": (
        (
            "[QuorumController id=100] Replayed RemoveTopicRecord for topic again with ID ItI5AG5IS_O05jEmhIsMJw.",
            {"topic": "again", "topic_id": "ItI5AG5IS_O05jEmhIsMJw"},
        ),
    ),
    "partition-registered": (
        (
            "[QuorumController id=100] Replayed PartitionRecord for new partition orders-0 with topic ID ItI5AG5IS_O05jEmhIsMJw and PartitionRegistration(replicas=[2, 3, 1], directories=[], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).",
            {"topic": "orders", "partition": 0, "topic_id": "ItI5AG5IS_O05jEmhIsMJw", "isr": "2,3,1", "leader": 2, "epoch": 0, "partition_epoch": 0},
        ),
    ),
    "metadata-copy-lost-tail": (
        (
            "[RaftManager id=100] Detected non-monotonic update of fetch offset from nodeId ReplicaKey(id=2, directoryId=Optional[ItI5AG5IS_O05jEmhIsMJw]): 68 -> 60",
            {"broker": 100, "other_broker": 2, "previous_offset": 68, "offset": 60},
        ),
    ),
    "metadata-high-watermark": (
        (
            "[RaftManager id=1] High watermark set to Optional[LogOffsetMetadata(offset=12, metadata=Optional.empty)] for the first time for epoch 1",
            {"broker": 1, "high_watermark": 12, "epoch": 1},
        ),
    ),
    "topic-configured": (
        (
            "Processing override for entityPath: topics/pay with config: HashMap(min.insync.replicas -> 1, unclean.leader.election.enable -> true)",
            {"topic": "pay", "detail": "HashMap(min.insync.replicas -> 1, unclean.leader.election.enable -> true)"},
        ),
        (
            "Processing override for entityType: topics, entity: pay with config: {min.insync.replicas=1}",
            {"topic": "pay", "detail": "{min.insync.replicas=1}"},
        ),
        (
            "[DynamicConfigPublisher broker id=2] Updating topic pay with new configuration : min.insync.replicas -> 1,unclean.leader.election.enable -> true",
            {"broker": 2, "topic": "pay", "detail": "min.insync.replicas -> 1,unclean.leader.election.enable -> true"},
        ),
        (
            "[Admin Manager on Broker 0]: Updating topic pay with new configuration Map(min.insync.replicas -> 1)",
            {"broker": None, "topic": "pay", "detail": "Map(min.insync.replicas -> 1)"},
        ),
    ),
    "broker-configured": (
        (
            "Processing override for entityPath: brokers/3 with config: Map(min.insync.replicas -> 1)",
            {"other_broker": 3, "detail": "Map(min.insync.replicas -> 1)"},
        ),
        (
            "Processing override for entityPath: brokers/<default> with config: Map()",
            {"other_broker": None, "detail": "Map()"},
        ),
        (
            "[DynamicConfigPublisher broker id=2] Updating broker 2 with new configuration : min.insync.replicas -> 1,unclean.leader.election.enable -> true",
            {"broker": 2, "other_broker": 2, "detail": "min.insync.replicas -> 1,unclean.leader.election.enable -> true"},
        ),
        (
            "[DynamicConfigPublisher broker id=2] Updating cluster configuration : min.insync.replicas -> 1",
            {"broker": 2, "other_broker": None, "detail": "min.insync.replicas -> 1"},
        ),
    ),
    "log-loaded": (
        (
            "[Log partition=ff-0, dir=/d] Completed load of log with 1 segments, log start offset 0 and log end offset 15 in 42 ms",
            {"topic": "ff", "partition": 0, "count": 1, "log_start_offset": 0, "log_end_offset": 15},
        ),
        (
            "Completed load of Log(dir=/d/pay-0, topicId=xcq385rNTkaYtHO3h4VBjA, topic=pay, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=100) with 1 segments, local-log-start-offset 0 and log-end-offset 100 in 37ms (1/1 completed in /d)",
            {"topic": "pay", "partition": 0, "topic_id": "xcq385rNTkaYtHO3h4VBjA", "log_start_offset": 0, "log_end_offset": 100, "count": 1, "directory": "/d/pay-0", "high_watermark": None},
        ),
    ),
    "initial-high-watermark": (
        (
            "[Partition pay-0 broker=1] Log loaded for partition pay-0 with initial high watermark 150",
            {"broker": 1, "topic": "pay", "high_watermark": 150},
        ),
    ),
    "replica-loaded": (
        ("Replica loaded for partition t-0 with initial high watermark 60", {"topic": "t", "high_watermark": 60}),
    ),
    "no-checkpointed-high-watermark": (
        (
            "[Partition t-0 broker=1] No checkpointed highwatermark is found for partition t-0",
            {"broker": 1, "topic": "t"},
        ),
    ),
    "clean-start": (
        (
            "Skipping recovery of 9 logs from /d/broker-1 since clean shutdown file was found",
            {"count": 9, "directory": "/d/broker-1"},
        ),
        (
            "Skipping recovery for all logs in /d/broker-1 since clean shutdown file was found",
            {"directory": "/d/broker-1"},
        ),
    ),
    "unclean-start": (
        (
            "Recovering 1 logs from /d/broker-1 since no clean shutdown file was found",
            {"count": 1, "directory": "/d/broker-1"},
        ),
        (
            "Attempting recovery for all logs in /d/broker-1 since no clean shutdown file was found",
            {"directory": "/d/broker-1"},
        ),
    ),
    "first-start": (
        ("No logs found to be loaded in /d/broker-1", {"directory": "/d/broker-1"}),
        ("Unable to read the broker epoch in /d/broker-1.", {"directory": "/d/broker-1"}),
    ),
    "log-loading-failed": (
        (
            "There was an error in one of the threads during logs loading: org.apache.kafka.common.errors.CorruptRecordException: x",
            {"detail": "org.apache.kafka.common.errors.CorruptRecordException: x"},
        ),
        ("Error while loading log dir /d/broker-1", {"directory": "/d/broker-1"}),
        (
            "Error while loading logs in /d/broker-1 in 33ms (0/1 completed in /d/broker-1)",
            {"directory": "/d/broker-1"},
        ),
    ),
    "segment-recovered": (
        ("[Log partition=t-0, dir=/d] Recovering unflushed segment 0", {"topic": "t", "offset": 0}),
    ),
    "corruption-found": (
        (
            "[LogLoader partition=t-0, dir=/var/lib/kafka/data/broker-1] Corruption found in segment 0, truncating to offset 40",
            {"topic": "t", "previous_offset": 0, "offset": 40},
        ),
    ),
    "invalid-offset-in-recovery": (
        (
            "[LogLoader partition=t-0, dir=/var/lib/kafka/data/broker-1] Found invalid offset during recovery. Deleting the corrupt segment and creating an empty one with starting offset 40",
            {"topic": "t", "offset": 40},
        ),
    ),
    "index-rebuilt": (
        (
            "[Log partition=t-0, dir=/d] Found a corrupted index file corresponding to log file /d/t-0/0.log due to Corrupt index found, recovering segment and rebuilding index files...",
            {"topic": "t", "detail": "/d/t-0/0.log"},
        ),
    ),
    "swap-found": (
        (
            "[Log partition=state-0, dir=/d] Found file /d/state-0/0.index.swap from interrupted swap operation.",
            {"topic": "state", "detail": "/d/state-0/0.index.swap"},
        ),
    ),
    "stray-found": (
        (
            "Log for partition t-0 is marked as stray and renamed to /d/t-0.f00-stray",
            {"topic": "t", "detail": "/d/t-0.f00-stray"},
        ),
        ("Found stray log dir Log(dir=/d/t-0)", {"detail": "Log(dir=/d/t-0)"}),
        ("Found stray partitions Set(t-0)", {"detail": "Set(t-0)"}),
        ("Loaded stray log: t-0", {"detail": "t-0"}),
    ),
    "replica-created": (
        (
            "Created log for partition orders-2 in /d/orders-2 with properties {min.insync.replicas=2}",
            {"topic": "orders", "partition": 2, "directory": "/d/orders-2", "detail": "min.insync.replicas=2"},
        ),
    ),
    "replica-deleted": (
        (
            "Log for partition again-0 is renamed to /d/again-0.101121717b3a48d98c6bdf9e391071fc-delete and is scheduled for deletion",
            {"topic": "again", "detail": "/d/again-0.101121717b3a48d98c6bdf9e391071fc-delete"},
        ),
    ),
    "replica-swapped": (
        (
            "Attempting to replace current log Log(dir=/d1/t-0) with Log(dir=/d2/t-0.f00-future) for t-0",
            {"topic": "t", "detail": "Log(dir=/d1/t-0) with Log(dir=/d2/t-0.f00-future)"},
        ),
    ),
    "log-start-incremented": (
        (
            "[Log partition=short-0, dir=/d] Incremented log start offset to 150 due to segment deletion",
            {"topic": "short", "log_start_offset": 150, "detail": "segment deletion"},
        ),
        (
            "[Log partition=short-0, dir=/d] Incrementing log start offset to 90",
            {"topic": "short", "log_start_offset": 90},
        ),
    ),
    "segment-rolled": (
        (
            "[LocalLog partition=state-0, dir=/d/state-0] Rolled new log segment at offset 80 in 2 ms.",
            {"topic": "state", "offset": 80, "log_end_offset": 80},
        ),
    ),
    "segments-deletable": (
        (
            "[Log partition=short-0, dir=/d] Found deletable segments with base offsets [0,30,60] due to retention time 4000ms breach",
            {"topic": "short", "detail": "0,30,60] due to retention time 4000ms breach"},
        ),
    ),
    "segment-deleted": (
        (
            "[Log partition=short-0, dir=/d] Deleting segment LogSegment(baseOffset=120, size=1326, lastModifiedTime=1795239544232, largestRecordTimestamp=Some(1795239544232)) due to retention time 4000ms breach",
            {"topic": "short", "offset": 120, "detail": "retention time 4000ms breach"},
        ),
    ),
    "producer-snapshot-written": (
        (
            "[ProducerStateManager partition=orders-0] Wrote producer snapshot at offset 71 with 2 producer ids in 0 ms.",
            {"topic": "orders", "partition": 0, "offset": 71, "log_end_offset": 71},
        ),
    ),
}
"""By kind, in the order of its wordings: the message with its prefix, as it stands between level and logger."""
