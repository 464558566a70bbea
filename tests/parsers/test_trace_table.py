"""Plain fetch traces in CSV and JSON lines: the same rows from either, and every unfit line refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.refusal import Parsed
from parsers.tables import Fetch, from_arrow, to_arrow
from parsers.trace_table import COLUMNS
from tests.lab.effort import cases
from tests.lab.whole_logs import read_trace_table

ORIGIN = Origin(source="trace.csv", broker=9)
VALUES = ["2026-11-21 05:38:21,717", 1, 2, "orders", 0, 41, 3, 40, 5, 0]
HEADER = ",".join(COLUMNS)
LINE = ",".join(f'"{value}"' for value in VALUES)


def read(tmp_path: Path, text: str | bytes, start: int = 0, end: int | None = None) -> Parsed[Fetch]:
    path = tmp_path / "trace"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_trace_table(path, ORIGIN, start, end)


def facts(row: Fetch) -> list[object]:
    return [
        row.time_text, row.broker, row.replica, row.topic, row.partition, row.fetch_offset, row.current_leader_epoch,
        row.high_watermark, row.leader_log_start_offset, row.error_code,
    ]  # fmt: skip


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv_with_any_delimiter(tmp_path: Path, mark: str) -> None:
    cells = [f'"{value}"' for value in VALUES]
    parsed = read(tmp_path, "\ufeff" + mark.join(COLUMNS) + "\r\n" + mark.join(cells) + "\r\n")
    assert parsed.refusals == ()
    assert [facts(row) for row in parsed.rows] == [VALUES]
    assert from_arrow(to_arrow(parsed.rows, Fetch), Fetch) == list(parsed.rows)


def test_json_lines_give_the_rows_of_csv(tmp_path: Path) -> None:
    parsed = read(tmp_path, json.dumps(dict(zip(COLUMNS, VALUES, strict=True))) + "\n\n")
    assert [facts(row) for row in parsed.rows] == [VALUES]
    assert (parsed.rows[0].implied, parsed.rows[0].possibly_stale) == (False, False)


def test_columns_in_any_order_with_unknown_ones_and_gaps(tmp_path: Path) -> None:
    parsed = read(tmp_path, "note,partition,topic,fetchOffset,replica,highWatermark\nx,1,t,7,2,\n")
    (row,) = parsed.rows
    assert (row.broker, row.partition, row.fetch_offset, row.high_watermark, row.error_code) == (9, 1, 7, None, None)
    assert (row.span_start, row.span_end) == (55, 65)


@pytest.mark.parametrize(
    "line",
    [
        "a,1,2,orders,0,x,3,40,5,0",
        "a,1,2,orders,-1,41,3,40,5,0",
        "a,1,2,,0,41,3,40,5,0",
        "a,1,2,orders,0,41,3,40,5",
        "a,1,2,orders,0,,3,40,5,0",
        "a,1,2,orders,0,41,3,40,5,99999",
        'a,1,2,"orders,0,41,3,40,5,0',
        "a,1,2,orders,0,99999999999999999999,3,40,5,0",
        "x" * (1 << 21),
    ],
)
def test_unfit_lines_are_refused_and_their_neighbours_read(tmp_path: Path, line: str) -> None:
    parsed = read(tmp_path, f"{HEADER}\n{LINE}\n{line}\n{LINE}\n")
    assert len(parsed.rows) == 2
    assert [refusal.span_start for refusal in parsed.refusals] == [len(HEADER) + len(LINE) + 2]


@pytest.mark.parametrize("line", ["{", "[1]", '{"partition":true}', '{"a":' * 5000, '{"replica":1e3}', "{}"])
def test_unfit_json_is_refused(tmp_path: Path, line: str) -> None:
    good = json.dumps(dict(zip(COLUMNS, VALUES, strict=True)))
    parsed = read(tmp_path, f"{good}\n{line}\n{good}\n")
    assert len(parsed.rows) == 2
    assert len(parsed.refusals) == 1


def test_a_table_without_its_columns_is_refused_once(tmp_path: Path) -> None:
    parsed = read(tmp_path, "time,topic\na,b\nc,d\n")
    assert parsed.rows == ()
    assert [refusal.expected for refusal in parsed.refusals] == ["columns replica, partition, fetchOffset"]


@pytest.mark.parametrize("header", [HEADER.replace("time", "time\rof day", 1), f"{HEADER},{'x' * 140_000}"])
def test_a_header_that_is_no_line_of_csv_is_refused(tmp_path: Path, header: str) -> None:
    parsed = read(tmp_path, f"{header}\n{LINE}\n")
    assert parsed.rows == ()
    assert [refusal.kind for refusal in parsed.refusals] == ["malformed"]


def test_a_field_of_any_length_is_no_reason_to_stop(tmp_path: Path) -> None:
    parsed = read(tmp_path, f"{HEADER}\n{'x' * 140_000}{LINE}\n{LINE}\n")
    assert (len(parsed.rows), [refusal.kind for refusal in parsed.refusals]) == (1, ["malformed"])


@given(st.integers(0, 400), st.booleans())
@settings(max_examples=cases(60), deadline=None)
def test_a_cut_anywhere_gives_the_rows_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, cut: int, plain: bool
) -> None:
    tmp_path = tmp_path_factory.getbasetemp()
    line = LINE if plain else json.dumps(dict(zip(COLUMNS, VALUES, strict=True)))
    text = "\n".join(([HEADER] if plain else []) + [line, line, line.replace("41", "x"), line, ""])
    whole = read(tmp_path, text)
    first, second = read(tmp_path, text, 0, cut), read(tmp_path, text, cut, None)
    assert first.rows + second.rows == whole.rows
    assert first.refusals + second.refusals == whole.refusals
    assert len(whole.rows) == 3


@given(st.binary(max_size=60))
@settings(max_examples=cases(100), deadline=None)
def test_any_bytes_are_rows_or_refusals(tmp_path_factory: pytest.TempPathFactory, tail: bytes) -> None:
    parsed = read(tmp_path_factory.getbasetemp(), f"{HEADER}\n{LINE}\n".encode() + tail)
    assert parsed.rows[:1]
    to_arrow(parsed.rows, Fetch)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert [row.kind for row in read_trace_table(tmp_path / "none", ORIGIN).refusals] == ["unreadable"]
