"""Lines in which replicas become leaders and followers, and controllers choose them."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_BROKER: Final = "[Broker id=2] "
_CONTROLLER: Final = "[Controller id=1 epoch=3] "
_SAMPLE_ID: Final = "xcq385rNTkaYtHO3h4VBjA"

LEADERSHIP: Final = (
    Event(
        kind="leader-starts",
        means="The node leads the partition from now on; offset, where the epoch begins, is its log end offset.",
        wordings=(
            Wording(
                text="Leader {tp} with topic id {topic_id} starts at leader epoch {epoch} from offset {offset} with partition epoch "
                "{partition_epoch}, high watermark {high_watermark}, ISR [{isr}], adding replicas [{*}] and removing replicas [{*}]"
                "<? ?><?(under-min-isr)?>. Previous leader <?{previous_leader} and previous leader ?>epoch was {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="3.3",
                sample=_BROKER + f"Leader pay-0 with topic id Some({_SAMPLE_ID}) starts at leader epoch 1 from offset 100 with partition "
                "epoch 3, high watermark 100, ISR [2], adding replicas [] and removing replicas [] (under-min-isr). Previous leader "
                "Some(1) and previous leader epoch was 0.",
                expect={"broker": 2, "topic": "pay", "topic_id": _SAMPLE_ID, "epoch": 1, "offset": 100, "partition_epoch": 3,
                        "high_watermark": 100, "isr": "2", "previous_leader": 1, "previous_epoch": 0, "log_end_offset": 100},
            ),
            Wording(
                text="Leader {tp} starts at leader epoch {epoch} from offset {offset} with high watermark {high_watermark} ISR [{isr}] "
                "addingReplicas [{*}] removingReplicas [{*}]. Previous leader epoch was {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="2.6", until="3.3",
                sample=_BROKER + "Leader orders-1 starts at leader epoch 2 from offset 40 with high watermark 38 ISR [2,3] "
                "addingReplicas [] removingReplicas []. Previous leader epoch was -1.",
                expect={"topic": "orders", "epoch": 2, "offset": 40, "high_watermark": 38, "isr": "2,3", "previous_epoch": -1},
            ),
            Wording(
                text="{tp} starts at leader epoch {epoch} from offset {offset} with high watermark {high_watermark}. Previous leader "
                "epoch was {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="2.4", until="2.6",
                sample="[Partition t-0 broker=2] t-0 starts at leader epoch 2 from offset 40 with high watermark 38. Previous leader epoch was 1.",
                expect={"broker": 2, "topic": "t", "epoch": 2, "offset": 40, "high_watermark": 38, "previous_epoch": 1},
            ),
            Wording(
                text="{tp} starts at Leader Epoch {epoch} from offset {offset}. Previous Leader Epoch was: {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="0.11", until="2.4",
                sample="[Partition t-0 broker=2] t-0 starts at Leader Epoch 2 from offset 40. Previous Leader Epoch was: 1",
                expect={"broker": 2, "topic": "t", "epoch": 2, "offset": 40, "previous_epoch": 1, "log_end_offset": 40},
            ),
        ),
    ),
    Event(
        kind="follower-starts",
        means="The node follows from now on; offset is its log end offset before any truncation.",
        wordings=(
            Wording(
                text="Follower {tp} starts at leader epoch {epoch} from offset {offset} with <?partition epoch {partition_epoch} and ?>"
                "high watermark {high_watermark}.<? Current leader is {leader}.?> Previous leader <?{previous_leader} and previous leader ?>"
                "epoch was {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="2.6",
                sample=_BROKER + "Follower pay-0 starts at leader epoch 1 from offset 150 with partition epoch 4 and high watermark 150. "
                "Current leader is 3. Previous leader Some(3) and previous leader epoch was 1.",
                expect={"topic": "pay", "epoch": 1, "offset": 150, "partition_epoch": 4, "high_watermark": 150, "leader": 3,
                        "previous_leader": 3, "previous_epoch": 1, "log_end_offset": 150},
            ),
        ),
    ),
    Event(
        kind="role-unchanged",
        means="New metadata (often only another ISR) changes neither leader nor epoch; a leader tells its high watermark. detail: its role.",
        wordings=(
            Wording(
                text="Skipped the become-{detail} state change for {tp} with topic id {topic_id} and partition state "
                "LeaderAndIsrPartitionState({*}leader={leader}, leaderEpoch={epoch}, isr=[{isr}], partitionEpoch={partition_epoch}"
                "<?{*}. Current high watermark {high_watermark},?>",
                since="3.3", until="4.0",
                sample=_BROKER + f"Skipped the become-leader state change for pay-0 with topic id Some({_SAMPLE_ID}) and partition state "
                "LeaderAndIsrPartitionState(topicName='pay', partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=0, isr=[1, 3], "
                "partitionEpoch=1, replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since "
                "it is already the leader with leader epoch 0. Current high watermark 100, ISR [1,3], adding replicas [] and removing replicas [].",
                expect={"topic": "pay", "topic_id": _SAMPLE_ID, "leader": 2, "epoch": 0, "isr": "1,3", "partition_epoch": 1,
                        "high_watermark": 100, "detail": "leader"},
            ),
            Wording(
                text="Skipped the become-{detail} state change for {tp} with topic id {topic_id}, partition registration "
                "PartitionRegistration({*} isr=[{isr}], {*} leader={leader}, {*}leaderEpoch={epoch}, partitionEpoch={partition_epoch})"
                "<?{*}. Current high watermark {high_watermark},?>",
                since="4.0",
                sample=_BROKER + f"Skipped the become-follower state change for pay-0 with topic id Some({_SAMPLE_ID}), partition registration "
                "PartitionRegistration(replicas=[2, 3, 1], directories=[p8VHxTgsQ8ul9hUCyhFgZA, GnhG6J1j8YfqeAljkUBs-Q], isr=[2, 3], "
                "removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=3, leaderRecoveryState=RECOVERED, leaderEpoch=4, "
                "partitionEpoch=9) and isNew=false since it is already a follower with leader epoch 4.",
                expect={"topic": "pay", "leader": 3, "epoch": 4, "isr": "2,3", "partition_epoch": 9, "high_watermark": None,
                        "detail": "follower"},
            ),
            Wording(
                text="Skipped the become-{detail} state change after marking its partition as {*} with correlation id {*} for partition {tp} "
                "(last update controller epoch ",
                until="3.3",
                sample=_BROKER + "Skipped the become-leader state change after marking its partition as leader with correlation id 15 from "
                "controller 3 epoch 2 for partition my-topic.v2-0 (last update controller epoch 2) since it is already the leader for the partition.",
                expect={"topic": "my-topic.v2", "partition": 0, "detail": "leader"},
            ),
        ),
    ),
    Event(
        kind="leader-and-isr-ignored",
        means="A controller repeated a request for an epoch (epoch) that the node knows already.",
        wordings=(
            Wording(
                text="Ignoring <LeaderAndIsr|StopReplica> request <?(delete=<true|false>) ?>from controller {*} for partition {tp} since its "
                "associated leader epoch {epoch} ",
                sample=_BROKER + "Ignoring LeaderAndIsr request from controller 3 with correlation id 17 epoch 2 for partition my-topic.v2-0 "
                "since its associated leader epoch 3 is not higher than the current leader epoch 3",
                expect={"topic": "my-topic.v2", "epoch": 3},
            ),
        ),
    ),
    Event(
        kind="follower-without-leader",
        means="The node should follow a leader that it cannot see.",
        wordings=(
            Wording(
                text="Received LeaderAndIsrRequest {*} for partition {tp} {*}but cannot become follower since the new leader {leader} is unavailable.",
                sample=_BROKER + "Received LeaderAndIsrRequest with correlation id 1 from controller 2 epoch 2 for partition t-0 (last update "
                "controller epoch 1) but cannot become follower since the new leader 1 is unavailable.",
                expect={"topic": "t", "leader": 1},
            ),
        ),
    ),
    Event(
        kind="partition-recovering",
        means="The new leader was elected uncleanly and says so.",
        wordings=(
            Wording(
                text="The topic partition {tp} was marked as RECOVERING.", since="3.2",
                sample=_BROKER + "The topic partition pay-0 was marked as RECOVERING. Marking the topic partition as RECOVERED.",
                expect={"broker": 2, "topic": "pay"},
            ),
        ),
    ),
    Event(
        kind="partition-added",
        means="The node takes up a replica of the partition in memory: new, or after a restart.",
        wordings=(
            Wording(
                text="Creating new partition {tp} with topic id {topic_id}.",
                sample=_BROKER + f"Creating new partition pay-0 with topic id {_SAMPLE_ID}.", expect={"topic": "pay", "topic_id": _SAMPLE_ID},
            ),
            Wording(
                text="Expected partition {tp} with topic id {topic_id} to exist, but it was missing.",
                sample=_BROKER + f"Expected partition pay-0 with topic id {_SAMPLE_ID} to exist, but it was missing. Creating...",
                expect={"topic": "pay", "topic_id": _SAMPLE_ID},
            ),
        ),
    ),
    Event(
        kind="partitions-deleted",
        means="The node drops replicas (count) because their topics are gone or moved.",
        wordings=(
            Wording(text="Deleting {count} partition(s).", sample=_BROKER + "Deleting 1 partition(s).", expect={"broker": 2, "count": 1}),
        ),
    ),
    Event(
        kind="controller-changed-partition",
        means="A ZooKeeper controller wrote a new leader, epoch or ISR of the partition.",
        wordings=(
            Wording(
                text="Changed partition {tp} from {*} to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
                "isr=List({isr}), zkVersion={partition_epoch})",
                since="2.4", until="3.2",
                sample=_CONTROLLER + "Changed partition my-topic.v2-0 from OnlinePartition to OnlinePartition with state "
                "LeaderAndIsr(leader=1, leaderEpoch=6, isr=List(3, 1), zkVersion=10)",
                expect={"broker": 1, "topic": "my-topic.v2", "leader": 1, "epoch": 6, "isr": "3,1", "partition_epoch": 10},
            ),
            Wording(
                text="Changed partition {tp} from {*} to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
                "isr=List({isr}), leaderRecoveryState={*}, partitionEpoch={partition_epoch})",
                since="3.2", until="4.0",
                sample=_CONTROLLER + "Changed partition t-0 from OfflinePartition to OnlinePartition with state "
                "LeaderAndIsr(leader=1, leaderEpoch=6, isr=List(1), leaderRecoveryState=RECOVERED, partitionEpoch=10)",
                expect={"topic": "t", "leader": 1, "epoch": 6, "isr": "1", "partition_epoch": 10},
            ),
            Wording(
                text="Changed partition {tp} from {*} to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, ",
                sample=_CONTROLLER + "Changed partition t-0 from NewPartition to OnlinePartition with state "
                "LeaderAndIsr(leader=1, leaderEpoch=0, isrWithBrokerEpoch=List(BrokerState(brokerId=1, brokerEpoch=-1)), partitionEpoch=0)",
                expect={"topic": "t", "leader": 1, "epoch": 0, "isr": None},
            ),
        ),
    ),
    Event(
        kind="controller-shrunk-isr",
        means="A ZooKeeper controller took a replica (other_broker) out of the ISR because it went away.",
        wordings=(
            Wording(
                text="Partition {tp} state changed to (Leader:{leader},ISR:{isr},LeaderEpoch:{epoch},ZkVersion:{partition_epoch},"
                "ControllerEpoch:{*}) after removing replica {other_broker} from the ISR",
                sample=_CONTROLLER + "Partition short-0 state changed to (Leader:1,ISR:3,1,LeaderEpoch:5,ZkVersion:9,ControllerEpoch:3) after "
                "removing replica 2 from the ISR as part of transition to OfflineReplica",
                expect={"topic": "short", "leader": 1, "isr": "3,1", "epoch": 5, "partition_epoch": 9, "other_broker": 2},
            ),
        ),
    ),
    Event(
        kind="controller-change-failed",
        means="A ZooKeeper controller found no way to give the partition a leader; detail is the exception.",
        wordings=(
            Wording(
                text="Controller {*} epoch {epoch} failed to change state for partition {tp} from ",
                sample=_CONTROLLER + "Controller 1 epoch 3 failed to change state for partition short-0 from OnlinePartition to OnlinePartition",
                expect={"topic": "short", "epoch": 3, "broker": 1},
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="unclean-election",
        means="A leader was elected outside the ISR: what only the former ISR held is lost. detail: the whole change.",
        wordings=(
            Wording(
                text="UNCLEAN partition change for {tp} with topic ID {topic_id}: <?isr: [{previous_isr}] -> [{isr}], ?>"
                "<?leader: {previous_leader} -> {leader}, ?><?{*}leaderEpoch: {previous_epoch} -> {epoch}?>"
                "<?{*}partitionEpoch: {number} -> {partition_epoch}?>",
                since="3.0",
                sample=f"[QuorumController id=100] UNCLEAN partition change for pay-0 with topic ID {_SAMPLE_ID}: isr: [1] -> [2], leader: "
                "1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 0 -> 1, partitionEpoch: 2 -> 3",
                expect={"broker": 100, "topic": "pay", "topic_id": _SAMPLE_ID, "previous_isr": "1", "isr": "2", "previous_leader": 1,
                        "leader": 2, "previous_epoch": 0, "epoch": 1, "partition_epoch": 3},
            ),
            Wording(
                text="Setting new leader for topicId {topic_id}, partition {partition} to {leader} using an unclean election", since="3.0",
                sample=f"Setting new leader for topicId {_SAMPLE_ID}, partition 0 to 2 using an unclean election",
                expect={"topic": None, "topic_id": _SAMPLE_ID, "partition": 0, "leader": 2},
            ),
            Wording(
                text="No broker in ISR is alive for {tp}. Elect leader {leader} from live brokers {isr}. There's potential data loss.", until="1.1",
                sample="[OfflinePartitionLeaderSelector]: No broker in ISR is alive for t-0. Elect leader 2 from live brokers 2. There's potential data loss.",
                expect={"topic": "t", "leader": 2},
            ),
        ),
        whole_message=True,
    ),
    Event(
        kind="controller-elected",
        means="The node became the active controller (epoch: its controller epoch).",
        wordings=(
            Wording(
                text="Becoming the active controller at epoch {epoch}", since="2.8",
                sample="[QuorumController id=100] Becoming the active controller at epoch 1, next write offset 1.",
                expect={"broker": 100, "epoch": 1},
            ),
            Wording(text="Epoch incremented to {epoch}", until="2.2", sample="[Controller id=1] Epoch incremented to 3", expect={"broker": 1, "epoch": 3}),
            Wording(
                text="{number} successfully elected as the controller<?. Epoch incremented to {epoch}?>", until="4.0",
                sample="[Controller id=1] 1 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3",
                expect={"broker": 1, "epoch": 3},
            ),
        ),
    ),
    Event(
        kind="controller-resigned",
        means="The node ceased to be the active controller.",
        wordings=(Wording(text="Resigned{end}", until="4.0", sample="[Controller id=1] Resigned", expect={"broker": 1}),),
    ),
)  # fmt: skip
