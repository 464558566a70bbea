"""The release and protocols of a broker, as its log prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.broker_log import last_releases

SAMPLES = Path(__file__).parents[2] / "sample_logs"


@pytest.mark.parametrize(
    ("case", "binary", "protocol", "metadata"),
    [
        ("lost_pages_hw", "1.1.1", "0.10.2", None),
        ("clean_1_1", "1.1.1", "1.1-IV0", None),
        ("clean_2_8", "2.8.2", "2.8-IV1", None),
        ("clean_mixed", "3.9.1", "3.9-IV0", "3.9-IV0"),
        ("clean_4x", "4.3.0", None, "4.3-IV0"),
    ],
)
def test_recorded_logs_tell_their_release(case: str, binary: str, protocol: str | None, metadata: str | None) -> None:
    releases = last_releases((SAMPLES / case / "dump" / "broker-1" / "logs" / "server.log").read_bytes())
    assert (releases.binary, releases.inter_broker_protocol, releases.metadata_version) == (binary, protocol, metadata)


def test_the_last_start_counts() -> None:
    log = b"[t] INFO Kafka version: 2.8.2 (x)\n[t] INFO Kafka version: 3.9.1 (x)\n"
    assert last_releases(log).binary == "3.9.1"


def test_a_log_that_prints_nothing_tells_nothing() -> None:
    releases = last_releases(b"Kafka version: " + b"9" * 100_000)
    assert releases.binary is None
