"""From tables, transcripts and tools' outputs to facts: evidence that people brought along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from auditor.engines.opened.unit_facts import unit_fact, unread_fact
from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.broker_settings import of_changes
from auditor.engines.witnesses.counts import counts_in, described_counts
from auditor.engines.witnesses.descriptions import (
    described_commits,
    described_settings,
    of_descriptions,
    of_the_cluster,
)
from auditor.engines.witnesses.names_of_ids import Spoken, apart, names_of, of_topics
from auditor.engines.witnesses.statements_of_requests import of_fetches, of_trace
from auditor.engines.witnesses.statements_of_rows import Named, PartitionName, of_metadata, with_its_topic
from auditor.engines.witnesses.thinned_traces import thinned_rows
from auditor.engines.witnesses.zoned_times import Zones
from parsers.broker_log import wall_clock
from parsers.describe_text import parse_describe_text
from parsers.files import place_of, read_source
from parsers.metadata_log import Znode, parse_znode_text, znode_place, znode_settings, znode_states
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.request_log import partition_fetch
from parsers.tables import Fetch, Refusal
from parsers.trace_table import trace_rows
from rules.history.moments import ZOOKEEPER_CLOCK
from rules.history.repetitions import collapse
from rules.history.trace_ends import WHOLE
from rules.narrow.facts import Fact
from rules.replicas.commits_of_groups import GroupCommit
from rules.replicas.partition_counts import PartitionCount
from rules.replicas.topic_names import TopicName
from rules.settings import Setting, settings_of

GATHERED: Final = 1 << 15
"""Rows that are thinned at once; that many bound the memory of a table, however long it is."""


class _Transcript(Struct, frozen=True, kw_only=True):
    """What a unit's files say, while they are read."""

    moments: Spoken = field(default_factory=dict)
    commits: dict[PartitionName, list[GroupCommit]] = field(default_factory=dict)
    names: set[TopicName] = field(default_factory=set)
    settings: list[Setting] = field(default_factory=list)
    counts: list[PartitionCount] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def note(self, named: Iterable[Named]) -> None:
        """Take statements about partitions."""
        for one in named:
            self.moments.setdefault(one[0], []).append(with_its_topic(one))


def read_transcribed(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition that the unit's files speak of, one for settings, one for what could not be read."""
    read = _Transcript()
    if unit.kind == "trace-table":
        _read_traces(unit, read)
    elif unit.kind == "describe-text":
        _read_descriptions(unit, read)
    else:
        _read_znodes(unit, read)
    zones = Zones(unit.log_timezones)
    spoken = {place: read.moments.get(place, []) for place in (*read.moments, *read.commits)}
    for place, topic_id, moments in sorted(apart(spoken), key=lambda each: repr(each[:2])):
        dated, commits = zones.of_moments(collapse(moments)), tuple(read.commits.get(place, ()))
        yield unit_fact(unit, *place, topic_id=topic_id, moments=dated, commits=commits)
    yield from of_topics(unit, read.moments, read.names)
    if read.settings:
        yield replace(unit_fact(unit, None, None), settings=settings_of(read.settings).statements)
    if read.counts:
        yield replace(unit_fact(unit, None, None), counts=tuple(read.counts))
    if read.refusals:
        yield unread_fact(unit, read.refusals)


def _origin(unit: ReadUnit, piece: Piece) -> Origin:
    origin = unit.origin(piece.source)
    return replace(origin, broker=None) if unit.broker < 0 else origin


def _read_traces(unit: ReadUnit, read: _Transcript) -> None:
    names = names_of(unit)
    for piece in unit.pieces:
        origin = _origin(unit, piece)
        lost = _Unanswered()
        answered = _answered(trace_rows(place_of(unit.dump, piece.source), origin), read.refusals, lost)
        read.note(_sure(of_table(answered, origin, names)))
        read.refusals.extend(lost.refusals(origin))


class _Unanswered:
    """Rows of nobody's answers, counted while a table is read; they are of no use, and one refusal names them all."""

    def __init__(self) -> None:
        self._count, self._start, self._end = 0, 0, 0

    def note(self, row: Fetch) -> None:
        """One more."""
        self._start = self._start if self._count else row.span_start
        self._count, self._end = self._count + 1, row.span_end

    def refusals(self, origin: Origin) -> Iterator[Refusal]:
        """That of all, if there are any."""
        if self._count:
            expected = f"a broker column, or --trace BROKER={origin.source}"
            found = f"{self._count} fetches that no one knows who answered"
            yield refuse(origin, "ambiguous", self._start, self._end, expected=expected, found=found)


def _answered(rows: Iterable[Fetch | Refusal], refusals: list[Refusal], lost: _Unanswered) -> Iterator[Fetch]:
    for row in rows:
        if isinstance(row, Refusal):
            refusals.append(row)
        elif row.broker is None:
            lost.note(row)
        else:
            yield row


def _sure(named: Iterable[Named]) -> Iterator[Named]:
    """Where neither a time nor an epoch places a fetch, nothing is concluded from what it was told."""
    for place, topic_id, moment in named:
        placed = moment.time is not None or (moment.epoch is not None and moment.epoch >= 0)
        yield place, topic_id, moment if placed else replace(moment, doubtful=True)


def _read_descriptions(unit: ReadUnit, read: _Transcript) -> None:
    for piece in unit.pieces:
        origin = _origin(unit, piece)
        content = read_source(unit.dump, origin)
        if isinstance(content, Refusal):
            read.refusals.append(content)
            continue
        parsed = parse_describe_text(content, origin)
        rows, foreign = of_the_cluster(parsed.rows, origin)
        described = described_commits(rows, origin)
        read.refusals.extend((*parsed.refusals, *foreign, *described.refusals))
        read.note(of_descriptions(rows))
        read.settings.extend(described_settings(rows))
        read.counts.extend(described_counts(rows))
        named = ((row.topic_id, row.topic) for row in rows)
        read.names.update(TopicName(topic_id=each, topic=topic) for each, topic in named if each is not None and topic)
        for place, commit in described.commits:
            read.commits.setdefault(place, []).append(commit)


def _read_znodes(unit: ReadUnit, read: _Transcript) -> None:
    znodes: list[Znode] = []
    for piece in unit.pieces:
        origin = _origin(unit, piece)
        content = read_source(unit.dump, origin)
        if isinstance(content, Refusal):
            read.refusals.append(content)
        elif piece.kind == "znode":
            znodes.append(Znode(origin=origin, path=piece.source, content=content))
        else:
            parsed = parse_znode_text(content, origin)
            read.refusals.extend(parsed.refusals)
            znodes.extend(parsed.rows)
    states = znode_states(znode for znode in znodes if znode_place(znode.path) is not None)
    settings = znode_settings(znodes)
    read.refusals.extend((*states.refusals, *settings.refusals))
    read.settings.extend(of_changes(settings.rows, "znode", ZOOKEEPER_CLOCK))
    # Of a topic whose znodes are not all here the last ones may be missing.
    read.counts.extend(counts_in(states.rows, "description"))
    read.note(of_metadata(states.rows, ZOOKEEPER_CLOCK))


def of_table(fetches: Iterable[Fetch], origin: Origin, names: Mapping[str, str]) -> Iterator[Named]:
    """Statements of a table of fetches; `names` gives the topic of an id."""
    rows = iter(fetches)
    while gathered := list(islice(rows, GATHERED)):
        if len(gathered) <= WHOLE:
            yield from of_fetches(gathered, names)
            continue
        for broker, own in _by_broker(gathered).items():
            if _in_order(own):
                yield from of_trace(thinned_rows([*map(partition_fetch, own)]), replace(origin, broker=broker), names)
            else:
                yield from of_fetches(own, names)


def _by_broker(fetches: Iterable[Fetch]) -> dict[int | None, list[Fetch]]:
    found: dict[int | None, list[Fetch]] = {}
    for fetch in fetches:
        if fetch.replica is not None and fetch.partition is not None:
            found.setdefault(fetch.broker, []).append(fetch)
    return found


def _in_order(fetches: Sequence[Fetch]) -> bool:
    """Whether all have their times, and none lies before the one above it: so that what is left out lies between."""
    times = [wall_clock(fetch.time_text) if fetch.time_text else None for fetch in fetches]
    return None not in times and all(one <= other for one, other in pairwise(times))  # type: ignore[operator]
