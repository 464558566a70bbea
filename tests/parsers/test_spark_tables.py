"""The tables of a dump as Spark DataFrames: schemas, what is skipped, how it is cut, and that cuts change nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from parsers.inventory import plain_segments, take_inventory
from parsers.records import decode_entry
from parsers.segment import scan
from parsers.tables import TABLES, arrow_schema, columns
from parsers.writers.segments import batch_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Sample = Callable[[str], Path]
BIG = 1 << 30


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All rows in the one order that does not depend on tasks."""
    return sorted(map(tuple, frame.collect()), key=repr)


def one_segment(folder: Path, topic: str, content: bytes = b"") -> Path:
    """A broker's log dir with one segment of one topic."""
    log_dir = folder / "broker-1"
    (log_dir / f"{topic}-0").mkdir(parents=True, exist_ok=True)
    (log_dir / "meta.properties").write_text("version=0\nbroker.id=1\n")
    segment = log_dir / f"{topic}-0" / f"{0:020}.log"
    segment.write_bytes(content or batch_bytes(base_offset=0, leader_epoch=0, payload=b"x" * 40, record_count=1))
    return segment


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_table_has_the_columns_of_its_row_class_and_their_words(table: str) -> None:
    from parsers.spark import spark_schema

    widths = {"int64": "bigint", "int32": "int", "int16": "smallint", "int8": "tinyint", "bool": "boolean"}
    told = [
        (field.name, field.dataType.simpleString(), field.nullable, field.metadata.get("comment"))
        for field in spark_schema(arrow_schema(TABLES[table]))
    ]
    assert told == [(c.name, widths.get(c.type, c.type), c.nullable, c.doc) for c in columns(TABLES[table])]


def test_every_table_reads_with_its_schema_and_comments(sample: Sample, spark: SparkSession) -> None:
    from parsers.spark import open_dump, spark_schema
    from parsers.spark.registry import READERS

    dump = open_dump(spark, sample("clean_4x"))
    read = {name: dump.table(name) for name in READERS}
    for name, frame in read.items():
        assert frame.schema.names == arrow_schema(TABLES[name]).names
        comments = {field.name: field.metadata.get("comment") for field in frame.schema}
        assert comments == {column.name: column.doc for column in columns(TABLES[name])}
        assert [f.dataType for f in frame.schema] == [f.dataType for f in spark_schema(arrow_schema(TABLES[name]))]
    counted = {name: frame.count() for name, frame in read.items()}
    expected = {"batches", "records", "epochs", "checkpoints", "producers", "indexes", "sources", "metadata_changes"}
    assert expected <= {name for name, count in counted.items() if count}
    assert counted["refusals"] == 0


def test_every_table_of_the_schema_module_is_offered_or_left_out_on_purpose() -> None:
    pytest.importorskip("pyspark")
    from parsers.spark.registry import READERS

    assert set(TABLES) == set(READERS)


@pytest.mark.parametrize("case", ["bit_rot_payload", "clean_1_1"])
def test_rows_are_those_of_the_readers(case: str, sample: Sample, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    root = sample(case)
    inventory = take_inventory(root)
    folders = inventory.files_by_folder()
    segments = [s for r in inventory.replicas for s in plain_segments(folders.get(r.path, ())).segments]
    chunks = [(s, chunk.headers) for s in segments for chunk in scan(root / s.origin.source, s.origin)]
    records = 0
    for segment, headers in chunks:
        data = (root / segment.origin.source).read_bytes()
        sound = headers.filter(headers["crc_valid"])
        for start, end in zip(sound["span_start"].to_pylist(), sound["span_end"].to_pylist(), strict=True):
            records += len(decode_entry(data[start:end], segment.origin, start).rows)
    dump = open_dump(spark, root)
    assert dump.batches.count() == sum(headers.num_rows for _, headers in chunks) > 0
    assert dump.batches.where("not crc_valid").count() == sum(headers["crc_valid"].false_count for _, headers in chunks)
    assert dump.records.count() == records > 0
    assert dump.sources.count() == len(inventory.files)


CUT = ("batches", "refusals", "events")


def test_cuts_of_4_kib_change_nothing(sample: Sample, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    dump = sample("lost_pages_hw")
    whole, cut = open_dump(spark, dump), open_dump(spark, dump, split_bytes=4096)
    assert cut.batches.rdd.getNumPartitions() > whole.batches.rdd.getNumPartitions()
    for name in CUT:
        assert rows(cut.table(name)) == rows(whole.table(name))


@pytest.mark.parametrize("table", CUT)
def test_hundreds_of_tasks_read_what_one_does(table: str, sample: Sample) -> None:
    """What Spark asks a scan for, without Spark: no more than this is done in a task."""
    from parsers.spark.asked_table import TableRequest
    from parsers.spark.source import TableScan

    def read(size: int) -> tuple[int, list[str]]:
        scan = TableScan(TableRequest(path=str(sample("bit_rot_payload")), table=table, split_bytes=size))
        tasks = scan.partitions()
        return len(tasks), sorted(repr(row) for task in tasks for rows in scan.read(task) for row in rows.to_pylist())

    (few, whole), (many, cut) = read(BIG), read(4096)
    assert many > 10 * few
    assert cut == whole
    assert whole or table == "refusals"


@pytest.mark.parametrize(("case", "size"), [("clean_1_1", 256 << 10), ("unclean_4x", 24 << 10)])
def test_fetch_sessions_go_on_from_part_to_part(case: str, size: int, sample: Sample, spark: SparkSession) -> None:
    """A trace is not all of a log: sessions that began before a part are told in it as the whole log tells them."""
    from parsers.spark import open_dump

    whole, cut = open_dump(spark, sample(case)), open_dump(spark, sample(case), split_bytes=size)
    assert cut.fetches.rdd.getNumPartitions() > whole.fetches.rdd.getNumPartitions() + 5
    assert cut.fetches.schema == whole.fetches.schema
    told = rows(whole.fetches)
    assert len(told) > 100
    assert rows(cut.fetches) == told
    for name in ("session_gaps", "produces", "isr_requests", "refusals"):
        assert rows(cut.table(name)) == rows(whole.table(name))
    topics = cut.table("fetches", ["topic", "fetch_offset"]).where("topic = 'pay'").count()
    assert topics == whole.fetches.where("topic = 'pay'").count()


def test_a_segment_that_is_cut_into_4_kib_gives_its_rows_in_order(tmp_path: Path, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    batches = [
        batch_bytes(base_offset=at, leader_epoch=at // 40, payload=os.urandom(700), record_count=1) for at in range(200)
    ]
    content = bytearray(b"".join(batches))
    content[50_000:52_000] = b"\xff" * 2000
    content[90_100] ^= 1
    one_segment(tmp_path, "pay", bytes(content))
    whole, cut = open_dump(spark, tmp_path), open_dump(spark, tmp_path, split_bytes=4096)
    assert cut.batches.rdd.getNumPartitions() == -(-len(content) // 4096)
    assert list(map(tuple, cut.batches.collect())) == list(map(tuple, whole.batches.collect()))
    assert rows(cut.refusals) == rows(whole.refusals) != []
    # The batch whose bit was flipped, and the one in whose payload the damage begins.
    assert cut.batches.where("not crc_valid").count() == 2


def test_a_segment_of_a_gigabyte_is_read_by_8_tasks(tmp_path: Path, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    segment = one_segment(tmp_path, "pay")
    os.truncate(segment, BIG)
    assert open_dump(spark, tmp_path).batches.rdd.getNumPartitions() >= 8


@pytest.mark.usefixtures("spark")
def test_small_files_share_a_task(sample: Sample) -> None:
    from parsers.spark.asked_table import TableRequest
    from parsers.spark.planning import plan

    request = TableRequest(path=str(sample("clean_2_8")), table="batches")
    slices = plan(request, {})
    assert len(slices) == 1
    assert len(slices[0].parts) > 20


def trap(segment: Path) -> None:
    """Take the file's bytes away: whoever opens it is told that it is no regular file."""
    segment.unlink()
    os.mkfifo(segment)


def refused_files(frame: DataFrame) -> set[str]:
    return {row.source for row in frame.select("source").distinct().collect()}


def test_files_of_other_topics_are_in_no_task(tmp_path: Path, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    for topic in ("pay", "orders", "state"):
        size = one_segment(tmp_path, topic).stat().st_size
    dump = open_dump(spark, tmp_path, split_bytes=size)
    assert tasks_and_topics(dump.batches) == (3, {"pay", "orders", "state"})
    for condition, topics in (
        ("topic = 'pay'", {"pay"}),
        ("topic in ('pay', 'state') and partition = 0", {"pay", "state"}),
        ("topic <=> 'orders' and broker = 1", {"orders"}),
    ):
        assert tasks_and_topics(dump.batches.where(condition)) == (len(topics), topics)
    assert tasks_and_topics(dump.batches.where("topic = 'pay' and broker = 2")) == (1, set())
    assert tasks_and_topics(open_dump(spark, tmp_path, topics=["pa*"], split_bytes=size).batches) == (1, {"pay"})


def tasks_and_topics(frame: DataFrame) -> tuple[int, set[str]]:
    """Tasks of the scan, each of which reads one file here, and the topics of the rows."""
    return frame.rdd.getNumPartitions(), {row.topic for row in frame.select("topic").collect()}


def test_a_skipped_file_is_not_opened(tmp_path: Path) -> None:
    from parsers.spark.asked_table import TableRequest
    from parsers.spark.planning import plan

    for topic in ("pay", "orders"):
        one_segment(tmp_path, topic)
    patterned = TableRequest(path=str(tmp_path), table="batches", topics=("pa*",))
    for request, wanted in (
        (patterned, {}),
        (TableRequest(path=str(tmp_path), table="batches"), {"topic": frozenset({"pay"})}),
    ):
        assert {part.origin.topic for found in plan(request, wanted) for part in found.parts} == {"pay"}


def test_without_its_column_no_checksum_is_computed(sample: Sample, spark: SparkSession) -> None:
    from parsers.spark import open_dump
    from parsers.spark.asked_table import TableRequest
    from parsers.spark.planning import plan
    from parsers.spark.registry import READERS

    root = sample("bit_rot_payload")

    def told(names: Iterable[str]) -> set[bool | None]:
        request = TableRequest(path=str(root), table="batches", columns=tuple(names))
        read = (b for s in plan(request, {}) for b in READERS["batches"].rows_of(s.parts, request))
        return set(pa.Table.from_batches(read)["crc_valid"].to_pylist())

    assert told(["topic", "base_offset"]) == {None}
    assert told(["crc_valid"]) == {True, False}
    frame = open_dump(spark, root).table("batches", ["base_offset", "topic"])
    assert frame.columns == ["base_offset", "topic"]
    whole = open_dump(spark, root).batches.select("base_offset", "topic")
    assert rows(frame) == rows(whole)


def test_filters_on_a_place_give_the_rows_that_spark_would_choose(sample: Sample, spark: SparkSession) -> None:
    from parsers.spark import open_dump
    from parsers.spark.registry import READERS

    dump = open_dump(spark, sample("unclean_4x"))
    for name in (name for name in READERS if "topic" in arrow_schema(TABLES[name]).names):
        frame = dump.table(name)
        first = frame.where("topic is not null and broker is not null").select("topic", "broker").first()
        if first is not None:
            # The same condition in words that no source understands.
            hidden = f"concat(topic, '') = '{first.topic}' and broker + 0 = {first.broker}"
            chosen = frame.where((frame.topic == first.topic) & (frame.broker == first.broker))
            assert rows(chosen) == rows(frame.where(hidden)) != []


def test_tables_are_views_of_sql(sample: Sample, spark: SparkSession) -> None:
    from auditor import open_dump

    names = open_dump(spark, sample("fast_failover_kip101")).register("ff_")
    assert {"ff_batches", "ff_epochs", "ff_refusals"} <= set(names)
    told = spark.sql(
        "select b.broker, max(b.last_offset) + 1 as log_end, max(c.offset) as high_watermark from ff_batches b"
        " join ff_checkpoints c on c.broker = b.broker and c.topic = b.topic and c.partition = b.partition"
        " where c.kind = 'replication' and b.topic = 'ff' group by b.broker"
    )
    found = {row.broker: (row.log_end, row.high_watermark) for row in told.collect()}
    assert len(found) == 2
    assert all(log_end >= high_watermark for log_end, high_watermark in found.values())


def test_payloads_are_shown_only_when_asked_for(sample: Sample, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    hidden = open_dump(spark, sample("lost_pages_hw")).records.where("value is not null or key is not null")
    shown = open_dump(spark, sample("lost_pages_hw"), payloads=True).records.where("value is not null")
    assert hidden.count() == 0
    assert shown.count() > 0


def test_what_the_inventory_refuses_is_among_the_refusals(tmp_path: Path, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    trap(one_segment(tmp_path, "pay"))
    shutil.copytree(tmp_path / "broker-1", tmp_path / "again", ignore=shutil.ignore_patterns("*.log"))
    expected = {refusal.source for refusal in take_inventory(tmp_path).refusals}
    assert expected
    assert expected <= refused_files(open_dump(spark, tmp_path).refusals)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"table": "batch"}, "no table 'batch'"), ({"columns": ("kind",)}, "no column kind")],
)
def test_what_is_not_there_is_named(wrong: dict[str, Any], words: str) -> None:
    from parsers.spark.asked_table import TableRequest, UnknownTable

    with pytest.raises(UnknownTable, match=words):
        TableRequest(**{"path": "x", "table": "batches", **wrong})


@pytest.mark.usefixtures("spark")
def test_a_request_travels_as_options() -> None:
    from parsers.spark.asked_table import TableRequest, from_options, to_options

    request = TableRequest(
        path="/a b", table="records", topics=("pay*", "x"), log_dirs=((1, "a,b=c"),), split_bytes=7,
        columns=("topic", "offset"), payloads=True, deep=True, pushdown=True,
    )  # fmt: skip
    assert from_options(to_options(request)) == request


def test_what_was_brought_along_is_a_table_too(tmp_path: Path, sample: Sample, spark: SparkSession) -> None:
    from auditor import open_dump

    shutil.copytree(sample("migrated") / "tools", tmp_path / "dump" / "tools")
    one_segment(tmp_path / "dump", "pay")
    lines = [f'{{"broker":{n % 2},"replica":2,"topic":"pay","partition":0,"fetchOffset":{n}}}\n' for n in range(50)]
    (tmp_path / "dump" / "fetches.jsonl").write_text("".join(lines) + "{\n")
    dump = open_dump(spark, tmp_path / "dump", split_bytes=256)
    printed = dump.descriptions.where("kind = 'partition' and topic = 'pay'").first()
    assert printed is not None
    assert (printed.leader, printed.isr) == (2, "2,1")
    told = dump.fetches.where("broker = 1").select("fetch_offset").collect()
    assert sorted(row.fetch_offset for row in told) == list(range(1, 50, 2))
    assert [row.span_start for row in dump.refusals.collect()] == [len("".join(lines))]


def laid_out(folder: Path) -> Path:
    """Logs of two brokers, each in a layout and a zone of its own."""
    cut = "[Log partition=t-0, dir=/d] Truncating to offset"
    lines = {
        1: f"2026-07-01 12:00:00,250 | WARN | kafka.log.Log - {cut} 7\n",
        2: f"[2026-07-01 12:00:00,250] WARN {cut} 8 (kafka.log.Log)\n",
    }
    for broker, line in lines.items():
        logs = folder / f"broker-{broker}" / "logs"
        logs.mkdir(parents=True)
        values = f"\tbroker.id = {broker}\n"
        head = line.partition(" | kafka")[0] + " | kafka.K - " if broker == 1 else line.partition("[Log")[0]
        (logs / "server.log").write_text(f"{line}{head}KafkaConfig values: \n{values}")
    return folder


def test_logs_are_read_by_the_layouts_and_zones_that_are_told(tmp_path: Path, spark: SparkSession) -> None:
    from parsers.spark import open_dump

    dump = open_dump(spark, laid_out(tmp_path))
    assert [row.offset for row in dump.events.collect()] == [8]
    told = dump.with_logs(patterns=["1=%d{ISO8601} | %p | %c - %m%n"], timezones=["2=+02:00", "Europe/London"])
    noon = 1_782_907_200_250
    assert {(row.broker, row.offset, row.logger, row.time) for row in told.events.collect()} == {
        (1, 7, "kafka.log.Log", noon - 3_600_000),
        (2, 8, "kafka.log.Log", noon - 7_200_000),
    }
    printed = told.table("settings", ["broker", "name", "time"]).collect()
    assert sorted(map(tuple, printed)) == [(1, "broker.id", noon - 3_600_000), (2, "broker.id", noon - 7_200_000)]
    assert "time" not in dump.events.columns
    assert told.table("events", ["offset"]).columns == ["offset"]


def test_a_layout_or_zone_that_is_none_is_refused_at_once() -> None:
    from parsers.spark.asked_table import TableRequest, UnknownTable

    with pytest.raises(UnknownTable, match="Mars/Olympus"):
        TableRequest(path="d", table="events", log_timezones=("1=Mars/Olympus",))
    with pytest.raises(ValueError, match="%m"):
        TableRequest(path="d", table="events", log_patterns=("%d %p%n",))


def test_fetches_that_tell_an_id_alone_are_named_by_logs_as_they_are_by_disks(
    sample: Sample, spark: SparkSession, tmp_path: Path
) -> None:
    from parsers.spark import open_dump

    whole = sample("unclean_4x")
    alone = shutil.copytree(whole, tmp_path / "dump", ignore=shutil.ignore_patterns("data"))
    told = ("topic", "partition", "replica", "fetch_offset", "span_start")
    found = []
    for dump in (open_dump(spark, whole), open_dump(spark, alone)):
        assert dump.fetches.where("topic = 'pay' AND replica >= 0").count() == 0
        named = dump.named(dump.fetches)
        assert named.schema == dump.fetches.schema
        found.append(rows(named.where("topic = 'pay'").select(*told)))
    assert found[0] == found[1]
    assert len(found[0]) > 30
