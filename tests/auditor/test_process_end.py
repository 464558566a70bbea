"""How a process ends: streams that fail, stops from outside, disks that fill. A code of the table, one sentence."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dumps_at_hand import ROOT, SAMPLES

from auditor.exit_codes import ExitCode
from auditor.whole_files import whole_file, whole_folder

SPLIT = SAMPLES / "fast_failover_kip101" / "dump"
LOSS = SAMPLES / "textbook" / "loss.yaml"
HEEDING_STOPS = ("env", "--default-signal=INT,HUP,TERM")
"""Whoever runs the tests may ignore signals, as in the background; what is started here does not."""
TIDEMARK = f"{sys.executable} -m auditor.cli"
AUDIT = f"{TIDEMARK} audit {SPLIT} --engine local"


def shell(command: str, tmp_path: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **settings.pop("env", {})}  # type: ignore[dict-item]
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, **settings
    )  # type: ignore[call-overload,no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        (f"{AUDIT} > /dev/full", 2, "tidemark: stdout: No space left on device\n"),
        (f"{AUDIT} >&-", 2, "tidemark: stdout is closed: nobody would see the result\n"),
        (f"{TIDEMARK} --help > /dev/full", 2, "tidemark: stdout: No space left on device\n"),
        (f"{TIDEMARK} --version >&-", 2, "tidemark: stdout is closed: nobody would see the result\n"),
        (f"{TIDEMARK} rules --markdown | head -1; exit ${{PIPESTATUS[0]}}", 0, ""),
        (f"{TIDEMARK} audit --help | true; exit ${{PIPESTATUS[0]}}", 0, ""),
        (f"{TIDEMARK} audit nowhere 2>/dev/full", 2, ""),
        (f"{TIDEMARK} audit nowhere 2>&-", 2, ""),
        (f"{AUDIT} --format pdf 2>&- >&-", 2, ""),
    ],
)
def test_a_stream_that_fails_ends_with_a_code_of_the_table(
    command: str, code: int, sentence: str, tmp_path: Path
) -> None:
    ended = shell(command, tmp_path)
    assert (ended.returncode, ended.stderr) == (code, sentence)


@pytest.mark.slow
def test_a_closed_stdout_does_not_let_a_file_take_its_number(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert shell(f"{AUDIT} --format json --output {report} >&- 2>&-", tmp_path).returncode == 1
    assert report.read_text().startswith("{")


@pytest.mark.slow
def test_a_slow_reader_of_a_pipe_that_does_not_wait_gets_all() -> None:
    unhurried = (
        "import fcntl, os, subprocess, sys, time\n"
        "reader, writer = os.pipe(); os.set_blocking(writer, False)\n"
        "fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ: the pipe holds a page\n"
        f"told = subprocess.Popen({TIDEMARK.split()} + ['rules', '--markdown'], stdout=writer); os.close(writer)\n"
        "time.sleep(2); got = open(reader, 'rb').read(); told.wait()\n"
        "sys.exit(0 if told.returncode == 0 and len(got) > 60000 else 1)\n"
    )
    assert subprocess.run([sys.executable, "-c", unhurried], cwd=ROOT, check=False).returncode == 0


def wait_until_it_listens(process: int) -> None:
    """Python itself handles no SIGTERM: when the process does, the command line has begun."""
    caught = re.compile(r"SigCgt:\s*(\w+)")
    while True:
        told = caught.search(Path(f"/proc/{process}/status").read_text())
        if told and int(told[1], 16) & 1 << (signal.SIGTERM - 1):
            return
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop", "tenths"), [(signal.SIGTERM, (0, 2, 8, 14)), (signal.SIGINT, (0, 4, 10)), (signal.SIGHUP, (0, 6, 12))]
)
def test_a_stop_at_any_moment_ends_with_130_or_with_all_told(
    tmp_path: Path, stop: signal.Signals, tenths: tuple[int, ...]
) -> None:
    command = [*TIDEMARK.split(), "audit", str(SPLIT), "--engine", "local", "--format", "json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    ends = []
    for tenth in tenths:
        with subprocess.Popen(
            [*HEEDING_STOPS, *command], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            wait_until_it_listens(process.pid)
            time.sleep(tenth / 10)
            process.send_signal(stop)
            out, err = process.communicate()
        ends.append(process.returncode)
        assert b"Traceback" not in err
        assert process.returncode in (130, 1), err
        if process.returncode == 1 or b"before anything" not in err:
            assert out.rstrip().endswith(b"}")
    assert 130 in ends


@pytest.mark.slow
def test_a_stop_in_mid_print_lets_the_reader_have_the_rest() -> None:
    program = (
        "import sys; sys.argv = ['tidemark', 'explain', 'LOG001']\n"
        "import auditor.rule_pages as pages\n"
        "def page_text(rule):\n"
        "    from auditor.stopping import now_telling\n"
        "    now_telling(); return 'x' * 300000 + 'end'\n"
        "pages.page_text = page_text\n"
        "from auditor.cli import main; main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"x"
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert process.stdout.read().endswith(b"end")
    assert process.returncode == ExitCode.INTERRUPTED


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_stop_in_a_finalizer_is_not_lost(stop: str) -> None:
    program = (
        "import signal, time, weakref\n"
        "from auditor.stopping import Stopped, listen\n"
        "class Held: pass\n"
        "listen(); held = Held()\n"
        f"ref = weakref.ref(held, lambda _: signal.raise_signal(signal.{stop}))\n"
        "try:\n"
        "    del held; time.sleep(60)\n"
        "except Stopped:\n"
        "    print('stopped')\n"
    )
    ended = subprocess.run(
        [*HEEDING_STOPS, sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (ended.stdout, ended.stderr) == ("stopped\n", "")


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("last night's")
    report.chmod(0o640)
    with pytest.raises(TypeError), whole_file(report, replace=True) as file:
        file.writelines(["half", None])  # type: ignore[list-item]
    assert (report.read_text(), [path.name for path in tmp_path.iterdir()]) == ("last night's", ["report"])
    with whole_file(report, replace=True) as file:
        file.write("tonight's")
    assert (report.read_text(), report.stat().st_mode & 0o777) == ("tonight's", 0o640)
    with pytest.raises(FileExistsError), whole_file(report, replace=False) as file:
        file.write("another's")
    assert (report.read_text(), [path.name for path in tmp_path.iterdir()]) == ("tonight's", ["report"])


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "dump"
    place.mkdir()
    with pytest.raises(FileExistsError), whole_folder(place) as draft:
        (draft / "half").mkdir(parents=(draft / "half").mkdir() is not None)
    assert [*tmp_path.rglob("*")] == [place]
    with whole_folder(place) as draft:
        (draft / "all").write_text("")
    assert sorted(tmp_path.rglob("*")) == [place, place / "all"]
    with pytest.raises(FileExistsError), whole_folder(place):
        pass


def _little_room() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.slow
def test_a_full_disk_leaves_the_earlier_report_and_no_draft(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "r.json").write_text("last night's")
    ended = shell(f"{AUDIT} --format json --force --output {folder / 'r.json'}", tmp_path, preexec_fn=_little_room)
    assert ended.returncode == 2
    assert ended.stderr == f"tidemark: --output: cannot write {folder / 'r.json'}: File too large\n"
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("r.json", "last night's")]
    assert [*(tmp_path / "cache" / "tidemark").iterdir()] == []


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_the_report_whole(tmp_path: Path) -> None:
    report, memory = tmp_path / "r.json", tmp_path / "cache" / "tidemark" / "last-report.json"
    command = [*TIDEMARK.split(), *f"audit {SPLIT} --engine local --format json --force --output {report}".split()]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 1
    whole, known = report.read_text(), memory.read_text()
    for tenth in range(8, 16):
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        time.sleep(tenth / 10)
        process.kill()
        process.wait()
        assert (report.read_text(), memory.read_text()) == (whole, known)


@pytest.mark.slow
def test_rules_have_their_pages_where_python_strips_docstrings(tmp_path: Path) -> None:
    stripped, usual = (shell(f"{TIDEMARK} rules --markdown", tmp_path, env={"PYTHONOPTIMIZE": o}) for o in ("2", ""))
    assert (stripped.returncode, stripped.stdout) == (0, usual.stdout)
