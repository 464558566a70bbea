"""How fast request logs are read: megabytes a second of one core, from the recorded logs repeated to some size.

Run as `python tests/benchmarks/request_log_read.py [megabytes]`.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from parsers.provenance import Origin
from parsers.request_log import fetch_rows, fold, read_request_lines
from parsers.request_log.compiled import compiled_scan
from parsers.request_log.grammar import empty_tables, grammar_table
from parsers.request_log.lines import Block, blocks_of
from parsers.request_log.read import API_KEYS, block_scanner

SAMPLES = Path(__file__).parents[2] / "sample_logs"
ORIGIN = Origin(source="kafka-request.log", broker=1)
KINDS: dict[str, Callable[[bytes], bool]] = {
    "all recorded logs": lambda line: True,  # noqa: ARG005
    "JSON": lambda line: b'"requestApiKey":' in line[:140],
    "JSON, fetches only": lambda line: b'"requestApiKey":1,' in line[:140],
    "text (1.1)": lambda line: b"RequestHeader(apiKey=" in line[:90],
    "text (1.1), fetches only": lambda line: b"RequestHeader(apiKey=FETCH" in line[:90],
}


def main() -> None:
    """Print one line a kind of log and stage."""
    size = int(sys.argv[1] if len(sys.argv) > 1 else 200) * 1_000_000
    lines = [
        line
        for log in sorted(SAMPLES.glob("*/dump/*/logs/kafka-request.log"))
        for line in log.read_bytes().splitlines(keepends=True)
    ]
    for kind, chosen in KINDS.items():
        once = b"".join(line for line in lines if chosen(line))
        text = once * max(1, size // len(once))
        report(f"{kind}: lines found", text, lambda text: sum(1 for _ in blocks_of(io.BytesIO(text), 0, None)))
        report(f"{kind}: scanned by the loop", text, scan)
        report(f"{kind}: to events", text[: size // 4], read_fast)
        report(f"{kind}: to events, plain parser", text[: size // 8], read_plain)
        report(f"{kind}: to fetch rows, sessions rebuilt", text[: size // 16], rows)


def report(name: str, text: bytes, work: Callable[[bytes], object]) -> None:
    """Processor time of one stage, the best of two."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        work(text)
        best = min(best, time.process_time() - start)
    print(f"{name:60} {len(text) / 1e6:7.1f} MB {len(text) / 1e6 / best:8.1f} MB/s")


def scan(text: bytes) -> None:
    """What the compiled loop alone takes."""
    loop = compiled_scan()
    tables, grammar = empty_tables(2 << 20, frozenset(map(int, API_KEYS))), grammar_table()
    for block in blocks_of(io.BytesIO(text), 0, None):
        start, data = 0, np.frombuffer(block.data, dtype=np.uint8)
        while loop is not None and isinstance(block, Block) and start < len(data):
            rows = loop(data, start, grammar, tables.out)
            start = int(tables.lines[rows - 1, 24]) + 1


def read_fast(text: bytes) -> None:
    """Events, as large logs are read."""
    read_request_lines(io.BytesIO(text), ORIGIN, block_scanner())


def read_plain(text: bytes) -> None:
    """Events, as small logs are read."""
    read_request_lines(io.BytesIO(text), ORIGIN)


def rows(text: bytes) -> None:
    """Named and implied fetch rows."""
    calls = read_request_lines(io.BytesIO(text), ORIGIN, block_scanner()).fetch_calls
    fold(calls)
    sum(1 for _ in fetch_rows(calls, ORIGIN))


if __name__ == "__main__":
    main()
