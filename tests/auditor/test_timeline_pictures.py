"""The timeline as a picture and as a page: the same rows, found again in the logs, and inert whatever names hold."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command import run
from dumps_at_hand import SAMPLES
from html_pages import page_read

from auditor.config import AuditConfig
from auditor.report.html.timeline_page import render_page, render_svg
from auditor.timeline import evidence_of
from auditor.timeline.picture import page_of
from auditor.timeline.text import columns
from auditor.timeline.window import Window, window_of
from auditor.timeline.written_times import written
from rules.sketch.notation import read_sketch
from rules.timeline.drawn import drawn_history
from rules.timeline.rows import Timeline, timeline_of

DUMP = SAMPLES / "unclean_rejoined" / "dump"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>\x1b[31m\u202e=1+1"
LEADS = """
topic {}
broker 1 00000|
broker 2 00000|
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@0 from 1 hw=0
t3 fetch 2@3 from 1 hw=5
t4 fetch 2@5 from 1 hw=5
"""


def drawn(case: Path = DUMP) -> Timeline:
    return timeline_of(evidence_of(case, "pay", 0))


def test_times_as_written_stand_in_the_lines_that_tell_them() -> None:
    """Whoever looks for a row in the log finds it there, whatever its clock was shifted by."""
    seen = 0
    for row in drawn().rows:
        path = DUMP / row.moment.span.source
        if path.suffix == ".log" and not path.stem.isdigit() and row.moment.count == 1:
            with path.open("rb") as log:
                log.seek(row.moment.span.start)
                line = log.read(row.moment.span.end - row.moment.span.start).decode()
            assert written(row.moment) in line
            seen += 1
    assert seen > 80


def test_a_zone_that_was_told_is_taken_back_for_the_time_as_written() -> None:
    zones = ("1=Europe/Berlin",)
    moved = timeline_of(evidence_of(DUMP, "pay", 0, AuditConfig(log_timezone=zones)))

    def own(told: Timeline, given: tuple[str, ...]) -> set[str]:
        return {written(row.moment, given) for row in told.rows if row.moment.clock == "broker 1"}

    assert own(moved, zones) == own(drawn(), ())
    assert own(moved, ()) != own(drawn(), ())


def test_the_picture_holds_what_the_report_draws_and_its_legend() -> None:
    history = drawn_history(evidence_of(DUMP, "pay", 0))
    assert history is not None
    page = page_of(drawn(), Window())
    assert page.history == history
    root = ET.fromstring(render_svg(page))  # noqa: S314 - what this program wrote
    words = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert words[0] == "pay-0"
    assert {f"broker {reign.broker}" for reign in history.reigns} <= set(words)
    assert "A red arrow is a cut, and ends at the offset that the log was cut to." in words
    assert len([box for box in root.iter(f"{SVG}rect") if "reign" in (box.get("class") or "")]) == len(history.reigns)


def test_nothing_in_a_picture_leads_elsewhere() -> None:
    root = ET.fromstring(render_svg(page_of(drawn(), Window())))  # noqa: S314 - what this program wrote
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "desc", "style", "rect", "polyline", "text", "g")
    }


def test_the_page_holds_every_row_of_the_text_and_the_bytes_that_tell_it() -> None:
    whole = drawn()
    page = page_read(render_page(page_of(whole, Window())))
    for cells, row in zip(columns(whole).rows, whole.rows, strict=True):
        assert cells[3] in page.words
        assert f"{row.moment.span.source} [{row.moment.span.start}, {row.moment.span.end})" in page.words
    links = page.all_of("href")
    assert links
    assert {link[1:] for link in links} <= set(page.all_of("id"))


@pytest.mark.parametrize("render", [render_svg, render_page])
def test_hostile_names_stay_text(render: object) -> None:
    assert callable(render)
    evidence = read_sketch(LEADS.format("tame")).evidence
    hostile = timeline_of(evidence)
    names = (timeline_of(evidence), Timeline(**{**{f: getattr(hostile, f) for f in FIELDS}, "topic": HOSTILE}))
    tame, worse = (render(page_of(each, Window())) for each in names)
    assert "\x1b" not in worse
    assert "\u202e" not in worse
    assert "<script" not in worse
    assert worse.count("<") == tame.count("<")


FIELDS = ("topic", "partition", "brokers", "clocks", "missing", "rows")


def test_a_stretch_begins_with_what_was_so_by_then() -> None:
    whole = drawn()
    cut = next(row for row in whole.rows if row.moment.kind == "truncated")
    assert cut.time is not None
    page = page_of(whole, Window(since=cut.time - 200))
    assert page.history is not None
    assert page.history.first_time == cut.time - 200
    assert 0 < len(page.rows) < len(whole.rows)
    leads = {reign.epoch for reign in page.history.reigns}
    assert leads
    assert 0 not in leads, "it had ended long before"
    assert {replica.broker for replica in page.history.replicas} == set(whole.brokers)
    assert all(point.time >= cut.time - 200 for replica in page.history.replicas for point in replica.points)
    assert not any(replica.points[0].told_watermark for replica in page.history.replicas)


def test_offsets_keep_what_names_them_and_what_passes_through_them() -> None:
    whole = drawn()
    shown = window_of(whole, offsets="100-149").shows(whole)
    texts = [row.text for row in shown.rows]
    assert "1 truncates to @100" in texts
    assert not any("@40 " in text for text in texts)
    assert [row for row in shown.rows if row.moment.kind == "leadership"] == [
        row for row in whole.rows if row.moment.kind == "leadership"
    ]
    assert 5 < len(shown.rows) < len(whole.rows)
    assert len(window_of(whole, offsets="0-200").shows(whole).rows) == len(whole.rows)
    assert window_of(whole, offsets="7").offsets == (7, 7)


def test_the_panels_show_the_offsets_that_were_asked_for() -> None:
    ticks = re.findall(r'class="tick"[^>]*>(\d+)<', render_svg(page_of(drawn(), Window(offsets=(100, 149)))))
    assert {"100", "150"} <= set(ticks)
    assert "0" not in ticks


@pytest.mark.parametrize(("name", "begins"), [("svg", "<svg "), ("html", "<!DOCTYPE html>")])
def test_the_command_writes_them(name: str, begins: str, tmp_path: Path) -> None:
    file = tmp_path / f"pay-0.{name}"
    words = ("timeline", str(DUMP), "--topic", "pay", "--partition", "0", "--offsets", "100-149")
    ended = run(*words, "--format", name, "--output", str(file))
    assert ended.code == 0, ended.err
    assert file.read_text().startswith(begins)
    other = run(*words, "--output", str(tmp_path / f"other.{name}"))
    assert other.code == 2
    assert "would hold the format terminal" in other.err


def test_no_other_command_takes_a_picture_for_a_report() -> None:
    refused = run("audit", str(DUMP), "--engine", "local", "--format", "svg")
    assert refused.code == 2
    assert "--format: svg draws one partition: ask tidemark timeline for it" in refused.err


def test_a_history_without_a_time_is_said_to_have_none() -> None:
    timeless = timeline_of(read_sketch("broker 1 00000|\nbroker 2 00000|\n").evidence)
    assert "Nothing here bears a time." in render_svg(page_of(timeless, Window()))
    assert "Nothing here bears a time." in render_page(page_of(timeless, Window()))
