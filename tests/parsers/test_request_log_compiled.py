"""The compiled loop against the plain parser: the same calls from recorded lines and from any mutation of them."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.request_log import read_request_lines, read_request_log
from parsers.request_log.compiled import BlockScanner
from parsers.request_log.grammar import FIELDS, NULL, SLOTS, empty_tables, grammar_table
from parsers.request_log.lines import Block, Line
from parsers.request_log.read import block_scanner
from tests.lab.effort import cases

SAMPLES = Path(__file__).parents[2] / "sample_logs"
LOGS = sorted(SAMPLES.glob("*/dump/*/logs/kafka-request.log"))
ORIGIN = Origin(source="kafka-request.log", broker=1)

pytestmark = pytest.mark.slow
"""Where it was never compiled, the first test waits for the compiler."""


@cache
def scanner() -> BlockScanner:
    found = block_scanner()
    assert found is not None
    return found


@cache
def fetch_lines() -> tuple[bytes, ...]:
    """Fetch lines of every JSON release and of every length of answer."""
    lines: dict[tuple[int, bytes], bytes] = {}
    for case in ("clean_2_8", "clean_mixed", "clean_4x", "acks_one_lost"):
        for log in sorted((SAMPLES / case).glob("dump/*/logs/kafka-request.log")):
            for line in log.read_bytes().split(b"\n"):
                if b'"FETCH"' in line:
                    lines.setdefault((len(line) // 40, line[80:110]), line)
    return tuple(lines.values())


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parents[3].name}-{log.parents[1].name}")
def test_recorded_logs_read_the_same(log: Path) -> None:
    with log.open("rb") as file:
        assert read_request_lines(file, ORIGIN, scanner()) == read_request_log(log, ORIGIN)


def test_every_recorded_json_fetch_is_read_by_the_loop() -> None:
    block = b"".join(line + b"\n" for line in fetch_lines())
    assert len(fetch_lines()) >= 50
    assert [piece for piece in scanner().scan(Block(0, block)) if isinstance(piece, Line)] == []


PUTS = [
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"0", b"-", b"1.5", b"9" * 20, b"\\", b"\xe9", b" ",
    b'"sessionId":5,', b'"topics":[],', b'"response":"",', b'"partitions":[{"partition":1}],', b'"new":{"a":[1,{}]},',
    b'"records":null,', b'"partition":null,', b"99999", b"-5",
]  # fmt: skip


@given(st.data())
@settings(max_examples=cases(250), deadline=None)
def test_any_mutation_reads_the_same(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from(fetch_lines()))
    for _ in range(data.draw(st.integers(1, 2))):
        at, gone = data.draw(st.integers(0, len(line))), data.draw(st.integers(0, 6))
        line = line[:at] + data.draw(st.sampled_from(PUTS)) + line[at + gone :]
    text = fetch_lines()[0] + b"\n" + line + b"\n" + fetch_lines()[1] + b"\n"
    assert read_request_lines(io.BytesIO(text), ORIGIN, scanner()) == read_request_lines(io.BytesIO(text), ORIGIN)


@given(st.lists(st.sampled_from([b"", b"\n", b"[", *PUTS]), max_size=60))
@settings(max_examples=cases(100), deadline=None)
def test_any_bytes_read_the_same(pieces: list[bytes]) -> None:
    text = b"".join(pieces) + b"\n"
    assert read_request_lines(io.BytesIO(text), ORIGIN, scanner()) == read_request_lines(io.BytesIO(text), ORIGIN)


def test_more_lines_than_a_table_holds_are_scanned_in_turns() -> None:
    text = b"\n" * 200_000 + fetch_lines()[0] + b"\n"
    log = read_request_lines(io.BytesIO(text), ORIGIN, scanner())
    assert (log.counts.lines, log.counts.other, log.counts.fetches) == (200_001, 200_000, 1)
    assert log.fetch_calls[0].start == 200_000


def test_the_grammar_finds_each_of_its_names() -> None:
    table, names = grammar_table(), {name for fields in FIELDS.values() for name in fields}
    assert len(names) < SLOTS // 4
    assert (table[: len(FIELDS)] != NULL).all()
    assert bytes(table[-sum(map(len, names)) :].astype("u1")).decode() == "".join(sorted(names))
    assert empty_tables(1, frozenset({1})).lines.shape == (1, 26)
