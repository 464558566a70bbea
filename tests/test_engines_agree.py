"""There is one semantics: what the local engine reports, the Spark engine reports to the byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from auditor.audit import audit, prepare
from auditor.config import AuditConfig, ConfigError, EngineName
from auditor.config.policy import Policy
from auditor.dumps import gather
from auditor.engines.plan import log_stretches
from auditor.engines.plan import trace_stretches as plan_traces
from auditor.engines.progress import Progress
from auditor.report.json import render
from rules.thresholds import Chosen
from tests.mutants.registry import MUTANTS
from tests.mutants.surgery import Copy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from auditor.engines.plan.units import ReadUnit


def report(dump: Path, engine: EngineName, **settings: object) -> str:
    return render(audit(dump, AuditConfig(engine=engine, **settings)))  # type: ignore[arg-type]


@pytest.mark.usefixtures("spark")
def test_reports_are_equal_to_the_byte(sample_dump: Path) -> None:
    assert report(sample_dump, "spark") == report(sample_dump, "local")


@pytest.mark.usefixtures("spark")
def test_reports_are_equal_with_a_selection(sample: Callable[[str], Path]) -> None:
    chosen = {"topic": ("orders", "state"), "partition": (0,)}
    told = report(sample("clean_2_8"), "spark", **chosen)
    assert told == report(sample("clean_2_8"), "local", **chosen)
    assert {(r["topic"], r["partition"]) for r in json.loads(told)["replicas"]} == {("orders", 0), ("state", 0)}


@pytest.mark.usefixtures("spark")
def test_reports_are_equal_at_level_deep(sample: Callable[[str], Path]) -> None:
    dump = sample("bit_rot_payload")
    assert report(dump, "spark", level="deep") == report(dump, "local", level="deep")


@pytest.mark.usefixtures("spark")
def test_reports_are_equal_where_thresholds_were_raised(tmp_path: Path) -> None:
    (mutant,) = (each for each in MUTANTS if each.rule == "TXN001")
    copy = Copy(mutant.sample, tmp_path / "dump")
    mutant.change(copy)
    raised = {"policy": Policy(thresholds=(Chosen(rule="TXN001", name="slack", value=604_800_000),))}
    told = report(copy.dump, "spark", **raised)
    assert told == report(copy.dump, "local", **raised)
    assert "TXN003" in {finding["rule"] for finding in json.loads(told)["findings"]}
    assert "TXN001" not in {finding["rule"] for finding in json.loads(told)["findings"]}


@pytest.mark.usefixtures("spark")
def test_reports_are_equal_where_logs_are_cut(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = report(sample("unclean_4x"), "local")
    monkeypatch.setattr(plan_traces, "TRACE_BYTES", 9 << 10)
    monkeypatch.setattr(log_stretches, "LOG_BYTES", 9 << 10)
    assert report(sample("unclean_4x"), "spark") == report(sample("unclean_4x"), "local") == whole


@pytest.mark.usefixtures("spark")
def test_reports_are_equal_where_logs_alone_name_topics_and_one_ends_early(
    sample: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = Path(shutil.copytree(sample("unclean_4x"), tmp_path / "dump", ignore=shutil.ignore_patterns("data")))
    log = dump / "broker-2" / "logs" / "kafka-request.log"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) * 2 // 3]))
    whole = report(dump, "local")
    monkeypatch.setattr(plan_traces, "TRACE_BYTES", 9 << 10)
    monkeypatch.setattr(log_stretches, "LOG_BYTES", 9 << 10)
    assert report(dump, "spark") == report(dump, "local") == whole


@pytest.mark.usefixtures("spark")
def test_what_no_partition_owns_is_reported_in_one_order(sample: Callable[[str], Path], tmp_path: Path) -> None:
    dump = shutil.copytree(sample("lost_pages_hw"), tmp_path / "dump")
    for place, checkpoint in enumerate(sorted(dump.rglob("*-offset-checkpoint"))):
        checkpoint.write_bytes(f"0\n2\nnonsense {place}\n".encode())
    told = report(dump, "spark")
    assert told == report(dump, "local")
    assert len(json.loads(told)["refusals"]) > 3


@pytest.mark.usefixtures("spark")
def test_the_path_of_the_dump_may_be_relative(sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    dump = sample("fast_failover_kip101")
    monkeypatch.chdir(dump.parent)
    assert report(Path("dump"), "spark") == report(dump, "local")


class Watched(Progress):
    """Progress that counts."""

    def __init__(self) -> None:
        self.expected = 0
        self.replicas = 0
        self.read = 0
        self.steps: list[int] = []
        self.partitions: list[tuple[str | None, int | None]] = []

    def total(self, total_bytes: int, replicas: int) -> None:
        self.expected = total_bytes
        self.replicas = replicas

    def again(self, more_bytes: int) -> None:
        self.expected += more_bytes

    def advance(self, read_bytes: int) -> None:
        self.read += read_bytes
        self.steps.append(self.read)

    def partition(self, topic: str | None, partition: int | None) -> None:
        self.partitions.append((topic, partition))

    def judged(self, replicas: int) -> None:
        self.replicas -= replicas


@pytest.mark.usefixtures("spark")
def test_progress_tells_every_byte_and_every_partition(sample: Callable[[str], Path]) -> None:
    dump = sample("fast_failover_kip101")
    by_spark, by_local = Watched(), Watched()
    audit(dump, AuditConfig(engine="spark"), by_spark)
    audit(dump, AuditConfig(engine="local"), by_local)
    assert by_spark.read == by_spark.expected > 0
    assert sorted(map(repr, by_spark.partitions)) == sorted(map(repr, by_local.partitions))


@pytest.mark.usefixtures("spark")
def test_progress_moves_while_sessions_are_followed_and_while_tasks_read(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from auditor.engines.spark import packs

    monkeypatch.setattr(packs, "SMALLEST_TASK", 1)
    monkeypatch.setattr(plan_traces, "TRACE_BYTES", 9 << 10)
    watched = Watched()
    dump = sample("unclean_rejoined")
    audit(dump, AuditConfig(engine="spark"), watched)
    once = prepare(gather(dump), AuditConfig()).bytes
    assert watched.expected > once, "request logs are read twice, and said to be"
    assert watched.steps[0] <= watched.expected - once, "nothing else is read before their sessions are known"
    assert watched.steps[-1] == watched.read == watched.expected
    assert len(watched.steps) > 1


@pytest.mark.slow
def test_tasks_are_alike_and_keep_the_order_of_the_plan(sample: Callable[[str], Path]) -> None:
    import pyarrow as pa

    from auditor.engines.plan.units import UNIT_BYTES, ReadUnit
    from auditor.engines.spark.packs import UNIT_COST, packs_of
    from parsers.tables import from_arrow

    def units_of(pack: bytes) -> Iterator[ReadUnit]:
        yield from from_arrow(pa.ipc.open_stream(pack).read_all(), ReadUnit)

    units = [unit for _ in range(20) for unit in prepare(gather(sample("clean_2_8")), AuditConfig()).units]
    for cores in (1, 4):
        packs = packs_of(units, cores)
        same = [unit for pack in packs for unit in units_of(pack.units)] == units
        assert same
        assert sum(pack.size for pack in packs) == sum(unit.bytes for unit in units)
        assert len(packs) > 2 * cores, "with one task a core nothing is known to be read until all is"
        for pack in packs:
            held = list(units_of(pack.units))
            assert len(held) == 1 or sum(unit.bytes + UNIT_COST for unit in held) <= UNIT_BYTES + UNIT_COST


@pytest.mark.usefixtures("spark")
def test_a_dump_that_executors_do_not_see_is_a_sentence(sample: Callable[[str], Path]) -> None:
    from auditor.engines.plan.selection import Selection
    from auditor.engines.spark.engine import run

    prepared = prepare(gather(sample("fast_failover_kip101")), AuditConfig())
    moved = [structs.replace(unit, dump="/no/such/dump") for unit in prepared.units]
    with pytest.raises(ConfigError, match=r"^/no/such/dump: .*[Ee]very executor must see the dump") as caught:
        list(run(moved, prepared.surroundings, Progress(), Selection()))
    assert "\n" not in str(caught.value)


def test_an_interrupt_stops_the_job(sample: Callable[[str], Path], spark: SparkSession) -> None:
    class Impatient(Watched):
        def advance(self, read_bytes: int) -> None:
            self.read += read_bytes
            raise KeyboardInterrupt

    told = audit(sample("clean_2_8"), AuditConfig(engine="spark"), Impatient())
    assert (told.interrupted, told.exit_code) == (True, 130)
    # Spark cancels a job when it comes to it.
    until = time.monotonic() + 120
    while (active := list(spark.sparkContext.statusTracker().getActiveJobsIds())) and time.monotonic() < until:
        time.sleep(0.1)
    assert active == []


@pytest.mark.slow
def test_the_command_line_and_the_local_engine_load_no_spark(sample: Callable[[str], Path]) -> None:
    code = (
        "import sys; from pathlib import Path; import auditor, auditor.cli;"
        "from auditor.run_audit import audit; from auditor.config import AuditConfig;"
        "audit(Path(sys.argv[1]), AuditConfig(engine='local'));"
        "print([name for name in sys.modules if name.split('.')[0] in ('pyspark', 'py4j')])"
    )
    dump = str(sample("lost_pages_hw"))
    done = subprocess.run([sys.executable, "-c", code, dump], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
