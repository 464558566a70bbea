"""Lines about settings that were changed while brokers ran, each with all that the topic or broker then has of its own.

Under ZooKeeper every broker prints what it takes over from `/config`, under KRaft from the metadata log; the broker that
was asked to change something prints that too. Settings of users, clients and addresses say nothing about replication.
"""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

CONFIGURING: Final = (
    Event(
        kind="topic-configured",
        means="A topic's own settings from now on. detail: all of them, as printed.",
        wordings=(
            Wording(
                text="Processing override for entityPath: topics/{topic} with config: {detail}",
                since="0.10", until="3.9",
            ),
            Wording(
                text="Processing override for entityType: topics, entity: {topic} with config: {detail}",
                until="3.9",
            ),
            Wording(text="Updating topic {topic} with new configuration :{detail}", since="2.3"),
            Wording(text="Updating topic {topic} with new configuration {detail}", since="0.11", until="2.2"),
        ),
    ),
    Event(
        kind="broker-configured",
        means="What was set for a broker (other_broker), or for all brokers (none), from now on. detail: all of it, as printed.",
        wordings=(
            Wording(
                text="Processing override for entityPath: brokers/{other_broker} with config: {detail}",
                since="1.1", until="3.9",
            ),
            Wording(
                text="Processing override for entityPath: brokers/<default> with config: {detail}",
                since="1.1", until="3.9",
            ),
            Wording(text="Updating <broker|controller> {other_broker} with new configuration :{detail}", since="2.3"),
            Wording(text="Updating cluster configuration :{detail}", since="2.3"),
        ),
    ),
)  # fmt: skip
