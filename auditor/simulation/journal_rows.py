"""What every node of a simulated run wrote, as rows of the tables that its files are read into."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from msgspec.structs import replace

from auditor.simulation.printed_lines import created_rows, event_rows
from auditor.simulation.printed_requests import FetchSessions, RequestRow, request_rows
from auditor.simulation.writing_place import (
    CLUSTER,
    CONTROLLER,
    STATE_CHANGE,
    TOPIC,
    TOPIC_ID,
    Handling,
    StatementStamp,
    blank,
    ids,
)
from parsers.tables import BrokerEvent
from parsers.tables.metadata import NO_LEADER, MetadataChange, join_ids
from rules.protocol.offsets import BrokerId
from rules.simulator import notes
from rules.simulator.generation import Generation
from rules.simulator.notes import Note
from rules.simulator.run_rows import Run
from rules.simulator.state import CREATED_AT_MS, Cluster

FIRST_TIMESTAMP: Final = 1_600_000_000_000
LINES_A_STATEMENT: Final = 10
"""Statements are numbered in tens, so that the lines of one keep their order; bytes come when they are written."""
METADATA: Final = f"controller-{CONTROLLER}/data/__cluster_metadata-0"


class Journal:
    """What one node wrote, file by file, in order; lives only inside a recorder."""

    def __init__(self, node: int) -> None:
        """The node's process has just started."""
        self.node = node
        self.server: list[BrokerEvent] = []
        self.state_change: list[BrokerEvent] = []
        self.requests: list[RequestRow] = []
        self.starts = [FIRST_TIMESTAMP]
        self.in_order = False


class Recorder:
    """Fills the journals while a run goes on: every statement a millisecond after the one before it."""

    spacing: ClassVar[int] = 1000
    """Microseconds between two statements."""

    def __init__(self, generations: Mapping[BrokerId, Generation], others: Collection[BrokerId] = ()) -> None:
        """Nothing is written yet but that every node started; others hold no replica yet."""
        self.generations = generations
        self.journals = {node: Journal(node) for node in (*generations, CONTROLLER)}
        self.metadata: list[MetadataChange] = []
        self.configured: list[tuple[int, tuple[str, str]]] = []
        """When the controller wrote which setting of the topic, and its value."""
        self.sessions = FetchSessions()
        self.roles: dict[int, notes.Decided] = {}
        self.written = 0
        self.now = FIRST_TIMESTAMP * 1000
        """When the statement was made that was written last, in microseconds."""
        self.taken_in: dict[tuple[int, int], int] = {}
        """When a leader took in the fetch of a follower that waits."""
        self.appended: dict[tuple[int, str], int] = {}
        """When a leader appended the batch of a producer that waits."""
        for broker, generation in generations.items():
            place = StatementStamp(node=broker, number=0, ms=FIRST_TIMESTAMP)
            if broker not in others:
                self.journals[broker].server.extend(created_rows(place, generation))

    def record(self, cluster: Cluster) -> None:
        """Write down what was noted in the cluster's last step."""
        before = (FIRST_TIMESTAMP + cluster.time_ms - CREATED_AT_MS) * 1000
        for said in cluster.notes:
            self.now = before + self.written * self.spacing
            if isinstance(said, notes.TookProduce):
                self.appended[said.broker, said.name] = self.now
                continue
            if isinstance(said, notes.TookFetch):
                self.take_in(said)
                continue
            self.send_what_is_due(said)
            self.tick()
            self.write(said)

    def tick(self) -> None:
        """Time goes on by a statement."""
        self.written += 1
        self.now += self.spacing

    def take_in(self, said: notes.TookFetch) -> None:
        """A fetch begins to wait."""
        self.taken_in[said.leader, said.follower] = self.now

    def send_what_is_due(self, before: Note) -> None:
        """Lines of answers that were not sent yet, before another statement is made: here there are none."""

    def write(self, said: Note) -> None:
        """Puts a statement where its writer puts it."""
        ms = self.now // 1000
        if isinstance(said, notes.Decided):
            self.metadata.append(self._change(said, ms))
            return
        if isinstance(said, notes.ConfiguredTopic):
            self.configured.append((ms, (said.name, said.value)))
            return
        writer = writer_of(said)
        self._live(said, writer, ms)
        number, generation = LINES_A_STATEMENT * self.written, self.generations[BrokerId(writer)]
        place = StatementStamp(node=writer, number=number, ms=ms, handling=self.handling(said))
        for row in request_rows(said, place, generation, self.sessions):
            self.keep(row)
        for line, event in enumerate(event_rows(said, place, generation, self.roles.get(writer))):
            own = self.journals[writer]
            start = LINES_A_STATEMENT * self.written + line
            placed = replace(event, span_start=start, span_end=start + 1)
            (own.state_change if event.logger == STATE_CHANGE else own.server).append(placed)
        if isinstance(said, notes.TookRole):
            self.roles[writer] = said.decided

    def handling(self, said: Note) -> Handling:
        """How long the request took that is answered now: one that waited has done so since it was taken in."""
        queue, local, since = self.spacing // 10, self.spacing // 2, self.now - self.spacing
        if isinstance(said, notes.AnsweredFetch) and said.waited:
            since = self.taken_in[said.leader, said.follower]
        elif isinstance(said, notes.AnsweredProduce):
            since = self.appended.pop((said.broker, said.name), since)
        total = self.now - since
        fetch_waited = isinstance(said, notes.AnsweredFetch) and said.waited
        if total == self.spacing and not fetch_waited:
            return Handling(total=total, queue=queue, local=local)
        return Handling(total=total, queue=queue, local=local, remote=total - queue - local - self.spacing // 5)

    def keep(self, row: RequestRow) -> None:
        """A request's answer is sent, and its line written."""
        self.journals[row.broker or CONTROLLER].requests.append(row)

    def _live(self, said: Note, writer: int, ms: int) -> None:
        if isinstance(said, notes.Loaded):
            self.journals[writer].starts.append(ms)
            self.journals[writer].in_order = False
        if isinstance(said, notes.Ended):
            self.journals[writer].in_order = said.in_order
            self.roles.pop(writer, None)
        if isinstance(said, notes.Dropped):
            self.roles.pop(writer, None)
            self.sessions.forget(writer)
        if isinstance(said, notes.TookRole | notes.Ended):
            self.sessions.forget(writer)

    def _change(self, said: notes.Decided, ms: int) -> MetadataChange:
        before = self.metadata[-1] if self.metadata else None
        elr, known = said.elr, said.last_known_leader
        values: dict[str, object] = {
            **blank(MetadataChange), "cluster_id": CLUSTER, "broker": CONTROLLER, "topic": TOPIC,
            "topic_id": TOPIC_ID, "partition": 0, "kind": "created" if before is None else "changed", "time": ms,
            "leader": NO_LEADER if said.leader is None else said.leader, "leader_epoch": said.epoch,
            "partition_epoch": said.version, "isr": ids(said.isr), "replicas": join_ids(said.replicas),
            "adding_replicas": ids(said.adding), "removing_replicas": ids(said.removing),
            "previous_leader": before.leader if before else None, "previous_isr": before.isr if before else None,
            "unclean": said.unclean, "elr": ids(elr), "last_known_elr": ids(() if known is None else (known,)),
            "source": METADATA, "span_start": LINES_A_STATEMENT * self.written, "span_end": 0,
        }  # fmt: skip
        return MetadataChange(**values)  # type: ignore[arg-type]


def recorded(run: Run) -> Recorder:
    """What every node wrote during a run."""
    recorder = Recorder(run.generations, run.script.others)
    for state in run.states:
        recorder.record(state)
    return recorder


def writer_of(said: Note) -> int:
    """The broker in whose files a statement stands."""
    match said:
        case notes.Decided() | notes.ConfiguredTopic():
            return CONTROLLER
        case notes.TookFetch() | notes.AnsweredFetch() | notes.AnsweredEpoch() | notes.AnsweredEnd():
            return said.leader
        case _:
            return said.broker
