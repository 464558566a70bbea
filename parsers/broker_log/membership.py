"""Lines about nodes coming and going, and about the versions that they run."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_QUORUM: Final = "[QuorumController id=100] "
_ID: Final = "ItI5AG5IS_O05jEmhIsMJw"
_NEW_ID: Final = "C3n9JEWxTyy532UbTAezBg"

MEMBERSHIP: Final = (
    Event(
        kind="broker-fenced",
        means="The controller fences a broker (other_broker) whose session ran out: it leaves every ISR.",
        wordings=(
            Wording(
                text="Fencing broker {other_broker}<? at epoch {broker_epoch}?> because its session has timed out.", since="2.8",
                sample=_QUORUM + "Fencing broker 2 at epoch 143 because its session has timed out.",
                expect={"broker": 100, "other_broker": 2, "broker_epoch": 143},
            ),
        ),
    ),
    Event(
        kind="broker-unfenced",
        means="A broker may serve from now on.",
        wordings=(
            Wording(
                text="The request from broker {other_broker} to unfence has been granted ", since="2.8",
                sample=_QUORUM + "The request from broker 3 to unfence has been granted because it has caught up with the offset of its "
                "register broker record 12.",
                expect={"broker": 100, "other_broker": 3},
            ),
            Wording(
                text="The broker has been unfenced.", since="2.8",
                sample="[BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING.", expect={"broker": 1},
            ),
        ),
    ),
    Event(
        kind="broker-registering",
        means="A broker's process has begun, and registers from now on. detail: its incarnation.",
        wordings=(
            Wording(
                text="Incarnation {detail} of broker {other_broker} in cluster {cluster_id} is now STARTING", since="2.8",
                sample=f"[BrokerLifecycleManager id=1] Incarnation {_ID} of broker 1 in cluster MkU3OEVBNTcwNTJENDM2Qg is now STARTING.",
                expect={"broker": 1, "other_broker": 1, "detail": _ID, "cluster_id": "MkU3OEVBNTcwNTJENDM2Qg"},
            ),
        ),
    ),
    Event(
        kind="broker-registered",
        means="A broker registered, with the broker epoch it holds until it restarts. detail: its incarnation, old and new.",
        wordings=(
            Wording(
                text="Registering a new incarnation of broker {other_broker}. Previous incarnation ID was {detail}. {*}Broker epoch will become {broker_epoch}",
                since="3.6",
                sample=_QUORUM + f"Registering a new incarnation of broker 1. Previous incarnation ID was {_ID}; new incarnation ID is "
                f"{_NEW_ID}. Generated 0 record(s) to clean up previous incarnations. Broker epoch will become 87.",
                expect={"broker": 100, "other_broker": 1, "broker_epoch": 87, "detail": f"{_ID}; new incarnation ID is {_NEW_ID}"},
            ),
            Wording(
                text="No previous registration found for broker {other_broker}. New incarnation ID is {detail}. {*}New broker epoch is {broker_epoch}",
                since="3.6",
                sample=_QUORUM + f"No previous registration found for broker 3. New incarnation ID is {_ID}.  Generated 0 record(s) to clean "
                "up previous incarnations. New broker epoch is 12.",
                expect={"other_broker": 3, "broker_epoch": 12, "detail": _ID},
            ),
            Wording(
                text="Successfully registered broker {other_broker} with broker epoch {broker_epoch}", since="2.8",
                sample="[BrokerLifecycleManager id=1] Successfully registered broker 1 with broker epoch 16",
                expect={"broker": 1, "other_broker": 1, "broker_epoch": 16},
            ),
        ),
    ),
    Event(
        kind="broker-registration-changed",
        means="A broker's registration changed: detail tells fenced (1 fence, -1 unfence, 0 as before) and inControlledShutdown.",
        wordings=(
            Wording(
                text="Replayed BrokerRegistrationChangeRecord modifying the registration for broker {other_broker}: "
                "BrokerRegistrationChangeRecord(brokerId={number}, brokerEpoch={broker_epoch}, {detail}, logDirs=",
                since="3.3",
                sample=_QUORUM + "Replayed BrokerRegistrationChangeRecord modifying the registration for broker 3: "
                "BrokerRegistrationChangeRecord(brokerId=3, brokerEpoch=12, fenced=-1, inControlledShutdown=0, logDirs=[])",
                expect={"other_broker": 3, "broker_epoch": 12, "detail": "fenced=-1, inControlledShutdown=0"},
            ),
        ),
    ),
    Event(
        kind="broker-shutdown-requested",
        means="A broker asked to stop; its leaderships are moved first (controlled) or not (immediate).",
        wordings=(
            Wording(
                text="Unfenced broker {other_broker} has requested and been granted {detail} shutdown.", since="2.8",
                sample=_QUORUM + "Unfenced broker 1 has requested and been granted a controlled shutdown.",
                expect={"other_broker": 1, "detail": "a controlled"},
            ),
        ),
    ),
    Event(
        kind="broker-shutdown-granted",
        means="A broker may stop now.",
        wordings=(
            Wording(
                text="The request from broker {other_broker} to shut down has been granted ", since="2.8",
                sample=_QUORUM + "The request from broker 1 to shut down has been granted since the lowest active offset 96 is now greater "
                "than the broker's controlled shutdown offset 95.",
                expect={"other_broker": 1},
            ),
        ),
    ),
    Event(
        kind="broker-failed",
        means="A ZooKeeper controller saw a broker's registration vanish.",
        wordings=(
            Wording(
                text="Broker failure callback for {other_broker}", until="4.0", sample="[Controller id=3] Broker failure callback for 2",
                expect={"broker": 3, "other_broker": 2},
            ),
        ),
    ),
    Event(
        kind="brokers-changed",
        means="A ZooKeeper controller saw brokers come, go or restart; detail lists them.",
        wordings=(
            Wording(
                text="Newly added brokers: {detail}", until="4.0",
                sample="[Controller id=1] Newly added brokers: 2, deleted brokers: , bounced brokers: , all live brokers: 1,2,3",
                expect={"broker": 1, "detail": "2, deleted brokers: , bounced brokers: , all live brokers: 1,2,3"},
            ),
        ),
    ),
    Event(
        kind="partitions-moved",
        means="The controller changes leader or ISR of count partitions, for the cause of the line before.",
        wordings=(
            Wording(
                text="enterControlledShutdown[{other_broker}]: changing {count} partition(s)", since="3.3",
                sample=_QUORUM + "enterControlledShutdown[1]: changing 9 partition(s)", expect={"broker": 100, "other_broker": 1, "count": 9},
            ),
            Wording(
                text="handleBroker<Fenced|Unfenced|Unregistered>: changing {count} partition(s)", since="2.8",
                sample=_QUORUM + "handleBrokerFenced: changing 3 partition(s)", expect={"broker": 100, "count": 3},
            ),
        ),
    ),
    Event(
        kind="broker-starting",
        means="The node begins to start.",
        wordings=(
            Wording(text="Transition from SHUTDOWN to STARTING", since="2.8", sample="[BrokerServer id=1] Transition from SHUTDOWN to STARTING",
                    expect={"broker": 1, "component": "BrokerServer"}),
        ),
    ),
    Event(
        kind="cluster-joined",
        means="The node begins to start in a cluster (cluster_id).",
        wordings=(
            Wording(text="Cluster ID = {cluster_id}{end}", until="4.0", sample="Cluster ID = SP9M5FPMSuaeKS0waJUevA",
                    expect={"cluster_id": "SP9M5FPMSuaeKS0waJUevA"}),
        ),
    ),
    Event(
        kind="broker-started",
        means="The node is up.",
        wordings=(
            Wording(text="started{end}", until="4.0", sample="[KafkaServer id=1] started", expect={"broker": 1}),
            Wording(text="Transition from STARTING to STARTED", since="2.8", sample="[BrokerServer id=1] Transition from STARTING to STARTED",
                    expect={"broker": 1}),
        ),
    ),
    Event(
        kind="broker-shutting-down",
        means="The node begins to stop in order.",
        wordings=(
            Wording(text="shutting down{end}", sample="[BrokerServer id=1] shutting down", expect={"broker": 1, "component": "BrokerServer"}),
        ),
    ),
    Event(
        kind="broker-shut-down",
        means="The node stopped in order; a killed one never says so.",
        wordings=(
            Wording(text="shut down completed{end}", sample="[KafkaServer id=1] shut down completed", expect={"broker": 1, "component": "KafkaServer"}),
        ),
    ),
    Event(
        kind="controlled-shutdown-succeeded",
        means="The controller moved the node's leaderships away before it stops.",
        wordings=(Wording(text="Controlled shutdown succeeded", sample="[KafkaServer id=1] Controlled shutdown succeeded", expect={"broker": 1}),),
    ),
    Event(
        kind="unclean-shutdown",
        means="The node stops without having its leaderships moved; its logs are closed in order all the same.",
        wordings=(
            Wording(
                text="Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed",
                sample="[KafkaServer id=3] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed", expect={"broker": 3},
            ),
        ),
    ),
    Event(
        kind="signal-received",
        means="The process was told to stop (detail); kill -9 leaves no line.",
        wordings=(
            Wording(
                text="Terminating process due to signal {detail}", sample="Terminating process due to signal SIGTERM", expect={"detail": "SIGTERM"},
            ),
        ),
    ),
    Event(
        kind="kafka-version",
        means="The release that the node runs (detail), printed at each start.",
        wordings=(
            Wording(text="Kafka version: {detail}", since="2.2", sample="Kafka version: 3.9.1", expect={"detail": "3.9.1"}),
            Wording(text="Kafka version : {detail}", until="2.2", sample="Kafka version : 1.1.1", expect={"detail": "1.1.1"}),
        ),
    ),
    Event(
        kind="metadata-version",
        means="The metadata version in force (detail).",
        wordings=(
            Wording(
                text="Publishing initial metadata at offset {*} with metadata.version <Optional[|>{version}", since="3.3",
                sample="[BrokerMetadataPublisher id=1] Publishing initial metadata at offset OffsetAndEpoch[offset=21, epoch=1] with "
                "metadata.version Optional[4.3-IV0].",
                expect={"broker": 1, "detail": "4.3-IV0"},
            ),
            Wording(
                text="Replayed a FeatureLevelRecord setting metadata.version to {version}", since="3.3",
                sample=_QUORUM + "Replayed a FeatureLevelRecord setting metadata.version to 3.9-IV0", expect={"broker": 100, "detail": "3.9-IV0"},
            ),
        ),
    ),
    Event(
        kind="topic-created",
        means="The controller created a topic.",
        wordings=(
            Wording(
                text="Replayed TopicRecord for topic {topic} with <topic |>ID {topic_id}.", since="2.8",
                sample=_QUORUM + f"Replayed TopicRecord for topic orders with topic ID {_ID}.", expect={"topic": "orders", "topic_id": _ID},
            ),
        ),
    ),
    Event(
        kind="topic-removed",
        means="The controller removed a topic.",
        wordings=(
            Wording(
                text="Replayed RemoveTopicRecord for topic {topic} with <topic |>ID {topic_id}.", since="2.8",
                sample=_QUORUM + f"Replayed RemoveTopicRecord for topic again with ID {_ID}.", expect={"topic": "again", "topic_id": _ID},
            ),
        ),
    ),
    Event(
        kind="partition-registered",
        means="The controller created a partition with this leader and ISR.",
        wordings=(
            Wording(
                text="Replayed PartitionRecord for new partition {tp} with topic ID {topic_id} and PartitionRegistration({*} isr=[{isr}], "
                "{*} leader={leader}, {*} leaderEpoch={epoch}, partitionEpoch={partition_epoch})",
                since="3.3",
                sample=_QUORUM + f"Replayed PartitionRecord for new partition orders-0 with topic ID {_ID} and PartitionRegistration("
                "replicas=[2, 3, 1], directories=[], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, "
                "leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).",
                expect={"topic": "orders", "partition": 0, "topic_id": _ID, "isr": "2,3,1", "leader": 2, "epoch": 0, "partition_epoch": 0},
            ),
        ),
    ),
    Event(
        kind="metadata-copy-lost-tail",
        means="A node (other_broker) fetches the metadata log from below where it had been: it lost a tail of its copy.",
        wordings=(
            Wording(
                text="Detected non-monotonic update of fetch offset from nodeId <ReplicaKey(id=|>{other_broker}{*}: {previous_offset} -> {offset}",
                sample="[RaftManager id=100] Detected non-monotonic update of fetch offset from nodeId ReplicaKey(id=2, "
                f"directoryId=Optional[{_ID}]): 68 -> 60",
                expect={"broker": 100, "other_broker": 2, "previous_offset": 68, "offset": 60},
            ),
        ),
    ),
    Event(
        kind="metadata-high-watermark",
        means="The node learnt the metadata log's high watermark, first time in the quorum's epoch.",
        wordings=(
            Wording(
                text="High watermark set to <Optional[|>LogOffsetMetadata(offset={high_watermark}, {*} for the first time for epoch {epoch}",
                sample="[RaftManager id=1] High watermark set to Optional[LogOffsetMetadata(offset=12, metadata=Optional.empty)] for the first time for epoch 1",
                expect={"broker": 1, "high_watermark": 12, "epoch": 1},
            ),
        ),
    ),
)  # fmt: skip
