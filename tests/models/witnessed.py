"""Random walks of model and simulator, what their brokers wrote, and the replay of it beside the model's truth."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from auditor.engines.witnesses.broker_settings import of_configurations
from auditor.engines.witnesses.fetched import ByColumns
from auditor.engines.witnesses.statements_of_requests import of_trace
from auditor.engines.witnesses.statements_of_rows import Named, of_events, of_metadata
from auditor.simulation.journal_rows import FIRST_TIMESTAMP, LINES_A_STATEMENT
from auditor.simulation.printed_requests import RequestRow
from auditor.simulation.writing_place import TOPIC, TOPIC_ID
from parsers.provenance import Origin, Span
from parsers.request_log import Other, PartitionFetch, partition_fetch
from parsers.tables.requests import Fetch, Produce
from rules.chronicle.request_logs import LoggedRequests
from rules.history.moments import Moment
from rules.history.repetitions import collapse
from rules.history.terms import in_terms
from rules.replay import Replay, replay
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leads.served_leads import ServedLead
from rules.settings import MIN_IN_SYNC, NO_SETTINGS, Setting, Settings, settings_of
from tests.models.busy import Busy, Timed
from tests.models.oracle import Model, Version
from tests.models.search import Pair, choice, of_durable_producers, of_moves, of_quotas, of_settings, of_work

BUSY = (of_quotas, *(of_work for _ in range(40)))
MOVING = (of_moves, of_moves, of_moves, *(of_work for _ in range(20)))
CONFIGURING = (of_settings, of_durable_producers)


@dataclass
class Truth:
    """What the model held after a step."""

    ends: dict[int, int]
    watermarks: dict[int, int]
    leading: dict[int, int]
    """Who led, and in which epoch."""
    remote_ends: dict[tuple[int, int], int]
    """What each leader knew of each follower's log end."""


@dataclass
class Witnessed:
    """A walk: the truth after every statement that was written, and where statements of a step begin."""

    version: Version
    lines: list[str]
    recorder: Timed
    truths: list[Truth] = field(default_factory=list)
    begins: dict[str, int] = field(default_factory=dict)
    """Request logs that were cut at their beginning, and when they begin now."""

    def during(self, moment: Moment) -> Sequence[Truth]:
        """The truth after each step from that in which a request was handled to that in which its line was written."""
        handled, written = self.window(moment.span.source, moment.span.start)
        times = self.recorder.times
        if moment.time is not None and moment.time != times[written - 1]:  # the last of a run of equal fetches
            handled, written = bisect_left(times, moment.time) + 1, bisect_right(times, moment.time)
        return self.truths[handled - 1 : written]

    def window(self, source: str, start: int) -> tuple[int, int]:
        """After which statement the request of a line had been handled, and the number of the line itself."""
        written = start // LINES_A_STATEMENT
        late = self.recorder.handled if isinstance(self.recorder, Busy) else {}
        return late.get((source, start), written), written


def truth_of(model: Model) -> Truth:
    """The model's state, as far as a replay speaks of it."""
    return Truth(
        ends={broker: replica.end for broker, replica in model.replicas.items()},
        watermarks={broker: replica.hw for broker, replica in model.replicas.items()},
        leading={b: r.state.leader_epoch for b, r in model.replicas.items() if r.alive and r.presumes and r.state},
        remote_ends={
            (leader, follower): known.end
            for leader, replica in model.replicas.items()
            for follower, known in replica.followers.items()
        },
    )


def witnessed(
    version: Version,
    seed: int,
    length: int,
    replicas: int,
    *,
    pace: int = 1,
    processes: bool = True,
    busy: bool = False,
    moves: bool = False,
    configures: bool = False,
) -> Witnessed:
    """A random walk with everything written down; `pace` seconds pass between two actions.

    Busy brokers make several statements within a millisecond, let requests queue, and throttle followers. Where
    partitions move, one broker more than replicas is there to move to.
    """
    rng = random.Random(seed)  # noqa: S311 - the same walks every time
    pair = Pair.created(version, replicas, others=int(moves))
    more = (*(BUSY if busy else ()), *(MOVING if moves else ()), *(CONFIGURING if configures else ()))
    generations = {b.id: b.generation for b in pair.cluster.brokers}
    others = [broker.id for broker in pair.cluster.brokers if not broker.holds]
    found = Witnessed(version, pair.lines, Busy(generations, seed, others) if busy else Timed(generations, others))
    note_step(found, pair)
    for _ in range(length):
        line = choice(pair.model, rng, processes=processes, more=more)
        if line.startswith("wait"):
            for broker in pair.model.replicas:
                take(found, pair, f"answer {broker}")
        verb, _, rest = line.partition(" ")
        if verb in ("ask", "fetch", "reconcile") and pair.model.replicas[int(rest)].awaits is not None:
            line = f"answer {rest}"  # a fetcher asks again when it has worked off the former answer
        if verb != "expand" or asks_to_join(found, pair, line):
            take(found, pair, line)
        take(found, pair, f"wait {pace}s")
    if isinstance(found.recorder, Busy):
        found.recorder.send_all()
        found.truths += [truth_of(pair.model)] * (found.recorder.written - len(found.truths))
    return found


def asks_to_join(found: Witnessed, pair: Pair, line: str) -> bool:
    """Lets a follower fetch, which alone makes a leader take it in: the models let a leader do so at any time."""
    follower, leader = int(line.split()[1]), int(line.rpartition("=")[2])
    replica = pair.model.replicas[follower]
    if replica.awaits is not None:
        take(found, pair, f"answer {follower}")
    take(found, pair, f"ask {follower}")
    asked = replica.awaits
    return asked is not None and asked.leader == leader and asked.kind in ("records", "waiting")


def take(found: Witnessed, pair: Pair, line: str) -> None:
    """One action, written down."""
    pair.act(line)
    note_step(found, pair)


def note_step(found: Witnessed, pair: Pair) -> None:
    """What the last step wrote, and the truth after it."""
    before = found.recorder.written
    found.recorder.record(pair.cluster)
    found.truths += [truth_of(pair.model)] * (found.recorder.written - before)


def moments_of(found: Witnessed) -> tuple[Moment, ...]:
    """Everything written, as statements, as an audit reads them."""
    recorder, names = found.recorder, {TOPIC_ID: TOPIC}
    told: list[Moment] = []
    for journal in recorder.journals.values():
        for named in (of_events(journal.server), of_events(journal.state_change), _traced(journal.requests, names)):
            told += collapse([moment for _, _, moment in named])
    if all(generation.kraft for generation in recorder.generations.values()):
        told += [moment for _, _, moment in of_metadata(recorder.metadata)]
    return in_terms(told)


def _traced(rows: Sequence[RequestRow], names: Mapping[str, str]) -> Iterator[Named]:
    """A request log's rows as the readers hand them on."""
    if rows:
        origin = Origin(source=rows[0].source, broker=rows[0].broker)
        yield from of_trace(map(_told, rows), origin, names)


def _told(row: RequestRow) -> PartitionFetch | Other | ByColumns:
    if isinstance(row, Fetch):
        return partition_fetch(row)
    return ByColumns({}, _written(row)) if isinstance(row, Produce) else row


def _written(row: Produce) -> dict[str, list[object]]:
    """A produce as request logs tell it."""
    total, queue, local = row.total_time_us, row.queue_time_us, row.local_time_us
    handled = None if total is None or queue is None or local is None else max(0, total - queue - local)
    answered = None if handled is None or row.remote_time_us is None else max(0, handled - row.remote_time_us)
    alike = ("topic", "topic_id", "acks", "error_code", "base_offset", "log_start_offset", "records_size", "client_id")
    told = {
        **{name: getattr(row, name) for name in alike}, "partition": row.partition or 0, "time": row.time_text,
        "request": row.correlation_id,
        "came": row.total_time_us, "handled": handled, "answered": answered, "waited": bool(row.remote_time_us),
        "start": row.span_start, "end": row.span_end, "left_out": 0, "end_left_out": False,
    }  # fmt: skip
    return {name: [value] for name, value in told.items()}


def settings_told(found: Witnessed) -> Settings:
    """What brokers print of settings when they start, and when the topic is given others."""
    started = (
        Setting(
            name=MIN_IN_SYNC, value="1", origin="log", broker=broker, since=FIRST_TIMESTAMP, clock=f"broker {broker}",
            span=Span(source=f"broker-{broker}/logs/server.log", start=0, end=0),
        )
        for broker in found.recorder.generations
    )  # fmt: skip
    given = (setting for journal in found.recorder.journals.values() for setting in of_configurations(journal.server))
    return settings_of([*started, *given])


def replayed(
    found: Witnessed,
    moments: Sequence[Moment],
    begins: Mapping[str, int] = MappingProxyType({}),
    *,
    settings: Settings = NO_SETTINGS,
) -> Replay:
    """The replay of statements of a walk, told where request logs begin that do not begin with their broker."""
    traces = {moment.span.source: moment for moment in moments if moment.span.source.endswith("kafka-request.log")}
    logs = {
        m.witness: LoggedRequests(broker=m.witness, here=True, begun=begins.get(source, FIRST_TIMESTAMP))
        for source, m in traces.items()
        if m.witness is not None
    }
    binaries = dict.fromkeys(found.recorder.generations, found.version.name)
    over_time = partial(settings.over_time, TOPIC)
    return replay(in_terms(moments), (), binaries, request_logs=logs, over_time=over_time)


def outside(found: Witnessed, said: Replay) -> Iterator[str]:
    """Every interval that does not hold the model's truth."""
    for told in said.told_watermarks:
        if told.standing in ("above", "below"):
            yield f"told {told.observed}, expected {told.expected}: {told.moment}"
    for course in said.courses:
        for row in course.rows:
            yield from _wrong(found, course.lead, row)


def _wrong(found: Witnessed, lead: ServedLead, row: LeaderRow) -> Iterator[str]:
    if row.last or getattr(row.moment, "arrived", None) is None:
        return  # the end of a run, of which no line has its place
    leader = lead.leader
    truths = [truth for truth in found.during(row.moment) if lead.covers(truth.leading.get(leader, -1))]
    for name, values, expected in (
        ("log end", [truth.ends[leader] for truth in truths], row.log_end),
        ("high watermark", [truth.watermarks[leader] for truth in truths], row.high_watermark),
    ):
        low, high = expected.interval.low, expected.interval.high
        if values and ((low is not None and values[-1] < low) or (high is not None and values[0] > high)):
            yield f"{name} of {leader} is {values}, expected {expected} after {row.moment}"


def widths(said: Replay) -> list[int | None]:
    """How wide the intervals of the leaders' answers are; none for an open one."""
    return [told.expected.interval.width for told in said.told_watermarks if told.by_leader]


def without_files(moments: Iterable[Moment], gone: set[str]) -> tuple[Moment, ...]:
    """What the other files tell."""
    return in_terms([moment for moment in moments if moment.span.source not in gone])


def tightness(walks: Iterable[Witnessed]) -> tuple[int, int, int]:
    """Of the high watermarks that leaders told: how many are known exactly, how many within bounds, how many in all."""
    known = [width for found in walks for width in widths(replayed(found, moments_of(found)))]
    closed = [width for width in known if width is not None]
    return sum(width == 0 for width in closed), len(closed), len(known)
