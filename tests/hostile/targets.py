"""What is fed: every reader by its public functions, the real files that its inputs are bred from, and its words."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, get_args

from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit, UnitKind
from auditor.engines.reading import UnitReader
from parsers.broker_log import DEFAULT_PATTERN, LayoutError, Reading, parse_layout, wall_clock, zone_named
from parsers.checkpoints import (
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    read_producer_snapshot,
    read_quorum_state,
    read_server_properties,
)
from parsers.describe_text import parse_describe_text, split_settings
from parsers.dump_text import dumped_file, read_dump_text
from parsers.files import disk_name, printable
from parsers.indexes import read_index
from parsers.internal_topics import group_history, internal_record, latest_commits, transaction_history
from parsers.inventory import parse_file_name, parse_replica_name
from parsers.metadata_log import (
    Znode,
    metadata_history,
    metadata_input,
    parse_znode_text,
    snapshot_id,
    znode_place,
    znode_settings,
    znode_states,
)
from parsers.provenance import FileKind, Origin
from parsers.records import base_offset_of_legacy_wrapper, decode_entry, header_of
from parsers.segment import scan
from parsers.segment.chain import Kernel
from parsers.segment.compiled import compiled_kernel
from parsers.segment.plain_kernel import PlainKernel
from parsers.tables import CheckpointKind, IndexKind, Refusal
from parsers.writers.segments import legacy_bytes
from tests.hostile.mutators import Grammar, batches_of
from tests.lab.whole_logs import parse_events, parse_settings, read_request_log, read_trace_table
from tests.lab.written_bytes import legacy_set_bytes

SAMPLES: Final = Path(__file__).resolve().parents[2] / "sample_logs"
SEED_BYTES: Final = 1 << 12
"""Of a long file a stretch is taken: what is read quickly is tried often."""
SEEDS: Final = 48

Outcome = Iterable[object]
"""Everything that a reader gave: rows, refusals and what holds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A reader, what its inputs are bred from, and how it is asked."""

    name: str
    read: Callable[[bytes, Path], Outcome]
    grammar: Grammar
    seeds: Callable[[], Sequence[bytes]]
    share: int = 1
    """How often it comes, beside the others."""
    spans: bool = True
    """Whether what it gives points at bytes of the input."""


def origin_of(name: str, **given: object) -> Origin:
    """The origin of an input that stands for a file of broker 1."""
    return Origin(source=name, broker=1, log_dir="broker-1/data", **given)  # type: ignore[arg-type]


def stretch(content: bytes, *, lines: bool) -> bytes:
    """The beginning of a file, up to the end of a line or of a batch."""
    if len(content) <= SEED_BYTES:
        return content
    if lines:
        return content[: content.find(b"\n", SEED_BYTES) + 1 or SEED_BYTES][: 4 * SEED_BYTES]
    ends = [end for _, end in batches_of(content) if end <= SEED_BYTES]
    return content[: ends[-1] if ends else SEED_BYTES]


@cache
def files_of(pattern: str, *, lines: bool = False) -> tuple[bytes, ...]:
    """Stretches of the recorded files that a pattern names, each content once, spread over the recordings."""
    paths = [path for path in sorted(SAMPLES.glob(pattern)) if path.is_file()]
    chosen = paths[:: max(1, len(paths) // (SEEDS * 2))]
    found = dict.fromkeys(stretch(path.read_bytes(), lines=lines) for path in chosen)
    if lines:
        found.update(dict.fromkeys(_middle(path) for path in chosen[:SEEDS]))
    return tuple(islice((content for content in found if content), SEEDS))


def _middle(path: Path) -> bytes:
    content = path.read_bytes()
    at = content.find(b"\n", len(content) // 2) + 1
    return stretch(content[at:], lines=True)


@cache
def entries_of(pattern: str) -> tuple[bytes, ...]:
    """Single batches of recorded segments, and legacy ones of every codec."""
    found = dict.fromkeys(
        content[start:end] for content in files_of(pattern) for start, end in islice(batches_of(content), 3)
    )
    made = [
        legacy_set_bytes(magic=magic, base_offset=7, values=[b"a", b"b" * 40], codec=codec)
        for magic in (0, 1)
        for codec in ("gzip", "snappy", "lz4")
    ]
    made += [legacy_bytes(magic=magic, offset=3, key=b"k", value=b"v", timestamp=1) for magic in (0, 1)]
    return (*islice(found, 2 * SEEDS), *made)


# --- how each is asked ------------------------------------------------------------------------------------------------


def _file(content: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _checkpoint(kind: CheckpointKind) -> Callable[[bytes, Path], Outcome]:
    return lambda content, _: [read_offset_checkpoint(content, origin_of("replication-offset-checkpoint"), kind)]


def _whole(read: Callable[[bytes, Origin], object], name: str) -> Callable[[bytes, Path], Outcome]:
    return lambda content, _: [read(content, origin_of(name))]


def _index(kind: IndexKind) -> Callable[[bytes, Path], Outcome]:
    return lambda content, _: [read_index(content, origin_of("0.index", topic="t", partition=0), 0, kind)]


def _record(content: bytes, _folder: Path) -> Outcome:
    origin = origin_of("broker-1/data/t-0/0.log", topic="t", partition=0)
    header_of(content)
    base_offset_of_legacy_wrapper(content)
    return [decode_entry(content, origin, 0), decode_entry(content, origin, 0, payloads=True)]


def _rows(content: bytes, origin: Origin) -> Iterable[object]:
    for start, end in batches_of(content):
        yield decode_entry(content[start:end], origin, start, payloads=True)


def _segment(content: bytes, folder: Path) -> Outcome:
    """Both kernels over the whole, and the plain one over parts: one chain, and every byte in one row or refusal."""
    path = _file(content, folder, "0.log")
    cut = len(content) // 3
    plain, compiled = _chain(path, (0, None), PlainKernel()), _chain(path, (0, None), compiled_kernel())
    parts = [_chain(path, bounds, PlainKernel()) for bounds in ((0, cut), (cut, 2 * cut), (2 * cut, None))]
    rows, refusals = plain
    if plain != compiled:
        raise AssertionError("the plain and the compiled kernel differ")
    if plain != ([row for part in parts for row in part[0]], [refused for part in parts for refused in part[1]]):
        raise AssertionError("the parts do not add up to the whole")
    spans = sorted(
        [(row["span_start"], row["span_end"]) for row in rows] + [(r.span_start, r.span_end) for r in refusals]
    )
    if [start for start, _ in spans] != [0, *(end for _, end in spans)][: len(spans)] or (
        content and spans[-1][1] != len(content)
    ):
        raise AssertionError("a byte is in no row and no refusal, or in two")
    return refusals


def _chain(
    path: Path, bounds: tuple[int, int | None], kernel: Kernel | None
) -> tuple[list[dict[str, Any]], list[Refusal]]:
    rows: list[dict[str, Any]] = []
    refusals: list[Refusal] = []
    origin = origin_of("broker-1/data/t-0/0.log", topic="t", partition=0)
    for chunk in scan(path, origin, start=bounds[0], end=bounds[1], kernel=kernel):
        rows.extend(chunk.headers.to_pylist())
        refusals.extend(chunk.refusals)
    return rows, refusals


def _metadata(content: bytes, _folder: Path) -> Outcome:
    origin = origin_of("__cluster_metadata-0/0.log", topic="__cluster_metadata", partition=0)
    parsed = list(_rows(content, origin))
    inputs = [metadata_input(row) for one in parsed for row in one.rows]  # type: ignore[attr-defined]
    return [*parsed, metadata_history(inputs, origin)]


def _internal(content: bytes, _folder: Path) -> Outcome:
    origin = origin_of("__consumer_offsets-0/0.log", topic="__consumer_offsets", partition=0)
    parsed = list(_rows(content, origin))
    records = [internal_record(row) for one in parsed for row in one.rows]  # type: ignore[attr-defined]
    return [
        *parsed,
        group_history(records, origin),
        latest_commits(records, origin),
        transaction_history(records, origin),
    ]


def _broker_log(content: bytes, _folder: Path) -> Outcome:
    reading = Reading(origin=origin_of("broker-1/logs/server.log"))
    events, settings = parse_events(content, reading), parse_settings(content, reading)
    return [events, settings]


def _trace(content: bytes, folder: Path) -> Outcome:
    return [read_request_log(_file(content, folder, "kafka-request.log"), origin_of("broker-1/logs/kafka-request.log"))]


def _dump_text(content: bytes, _folder: Path) -> Outcome:
    return list(read_dump_text(io.BytesIO(content), origin_of("broker-1/t-0.txt")))


def _table(content: bytes, folder: Path) -> Outcome:
    return [read_trace_table(_file(content, folder, "trace.csv"), origin_of("broker-1/trace.csv"))]


def _znodes(content: bytes, _folder: Path) -> Outcome:
    parsed = parse_znode_text(content, origin_of("zookeeper-shell.txt"))
    states = [znode for znode in parsed.rows if znode_place(znode.path) is not None]
    return [parsed, znode_states(states), znode_settings(parsed.rows)]


def _znode(content: bytes, _folder: Path) -> Outcome:
    origin = origin_of("brokers/topics/t/partitions/0/state")
    paths = (origin.source, "brokers/topics/t", "config/topics/t", "config/brokers/1")
    znodes = [Znode(origin=origin, path=path, content=content) for path in paths]
    return [znode_states(znodes[:2]), znode_settings(znodes)]


def _words(content: bytes, _folder: Path) -> Outcome:
    """The small grammars: names of files and replicas, layouts, zones and times."""
    text = content[:4096].decode(errors="replace")
    try:
        parse_layout(text)
    except LayoutError as refused:
        if len(str(refused)) > 4 * len(text) + 400:
            raise
    shown = printable(text)
    if disk_name(shown) != text and "\0" not in text:
        raise AssertionError(f"printable is not reversible: {text!r} became {disk_name(shown)!r}")
    told = [
        parse_file_name(text),
        parse_replica_name(text),
        dumped_file(text),
    ]
    return [*told, zone_named(text), wall_clock(text), snapshot_id(text), *split_settings(text)]


def _unit(kind: UnitKind, name: str, file_kind: FileKind) -> Callable[[bytes, Path], Outcome]:
    """A file as the engines read it: rows narrowed to facts."""

    def read(content: bytes, folder: Path) -> Outcome:
        _file(content, folder, name)
        piece = Piece(source=name, kind=file_kind, base_offset=0, size=len(content), start=0, end=len(content))
        of_partition = kind in ("log", "directory")
        unit = ReadUnit(
            kind=kind, dump=str(folder), cluster_id="c", broker=1, log_dir="broker-1/data",
            topic="t" if of_partition else None, topic_id=None, partition=0 if of_partition else None,
            path="t-0" if of_partition or kind == "metadata" else None, state="current", order=0, pieces=(piece,),
            segments=(piece,) if kind == "directory" else (), chain=name, begun=0, ends_chain=True,
        )  # fmt: skip
        return list(UnitReader().read(unit, "deep" if kind == "log" else "full"))

    return read


# --- all of them ------------------------------------------------------------------------------------------------------

_LINES: Final = Grammar(text=True)
_BYTES: Final = Grammar(text=False)
_BATCHES: Final = Grammar(text=False, batches=True)
_TOPICS: Final = (b"t", b"orders", b"__consumer_offsets", b"__cluster_metadata", b"..", b"a/b", b"a" * 250)
_SMALL: Final = Grammar(text=True, words=(*_TOPICS, b"0\n", b"1\n", b"-1", b"version=1", b"node.id=1", b"broker.id=2"))
_JSON: Final = Grammar(
    text=True,
    words=(
        b"null",
        b"true",
        b"[]",
        b"{}",
        b'""',
        b"1.5",
        b"1e400",
        b'"leaderEpoch":',
        b'"isr":[1,1]',
        b'"version":9',
        b'"leader":-1',
    ),
)
_LOG: Final = Grammar(
    text=True,
    packed=True,
    words=(b"INFO", b"WARN", b"Truncating to", b"highWatermark", b"leader epoch", b"[", b"]", b"Shrinking ISR from",
           b"Partition", b"Optional.empty", b"KafkaConfig values: \n", b"(kafka.log.Log)", b"[2024-01-01 00:00:00,000]",
           b"[2024-02-30 25:61:61,999]", b"offset", b"1,2,3", b"-1"),
)  # fmt: skip
_REQUESTS: Final = Grammar(
    text=True,
    packed=True,
    words=(b'"topics":', b'"partitionIndex":', b'"fetchOffset":', b'"sessionId":', b'"sessionEpoch":', b'"highWatermark":',
           b'"requestApiKeyName":"FETCH"', b'"requestApiVersion":', b"null", b"true", b"{}", b"[]", b'"records":',
           b"Completed request:", b"FetchData(", b"{api_key=1,", b"baseOffset", b"-1"),
)  # fmt: skip
_DUMP_WORDS: Final = (
    b"baseOffset: ", b"lastOffset: ", b"magic: 3", b"magic: 8", b"magic: ", b"count: -5", b"isvalid: false", b"position: ",
    b"CreateTime: ", b"Dumping ", b"Starting offset: 0", b"| offset: ", b"keysize: ", b"payload: ", b"producerId: ",
    b"compresscodec: zstd", b"Exception in thread", b"Found timestamp mismatch in :", b"baseSequence: ", b"size: ",
)  # fmt: skip
_DESCRIBED: Final = (
    b"Topic: ", b"Partition: ", b"Leader: none", b"Replicas: 1,x", b"Isr: 1,,2", b"Isr: ", b"Elr: N/A", b"Configs:", b"GROUP",
    b"CURRENT-OFFSET", b"-", b"LeaderId:", b"HighWatermark:", b"CurrentVoters: [1,2]", b"Consumer group", b"Dynamic configs for",
)  # fmt: skip
_TABLE_WORDS: Final = (
    b"time", b"broker", b"replica", b"topic", b"partition", b"fetch_offset", b"high_watermark", b'"', b'{"topic":"t"}\n', b"\r",
    b'"a\nb"', b",,,,", b"\t", b";",
)  # fmt: skip
_WORDS: Final = (
    b"%d", b"%m", b"%n", b"%-5p", b"%c{1}", b"%X{a}", b"[%d{ISO8601}]", b"%p", b"t-0", b"-delete", b"-future", b".log", b".index",
    b"server.log.2024-01-01", b"3.9.1", b"7.5.0-ccs", b"Europe/Berlin", b"+02:00", b"a=b,c=d", b"%00", b"%zz", b"\\", b"\n",
)  # fmt: skip
_NAMES: Final = (
    *_WORDS, DEFAULT_PATTERN.encode(), b"00000000000000000000.log", b"00000000000000000012-0000000001.checkpoint",
    b"t-0.0123456789abcdef0123456789abcdef-delete", b"/var/k/t-0/00000000000000000000.log", b"2024-01-01 00:00:00,000",
    b"cleanup.policy=compact,delete,retention.ms=1", b"%d{yyyy-MM-dd HH:mm:ss.SSS} %p [%t] %c{2}: %m%n",
)  # fmt: skip
_LOGS: Final = "*/dump/*/data/*/*.log"
_TRACES: Final = (
    (
        b"time,broker,replica,topic,partition,fetch_offset,leader_epoch,high_watermark\n"
        b"2024-01-01T00:00:00Z,1,2,t,0,10,0,10\n2024-01-01T00:00:01Z,1,2,t,0,12,0,10\n"
    ),
    b'{"time":"2024-01-01T00:00:00Z","broker":1,"replica":2,"topic":"t","partition":0,"fetch_offset":10}\n' * 3,
    b"time\tbroker\treplica\ttopic\tpartition\tfetch_offset\n0\t1\t2\tt\t0\t3\n",
)


def _files(*patterns: str, lines: bool = False) -> Callable[[], Sequence[bytes]]:
    return lambda: tuple(content for pattern in patterns for content in files_of(pattern, lines=lines))


_REPLICATION: Final = _files("*/dump/*/data/*-offset-checkpoint")
_EPOCHS: Final = _files("*/dump/*/data/*/leader-epoch-checkpoint")
_QUORUM: Final = _files("*/dump/*/data/*/quorum-state", "*/*/*/brokers/**/state", "**/state")
_SERVER: Final = _files(
    "*/dump/*/logs/server.log", "*/dump/*/logs/state-change.log", "*/dump/*/logs/controller.log", lines=True
)
_REQUEST: Final = _files("*/dump/*/logs/kafka-request.log", lines=True)
_DUMPED: Final = _files("dump_log_text/*/*.out", "dump_log_text/*/*.err", lines=True)
_TOLD: Final = _files("tool_texts/**/*.txt", lines=True)
_CLUSTER: Final = _files("*/dump/*/data/__cluster_metadata-0/*.log", "metadata_snapshots/**/*.checkpoint")
_INTERNAL: Final = _files("*/dump/*/data/__*s*-*/*.log")
_SEGMENTS: Final = _files(_LOGS)

TARGETS: Final = (
    *(
        Target(name=f"checkpoint-{kind}", read=_checkpoint(kind), grammar=_SMALL, seeds=_REPLICATION, share=4)
        for kind in get_args(CheckpointKind)[:2]
    ),
    Target(name="epochs", read=_whole(read_leader_epoch_checkpoint, "leader-epoch-checkpoint"), grammar=_SMALL, seeds=_EPOCHS, share=5),
    Target(name="meta", read=_whole(read_meta_properties, "meta.properties"), grammar=_SMALL, seeds=_files("*/dump/*/data/meta.properties"), share=5),
    Target(name="topic-id", read=_whole(read_partition_metadata, "partition.metadata"), grammar=_SMALL, seeds=_files("*/dump/*/data/*/partition.metadata"), share=5),
    Target(name="settings", read=_whole(read_server_properties, "server.properties"), grammar=_SMALL, seeds=_files("*/dump/*/data/meta.properties"), share=5),
    Target(name="shutdown", read=_whole(read_clean_shutdown, ".kafka_cleanshutdown"), grammar=_JSON, seeds=_files("*/dump/*/data/.kafka_cleanshutdown"), share=5),
    Target(name="quorum", read=_whole(read_quorum_state, "quorum-state"), grammar=_JSON, seeds=_QUORUM, share=5),
    Target(name="producers", read=lambda content, _: [read_producer_snapshot(content, origin_of("9.snapshot"), 9)], grammar=_BYTES, seeds=_files("*/dump/*/data/*/*.snapshot"), share=8),
    Target(name="index", read=_index("offset"), grammar=_BYTES, seeds=_files("*/dump/*/data/*/*.index"), share=5),
    Target(name="timeindex", read=_index("time"), grammar=_BYTES, seeds=_files("*/dump/*/data/*/*.timeindex"), share=5),
    Target(name="txnindex", read=_index("transaction"), grammar=_BYTES, seeds=_files("*/dump/*/data/*/*.txnindex"), share=5),
    Target(name="segment", read=_segment, grammar=_BATCHES, seeds=_SEGMENTS, share=3),
    Target(name="records", read=_record, grammar=_BATCHES, seeds=lambda: entries_of(_LOGS), share=12),
    Target(name="metadata", read=_metadata, grammar=_BATCHES, seeds=_CLUSTER, share=3),
    Target(name="internal", read=_internal, grammar=_BATCHES, seeds=_INTERNAL, share=2),
    Target(name="znode-text", read=_znodes, grammar=_JSON, seeds=_files("**/zookeeper-shell.txt", lines=True), share=3),
    Target(name="znode", read=_znode, grammar=_JSON, seeds=_QUORUM, spans=False, share=5),
    Target(name="words", read=_words, grammar=Grammar(text=True, words=_WORDS), seeds=lambda: _NAMES, spans=False, share=5),
    Target(name="describe", read=_whole(parse_describe_text, "topics.txt"), grammar=Grammar(text=True, words=_DESCRIBED), seeds=_TOLD, share=2),
    Target(name="dump-text", read=_dump_text, grammar=Grammar(text=True, words=_DUMP_WORDS), seeds=_DUMPED, share=3),
    Target(name="trace-table", read=_table, grammar=Grammar(text=True, words=_TABLE_WORDS), seeds=lambda: _TRACES, share=6),
    Target(name="broker-log", read=_broker_log, grammar=_LOG, seeds=_SERVER, share=2),
    Target(name="request-log", read=_trace, grammar=_REQUESTS, seeds=_REQUEST, share=3, spans=False),
)  # fmt: skip
"""Readers alone: many a second."""

NARROWED: Final = (
    Target(name="unit-broker-log", read=_unit("broker-log", "server.log", "broker-log"), grammar=_LOG, seeds=_SERVER, spans=False),
    Target(name="unit-request-log", read=_unit("request-log", "kafka-request.log", "request-log"), grammar=_REQUESTS, seeds=_REQUEST, spans=False),
    Target(name="unit-describe", read=_unit("describe-text", "topics.txt", "describe-text"), grammar=Grammar(text=True, words=_DESCRIBED), seeds=_TOLD, spans=False),
    Target(name="unit-trace-table", read=_unit("trace-table", "trace.csv", "trace-table"), grammar=Grammar(text=True, words=_TABLE_WORDS), seeds=lambda: _TRACES, spans=False),
    Target(name="unit-dump-text", read=_unit("dump-text", "dumped.txt", "dump-text"), grammar=Grammar(text=True, words=_DUMP_WORDS), seeds=_DUMPED, spans=False),
    Target(name="unit-znodes", read=_unit("znodes", "zookeeper-shell.txt", "znode-text"), grammar=_JSON, seeds=_files("**/zookeeper-shell.txt", lines=True), spans=False),
    Target(name="unit-root", read=_unit("root", "replication-offset-checkpoint", "replication-offset-checkpoint"), grammar=_SMALL, seeds=_REPLICATION, spans=False),
    Target(name="unit-epochs", read=_unit("directory", "leader-epoch-checkpoint", "leader-epoch-checkpoint"), grammar=_SMALL, seeds=_EPOCHS, spans=False),
    Target(name="unit-properties", read=_unit("server-properties", "server.properties", "server-properties"), grammar=_SMALL, seeds=_files("*/dump/*/data/meta.properties"), spans=False),
    Target(name="unit-log", read=_unit("log", "00000000000000000000.log", "segment"), grammar=_BATCHES, seeds=_SEGMENTS, spans=False),
    Target(name="unit-metadata", read=_unit("metadata", "00000000000000000000.log", "segment"), grammar=_BATCHES, seeds=_CLUSTER, spans=False),
    Target(name="unit-transactions", read=_unit("transaction-states", "00000000000000000000.log", "segment"), grammar=_BATCHES, seeds=_INTERNAL, spans=False),
    Target(name="unit-groups", read=_unit("group-offsets", "00000000000000000000.log", "segment"), grammar=_BATCHES, seeds=_INTERNAL, spans=False),
)  # fmt: skip
"""Readers with the folds behind them, as the engines ask them: some hundred a second."""
