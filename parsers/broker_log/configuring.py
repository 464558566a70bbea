"""Lines about settings that were changed while brokers ran, each with all that the topic or broker then has of its own.

Under ZooKeeper every broker prints what it takes over from `/config`, under KRaft from the metadata log; the broker that
was asked to change something prints that too. Settings of users, clients and addresses say nothing about replication.
"""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_PUBLISHER: Final = "[DynamicConfigPublisher broker id=2] "
_BOTH: Final = "min.insync.replicas -> 1,unclean.leader.election.enable -> true"
_BOTH_IN_MAP: Final = "HashMap(min.insync.replicas -> 1, unclean.leader.election.enable -> true)"

CONFIGURING: Final = (
    Event(
        kind="topic-configured",
        means="A topic's own settings from now on. detail: all of them, as printed.",
        wordings=(
            Wording(
                text="Processing override for entityPath: topics/{topic} with config: {detail}", since="0.10", until="3.9",
                sample=f"Processing override for entityPath: topics/pay with config: {_BOTH_IN_MAP}",
                expect={"topic": "pay", "detail": _BOTH_IN_MAP},
            ),
            Wording(
                text="Processing override for entityType: topics, entity: {topic} with config: {detail}", until="3.9",
                sample="Processing override for entityType: topics, entity: pay with config: {min.insync.replicas=1}",
                expect={"topic": "pay", "detail": "{min.insync.replicas=1}"},
            ),
            Wording(
                text="Updating topic {topic} with new configuration :{detail}", since="2.3",
                sample=f"{_PUBLISHER}Updating topic pay with new configuration : {_BOTH}",
                expect={"broker": 2, "topic": "pay", "detail": _BOTH},
            ),
            Wording(
                text="Updating topic {topic} with new configuration {detail}", since="0.11", until="2.2",
                sample="[Admin Manager on Broker 0]: Updating topic pay with new configuration Map(min.insync.replicas -> 1)",
                expect={"broker": None, "topic": "pay", "detail": "Map(min.insync.replicas -> 1)"},
            ),
        ),
    ),
    Event(
        kind="broker-configured",
        means="What was set for a broker (other_broker), or for all brokers (none), from now on. detail: all of it, as printed.",
        wordings=(
            Wording(
                text="Processing override for entityPath: brokers/{other_broker} with config: {detail}", since="1.1", until="3.9",
                sample="Processing override for entityPath: brokers/3 with config: Map(min.insync.replicas -> 1)",
                expect={"other_broker": 3, "detail": "Map(min.insync.replicas -> 1)"},
            ),
            Wording(
                text="Processing override for entityPath: brokers/<default> with config: {detail}", since="1.1", until="3.9",
                sample="Processing override for entityPath: brokers/<default> with config: Map()",
                expect={"other_broker": None, "detail": "Map()"},
            ),
            Wording(
                text="Updating <broker|controller> {other_broker} with new configuration :{detail}", since="2.3",
                sample=f"{_PUBLISHER}Updating broker 2 with new configuration : {_BOTH}",
                expect={"broker": 2, "other_broker": 2, "detail": _BOTH},
            ),
            Wording(
                text="Updating cluster configuration :{detail}", since="2.3",
                sample=f"{_PUBLISHER}Updating cluster configuration : min.insync.replicas -> 1",
                expect={"broker": 2, "other_broker": None, "detail": "min.insync.replicas -> 1"},
            ),
        ),
    ),
)  # fmt: skip
