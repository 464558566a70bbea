"""The quality command on recorded dumps and on tables that break every promise."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import run as command

from auditor.quality.outcome import TableOutcome
from auditor.quality.plan import plan_quality, plan_table
from parsers.tables import EpochEntry, arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    # Great Expectations brings a library that loads modules which Python has renamed.
    pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the command."""

    code: int
    stdout: str
    err: str
    output: Path

    @property
    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.output / "tidemark-quality.json").read_text())
        return found

    def verdicts(self) -> dict[str, str]:
        return {one["name"]: one["verdict"] for table in self.summary["tables"] for one in table["expectations"]}

    def pages(self) -> dict[str, str]:
        return {str(page.relative_to(self.output)): page.read_text() for page in self.output.rglob("*.html")}


def run(dump: Path | Sequence[Path], output: Path, *words: str) -> Run:
    ended = command("quality", *map(str, [dump] if isinstance(dump, Path) else dump), "--output", str(output), *words)
    return Run(code=ended.code, stdout=ended.out, err=ended.err, output=output)


@pytest.fixture(scope="module")
def bit_rot(spark: SparkSession, sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    assert spark is not None
    return run(sample("bit_rot_payload"), tmp_path_factory.mktemp("quality") / "new", "--topic", "d")


@pytest.fixture(scope="module")
def clean(spark: SparkSession, sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two clusters, a folder each, beside a third that was not given: a single run looks at both."""
    assert spark is not None
    folder = tmp_path_factory.mktemp("clean")
    for name in ("clean_1_1", "recreated_topic", "bit_rot_payload"):
        shutil.copytree(sample(name), folder / "dump" / name)
    return run([folder / "dump" / "recreated_topic", folder / "dump" / "clean_1_1"], folder / "quality")


def test_a_flipped_bit_fails_its_expectation_and_no_other(bit_rot: Run) -> None:
    assert bit_rot.code == 1
    assert {name for name, verdict in bit_rot.verdicts().items() if verdict != "met"} == {"batches.checksum_holds"}
    (failed,) = (one for table in bit_rot.summary["tables"] for one in table["expectations"] if "says" in one)
    place = {"path": "broker-3/data/d-0/00000000000000000000.log", "start": 3144, "end": 3935}
    assert (failed["unexpected"], failed["evidence"]) == (1, [place])
    assert "batches.checksum_holds" in bit_rot.stdout
    assert "00000000000000000000.log [3144, 3935)" in bit_rot.stdout


def test_clean_recordings_meet_every_expectation(clean: Run) -> None:
    assert set(clean.verdicts().values()) == {"met"}
    assert clean.code == 0
    rows = {table["table"]: table["rows"] for table in clean.summary["tables"]}
    assert {name for name, count in rows.items() if count == 0} == {"refusals"}
    given = [clean.output.parent / "dump" / name for name in ("clean_1_1", "recreated_topic")]
    assert rows["sources"] == sum(path.is_file() for folder in given for path in folder.rglob("*"))
    assert clean.summary["dump"] == "recreated_topic, clean_1_1"


def test_an_index_that_leads_inside_a_batch_fails_and_so_does_part_of_an_entry(
    spark: SparkSession, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    assert spark is not None
    dump = Path(shutil.copytree(sample("clean_2_8"), tmp_path / "dump", ignore=shutil.ignore_patterns("logs")))
    home = dump / "broker-2/data/my-topic.v2-0"
    offsets, times = home / f"{200:020d}.index", home / f"{400:020d}.timeindex"
    entry = bytearray(offsets.read_bytes())
    entry[7] ^= 1
    offsets.write_bytes(entry)
    times.write_bytes(times.read_bytes() + b"\1\2\3")
    ended = run(dump, tmp_path / "out", "--topic", "my-topic.v2")
    failed = sorted(name for name, verdict in ended.verdicts().items() if verdict == "failed")
    assert (ended.code, failed) == (1, ["indexes.log_bears_out", "refusals.none_malformed"])


def test_what_was_planned_was_evaluated(clean: Run) -> None:
    planned = [one.name for plan in plan_quality() for one in plan.expected]
    assert list(clean.verdicts()) == planned


def test_a_topic_leaves_other_topics_out(bit_rot: Run, sample: Callable[[str], Path]) -> None:
    rows = {table["table"]: table["rows"] for table in bit_rot.summary["tables"]}
    files = [path for path in sample("bit_rot_payload").rglob("*") if path.is_file()]
    of_others = [path for path in files if re.fullmatch(r".+-\d+", path.parent.name) and path.parent.name[:2] != "d-"]
    assert of_others
    assert rows["sources"] == len(files) - len(of_others)


def test_data_docs_open_without_a_network_and_show_no_payload(bit_rot: Run) -> None:
    pages = bit_rot.pages()
    tables = [plan.table for plan in plan_quality()]
    for table in (*tables, "batches-failed"):
        assert f"data-docs/expectations/{table}.html" in pages
        assert any(name.startswith(f"data-docs/validations/{table}/") for name in pages)
    links = re.findall(r'href="([^"]+)"', pages["data-docs/index.html"])
    assert len(links) == 2 * len(tables) + 1
    assert all((bit_rot.output / "data-docs" / link).is_file() for link in links)
    for name, page in pages.items():
        assert not re.search(r"v\d+-x{4}", page), name
        assert not re.search(r"<script|<img|url\(\s*['\"]?http|<link[^>]+href=\"http", page), name
        assert "default-src 'none'" in page, name


def test_the_summaries_hold_nothing_that_changes_between_runs(bit_rot: Run) -> None:
    for name in ("tidemark-quality.json", "tidemark-quality.md"):
        text = (bit_rot.output / name).read_text()
        assert not re.search(r"20\d\d-\d\d|\d\d:\d\d|[0-9a-f]{8}-[0-9a-f]{4}", text), name
        assert str(bit_rot.output) not in text


# --- tables that break their promises -------------------------------------------------------------------------------


SIZES = {"d/t-0/leader-epoch-checkpoint": 20, "far": 110, "empty": 20, "negative": 20}


def epoch(**fields: object) -> dict[str, object]:
    sound = {
        "cluster_id": "c", "broker": 1, "log_dir": "d", "topic": "t", "topic_id": None, "partition": 0, "epoch": 3,
        "start_offset": 10, "source": "d/t-0/leader-epoch-checkpoint", "span_start": 4, "span_end": 9,
    }  # fmt: skip
    return sound | fields


def assess(spark: SparkSession, rows: list[dict[str, object]], *, without: str | None = None) -> TableOutcome:
    import pyarrow as pa
    from pyspark.sql.functions import lit

    from auditor.quality.checkpoint import Quality
    from auditor.quality.frames import measured

    fields = [field.with_nullable(True) for field in arrow_schema(EpochEntry) if field.name != without]
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, pa.schema(fields)))
    sources = spark.createDataFrame([*SIZES.items()], "source string, size bigint").withColumns(
        {"span_start": lit(0), "span_end": lit(0)}
    )
    epochs = measured({"sources": sources, "epochs": frame.repartition(3)})["epochs"]
    return Quality().validate(plan_table("epochs", EpochEntry), epochs)


@pytest.fixture(scope="module")
def broken(spark: SparkSession) -> TableOutcome:
    same = [epoch(span_start=place, span_end=place + 1) for place in (1, 2, 2)]
    many = [epoch(span_start=100 + place, span_end=101 + place, source="far") for place in range(40)]
    alone = [
        epoch(source="gone", span_start=7, span_end=8),
        epoch(source="empty", span_start=6, span_end=6),
        epoch(source="negative", epoch=-1),
        epoch(source="negative", span_start=9, span_end=12, start_offset=None),
        epoch(source="negative", span_start=-(2**63), span_end=2**63 - 1),
    ]
    return assess(spark, [*same, *many, *alone])


@pytest.mark.parametrize(
    ("name", "unexpected", "first"),
    [
        ("epochs.epoch.range", 1, ("negative", 4)),
        ("epochs.start_offset.not_null", 1, ("negative", 9)),
        ("epochs.span_start.range", 1, ("negative", -(2**63))),
        ("epochs.natural_key", 2, ("d/t-0/leader-epoch-checkpoint", 2)),
        ("epochs.span_has_bytes", 1, ("empty", 6)),
        ("epochs.span_inside_source", 31, ("far", 110)),
        ("epochs.source_known", 1, ("gone", 7)),
    ],
)
def test_a_broken_promise_is_counted_and_found(
    broken: TableOutcome, name: str, unexpected: int, first: tuple[str, int]
) -> None:
    (outcome,) = (one for one in broken.outcomes if one.expected.name == name)
    assert (outcome.verdict, outcome.unexpected) == ("failed", unexpected)
    assert (outcome.addresses[0].source, outcome.addresses[0].start) == first


def test_nothing_else_is_broken_and_addresses_are_the_first_ones(broken: TableOutcome) -> None:
    failed = {one.expected.name: one for one in broken.with_verdict("failed")}
    assert len(failed) == 7
    assert [span.start for span in failed["epochs.span_inside_source"].addresses] == [*range(110, 130)]


def test_a_missing_column_fails_and_what_needs_it_is_not_evaluated(spark: SparkSession) -> None:
    found = assess(spark, [{name: value for name, value in epoch().items() if name != "epoch"}], without="epoch")
    assert [one.expected.name for one in found.with_verdict("failed")] == ["epochs.epoch.exists"]
    open_ones = {one.expected.name for one in found.with_verdict("not evaluated")}
    assert open_ones == {"epochs.epoch.type", "epochs.epoch.not_null", "epochs.epoch.range"}
    assert all(one.reason for one in found.with_verdict("not evaluated"))


# --- what is refused before anything is read ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--output", "{dump}/quality"), "lies inside the dump"),
        (("--output", "{other}"), "holds other things"),
        (("--output", "{other}/file"), "expected a folder, found a regular file"),
        (("--topic", "nosuch*"), "--topic nosuch*: matches nothing"),
        (("--log-dir", "1=nowhere"), "--log-dir 1=nowhere: no such folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: tuple[str, str],
    complaint: str,
    sample: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    dump = sample("bit_rot_payload")
    given = [word.format(dump=dump, other=tmp_path) for word in words]
    ended = run(dump, tmp_path / "new", *given)
    assert ended.code == 2
    assert complaint in ended.err.replace("\n", " ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
    assert not (dump / "quality").exists()


def test_the_job_takes_the_flags_of_the_command_from_any_folder(tmp_path: Path) -> None:
    job = Path(__file__).resolve().parents[2] / "spark_jobs" / "quality_job.py"
    told = subprocess.run(
        [sys.executable, str(job), "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert {"--output", "--topic", "--log-dir"} <= set(re.findall(r"--[a-z-]+", told.stdout))
    assert "tidemark quality" in told.stdout
