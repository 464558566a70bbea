"""A dump in a notebook: findings, replicas and timelines as DataFrames that agree with the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dumps_at_hand import SAMPLES
from html_pages import page_read

from rules.finding import Severity
from tests.lab.sample_reports import report_on
from tests.replaced import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from auditor import Dump

pytestmark = pytest.mark.spark
CASE = SAMPLES / "fast_failover_kip101"
HOSTILE = '"></iframe><script>alert(1)</script>\x1b[31m\u202e'


@pytest.fixture(scope="module")
def opened(spark: SparkSession) -> Dump:
    from auditor import open_dump

    return open_dump(spark, CASE / "dump")


def test_findings_and_replicas_are_those_of_the_report(opened: Dump) -> None:
    told = report_on(CASE)
    rows = opened.findings.collect()
    assert [(row.id, row.rule, row.severity, row.message) for row in rows] == [
        (each.id, each.rule, Severity(each.severity).label, each.message) for each in told.findings
    ]
    assert rows[0].exhibits[0].source == told.findings[0].exhibits[0].span.source
    assert opened.report() is opened.report(), "one audit for all questions"
    replicas = {(row.broker, row.log_end_offset, row.verdict) for row in opened.replicas.collect()}
    assert replicas == {(p.replica.broker, p.replica.log_end_offset, p.replica.verdict) for p in told.replicas}


def test_a_timeline_shows_itself_and_gives_rows(opened: Dump) -> None:
    drawn = opened.timeline("ff", 0)
    rows = drawn.rows
    assert rows.where("leads and log_end_low is not null").count() > 10
    assert rows.select("event").distinct().count() == len(drawn.whole.rows)
    assert str(drawn).startswith("ff-0\n")
    part = opened.timeline("ff", 0, offsets="10-14", since="05:28:56")
    assert 0 < part.rows.count() < rows.count()
    assert drawn.svg().startswith("<svg ")


def test_it_shows_itself_in_a_frame_that_nothing_leaves(opened: Dump) -> None:
    drawn = opened.timeline("ff", 0)
    hostile = replace(drawn, whole=replace(drawn.whole, topic=HOSTILE))
    frame = page_read(hostile._repr_html_())
    ((tag, told),) = frame.elements
    assert (tag, told["sandbox"]) == ("iframe", "")
    inner = page_read(str(told["srcdoc"]))
    assert "script" not in {name for name, _ in inner.elements}
    assert "alert(1)" in inner.words
    assert "\x1b" not in hostile._repr_html_()


def test_what_was_told_of_the_logs_holds_for_the_timeline(opened: Dump) -> None:
    moved = opened.with_logs(timezones=["Europe/Berlin"])
    assert moved._reports == {}
    first, later = (one.timeline("ff", 0).rows.where("clock = 'broker 1'").first() for one in (opened, moved))
    assert first is not None
    assert later is not None
    assert later.written == first.written
    assert later.time != first.time
