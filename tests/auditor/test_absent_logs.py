"""Less evidence, more caveats: what no log told is said, of the brokers that lack it and of no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from dumps_at_hand import audited, copied

from auditor.report import terminal
from auditor.report.advice.advice_json import document
from auditor.report.advice.advice_text import text
from auditor.report.json import document as as_json
from auditor.report.postmortem import document as postmortem

NONE = "No server.log, state-change.log or request log of brokers 1 and 2 was read"


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    dump = copied("bit_rot_payload", tmp_path / "dump")
    for path in dump.iterdir():
        if path.name not in ("broker-1", "broker-2"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return dump


def test_disks_alone_are_clean_and_every_page_says_what_went_unjudged(disks: Path) -> None:
    report = audited(disks, partial=True)
    assert (report.verdict, report.exit_code) == ("clean", 0)
    absent = report.coverage.absent_logs
    pages = (
        " ".join(terminal.render(report, columns=300, verbose=True).split()),
        postmortem.render(report).replace("\\", ""),
        " ".join(text(report.advice, absent=absent).split()),
    )
    assert [page.count(NONE) for page in pages] == [1, 1, 1]
    assert as_json(report)["coverage"]["absentLogs"] == [  # type: ignore[index]
        {"kinds": ["server-log", "state-change-log", "request-log"], "brokers": [1, 2], "silent": False}
    ]  # the metadata log is there
    assert '"request-log"' in document(report.advice, absent=absent)


def test_only_the_brokers_that_lack_a_kind_are_named(disks: Path) -> None:
    logs = disks / "broker-1/logs"
    logs.mkdir(exist_ok=True)
    line = "[2024-01-01 00:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    (logs / "server.log").write_text(line)
    told = [(absent.kinds, absent.brokers, absent.silent) for absent in audited(disks).coverage.absent_logs]
    assert told == [
        (("state-change-log", "request-log"), (1,), False),
        (("server-log",), (1,), True),
        (("server-log", "state-change-log", "request-log"), (2,), False),
    ]
