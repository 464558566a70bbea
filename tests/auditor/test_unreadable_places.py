"""What the operating system does not let be read is no evidence of what is absent; read by one whom it denies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.auditor.dumps_at_hand import ROOT, copied

ABSENCE = {"LEO001", "SEG008", "HW001", "SEG005", "EPOCH003", "EPOCH002", "LOG001", "TRUNC001", "ISR001", "LEO002"}
DROPPED = "-dac_override,-dac_read_search"
DENIED = [] if os.geteuid() else ["setpriv", "--bounding-set", DROPPED, "--inh-caps", DROPPED]
"""root is denied nothing, unless it gives up what makes it so."""
REPLICA = "broker-2/data/fire-0"

pytestmark = [
    pytest.mark.skipif(not os.geteuid() and shutil.which("setpriv") is None, reason="nobody can be denied"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("whole")
    return audited(copied("acks_one_lost", home / "dump", logs=True), home)


def audited(dump: Path, home: Path, *limits: str) -> dict[str, Any]:
    """The report of a process that the operating system may deny something."""
    command = [sys.executable, "-m", "auditor.cli", "audit", str(dump), "--engine", "local", "--format", "json"]
    environment = {**os.environ, "HOME": str(home)}
    ended = subprocess.run(
        [*limits, *DENIED, *command], cwd=ROOT, capture_output=True, check=False, timeout=300, env=environment
    )
    assert ended.returncode in (0, 1, 3), ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    return report


def rules_of(report: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in report["findings"] if finding["verdict"] == "violated"}


@pytest.mark.parametrize("mode", [0o000, 0o111, 0o444])
@pytest.mark.parametrize(
    "place", [REPLICA, f"{REPLICA}/00000000000000000000.log", f"{REPLICA}/leader-epoch-checkpoint"]
)
def test_what_may_not_be_read_accuses_nobody(place: str, mode: int, tmp_path: Path, whole: dict[str, Any]) -> None:
    if mode == 0o444 and place != REPLICA:
        pytest.skip("a file of this mode may be read")
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    (dump / place).chmod(mode)
    report = audited(dump, tmp_path)
    (dump / place).chmod(0o755)
    assert rules_of(report) <= rules_of(whole)
    assert any(refusal["path"].startswith(place) and refusal["blocking"] for refusal in report["refusals"])
    assert report["verdict"] != "clean"


@pytest.mark.parametrize("kind", ["replication", "recovery-point", "log-start", "cleaner"])
def test_nor_does_a_checkpoint(kind: str, tmp_path: Path, whole: dict[str, Any]) -> None:
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    (dump / f"broker-2/data/{kind}-offset-checkpoint").chmod(0)
    report = audited(dump, tmp_path)
    assert rules_of(report) <= rules_of(whole)
    assert any(kind in refusal["path"] and refusal["blocking"] for refusal in report["refusals"])


def test_nor_does_a_whole_log_dir_or_broker(tmp_path: Path, whole: dict[str, Any]) -> None:
    for place in ("broker-2/data", "broker-2", "broker-2/logs"):
        dump = copied("acks_one_lost", tmp_path / place.replace("/", "-"), logs=True)
        (dump / place).chmod(0)
        report = audited(dump, tmp_path)
        (dump / place).chmod(0o755)
        assert not (rules_of(report) - rules_of(whole)) & ABSENCE, place
        assert any(refusal["path"] == place for refusal in report["refusals"]), place


def test_few_open_files_are_enough(tmp_path: Path, whole: dict[str, Any]) -> None:
    """Eight: three are the streams, loading the program takes some, and an audit holds one file at a time."""
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    report = audited(dump, tmp_path, "prlimit", "--nofile=8:8")
    assert {**report, "generatedAt": None} == {**whole, "generatedAt": None}
