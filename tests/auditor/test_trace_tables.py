"""Long tables of fetches are read a stretch at a time and thinned; short ones, and those out of order, are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from auditor.engines.witnesses.statements_of_requests import of_fetches
from auditor.engines.witnesses.transcribed import GATHERED, of_table
from parsers.provenance import Origin
from parsers.tables import Fetch
from parsers.trace_table import trace_rows
from rules.history.moments import Moment
from tests.replaced import replace

ORIGIN = Origin(source="trace.csv")
BEGUN = datetime(2026, 7, 1, tzinfo=UTC)


def table(path: Path, count: int) -> Path:
    """Two brokers' answers to each other's fetches, ten of each in a second, of logs that grow all the while."""
    lines = ["time,broker,replica,topic,partition,fetchOffset,leaderEpoch,highWatermark\n"]
    for number in range(count):
        time = (BEGUN + timedelta(milliseconds=100 * number)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        lines += [f"{time},{broker},{3 - broker},t,{broker},{number},0,{max(number - 1, 0)}\n" for broker in (1, 2)]
    path.write_text("".join(lines))
    return path


def rows(path: Path) -> list[Fetch]:
    return [row for row in trace_rows(path, ORIGIN) if isinstance(row, Fetch)]


def moments(fetches: Sequence[Fetch]) -> dict[str, list[Moment]]:
    found: dict[str, list[Moment]] = {}
    for _, _, moment in of_table(fetches, ORIGIN, {}):
        found.setdefault(moment.clock, []).append(moment)
    return found


@pytest.mark.slow
def test_a_long_table_keeps_the_ends_of_its_runs_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    whole = rows(table(tmp_path / "trace.csv", 9_000))
    assert len(whole) == 18_000
    for clock, kept in moments(whole).items():
        told = [moment for _, _, moment in of_fetches(whole, {}) if moment.clock == clock]
        assert len(kept) < len(told) / 10
        assert sum(1 + moment.left_out for moment in kept) == len(told)
        assert {replace(moment, left_out=0) for moment in kept} <= set(told)
        assert [replace(kept[place], left_out=0) for place in (0, -1)] == [told[0], told[-1]]


@pytest.mark.slow
def test_what_has_no_time_or_no_order_is_not_thinned(tmp_path: Path) -> None:
    whole = rows(table(tmp_path / "trace.csv", 9_000))
    swapped = [*whole[:100], whole[102], whole[101], whole[100], *whole[103:]]
    timeless = [*whole[:-1], replace(whole[-1], time_text=None)]
    thinned = {clock: len(kept) for clock, kept in moments(whole).items()}
    for fetches, clock in ((swapped, "broker 1"), (timeless, "broker 2")):
        found = moments(fetches)
        assert len(found.pop(clock)) >= 9_000
        assert all(len(kept) == thinned[other] for other, kept in found.items())


def test_a_short_table_stands_as_it_is(tmp_path: Path) -> None:
    whole = rows(table(tmp_path / "trace.csv", 4_000))
    assert list(of_table(whole, ORIGIN, {})) == list(of_fetches(whole, {}))


def test_no_more_of_a_table_is_held_than_is_thinned_at_once(tmp_path: Path) -> None:
    (fetch,) = rows(table(tmp_path / "trace.csv", 1))[:1]
    held = 0

    def endless() -> Iterator[Fetch]:
        nonlocal held
        for number in range(4 * GATHERED):
            held = number
            yield replace(fetch, span_start=number, span_end=number + 1)

    assert next(iter(of_table(endless(), ORIGIN, {})))[0] == ("t", 1)
    assert held < GATHERED
