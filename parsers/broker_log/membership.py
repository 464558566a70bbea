"""Lines about nodes coming and going, and about the versions that they run."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

MEMBERSHIP: Final = (
    Event(
        kind="broker-fenced",
        means="The controller fences a broker (other_broker) whose session ran out: it leaves every ISR.",
        wordings=(
            Wording(
                text="Fencing broker {other_broker}<? at epoch {broker_epoch}?> because its session has timed out.",
                since="2.8",
            ),
        ),
    ),
    Event(
        kind="broker-unfenced",
        means="A broker may serve from now on.",
        wordings=(
            Wording(text="The request from broker {other_broker} to unfence has been granted ", since="2.8"),
            Wording(text="The broker has been unfenced.", since="2.8"),
        ),
    ),
    Event(
        kind="broker-registering",
        means="A broker's process has begun, and registers from now on. detail: its incarnation.",
        wordings=(
            Wording(
                text="Incarnation {detail} of broker {other_broker} in cluster {cluster_id} is now STARTING",
                since="2.8",
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
            ),
            Wording(
                text="No previous registration found for broker {other_broker}. New incarnation ID is {detail}. {*}New broker epoch is {broker_epoch}",
                since="3.6",
            ),
            Wording(text="Successfully registered broker {other_broker} with broker epoch {broker_epoch}", since="2.8"),
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
            ),
        ),
    ),
    Event(
        kind="broker-shutdown-requested",
        means="A broker asked to stop; its leaderships are moved first (controlled) or not (immediate).",
        wordings=(
            Wording(
                text="Unfenced broker {other_broker} has requested and been granted {detail} shutdown.",
                since="2.8",
            ),
        ),
    ),
    Event(
        kind="broker-shutdown-granted",
        means="A broker may stop now.",
        wordings=(
            Wording(text="The request from broker {other_broker} to shut down has been granted ", since="2.8"),
        ),
    ),
    Event(
        kind="broker-failed",
        means="A ZooKeeper controller saw a broker's registration vanish.",
        wordings=(
            Wording(text="Broker failure callback for {other_broker}", until="4.0"),
        ),
    ),
    Event(
        kind="brokers-changed",
        means="A ZooKeeper controller saw brokers come, go or restart; detail lists them.",
        wordings=(
            Wording(text="Newly added brokers: {detail}", until="4.0"),
        ),
    ),
    Event(
        kind="partitions-moved",
        means="The controller changes leader or ISR of count partitions, for the cause of the line before.",
        wordings=(
            Wording(text="enterControlledShutdown[{other_broker}]: changing {count} partition(s)", since="3.3"),
            Wording(text="handleBroker<Fenced|Unfenced|Unregistered>: changing {count} partition(s)", since="2.8"),
        ),
    ),
    Event(
        kind="broker-starting",
        means="The node begins to start.",
        wordings=(
            Wording(text="Transition from SHUTDOWN to STARTING", since="2.8"),
        ),
    ),
    Event(
        kind="cluster-joined",
        means="The node begins to start in a cluster (cluster_id).",
        wordings=(
            Wording(text="Cluster ID = {cluster_id}{end}", until="4.0"),
        ),
    ),
    Event(
        kind="broker-started",
        means="The node is up.",
        wordings=(
            Wording(text="started{end}", until="4.0"),
            Wording(text="Transition from STARTING to STARTED", since="2.8"),
        ),
    ),
    Event(
        kind="broker-shutting-down",
        means="The node begins to shut down cleanly.",
        wordings=(
            Wording(text="shutting down{end}"),
        ),
    ),
    Event(
        kind="broker-shut-down",
        means="The node shut down cleanly; a killed one never says so.",
        wordings=(
            Wording(text="shut down completed{end}"),
        ),
    ),
    Event(
        kind="controlled-shutdown-succeeded",
        means="The controller moved the node's leaderships away before it stops.",
        wordings=(Wording(text="Controlled shutdown succeeded"),),
    ),
    Event(
        kind="unclean-shutdown",
        means="The node stops without having its leaderships moved; its logs are closed in order all the same.",
        wordings=(
            Wording(text="Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed"),
        ),
    ),
    Event(
        kind="signal-received",
        means="The process was told to stop (detail); kill -9 leaves no line.",
        wordings=(
            Wording(text="Terminating process due to signal {detail}"),
        ),
    ),
    Event(
        kind="kafka-version",
        means="The release that the node runs (detail), printed at each start.",
        wordings=(
            Wording(text="Kafka version: {detail}", since="2.2"),
            Wording(text="Kafka version : {detail}", until="2.2"),
        ),
    ),
    Event(
        kind="start-instant",
        means="When the process began, as an instant (detail): beside the line's own time it shows the log's zone.",
        wordings=(
            Wording(text="Kafka startTimeMs: {detail}", since="2.2"),
        ),
    ),
    Event(
        kind="metadata-version",
        means="The metadata version in force (detail).",
        wordings=(
            Wording(
                text="Publishing initial metadata at offset {*} with metadata.version <Optional[|>{version}",
                since="3.3",
            ),
            Wording(text="Replayed a FeatureLevelRecord setting metadata.version to {version}", since="3.3"),
        ),
    ),
    Event(
        kind="topic-created",
        means="The controller created a topic.",
        wordings=(
            Wording(text="Replayed TopicRecord for topic {topic} with <topic |>ID {topic_id}.", since="2.8"),
        ),
    ),
    Event(
        kind="topic-removed",
        means="The controller removed a topic.",
        wordings=(
            Wording(text="Replayed RemoveTopicRecord for topic {topic} with <topic |>ID {topic_id}.", since="2.8"),
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
            ),
        ),
    ),
    Event(
        kind="metadata-copy-lost-tail",
        means="A node (other_broker) fetches the metadata log from below where it had been: it lost a tail of its copy.",
        wordings=(
            Wording(
                text="Detected non-monotonic update of fetch offset from nodeId <ReplicaKey(id=|>{other_broker}{*}: {previous_offset} -> {offset}",
            ),
        ),
    ),
    Event(
        kind="metadata-high-watermark",
        means="The node learnt the metadata log's high watermark, first time in the quorum's epoch.",
        wordings=(
            Wording(
                text="High watermark set to <Optional[|>LogOffsetMetadata(offset={high_watermark}, {*} for the first time for epoch {epoch}",
            ),
        ),
    ),
)  # fmt: skip
