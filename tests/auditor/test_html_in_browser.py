"""The page in a real browser: it opens at once, complains of nothing, filters, shows pictures and prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES
from html_pages import many

from auditor.report.formats import rendered
from auditor.report.model import AuditReport
from tests.lab.chromium import Browser, browser, found
from tests.lab.sample_reports import report_on

PROGRAM = found()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium here: a browser is the referee (apt install chromium)"),
]
SHOWN = "[...document.querySelectorAll('[data-finding]')].filter((row) => row.checkVisibility()).length"
FINDINGS = 5_000
BYTES = 20_000_000


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser(PROGRAM or "") as one:
        yield one


@pytest.fixture
def opened(tab: Browser, tmp_path: Path) -> Browser:
    """The page of a recorded incident."""
    return shown(tab, report_on(SAMPLES / "fast_failover_kip101"), tmp_path)


def shown(
    tab: Browser, report: AuditReport, folder: Path, fragment: str = "", *, told_as: str = "html"
) -> Browser:
    page = folder / "report.html"
    page.write_text(rendered(told_as, report), encoding="utf-8")
    tab.complaints.clear()
    tab.requests.clear()
    tab.seen(width=1200, height=900)
    tab.open(page, fragment)
    return tab


def test_it_complains_of_nothing_and_asks_for_nothing(opened: Browser) -> None:
    assert opened.complaints == []
    assert [url.rpartition("/")[2] for url in opened.requests] == ["report.html"]


def test_pictures_have_size_and_words(opened: Browser) -> None:
    sizes = opened.ask(
        "[...document.querySelectorAll('.sheet svg')].map((svg) => [svg.clientWidth, svg.clientHeight,"
        " svg.querySelectorAll('rect').length, svg.getAttribute('aria-label').length])"
    )
    assert len(sizes) >= len(report_on(SAMPLES / "fast_failover_kip101").counterfactuals) + 1
    assert all(width > 700 and height > 80 and boxes > 3 and words > 40 for width, height, boxes, words in sizes)


def test_hatching_is_painted(opened: Browser) -> None:
    """A pattern that a browser does not find would leave the lost range unpainted."""
    fills = opened.ask("[...document.querySelectorAll('svg .lost')].map((box) => getComputedStyle(box).fill)")
    assert fills
    assert set(fills) == {'url("#hatch-lost")'}
    assert opened.ask("document.querySelector('#hatch-lost line').getTotalLength()") > 0


def test_words_in_pictures_do_not_touch(opened: Browser) -> None:
    overlapping = opened.ask(
        """[...document.querySelectorAll('.sheet svg')].flatMap((svg) => {
          const boxes = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
          return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
            a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4
          ).map(([other]) => `${one} | ${other}`));
        })"""
    )
    assert overlapping == []


def test_filters_hide_what_is_not_asked_for(opened: Browser) -> None:
    report = report_on(SAMPLES / "fast_failover_kip101")
    assert opened.ask(SHOWN) == len(report.findings)
    asked = "(() => {{ const box = document.getElementById('{}'); box.value = '{}';"
    asked += " box.dispatchEvent(new Event('change')); return box.value; }})()"
    assert opened.ask(asked.format("by-rule", "ACK002")) == "ACK002"
    assert opened.ask(SHOWN) == sum(finding.rule == "ACK002" for finding in report.findings)
    opened.ask(asked.format("by-severity", "low"))
    low = [finding for finding in report.findings if finding.rule == "ACK002" and finding.severity == 1]
    assert opened.ask(SHOWN) == len(low)
    assert opened.ask("document.getElementById('shown').textContent").startswith(f"{len(low)} of ")
    opened.ask("document.getElementById('show-all').click()")
    assert opened.ask(SHOWN) == len(report.findings)


def test_a_bar_of_a_picture_leads_to_the_evidence_even_if_that_is_filtered(opened: Browser) -> None:
    finding = opened.ask("document.querySelector('.sheet svg a[href^=\"#F-\"]').getAttribute('href').slice(1)")
    opened.ask(
        "(() => { const box = document.getElementById('by-severity'); box.value = 'low';"
        " box.dispatchEvent(new Event('change')); document.querySelector('.sheet svg a[href^=\"#F-\"]').dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true})); })()"
    )
    opened.ask("new Promise((done) => setTimeout(done, 200))")
    assert opened.ask(f"document.getElementById('{finding}').checkVisibility()")
    assert opened.ask(f"document.getElementById('{finding}').querySelector('details').open")
    assert opened.ask(f"(() => {{ const r = document.getElementById('{finding}').getBoundingClientRect();"
                      " return r.top >= 0 && r.top < innerHeight; })()")  # fmt: skip


def test_whatever_a_picture_leads_to_is_opened(opened: Browser) -> None:
    """Bills, steps and tables lie in parts that are closed at first."""
    links = sorted(set(opened.ask("[...document.querySelectorAll('.sheet svg a')].map((a) => a.getAttribute('href'))")))
    assert {"bill", "step", "table"} <= {link.partition("-")[2].rstrip("0123456789") for link in links}
    for link in links:
        opened.ask(f"location.hash = '{link}'")
        opened.ask("new Promise((done) => setTimeout(done, 50))")
        there = f"document.getElementById('{link[1:]}')"
        assert opened.ask(f"{there}.checkVisibility() && {there}.closest('details:not([open])') === null"), link


def test_a_keyboard_reaches_links_pictures_and_filters(opened: Browser) -> None:
    reached = set()
    for _ in range(40):
        for kind in ("keyDown", "keyUp"):
            opened.tell("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        name = "(document.activeElement.getAttribute('class') || document.activeElement.tagName).split(' ')[0]"
        reached.add(opened.ask(name))
    assert {"skip", "A", "a", "sheet"} <= reached


def test_inline_code_that_got_in_would_not_run(opened: Browser) -> None:
    planted = "<img src=x onerror='window.hit = 1'><p style='color:red'>x"
    opened.ask(f'document.body.insertAdjacentHTML("beforeend", "{planted}")')
    opened.ask("new Promise((done) => setTimeout(done, 200))")
    assert opened.ask("window.hit === undefined")
    assert opened.ask("getComputedStyle(document.querySelector('body > p:last-of-type')).color") != "rgb(255, 0, 0)"
    assert "Content Security Policy" in " ".join(opened.complaints)


def test_it_is_dark_where_that_is_preferred_and_prints_light(opened: Browser) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.ask(paper)
    opened.seen(width=1200, height=900, dark=True)
    assert opened.ask(paper) != light
    opened.seen(width=1200, height=900)
    assert opened.printed().startswith(b"%PDF")
    assert opened.complaints == []


def test_it_is_read_without_its_script(tab: Browser, tmp_path: Path) -> None:
    tab.tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        shown(tab, report_on(SAMPLES / "fast_failover_kip101"), tmp_path)
    finally:
        tab.tell("Emulation.setScriptExecutionDisabled", value=False)
    assert tab.ask(SHOWN) == len(report_on(SAMPLES / "fast_failover_kip101").findings)
    assert not tab.ask("document.getElementById('filters').checkVisibility()")


def test_the_incident_report_shows_its_story_and_opens_the_proof_that_a_link_leads_to(
    tab: Browser, tmp_path: Path
) -> None:
    page = shown(tab, report_on(SAMPLES / "fast_failover_kip101"), tmp_path, told_as="postmortem-html")
    assert page.complaints == []
    assert page.ask(SHOWN) == 0, "the appendix is closed at first"
    assert page.ask("[...document.querySelectorAll('#pictures .sheet svg')].every((svg) => svg.clientWidth > 700)")
    link = page.ask("document.querySelector('.story a.id').getAttribute('href')")
    page.ask(f"location.hash = '{link}'")
    page.ask("new Promise((done) => setTimeout(done, 200))")
    assert page.ask(f"document.getElementById('{link[1:]}').checkVisibility()")
    assert page.printed().startswith(b"%PDF")


def test_thousands_of_findings_open_at_once(tab: Browser, tmp_path: Path) -> None:
    report, page = many(FINDINGS), tmp_path / "many.html"
    page.write_text(rendered("html", report), encoding="utf-8")
    assert page.stat().st_size < BYTES
    tab.complaints.clear()
    tab.open(page)
    assert tab.complaints == []
    assert tab.ask("document.querySelectorAll('[data-finding]').length") == FINDINGS
    assert tab.ask("document.querySelectorAll('#partitions .sheet svg').length") < 400
