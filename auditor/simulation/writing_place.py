"""Where and when something is written in a simulated run, and the rows that are filled with it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.tables import BrokerEvent
from parsers.tables.events import EventKind

TOPIC: Final = "simulated"
TOPIC_ID: Final = "c2ltdWxhdGVkLXRvcGljMA"
CLUSTER: Final = "simulated-cluster-0000"
CONTROLLER: Final = 100
"""A node that holds no replica: the controller of every run."""
STATE_CHANGE: Final = "state.change.logger"


class Handling(Struct, frozen=True, kw_only=True):
    """How many microseconds a request took from its arrival until its answer was sent, and of these how many where."""

    total: int = 1000
    queue: int = 100
    local: int = 500
    remote: int = 0


class StatementStamp(Struct, frozen=True, kw_only=True):
    """The node that writes a statement, the statement's number in the run, and its time."""

    node: int
    number: int
    ms: int
    handling: Handling = Handling()

    @property
    def folder(self) -> str:
        """The node's folder."""
        return f"controller-{self.node}" if self.node == CONTROLLER else f"broker-{self.node}"

    @property
    def directory(self) -> str:
        """The node's log dir as it names it itself."""
        return f"/var/lib/kafka/data/{self.folder}"

    @property
    def time_text(self) -> str:
        """The time as log4j prints it, in UTC."""
        then = datetime.fromtimestamp(self.ms / 1000, UTC)
        return f"{then:%Y-%m-%d %H:%M:%S},{self.ms % 1000:03d}"

    def by(self, node: int) -> StatementStamp:
        """The same statement in another node's files."""
        return replace(self, node=node)

    def event(self, kind: EventKind, **fields: object) -> BrokerEvent:
        """A line of the node's own log about the partition."""
        values: dict[str, object] = {
            "cluster_id": CLUSTER, "broker": self.node, "topic": TOPIC, "partition": 0, "kind": kind,
            "time_text": self.time_text, "level": "INFO", "trust": "high",
            "source": f"{self.folder}/logs/server.log", "span_start": self.number, "span_end": self.number + 1,
            **fields,
        }  # fmt: skip
        return BrokerEvent(**{**blank(BrokerEvent), **values})  # type: ignore[arg-type]

    def request(self) -> dict[str, object]:
        """The columns that every line of the node's request log has."""
        return {
            "cluster_id": CLUSTER, "broker": self.node, "time_text": self.time_text, "topic": TOPIC, "partition": 0,
            "total_time_us": self.handling.total, "queue_time_us": self.handling.queue,
            "local_time_us": self.handling.local, "remote_time_us": self.handling.remote,
            "response_queue_time_us": 100, "send_time_us": 100,
            "source": f"{self.folder}/logs/kafka-request.log", "span_start": self.number, "span_end": self.number + 1,
        }  # fmt: skip


def blank(kind: type[Struct]) -> dict[str, object]:
    """A row's columns with nothing in them."""
    return dict.fromkeys(kind.__struct_fields__)


def ids(brokers: Iterable[int]) -> str:
    """A set of brokers as it stands in a table."""
    return ",".join(map(str, sorted(brokers)))
