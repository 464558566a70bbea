"""A dump whose topics, clients and log lines attack those who read of them: every format of every command is inert."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from command import run
from dumps_at_hand import SAMPLES, copied
from html_pages import page_read
from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from test_text_dumps import printed

from auditor.report.formats import FORMATS, TERMINAL
from auditor.report.plain import HIDDEN

TOPIC = "=1+1<script>alert(1)<img src=x onerror=alert(2)>&a *a !!x {{ 7*7 }} ]]> `rm`\x1b[31m\u202e\u2066::error::x"
CLIENT = "=cmd|'/c calc'!A1</script><script>alert(3)</script>%0A::error::&anchor *anchor\u202e"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded incident, and the same of a topic that only kafka-dump-log names; folders and clients attack too."""
    place = copied("fast_failover_kip101", tmp_path_factory.mktemp("hostile") / "dump", logs=True)
    for segment in sorted(place.glob("broker-*/data/ff-0/*.log")):
        text = printed(segment, f"/data/{TOPIC}-0/{segment.name}")
        (place / segment.parts[-4] / f"{segment.stem}.txt").write_text(text, encoding="utf-8")
    for data in sorted(place.glob("broker-*/data")):
        shutil.copytree(data / "ff-0", data / f"{TOPIC}\n-0")
    for log in sorted(place.glob("**/logs/*.log")):
        log.write_bytes(log.read_bytes().replace(b"rdkafka", json.dumps(CLIENT)[1:-1].encode()))
    return place


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "hostile-cache"))


@pytest.fixture(scope="module")
def named(dump: Path) -> tuple[str, str]:
    """The topic and a finding, as the report calls them."""
    report = json.loads(run("audit", str(dump), "--engine", "local", "--format", "json", "-q").out)
    found = next(f for f in report["findings"] if "alert(1)" in str(f["topic"]) and f["evidence"])
    return found["topic"], found["id"]


def assert_inert(text: str) -> None:
    """Nothing in it moves a cursor, hides itself or turns text round."""
    hidden = {c for c in text.replace("\r\n", "\n") if unicodedata.category(c) in HIDDEN and c not in "\n\t"}
    assert hidden == set()


def of_json(text: str) -> None:
    assert text.isascii()
    assert json.loads(text)


def of_json_lines(text: str) -> None:
    assert all(json.loads(line)["kind"] for line in text.splitlines())


def of_csv(text: str) -> None:
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert any("alert(1)" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t")) or cell[:2] == "-="]


def of_junit(text: str) -> None:
    assert any("alert(1)" in (test.name or "") for suite in JUnitXml.fromstring(text.encode()) for test in suite)


def of_metrics(text: str) -> None:
    assert list(text_string_to_metric_families(text))


def of_github(text: str) -> None:
    assert all(line.startswith(("::error", "::warning", "::notice")) for line in text.splitlines())
    assert "\n::error::x" not in text


def of_page(text: str) -> None:
    page = page_read(text)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") <= 1
    assert {"img", "iframe", "object", "embed"}.isdisjoint(tags)
    assert not [name for _, given in page.elements for name in given if name.startswith("on")]


def of_picture(text: str) -> None:
    assert "<script" not in text
    assert "<img" not in text


def of_markdown(text: str) -> None:
    """Code shows as it stands; elsewhere what would open a tag is escaped."""
    prose = re.sub(r"`[^`\n]*`", "", text.replace("\\`", ""))
    assert "alert(1)" in prose
    assert not re.search(r"(?<!\\)<(?:script|img)", prose)


GRAMMARS: dict[str, Callable[[str], None]] = {
    "json": of_json, "jsonl": of_json_lines, "csv": of_csv, "sarif": of_json, "junit": of_junit,
    "openmetrics": of_metrics, "github": of_github, "html": of_page, "postmortem-html": of_page,
    "postmortem": of_markdown, "svg": of_picture,
}  # fmt: skip


def held(text: str, name: str) -> None:
    assert_inert(text)
    GRAMMARS.get(name, lambda _: None)(text)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_a_report_is_inert(name: str, dump: Path) -> None:
    assert name == TERMINAL or name in GRAMMARS, "a new format needs its grammar here"
    told = run("audit", str(dump), "--engine", "local", "--format", name, "-v")
    assert told.code in (1, 3), told.err
    held(told.out, name)
    assert_inert(told.err)


OTHERS = (
    ("audit {dump} --engine local --dry-run", "terminal"),
    ("audit {dump} --engine local", "terminal"),
    ("audit {dump} --engine local --topic nosuch", "terminal"),
    ("postmortem {dump} --engine local --appendix", "postmortem"),
    ("postmortem {dump} --engine local --format html", "html"),
    ("advise {dump} --engine local", "terminal"),
    ("advise {dump} --engine local --format json", "json"),
    ("timeline {dump} --topic {topic} --partition 0", "terminal"),
    ("timeline {dump} --topic {topic} --partition 0 --format json", "json"),
    ("timeline {dump} --topic {topic} --partition 0 --format svg", "svg"),
    ("timeline {dump} --topic {topic} --partition 0 --format html", "html"),
    ("diff {other} {dump} --engine local", "terminal"),
    ("diff {other} {dump} --engine local --format json", "json"),
    ("find {dump} --topic {topic} --partition 0 --offset 12 --explain", "terminal"),
    ("find {dump} --topic ff --partition 0 --offset 12 --explain", "terminal"),
    ("show {finding} --print-data-log", "terminal"),
    ("bundle {dump} -o {target} --engine local", "terminal"),
)


@pytest.mark.parametrize(("words", "name"), OTHERS, ids=lambda each: each)
def test_every_command_is_inert(words: str, name: str, dump: Path, named: tuple[str, str], tmp_path: Path) -> None:
    topic, finding = named
    if words.startswith("show"):
        run("audit", str(dump), "--engine", "local", "-q")
    given = {
        "dump": str(dump), "topic": topic, "finding": finding, "other": str(SAMPLES / "lost_pages_hw" / "dump"),
        "target": str(tmp_path / "b.tar.gz"),
    }  # fmt: skip
    told = run(*(word.format(**given) for word in words.split()))
    refused = "nosuch" in words or words.startswith("find {dump} --topic {topic}")
    assert told.code in ((2,) if refused else (0, 1, 3)), told.err
    assert told.out or told.err
    if told.out:
        held(told.out, name)
    assert_inert(told.err)


@pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")
@pytest.mark.spark
def test_the_quality_of_such_a_dump_is_told_inertly(dump: Path, tmp_path: Path) -> None:
    told = run("quality", str(dump), "--output", str(tmp_path / "quality"))
    assert told.code in (0, 1, 3), told.err
    assert_inert(told.out)
    pages = list((tmp_path / "quality").rglob("*.html"))
    assert not any("<script>alert" in page.read_text(encoding="utf-8") for page in pages)
