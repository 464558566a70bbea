"""A version that this reader does not know is an open question and no defect: newer brokers write newer formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.auditor.dumps_at_hand import audited, copied

Change = Callable[[bytes], bytes]


def text(before: bytes, after: bytes) -> Change:
    return lambda content: content.replace(before, after, 1)


FORMATS: dict[str, Change] = {
    "broker-1/data/*-0/leader-epoch-checkpoint": text(b"0\n", b"1\n"),
    "broker-1/data/replication-offset-checkpoint": text(b"0\n", b"1\n"),
    "broker-1/data/recovery-point-offset-checkpoint": text(b"0\n", b"1\n"),
    "broker-1/data/log-start-offset-checkpoint": text(b"0\n", b"1\n"),
    "broker-1/data/*-0/partition.metadata": text(b"version: 0", b"version: 9"),
    "broker-1/data/meta.properties": text(b"version=1", b"version=9"),
    "broker-1/data/__cluster_metadata-0/quorum-state": text(b'"data_version":0', b'"data_version":9'),
    "broker-1/data/d-0/*.snapshot": lambda content: b"\0\x09" + content[2:],
}


@pytest.mark.parametrize("pattern", FORMATS)
def test_an_unknown_version_accuses_nobody(pattern: str, tmp_path: Path) -> None:
    dump = copied("epoch_checkpoint_deleted", tmp_path / "dump")
    whole = {(f.rule, f.brokers) for f in audited(dump).violations}
    found = sorted(dump.glob(pattern))
    assert found
    for file in found:
        changed = FORMATS[pattern](file.read_bytes())
        assert changed != file.read_bytes()
        file.write_bytes(changed)
    report = audited(dump)
    assert {(f.rule, f.brokers) for f in report.violations} <= whole
    if not pattern.endswith(".snapshot"):  # of which Kafka takes an older one
        assert {line.kind for line in report.refusals} == {"unknown_version"}
        assert all(line.blocking for line in report.refusals)
