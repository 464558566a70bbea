"""The page for browsers tells what every output tells, loads nothing, and stays inert whatever a dump's names hold."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from command import run
from dumps_at_hand import SAMPLES
from html_pages import PageRead, many, page_read
from msgspec import Struct
from msgspec.structs import asdict

from auditor.report.formats import rendered
from auditor.report.plain import HIDDEN
from auditor.report.sheet import Sheet
from auditor.report.summary import summary
from auditor.report.terminal.screen import screen
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_short, is_typical, report_on
from tests.replaced import replace

CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))
ELEMENTS_A_FINDING, TEXTS_A_FINDING, CHARACTERS_A_FINDING = 11, 12, 1000
INCIDENT = SAMPLES / "fast_failover_kip101"
HOSTILE = (
    "\"><script>alert(1)</script><img src=x onerror=alert(2)>' onload='x' </title></style></svg> <!-- {{ 7*7 }}"
    " {% raw %} &lt; \x1b[31m \u202e\u2066 \n\r\t \x00 ]]> javascript:alert(3) http://evil.example/x.js url(http://e)"
)
FREE = frozenset({
    "topic", "message", "title", "source", "path", "role", "because", "text", "clock", "client_id", "group", "found",
    "expected", "log_dir", "cluster_id", "reason", "missing", "action", "first", "sketch", "evidence", "keys",
})  # fmt: skip
"""Fields that hold words of a dump, or words made with such."""


def page_of(case: Path) -> PageRead:
    return page_read(rendered("html", report_on(case)))


def with_words(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any value of a report
    """The same value with other words wherever a dump's words may stand."""
    if isinstance(value, Struct) or (is_dataclass(value) and not isinstance(value, type)):
        struct = isinstance(value, Struct)
        told = asdict(value) if struct else {each.name: getattr(value, each.name) for each in fields(value)}
        changed = {
            name: _worded(own, change) if name in FREE else with_words(own, change) for name, own in told.items()
        }
        return replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(with_words(each, change) for each in value)
    return value


def _worded(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_worded(each, change) for each in value)
    return with_words(value, change)


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_every_finding_stands_once_with_its_bytes_and_its_command(case: Path) -> None:
    report, page = report_on(case), page_of(case)
    ids = page.all_of("id")
    assert len(ids) == len(set(ids))
    for finding in report.findings:
        assert ids.count(finding.id) == 1
        assert f"tidemark show {finding.id} {'reopens these bytes' if finding.exhibits else 'tells'}" in page.words
        for exhibit in finding.exhibits:
            assert f"{exhibit.span.source} bytes [{exhibit.span.start}, {exhibit.span.end})" in page.words


def test_a_further_finding_adds_few_elements_and_few_words() -> None:
    """A browser opens thousands of findings at once if each of them is little; what is drawn is bounded anyway."""
    less, more = (rendered("html", many(findings)) for findings in (600, 1200))
    read = [page_read(page) for page in (less, more)]
    assert [len(page.all_of("data-finding")) for page in read] == [600, 1200]
    elements = (len(read[1].elements) - len(read[0].elements)) / 600
    texts = (len(read[1].text) - len(read[0].text)) / 600
    assert elements <= ELEMENTS_A_FINDING, "an article, its head and words, and a closed part with its bytes"
    assert texts <= TEXTS_A_FINDING, "space between elements is a node as well"
    assert (len(more) - len(less)) / 600 <= CHARACTERS_A_FINDING


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_links_stay_in_the_page_and_lead_somewhere(case: Path) -> None:
    page = page_of(case)
    links = page.all_of("href")
    assert links
    assert {link[0] for link in links} == {"#"}
    assert {link[1:] for link in links} <= set(page.all_of("id"))


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_the_page_says_what_the_first_screen_says(case: Path) -> None:
    report, page = report_on(case), page_of(case)
    told = summary(report)
    lines = list(screen(report, told, Sheet(columns=1 << 20, colour=False), quiet=False, verbose=True))
    assert told.counted in page.words
    for part in ("LOST", "NOT SEEN"):
        start = next((number for number, line in enumerate(lines) if line.startswith(part)), len(lines))
        own = lines[start : start + 1] + [line for line in lines[start + 1 : start + 2] if line.startswith(" ")]
        assert all(line[10:].strip() in page.words for line in own)
    for entry in told.incidents:
        assert entry.incident.title in page.words
    for action in told.actions:
        assert action.text in page.words


def test_a_browser_is_told_to_load_send_and_run_nothing_else() -> None:
    page = page_of(INCIDENT)
    (policy,) = [a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'{digest(page.raw['style'])}'",
        "script-src": f"'{digest(page.raw['script'])}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.declared == "DOCTYPE html"


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def assert_self_contained(page: PageRead) -> None:
    loading = {"link", "img", "iframe", "object", "embed", "base", "form", "image", "use", "foreignobject"}
    assert loading.isdisjoint(tag for tag, _ in page.elements)
    names = {name for _, attributes in page.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in {"style", "src", "srcset", "xlink:href"}]
    assert {found.strip("'\"")[0] for found in re.findall(r"url\(([^)]*)\)", page.raw["style"])} == {"#"}
    assert "@import" not in page.raw["style"]
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import|eval|innerHTML)\b", page.raw["script"])


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_the_page_refers_to_nothing_outside(case: Path) -> None:
    assert_self_contained(page_of(case))


@pytest.mark.parametrize(
    "case", fast_if(lambda case: case == INCIDENT, [c for c in CASES if is_short(c)]), ids=lambda case: case.name
)
def test_words_of_a_dump_make_no_element_and_no_attribute(case: Path) -> None:
    report = report_on(case)
    tame = page_read(rendered("html", with_words(report, lambda _: "x")))
    text = rendered("html", with_words(report, lambda _: HOSTILE))
    page = page_read(text)
    assert page.shape == tame.shape
    assert (page.raw, page.all_of("class")) == (tame.raw, tame.all_of("class"))
    assert [FINDING.sub("F", link) for link in page.all_of("href")] == [
        FINDING.sub("F", link) for link in tame.all_of("href")
    ]
    assert_self_contained(page)
    assert not [character for character in text if category(character) in HIDDEN and character != "\n"]
    assert "\\u202e" in page.words
    assert "alert(1)" in page.words


FINDING = re.compile(r"F-[0-9a-f]+")
"""The id of a finding is made of its topic, among others."""


def category(character: str) -> str:
    return unicodedata.category(character)


def test_a_report_of_nothing_is_a_page() -> None:
    report = report_on(SAMPLES / "clean_mixed")
    page = page_read(rendered("html", replace(report, replicas=(), findings=(), incidents=(), histories=(), advice=())))
    assert "no problem found" in page.words


def test_every_template_is_packed_with_the_program() -> None:
    """An installed program has the files whose endings the project names, and no others."""
    packed = tomllib.loads((SAMPLES.parent / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    templates = sorted((SAMPLES.parent / "auditor" / "report" / "html" / "templates").iterdir())
    assert len(templates) > 8
    assert {f"*{path.suffix}" for path in templates} <= set(packed)


def test_both_commands_write_the_page(tmp_path: Path) -> None:
    dump, one, other = str(INCIDENT / "dump"), tmp_path / "a.html", tmp_path / "b.htm"
    audited = run("audit", dump, "--engine", "local", "--format", f"html={one}", "-q")
    told = run("postmortem", dump, "--engine", "local", "--format", "html", "--output", str(other), "-q")
    assert (audited.code, told.code) == (1, 1)
    report = report_on(INCIDENT)
    assert one.read_text(encoding="utf-8") == rendered("html", report)
    assert other.read_text(encoding="utf-8") == rendered("postmortem-html", report)


def test_an_incident_report_has_two_formats() -> None:
    refused = run("postmortem", str(INCIDENT / "dump"), "--engine", "local", "--format", "json")
    assert refused.code == 2
    assert "--format: expected postmortem or html, found 'json'" in refused.err
