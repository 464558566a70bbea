"""Lines in which replicas become leaders and followers, and controllers choose them."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

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
            ),
            Wording(
                text="Leader {tp} starts at leader epoch {epoch} from offset {offset} with high watermark {high_watermark} ISR [{isr}] "
                "addingReplicas [{*}] removingReplicas [{*}]. Previous leader epoch was {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="2.6", until="3.3",
            ),
            Wording(
                text="{tp} starts at leader epoch {epoch} from offset {offset} with high watermark {high_watermark}. Previous leader "
                "epoch was {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="2.4", until="2.6",
            ),
            Wording(
                text="{tp} starts at Leader Epoch {epoch} from offset {offset}. Previous Leader Epoch was: {previous_epoch}",
                copies={"log_end_offset": "offset"}, since="0.11", until="2.4",
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
            ),
            Wording(
                text="Skipped the become-{detail} state change for {tp} with topic id {topic_id}, partition registration "
                "PartitionRegistration({*} isr=[{isr}], {*} leader={leader}, {*}leaderEpoch={epoch}, partitionEpoch={partition_epoch})"
                "<?{*}. Current high watermark {high_watermark},?>",
                since="4.0",
            ),
            Wording(
                text="Skipped the become-{detail} state change after marking its partition as {*} with correlation id {*} for partition {tp} "
                "(last update controller epoch ",
                until="3.3",
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
            ),
        ),
    ),
    Event(
        kind="follower-without-leader",
        means="The node should follow a leader that it cannot see.",
        wordings=(
            Wording(
                text="Received LeaderAndIsrRequest {*} for partition {tp} {*}but cannot become follower since the new leader {leader} is unavailable.",
            ),
        ),
    ),
    Event(
        kind="partition-recovering",
        means="The new leader was elected uncleanly and says so.",
        wordings=(
            Wording(text="The topic partition {tp} was marked as RECOVERING.", since="3.2"),
        ),
    ),
    Event(
        kind="partition-added",
        means="The node takes up a replica of the partition in memory: new, or after a restart.",
        wordings=(
            Wording(text="Creating new partition {tp} with topic id {topic_id}."),
            Wording(text="Expected partition {tp} with topic id {topic_id} to exist, but it was missing."),
        ),
    ),
    Event(
        kind="partitions-deleted",
        means="The node drops replicas (count) because their topics are gone or moved.",
        wordings=(
            Wording(text="Deleting {count} partition(s)."),
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
            ),
            Wording(
                text="Changed partition {tp} from {*} to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
                "isr=List({isr}), leaderRecoveryState={*}, partitionEpoch={partition_epoch})",
                since="3.2", until="4.0",
            ),
            Wording(
                text="Changed partition {tp} from {*} to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, ",
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
            ),
        ),
    ),
    Event(
        kind="controller-change-failed",
        means="A ZooKeeper controller found no way to give the partition a leader; detail is the exception.",
        wordings=(
            Wording(text="Controller {*} epoch {epoch} failed to change state for partition {tp} from "),
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
            ),
            Wording(
                text="Setting new leader for topicId {topic_id}, partition {partition} to {leader} using an unclean election",
                since="3.0",
            ),
            Wording(
                text="No broker in ISR is alive for {tp}. Elect leader {leader} from live brokers {isr}. There's potential data loss.",
                until="1.1",
            ),
        ),
        whole_message=True,
    ),
    Event(
        kind="controller-elected",
        means="The node became the active controller (epoch: its controller epoch).",
        wordings=(
            Wording(text="Becoming the active controller at epoch {epoch}", since="2.8"),
            Wording(text="Epoch incremented to {epoch}", until="2.2"),
            Wording(
                text="{number} successfully elected as the controller<?. Epoch incremented to {epoch}?>",
                until="4.0",
            ),
        ),
    ),
    Event(
        kind="controller-resigned",
        means="The node ceased to be the active controller.",
        wordings=(Wording(text="Resigned{end}", until="4.0"),),
    ),
)  # fmt: skip
