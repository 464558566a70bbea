r"""A partition as a few lines of text, and back: the notation of rule pages, tests and reports.

    broker 1* 000022|2
    broker 2  00001|1 ; epochs 0@0 1@4, recovery 5

One line a replica, one column an offset. The marks:

    0 1 2      a batch of one record, written in that leader epoch     [12]   an epoch above 9
    1a 1b      other content at the same epoch                         -      legacy format, without an epoch
               (where logs are compacted: of key a, of key b)          1A     a delete of key a
    0x500      500 such batches in a row (or with U+00D7 for the x)    (000)  one batch of three records
    .          a hole: nothing is held at this offset; .x9 for nine    (0.0)  a batch whose second record was cleaned
    0!         a batch whose bytes do not give its checksum            #      unreadable bytes in an offset's place; #x9
    0? (00)?   a batch whose records cannot be decoded
    |          the high watermark on disk                              <      the log start offset
    /          a new segment begins                                    @7:    the next column is offset 7
    ~          a batch cut short ends the file                         _      zeros end the file
    *          after the broker: it leads

Behind `;` stand notes about the replica, separated by commas:

    hw 9               the high watermark on disk, or `hw none`      voters 7 8          voters by its quorum state
    start 3            the log start offset                          snapshots 3 5       producer snapshots at offsets
    recovery 5         the recovery point, or `recovery none`        index-fault offset  an index contradicts the log
    cleaner 4          the cleaner's checkpoint                      markers             transactions ended in the log
    epochs 0@0 1@4     the epoch file; or missing, empty,            leo 90              undrawn records up to there
                       malformed, unreadable                         pace 60             seconds between two offsets
    topic-id x         the topic id in the folder                    append-times        the broker wrote these times
    log-dir d          the log dir that holds the replica            unclean             no clean shutdown
    future             a folder of a replica that is moving; `deleted` and `stray` are other states

Braces behind a batch name its producer, as `rules.sketch.written_by` says. Unless said otherwise the epoch file agrees
with the batches, the broker shut down cleanly, and the recovery point is the log end offset.

Lines of their own:

    topic t                       the topic's name
    ids a b                       topic ids that logs give it
    live                          the folders were copied while brokers ran
    kafka 1 3.9.1 ibp 3.9         the version of broker 1, and its inter-broker protocol
    set min.insync.replicas 2     a setting of all topics, whenever it was set

Lines with a time are in `rules.sketch.statement_lines`, and of settings and traces in `rules.sketch.timed_lines`. Lines
about the topic as a whole and about consumer groups are in `rules.sketch.topic_lines`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from msgspec import Struct, structs
from msgspec.structs import replace

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.evidence import (
    BrokerVersion,
    EpochClaim,
    EpochFile,
    OffsetClaim,
    PartitionEvidence,
    Replica,
    SegmentFile,
)
from rules.facts.indexes import IndexFacts, IndexFault
from rules.history.moments import Moment
from rules.history.terms import in_terms
from rules.narrow.last_of_keys import KeyLedger, LastRecords
from rules.narrow.surviving_keys import KeyedReplica, keyed, replicas_to_key
from rules.protocol.epochs import EpochStart
from rules.replicas.foreign import Foreign
from rules.replicas.topic_ids import other_ids
from rules.settings import Setting, settings_of
from rules.sketch.drawn_batches import Pace
from rules.sketch.drawn_log import SketchedLog, SketchError, sketch_log
from rules.sketch.statement_lines import is_event, read_event
from rules.sketch.timed_lines import TimedLines
from rules.sketch.topic_lines import TopicLines
from rules.sketch.written_by import COMMIT, TRANSACTIONAL

__all__ = ["Sketch", "SketchError", "read_sketch"]

_LINE: Final = re.compile(r"^broker\s+(?P<broker>\d+)(?P<leads>\*?)\s*(?P<cells>[^;]*)(?:;(?P<notes>.*))?$")
_SETTING: Final = re.compile(r"set ([a-z.]+) (\S+)")
_STATES: Final = ("future", "deleted", "stray")
_NOTES: Final = frozenset({
    "hw", "leo", "start", "recovery", "cleaner", "unclean", "epochs", "topic-id", "log-dir", "snapshots", "voters",
    "index-fault", "markers", "pace", "append-times", *_STATES,
})  # fmt: skip


class Sketch(Struct, frozen=True, kw_only=True):
    """A parsed sketch: the evidence it draws and the broker it marks as leader."""

    evidence: PartitionEvidence
    leader: int | None


def read_sketch(text: str) -> Sketch:
    """The evidence that a sketch draws."""
    replicas: list[Replica] = []
    versions: list[BrokerVersion] = []
    moments: list[Moment] = []
    settings: list[Setting] = []
    of_topic, timed = TopicLines(), TimedLines()
    topic, live, leader = "t", False, None
    told_ids: frozenset[str] = frozenset()
    for line in filter(None, (raw.strip() for raw in text.splitlines())):
        match = _LINE.match(line)
        if match:
            replicas.append(_replica(match))
            leader = int(match["broker"]) if match["leads"] else leader
        elif timed.take(line) or of_topic.take(line):
            continue
        elif line == "live":
            live = True
        elif line.startswith("topic "):
            topic = line.removeprefix("topic ").strip()
        elif line.startswith("ids "):
            told_ids = frozenset(line.split()[1:])
        elif line.startswith("kafka "):
            versions.append(_version(line))
        elif setting := _SETTING.fullmatch(line):
            settings.append(Setting(name=setting[1], value=setting[2], origin="metadata", span=_span("settings")))
        elif is_event(line):
            moments.append(read_event(line))
        else:
            message = f"expected 'broker ID CELLS', 'topic T', 'live', 'kafka ID V' or 'set NAME V', found {line!r}"
            raise SketchError(message)
    evidence = PartitionEvidence(
        cluster_id=None,
        topic=topic,
        partition=0,
        replicas=tuple(replicas),
        versions=tuple(versions),
        told_ids=told_ids,
        foreign=Foreign(ids=other_ids(topic, 0, [r for r in replicas if r.state == "current"], told_ids, ())),
        copied_live=live,
        chronicle=Chronicle(in_terms(moments)),
        settings=settings_of([*settings, *timed.settings(topic)]),
        brokers_in_dump=len({replica.broker for replica in replicas}),
    )
    return Sketch(evidence=with_drawn_keys(of_topic.added_to(timed.added_to(evidence, moments))), leader=leader)


def _version(line: str) -> BrokerVersion:
    words = line.split()
    protocol = words[words.index("ibp") + 1] if "ibp" in words else None
    return BrokerVersion(broker=int(words[1]), binary=words[2], inter_broker_protocol=protocol, because="the sketch")


def _replica(match: re.Match[str]) -> Replica:
    broker = int(match["broker"])
    notes = dict(_notes(match["notes"] or ""))
    log_dir = notes.get("log-dir", f"broker-{broker}")
    state = next((word for word in _STATES if word in notes), "current")
    path = f"{log_dir}/t-0" if state == "current" else f"{log_dir}/t-0.0-{state}"
    pace = Pace(milliseconds=1000 * int(notes["pace"]) if "pace" in notes else 1, by_broker="append-times" in notes)
    log = sketch_log(match["cells"], path, int(notes["leo"]) if "leo" in notes else None, pace)
    replica = Replica(
        broker=broker,
        log_dir=log_dir,
        path=path,
        state=state,  # type: ignore[arg-type]
        topic_id=notes.get("topic-id"),
        segments=tuple(
            SegmentFile(base_offset=base, source=source, size=size) for base, source, size in log.segments
        ),
        log=structs.replace(log.facts, control_batches=1) if "markers" in notes else log.facts,
        clean_shutdown=None if "unclean" in notes else _span(f"{log_dir}/.kafka_cleanshutdown"),
        zooms=(log.zoom,),
    )
    return _with_claims(replica, notes, log)


def _with_claims(replica: Replica, notes: dict[str, str], log: SketchedLog) -> Replica:
    root = replica.log_dir
    watermark = notes.get("hw", "none" if log.high_watermark is None else str(log.high_watermark))
    start = notes.get("start", "none" if log.log_start is None else str(log.log_start))
    replica = replace(replica, log_start_claim=_claim(start, f"{root}/log-start-offset-checkpoint"))
    recovery = notes.get("recovery", str(replica.log_end_offset) if replica.clean_shutdown else "none")
    index = notes.get("index-fault")
    return replace(
        replica,
        high_watermark=_claim(watermark, f"{root}/replication-offset-checkpoint"),
        recovery_point=_claim(recovery, f"{root}/recovery-point-offset-checkpoint"),
        cleaner_offset=_claim(notes.get("cleaner", "none"), f"{root}/cleaner-offset-checkpoint"),
        epoch_file=_epoch_file(notes.get("epochs"), replica, log.epochs),
        snapshot_offsets=tuple(
            OffsetClaim(offset=int(word), span=_span(f"{replica.path}/{int(word):020d}.snapshot"))
            for word in notes.get("snapshots", "").split()
        ),
        voters=tuple(int(word) for word in notes.get("voters", "").split()),
        indexes=_indexes(replica, index),
    )


def _indexes(replica: Replica, kind: str | None) -> IndexFacts:
    if kind is None:
        return IndexFacts()
    span = _span(f"{replica.path}/{0:020d}.{kind}index")
    fault = IndexFault(
        kind=kind,  # type: ignore[arg-type]
        flaw="falls",
        segment_base_offset=0,
        offset=0,
        found="the entries do not rise: offset 1 comes before offset 0",
        span=span,
    )
    return IndexFacts(entries=2, faults=(fault,), fault_count=1)


def _notes(text: str) -> Iterator[tuple[str, str]]:
    for note in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = note.partition(" ")
        if name not in _NOTES:
            message = f"expected one of {', '.join(sorted(_NOTES))} behind ';', found {note!r}"
            raise SketchError(message)
        yield name, value.strip()


def _claim(value: str, source: str) -> OffsetClaim | None:
    return None if value == "none" else OffsetClaim(offset=int(value), span=_span(source))


def _epoch_file(note: str | None, replica: Replica, rebuilt: tuple[EpochStart, ...]) -> EpochFile:
    span = _span(f"{replica.path}/leader-epoch-checkpoint")
    if note == "missing":
        return EpochFile()
    if note in ("empty", "malformed", "unreadable"):
        return EpochFile(state=note, span=span)  # type: ignore[arg-type]
    pairs = (
        [(entry.epoch, entry.start_offset) for entry in rebuilt]
        if note is None
        else [tuple(map(int, word.split("@"))) for word in note.split()]
    )
    if not pairs and not replica.log.epochs:
        return EpochFile(state="empty", span=span)
    claims = tuple(EpochClaim(epoch=epoch, start_offset=start, span=span) for epoch, start in pairs)
    return EpochFile(state="entries", entries=claims, span=span)


def _span(source: str) -> Span:
    return Span(source=source, start=0, end=1)


def with_drawn_keys(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with what differs among the keys of compacted replicas."""
    asked = replicas_to_key(evidence)
    return keyed(evidence, [KeyedReplica(replica=r, last=_last(r)) for r in asked]) if asked else evidence


def _last(replica: Replica) -> LastRecords:
    ledger = KeyLedger(replica.log_start_offset)
    records = [record for zoom in replica.zooms for record in zoom.records]
    drawn = {span: list(own) for span, own in groupby(records, key=lambda record: record.span)}
    for batch in (batch for zoom in replica.zooms for batch in zoom.batches):
        own = drawn.get(batch.span, [])
        keys = [(ord(r.key_hash), r.offset, r.value_size < 0) for r in own if r.key_hash is not None]
        producer, _, _, attributes = batch.written
        if batch.control:
            ledger.marker(producer, commits=any(record.control_type == COMMIT for record in own))
        else:
            ledger.batch(batch.span, keys, producer=producer if attributes & TRANSACTIONAL else None)
        ledger.held(batch.base_offset, batch.end_offset, [record.offset for record in own])
    return ledger.close(replica.log_end_offset)
