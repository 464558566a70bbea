"""A file of another format is refused by its first lines and one stretch, not line by line."""

from __future__ import annotations

from pathlib import Path

from parsers.provenance import Origin
from tests.lab.whole_logs import read_request_log

LINE = b'{"level":"INFO","msg":"x"}\n'


def test_a_foreign_log_gives_a_bounded_number_of_refusals(tmp_path: Path) -> None:
    path = tmp_path / "kafka-request.log"
    path.write_bytes(LINE * 5_000)
    refusals = read_request_log(path, Origin(source="kafka-request.log")).refusals
    assert 0 < len(refusals) <= 101
    assert refusals[-1].span_end >= 5_000 * len(LINE) - 1
