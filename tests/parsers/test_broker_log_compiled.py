"""The compiled loops against the plain reader: the same of recorded lines and of any mutation of them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.broker_log import DEFAULT_PATTERN, EVENTS, LogPart, Reading, parse_layout, read_log
from parsers.broker_log.compiled import reader_for
from parsers.broker_log.compiled.program import compilation
from parsers.broker_log.lines import Block
from parsers.provenance import Origin
from tests.lab.effort import cases

# Compiling takes half a minute, once a version of the loops.
pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "sample_logs"
SERVER_LOGS = sorted(path for path in SAMPLES.glob("*/dump/*/logs/*.log") if "request" not in path.name)
WORDINGS = [(event, wording) for event in EVENTS for wording in event.wordings]
PLAIN = Reading(origin=Origin(source="server.log", broker=7, topic="of-file"), compiled=False, line_limit=4096)
LAYOUTS = {
    DEFAULT_PATTERN: "[2026-11-21 05:25:18,155] INFO {} (kafka.log.Log)",
    "%d{ISO8601} %p %m (%c) [%t]%n": "2026-11-21 05:25:18,155 WARN {} (kafka.log.Log) [main]",
    "%p <%d{HH:mm:ss.SSS}> %m; %c{1}%n": "ERROR <05:25:18.155> {}; Log",
    "%p|%m - end%n": "DEBUG|{} - end",
}
ODD = (
    b"9223372036854775807", b"9223372036854775808", b"-1", b"-", b"2147483648", b"4294967296-",
    b"t-0", b"a-b-12345678901",
    b" (", b") (", b" (k.L)", b")", b"[", b"]", b"\r", b"\n", b"\n\n", b"\xff", b"\xc3\xa9", b"None",
    b"Some(", b"Some(3)",
    b", ", b",", b" ", b"\t", b"\x1c", b".", b"4.3-IV0", b"{",
    b"}", b"<", b"x" * 600, b"\tjava.io.IOException: gone\n",
    b"Partition [t,0] on broker 3: ", b"Partition [t,0] on broker 12345678901: ", b"[Log partition=t-0, dir=/d]: ",
    b"KafkaConfig values: \n\ta.b = 1\n\tc = null\n  odd\n\td = \n (k)\n", b"Truncating to offset ",
    b"7 starts at leader epoch ",
)  # fmt: skip


def parts(data: bytes, reading: Reading, cuts: Sequence[int] = ()) -> list[LogPart]:
    bounds = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [
        part
        for start, end in itertools.pairwise(bounds)
        for part in read_log(io.BytesIO(data), reading, start=start, end=end)
    ]


def same(data: bytes, reading: Reading = PLAIN, cuts: Sequence[int] = ()) -> None:
    plain, swift = (parts(data, replace(reading, compiled=compiled), cuts) for compiled in (False, True))
    assert [part.refusals for part in swift] == [part.refusals for part in plain]
    for one, other in zip(swift, plain, strict=True):
        assert one.events.to_pylist() == other.events.to_pylist()
        assert one.events.equals(other.events)
        assert one.settings.equals(other.settings)
        one.events.validate(full=True)


def left(line: bytes) -> int:
    reader = reader_for(PLAIN.layout)
    assert reader is not None
    read = reader.read(Block(offset=0, data=line), len(line), 4096, settings=True)
    assert read is not None
    return len(read.left)


def test_recorded_logs_tell_the_same() -> None:
    for path in SERVER_LOGS[::2]:
        same(path.read_bytes(), replace(PLAIN, line_limit=1 << 20))


def test_every_sample_is_read_and_only_reasons_that_may_stand_on_the_next_line_are_left() -> None:
    for event, wording in WORDINGS:
        line = LAYOUTS[DEFAULT_PATTERN].format(wording.sample).encode() + b"\n"
        same(line)
        assert left(line) == event.reason_follows, wording.sample


@settings(max_examples=cases(400), deadline=None)
@given(data=st.data(), pattern=st.sampled_from(sorted(LAYOUTS)))
def test_mutated_lines_tell_the_same(data: st.DataObject, pattern: str) -> None:
    chosen = data.draw(st.lists(st.sampled_from(WORDINGS), min_size=1, max_size=6))
    text = bytearray(b"".join(LAYOUTS[pattern].format(wording.sample).encode() + b"\n" for _, wording in chosen))
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 12))] = data.draw(st.sampled_from(ODD) | st.binary(max_size=3))
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=2))
    same(bytes(text), replace(PLAIN, layout=parse_layout(pattern)), cuts)


@settings(max_examples=cases(100), deadline=None)
@given(st.lists(st.sampled_from(ODD), max_size=8))
def test_lines_that_go_on_oddly_tell_the_same(odd: list[bytes]) -> None:
    head, leads = b"[2026-11-21 05:25:18,155] INFO ", (b"Kafka version: ", b"Removed fetcher for partitions ")
    same(head + head.join(odd) + head + b"".join(odd))
    same(b"\n".join(b"".join((head, lead, *odd, b" (k)")) for lead in leads))


def test_a_list_of_thousands_and_too_many_different_prefixes_tell_the_same() -> None:
    line = LAYOUTS[DEFAULT_PATTERN]
    listed = line.format("Removed fetcher for partitions Set(" + ", ".join(f"t-{n}" for n in range(9_000)) + ")")
    prefixed = "\n".join(line.format(f"[Log partition=t-{n}, dir=/d] Truncating to offset {n}") for n in range(30_000))
    same(f"{listed}\n{prefixed}\n".encode(), replace(PLAIN, line_limit=1 << 20))


def test_layouts_of_no_fixed_length_are_left_to_the_plain_reader() -> None:
    dates = ("%d{yyyy-MM-dd'T'HH:mm:ss.SSSZ} %p %m (%c)%n", "%d %d %m (%c)%n")
    for pattern in ("%d %-5p [%t] %m (%c)%n", "[%d] %p %m%n", *dates):
        assert compilation(parse_layout(pattern)) is None
    assert all(compilation(parse_layout(pattern)) is not None for pattern in LAYOUTS)
