"""From a log file or a metadata log to statements about partitions and settings: the units of evidence over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from auditor.engines.opened.opening import refuse_wide_text
from auditor.engines.opened.unit_facts import unit_fact, unread_fact
from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.broker_logs import Speech, is_nobodys, read_broker_log, read_stretch
from auditor.engines.witnesses.broker_settings import OF_BROKERS, Printed, changed, of_changes, of_files, of_log
from auditor.engines.witnesses.clock_lines import of_lines
from auditor.engines.witnesses.counts import counts_in, racks_in
from auditor.engines.witnesses.fetched import ByColumns
from auditor.engines.witnesses.metadata_copies import metadata_history_of
from auditor.engines.witnesses.names_of_ids import Spoken, apart, named_in, names_of, of_topics
from auditor.engines.witnesses.registrations import OF_MEMBERSHIPS, memberships_in, quorum_leaders_in, registrations_in
from auditor.engines.witnesses.session_ends import broken_in, of_followers, of_the_log
from auditor.engines.witnesses.statements_of_requests import of_trace
from auditor.engines.witnesses.statements_of_rows import Named, of_events, of_metadata, spoken_of, with_its_topic
from auditor.engines.witnesses.thinned_traces import Thinning
from auditor.engines.witnesses.untold_requests import SessionsLost, of_several_brokers, trace_gaps, undated
from auditor.engines.witnesses.zoned_times import Zones
from parsers.broker_log import given_for
from parsers.checkpoints import read_server_properties
from parsers.files import place_of, read_source
from parsers.provenance import Origin
from parsers.request_log import NO_LINE, NOTHING, Other, PartitionFetch, SessionState, Trace, sessions_after
from parsers.tables import BrokerEvent, Refusal, from_arrow
from rules.history.repetitions import collapse
from rules.history.trace_ends import SessionBroken
from rules.narrow.facts import Fact
from rules.protocol.topics import METADATA_TOPIC
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.partition_counts import PartitionCount
from rules.replicas.topic_names import TopicName
from rules.settings import Setting

TELLING: Final = frozenset(
    ("FETCH", "PRODUCE", "OFFSET_FOR_LEADER_EPOCH", "OFFSETS_FOR_LEADER_EPOCH", "LIST_OFFSETS", "ALTER_PARTITION",
     "ALTER_ISR", "LEADER_AND_ISR", "METADATA", "DELETE_RECORDS")
)  # fmt: skip
"""Requests that tell something which a rule asks for; lines of others are passed over."""


def read_logs(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition that the unit's files speak of, and one for what could not be read."""
    heard = _Heard()
    refusals, settings = heard.refusals, heard.settings
    spoken = _spoken(_statements(unit, heard))
    if unit.kind == "broker-log":
        refusals.extend(undated(unit, spoken))
    yield from _facts(unit, spoken)
    yield from of_lines(unit, spoken)
    yield from of_topics(unit, spoken, heard.names)
    yield from of_followers(unit, heard.broken)
    if settings:
        yield replace(unit_fact(unit, None, None), settings=Zones(unit.log_timezones).of_settings(settings))
    if heard.counts:
        yield replace(unit_fact(unit, None, None), counts=tuple(heard.counts))
    if heard.snapshots:
        yield replace(unit_fact(unit, METADATA_TOPIC, 0), metadata_snapshots=tuple(heard.snapshots))
    # A stretch that shows whose log it is not takes the others with it; of a whole log nothing is left anyway.
    poured = {refusal.source for refusal in refusals if refusal.kind == "ambiguous"} if unit.is_stretch else ()
    if poured:
        yield replace(unit_fact(unit, None, None), disowned=tuple(poured))
    yield from _refused(unit, refusals)


def read_trace(unit: ReadUnit, before: SessionState = NOTHING) -> tuple[Sequence[Fact], SessionState]:
    """The same of a stretch of a request log, given the fetch sessions before it; and those after it."""
    (piece,), refusals, names = unit.pieces, list[Refusal](), names_of(unit)
    path, origin = place_of(unit.dump, piece.source), unit.origin(piece.source)
    patterns = given_for(origin.broker, unit.log_patterns)
    trace = Trace(path, origin, piece.start, piece.end, before=before, apis=TELLING, patterns=patterns)
    if (wide := refuse_wide_text(path, origin)) is not None:
        return list(_refused(unit, [wide] if piece.start == 0 else [])), before
    lost, thinning = SessionsLost(unit), Thinning()
    rows = thinning.passing(lost.passing(trace.read()))
    spoken = _spoken(of_trace(_without(refusals, rows), origin, names))
    if unit.shared:
        refusals = _of_requests(refusals)
    if (mixed := of_several_brokers(unit, spoken)) is not None:
        return list(_refused(unit, [*refusals, mixed])), trace.sessions()
    refusals.extend(undated(unit, spoken))
    gaps = (*trace_gaps(unit, refusals), *lost.gaps(piece.source))
    of_all = [replace(unit_fact(unit, None, None), gaps=gaps)] if gaps else []
    sessions = trace.sessions()
    of_all += [*of_lines(unit, spoken), *of_topics(unit, spoken, ())]
    of_all.append(of_the_log(unit, spoken, sessions, thinning.names))
    return [*_facts(unit, spoken), *of_all, *_refused(unit, refusals)], sessions


def sessions_of(unit: ReadUnit) -> SessionState:
    """What a stretch of a request log does to fetch sessions, whatever they were before it."""
    (piece,) = unit.pieces
    path, origin = place_of(unit.dump, piece.source), unit.origin(piece.source)
    return sessions_after(path, origin, piece.start, piece.end, given_for(origin.broker, unit.log_patterns))


def _of_requests(refusals: Sequence[Refusal]) -> list[Refusal]:
    """What is refused of requests in a file of all logs: a line that begins none is read with the broker's own log."""
    return [refusal for refusal in refusals if not refusal.expected.startswith(NO_LINE)]


def _without(
    refusals: list[Refusal], rows: Iterable[PartitionFetch | Other | ByColumns]
) -> Iterator[PartitionFetch | Other | ByColumns]:
    for row in rows:
        if isinstance(row, Refusal):
            refusals.append(row)
        else:
            yield row


def _spoken(statements: Iterable[Named]) -> Spoken:
    spoken: Spoken = {}
    for named in statements:
        spoken.setdefault(named[0], []).append(with_its_topic(named))
    return spoken


def _facts(unit: ReadUnit, spoken: Spoken) -> Iterator[Fact]:
    zones = Zones(unit.log_timezones)
    for (topic, partition), topic_id, moments in apart(spoken):
        dated = zones.of_moments(collapse(moments))
        yield unit_fact(unit, topic, partition, topic_id=topic_id, moments=dated)


def _refused(unit: ReadUnit, refusals: Sequence[Refusal]) -> Iterator[Fact]:
    if refusals:
        yield unread_fact(unit, refusals)


class _Heard(Struct, frozen=True, kw_only=True):
    """What logs say beside their statements about partitions, while they are read."""

    settings: list[Setting] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    names: set[TopicName] = field(default_factory=set)
    broken: list[SessionBroken] = field(default_factory=list)
    counts: list[PartitionCount] = field(default_factory=list)
    snapshots: list[SnapshotSeen] = field(default_factory=list)

    def take(self, other: _Heard) -> None:
        """All that another speech says, too."""
        self.settings.extend(other.settings)
        self.refusals.extend(other.refusals)
        self.names.update(other.names)
        self.broken.extend(other.broken)


def _statements(unit: ReadUnit, heard: _Heard) -> Iterator[Named]:
    if unit.kind == "metadata":
        yield from _metadata(unit, heard)
        return
    for piece in unit.pieces:
        path, origin = place_of(unit.dump, piece.source), unit.origin(piece.source)
        if (wide := refuse_wide_text(path, origin)) is not None:
            heard.refusals.append(wide)
        elif unit.kind == "server-properties":
            heard.settings.extend(_properties(unit, origin, heard.refusals))
        else:
            yield from _events(_speeches(unit, piece, path), heard)


def _properties(unit: ReadUnit, origin: Origin, refusals: list[Refusal]) -> Iterator[Setting]:
    content = read_source(unit.dump, origin)
    if isinstance(content, Refusal):
        refusals.append(content)
        return
    properties = read_server_properties(content, origin)
    refusals.extend(properties.refusals)
    yield from of_files(properties.rows)


def _speeches(unit: ReadUnit, piece: Piece, path: Path) -> Iterator[Speech]:
    origin = unit.origin(piece.source)
    patterns = given_for(origin.broker, unit.log_patterns)
    if unit.is_stretch:
        return iter([read_stretch(path, origin, patterns, piece.start, piece.end)])
    return read_broker_log(path, origin, patterns)


def _events(speeches: Iterable[Speech], heard: _Heard) -> Iterator[Named]:
    """The statements of speeches; of one that shows at its end that it is nobody's, what is refused of it alone."""
    printed: Printed = {}
    for speech in speeches:
        last, own, named = printed.copy(), _Heard(), list[Named]()
        for part in speech:
            if is_nobodys(part):
                last, own, named = printed.copy(), _Heard(), []
            own.refusals.extend(part.refusals)
            own.names.update(named_in(part.events))
            own.broken.extend(broken_in(part.events))
            events = from_arrow(spoken_of(part.events, (*OF_BROKERS, *OF_MEMBERSHIPS)), BrokerEvent)
            own.settings.extend(changed(of_log(events, part.settings), last))
            own.settings.extend(memberships_in(events))
            named.extend(of_events(events))
        printed = last
        heard.take(own)
        yield from named


def _metadata(unit: ReadUnit, heard: _Heard) -> Iterator[Named]:
    read = metadata_history_of(unit, heard.refusals)
    if read is not None:
        heard.settings.extend(of_changes(read.history.configs))
        heard.settings.extend(racks_in(read.history.brokers))
        heard.settings.extend(registrations_in(read.history.brokers, read.batches.written))
        heard.settings.extend(quorum_leaders_in(read.history.quorum))
        heard.counts.extend(counts_in(read.history.partitions))
        heard.snapshots.extend(read.snapshots)
        named = ((row.topic_id, row.topic) for row in read.history.topics)
        heard.names.update(TopicName(topic_id=each, topic=topic) for each, topic in named if each is not None and topic)
        yield from of_metadata(read.history.partitions, written=read.batches.written, to_its_end=read.to_its_end)
