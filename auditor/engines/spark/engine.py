"""The Spark engine: the same functions as the local one, run where the bytes lie; only facts are shuffled.

One stage reads (`UnitReader`), one judges (`settle`, once a partition), both in `mapInArrow`: a task takes the facts of
all its partitions as one sorted stream, so that thousands of small ones cost little more than their facts. Between them
the driver takes what is told of whole clusters, which every judge must know. It holds the plan and every verdict,
packed, so that an interrupted run can tell them. Request logs of several stretches are read once more ahead of that,
all at once, for the fetch sessions that go on from one stretch to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec.structs import replace
from pyspark import Broadcast, StorageLevel
from pyspark.sql import DataFrame, SparkSession

from auditor.config import ConfigError
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import ReadUnit
from auditor.engines.progress import Progress
from auditor.engines.reading import Stretch, UnitReader, stretch_of
from auditor.engines.settle import settle
from auditor.engines.spark.job import UNSEEN, WatchedJob
from auditor.engines.spark.joined_sessions import folded, followed, joined
from auditor.engines.spark.named_facts import TELLS_NAMES, heard, named
from auditor.engines.spark.packs import packs_of
from auditor.engines.spark.so_far import JudgedSoFar, ReadSoFar, packed, unpacked
from auditor.engines.witnesses.broker_settings import informed
from parsers.files import locate
from parsers.request_log import SessionState
from parsers.spark.schema import spark_schema
from parsers.tables import arrow_schema, from_arrow, to_arrow
from rules.evidence import Level
from rules.narrow.facts import Fact, Surroundings
from rules.verdict import PartitionVerdict
from spark_jobs.session import build_session

KEYS: Final = ("cluster_id", "topic", "partition")
FACTS: Final = arrow_schema(Fact).append(pa.field("unit", pa.int64(), nullable=False))
"""A fact and the place of its unit, those that speak of many partitions first: a shuffle forgets the order."""
EFFECTS: Final = pa.schema(
    [pa.field("place", pa.int64(), nullable=False), pa.field("effect", pa.binary(), nullable=False)]
)
"""What stretches of request logs do to fetch sessions."""
VERDICTS: Final = pa.schema([pa.field("verdicts", pa.binary(), nullable=False)])
"""Some verdicts each: Spark carries them and looks into none."""

FACTS_A_BATCH: Final = 256
VERDICTS_A_BATCH: Final = 64
VERDICTS_AT_ONCE: Final = 1024
"""What the driver takes from the executors by one job; it holds them all in the end."""
BATCH_ROWS: Final = "spark.sql.execution.arrow.maxRecordsPerBatch"
JUDGES_A_CORE: Final = 4
PARTITIONS_A_JUDGE: Final = 64
"""What a task has judged is known when it ends: many small ones leave more to tell when a run is stopped."""

_OF_CLUSTERS: Final = (
    "settings", "gaps", "disowned", "trace_ends", "sessions_broken", "falls", "steady", "role_times", "nameless",
    "checkpoints", "counts", "coordinators",
)  # fmt: skip
OF_CLUSTERS: Final = " OR ".join(f"size({column}) > 0" for column in _OF_CLUSTERS)
"""Facts that tell of whole clusters."""
OF_PARTITIONS: Final = f"NOT ({OF_CLUSTERS} OR {TELLS_NAMES})"

ArrowBatches = Iterator[pa.RecordBatch]


def run(
    units: Sequence[ReadUnit],
    surroundings: Mapping[str | None, Surroundings],
    progress: Progress,
    selection: Selection,
) -> Iterator[PartitionVerdict]:
    """Verdicts partition by partition, each partition read and judged by one task or several of any cluster."""
    if not units:
        return
    progress.doing("starting Spark")
    session = _session()
    dump = str(Path(units[0].dump).resolve())
    placed = [replace(unit, dump=dump) for unit in sorted(units, key=lambda unit: unit.topic is not None)]
    packs = packs_of(placed, session.sparkContext.defaultParallelism)
    shipped = session.sparkContext.broadcast([pack.units for pack in packs])
    watched = WatchedJob(session=session, progress=progress, dump=dump)
    sessions = session.sparkContext.broadcast(_sessions(placed, watched))
    progress.doing("")
    read = ReadSoFar(session.sparkContext, [pack.size for pack in packs])
    facts = _read(session, shipped, sessions, surroundings, selection, read).persist(StorageLevel.MEMORY_AND_DISK)
    judged = JudgedSoFar(session.sparkContext)
    kept: DataFrame | None = None
    # Judges take batches as small as readers make them: a fact may be large.
    rows = session.conf.get(BATCH_ROWS) or str(FACTS_A_BATCH)
    session.conf.set(BATCH_ROWS, str(FACTS_A_BATCH))
    try:
        of_clusters = replace(watched, read=read).run(lambda: _of_clusters(facts))
        known = informed(surroundings, of_clusters)
        progress.doing("judging")
        topics = watched.run(lambda: heard(units, of_clusters, facts, selection))
        yield from topics.verdicts()
        kept = _verdicts(named(facts.where(OF_PARTITIONS), topics), known, dump, _partitions(units), judged)
        kept.persist(StorageLevel.MEMORY_AND_DISK)
        # All partitions are judged at once here; the iterator below would have them judged one after the other.
        watched.run(kept.count)
        progress.doing("")
        for verdict in _taken(kept, _partitions(units)):
            progress.partition(verdict.topic, verdict.partition)
            judged.given(verdict)
            yield verdict
    except KeyboardInterrupt:
        yield from judged.rest()
        raise
    finally:
        session.conf.set(BATCH_ROWS, rows)
        if kept is not None:
            kept.unpersist()
        facts.unpersist()
        shipped.unpersist()
        sessions.unpersist()


def _sessions(units: Sequence[ReadUnit], job: WatchedJob) -> dict[Stretch, SessionState]:
    """The fetch sessions before every stretch of a request log that follows another one."""
    first = followed(units)
    if not first:
        return {}
    job.progress.again(sum(unit.bytes for unit in first))
    job.progress.doing("following fetch sessions through request logs")
    session = job.session
    shipped = session.sparkContext.broadcast(first)
    read = ReadSoFar(session.sparkContext, [unit.bytes for unit in first])

    def fold(batches: ArrowBatches) -> ArrowBatches:
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            effects = [folded(shipped.value[number]) for number in numbers]
            yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(effects, pa.binary())], schema=EFFECTS)
            for number in numbers:
                read.tell(number)

    effects = session.range(0, len(first), 1, len(first)).mapInArrow(fold, spark_schema(EFFECTS))
    rows = replace(job, read=read).run(effects.collect)
    shipped.unpersist()
    return dict(joined(units, {stretch_of(first[row.place]): bytes(row.effect) for row in rows}))


def _session() -> SparkSession:
    try:
        return build_session("tidemark audit")
    except RuntimeError as error:  # no fitting Java, no fitting Spark, a JVM that did not start
        raise ConfigError(str(error)) from error


def _partitions(units: Sequence[ReadUnit]) -> int:
    """Kafka partitions that the units belong to."""
    return len({(unit.cluster_id, unit.topic, unit.partition) for unit in units})


def _read(
    session: SparkSession,
    packs: Broadcast[list[bytes]],
    sessions: Broadcast[dict[Stretch, SessionState]],
    surroundings: Mapping[str | None, Surroundings],
    selection: Selection,
    read: ReadSoFar,
) -> DataFrame:
    """The table of facts, as a plan that has not run yet."""
    tasks = len(packs.value)
    levels = {cluster: around.level for cluster, around in surroundings.items()}
    reader = _reader(packs, sessions, levels, selection, read)
    return session.range(0, tasks, 1, tasks).mapInArrow(reader, spark_schema(FACTS))


def _of_clusters(facts: DataFrame) -> list[Fact]:
    """Facts that are no partition's, in the order of their units."""
    rows = [row.asDict(recursive=True) for row in facts.where(OF_CLUSTERS).collect()]
    return from_arrow(pa.Table.from_pylist(rows, schema=FACTS).sort_by("unit"), Fact)


def _verdicts(
    facts: DataFrame,
    surroundings: Mapping[str | None, Surroundings],
    dump: str,
    partitions: int,
    judged: JudgedSoFar,
) -> DataFrame:
    """The table of verdicts, as a plan that has not run yet."""
    # A number of our own: facts are so small that Spark would have one task judge them all, zooms included.
    cores = facts.sparkSession.sparkContext.defaultParallelism
    judges = max(1, min(partitions, JUDGES_A_CORE * cores), partitions // PARTITIONS_A_JUDGE)
    spread = facts.repartition(judges, *KEYS).sortWithinPartitions(*KEYS, "unit")
    return spread.mapInArrow(_judge(surroundings, dump, judged), spark_schema(VERDICTS))


def _reader(
    packs: Broadcast[list[bytes]],
    sessions: Broadcast[dict[Stretch, SessionState]],
    levels: Mapping[str | None, Level],
    selection: Selection,
    so_far: ReadSoFar,
) -> Callable[[ArrowBatches], ArrowBatches]:
    def read(batches: ArrowBatches) -> ArrowBatches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _facts(packs.value[number], UnitReader(sessions.value), levels, selection)
                so_far.tell(number)

    return read


def _facts(
    pack: bytes, reader: UnitReader, levels: Mapping[str | None, Level], selection: Selection
) -> ArrowBatches:
    """The facts of a pack's units, a bounded number a batch."""
    with pa.ipc.open_stream(pack) as stream:
        table = stream.read_all()
    units = from_arrow(table, ReadUnit)
    for dump, log_dir in sorted({(unit.dump, unit.log_dir) for unit in units}):
        _require_seen(dump, log_dir)
    facts: list[Fact] = []
    places: list[int] = []
    for place, unit in zip(table.column("place").to_pylist(), units, strict=True):
        for fact in reader.read(unit, levels[unit.cluster_id]):
            if fact.topic is None or selection.admits(fact.topic, fact.partition):
                facts.append(fact)
                places.append(place)
            if len(facts) == FACTS_A_BATCH:
                yield _fact_batch(facts, places)
                facts, places = [], []
    if facts:
        yield _fact_batch(facts, places)


def _fact_batch(facts: Sequence[Fact], places: Sequence[int]) -> pa.RecordBatch:
    batch = to_arrow(facts, Fact)
    return pa.RecordBatch.from_arrays([*batch.columns, pa.array(places, pa.int64())], schema=FACTS)


def _judge(
    surroundings: Mapping[str | None, Surroundings], dump: str, judged: JudgedSoFar
) -> Callable[[ArrowBatches], ArrowBatches]:
    def judge(batches: ArrowBatches) -> ArrowBatches:
        facts = (fact for batch in batches for fact in from_arrow(batch, Fact))
        reached = (verdict for own in _by_partition(facts, dump) for verdict in settle(own, surroundings, dump))
        while some := list(islice(reached, VERDICTS_A_BATCH)):
            message = packed(some)
            judged.tell(message)
            yield pa.RecordBatch.from_arrays([pa.array([message], pa.binary())], schema=VERDICTS)

    return judge


def _by_partition(facts: Iterable[Fact], dump: str) -> Iterator[list[Fact]]:
    """Facts that come sorted by their partition and unit, those of one partition together."""
    for _, together in groupby(facts, key=attrgetter(*KEYS)):
        own = list(together)
        _require_seen(dump, own[0].log_dir)
        yield own


def _require_seen(dump: str, log_dir: str) -> None:
    # Without this every file of the dump would be refused as unreadable, and the report would blame the disks.
    place = locate(dump, log_dir)
    if not isinstance(place, Path) or not place.is_dir():
        raise FileNotFoundError(f"{UNSEEN}: {dump}, {log_dir}")


def _taken(verdicts: DataFrame, partitions: int) -> Iterator[PartitionVerdict]:
    for row in verdicts.coalesce(1 + partitions // VERDICTS_AT_ONCE).toLocalIterator():
        yield from unpacked(bytes(row.verdicts))
