"""What the pages for readers tell is so: each of their commands runs and prints what stands below it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pyspark
import pytest
import typer
from dumps_at_hand import ROOT, SAMPLES
from page_runs import DOCS, Step, Written, difference, follow, steps

from auditor.cli.commands import app
from auditor.java import use_java
from auditor.report.terminal import render as terminal
from tests.lab.effort import fast_if
from tests.lab.sample_reports import report_on

READING = DOCS / "reading-a-report.md"
PAGES = (DOCS / "tutorial.md", DOCS / "explanation.md", READING, *sorted((DOCS / "how-to").glob("*.md")))
ON_SPARK = [page for page in PAGES if "spark-submit" in page.read_text(encoding="utf-8")]
BESIDE_SPARK = fast_if(PAGES[:3].__contains__, [page for page in PAGES if page not in ON_SPARK])
COMMAND = re.compile(r"(?:^|`|\$ )(?:tidemark|python3 run\.py) ([a-z]+)\b([^`\n]*)", re.MULTILINE)


def name_of(page: Path) -> str:
    return page.stem


def differences(page: Path, place: Path, monkeypatch: pytest.MonkeyPatch, **more: str) -> str:
    monkeypatch.chdir(place)
    environment = {"XDG_CACHE_HOME": str(place / "cache"), "NO_COLOR": "1", **more}
    return "\n\n".join(follow(page.read_text(encoding="utf-8"), place, environment))


@pytest.mark.parametrize("page", BESIDE_SPARK, ids=name_of)
def test_the_commands_of_a_page_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert differences(page, tmp_path, monkeypatch) == ""


@pytest.mark.spark
@pytest.mark.parametrize("page", ON_SPARK, ids=name_of)
def test_the_commands_of_a_page_on_spark_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_java()
    node = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    quickly = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    submitter = {"SPARK_HOME": str(Path(pyspark.__file__).parent), "JAVA_HOME": os.environ["JAVA_HOME"]}
    assert differences(page, tmp_path, monkeypatch, **node, **submitter, **quickly) == ""


def test_every_sentence_whose_meaning_is_told_stands_in_a_report_of_the_page() -> None:
    page = READING.read_text(encoding="utf-8")
    told = re.findall(r"^\| (.+?) \| .+ \|$", page.partition("\n## Twenty sentences")[2], re.MULTILINE)[1:]
    assert len(told) == 20
    shown = re.findall(r"^\$ tidemark audit sample_logs/(\w+)/dump", page, re.MULTILINE)
    said = " ".join(terminal(report_on(SAMPLES / case), columns=10_000, verbose=True) for case in shown)
    words = " ".join(said.split())
    assert [sentence for sentence in told if sentence not in words] == []


def test_every_command_and_option_in_the_documentation_exists() -> None:
    group = typer.main.get_command(app)
    known = {name: {opt for p in c.params for opt in p.opts} for name, c in group.commands.items()}  # type: ignore[attr-defined]
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *DOCS.rglob("*.md"))]
    found = [(name, words) for text in texts for name, words in COMMAND.findall(text) if name in known]
    assert len(found) > 40
    unknown = [
        f"{name} {option}"
        for name, words in found
        for option in re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", words)
        if option not in known[name] | {"--help", "-h"}
    ]
    assert unknown == []


def test_what_a_page_leaves_out_and_what_it_gets_wrong() -> None:
    page = "```yaml a.yaml\nfail-on: high\n```\n\n```console\n$ one\nfirst\n…\nlast\n$ echo $?\n0\n```\n"
    written, one, code = steps(page)
    assert written == Written(name="a.yaml", text="fail-on: high\n")
    assert (one, code) == (Step(command="one", told=("first", "…", "last")), Step(command="echo $?", told=("0",)))
    assert list(difference(one, "first\nsecond\nlast\n")) == []
    assert list(difference(one, "first\nlast\nmore\n")) != []
    assert list(difference(Step(command="one", told=("fir…",)), "first\n")) == []
    assert list(difference(Step(command="one", told=()), "first\n")) != []
