"""Settings: what each admits, who gave it, and files that are no settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import typer
from command import run
from dumps_at_hand import SAMPLES

from auditor.cli.commands import app

SPLIT = SAMPLES / "fast_failover_kip101" / "dump"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--log-dir", "²=a"), "--log-dir: expected BROKER=VALUE"),
        (("--log-dir", "9" * 5000 + "=a"), "--log-dir: expected BROKER=VALUE"),
        (("--log-dir", "2147483648=broker-1"), "--log-dir: expected BROKER=VALUE"),
        (("--trace", "9" * 5000 + "=a"), "--trace: expected a broker's id from 0 to 2147483647"),
        (("--log-timezone", "²=UTC"), "--log-timezone: expected BROKER=VALUE"),
        (("--kafka-version", "2147483648=3.9.1"), "--kafka-version: expected BROKER=VALUE"),
        (("--output", "n" * 300), "File name too long"),
        (("--config", "n" * 300), "File name too long"),
        (("--config", "/dev/zero"), "expected a regular file, found a character device"),
        (("--topic", ""), "an argument is empty"),
        (("--config=",), "--config= has no value"),
    ],
)
def test_what_no_setting_can_be_is_one_short_sentence(words: tuple[str, ...], complaint: str) -> None:
    ended = run("audit", str(SPLIT), "--engine", "local", *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert complaint in ended.err
    assert len(ended.err) < 600


@pytest.mark.parametrize("command", ["simulate", "audit x --config", "show F-1 --dump x --report"])
def test_a_fifo_is_not_waited_for(command: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    ended = run(*command.split(), str(tmp_path / "fifo"))
    assert ended.code == 2
    assert "expected a regular file, found a FIFO" in ended.err


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("partition: true", "partition: expected a number from 0 on, found True"),
        ("partition: 1.5", "partition: expected a number from 0 on, found 1.5"),
        ("partition: [[1]]", "partition: expected a number from 0 on, found a list"),
        ("kafka-version: 3.10", "kafka-version: expected text, found 3.1; write it in quotes"),
        ("min-coverage: true", "min-coverage: expected a ratio from 0 to 1, found True"),
        ("kafka-version: 7=3.9.1", "kafka-version 7=3.9.1: matches nothing"),
        ("topic: nothing", "topic nothing: matches nothing"),
        ("output: /nowhere/x", "output: /nowhere/x: expected a file in a folder that exists"),
        ("log-dir: 1=gone", "log-dir 1=gone: no such folder"),
    ],
)
def test_a_wrong_line_of_the_file_is_blamed_on_the_file(line: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text(f"{line}\n")
    by_flag = run("audit", str(SPLIT), "--engine", "local", "--config", str(file))
    assert by_flag.code == 2
    assert by_flag.err.startswith(f"tidemark: {file}: {complaint}")


def test_a_wrong_variable_is_blamed_on_the_variable() -> None:
    told = run("audit", str(SPLIT), "--engine", "local", TIDEMARK_OUTPUT="/nowhere/x")
    assert told.err.startswith("tidemark: TIDEMARK_OUTPUT: /nowhere/x: expected a file")
    told = run("audit", str(SPLIT), "--engine", "local", TIDEMARK_CONFIG="/nowhere/x")
    assert told.err.startswith("tidemark: TIDEMARK_CONFIG: /nowhere/x: cannot read the configuration")


def test_settings_are_shown_with_who_gave_them(tmp_path: Path) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text("fail-on: high\nlevel: deep\n")
    shown = run("advise", "x", "--show-settings", "--engine", "local", "--config", str(file), TIDEMARK_LEVEL="quick")
    assert shown.code == 0
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in shown.out.splitlines()}
    assert rows["fail-on"] == ["high", f"{file}: fail-on"]
    assert rows["level"] == ["quick", "TIDEMARK_LEVEL"]
    assert rows["engine"] == ["local", "--engine"]
    assert rows["format"] == ["terminal", "default"]


@pytest.mark.parametrize(
    ("words", "heeded"),
    [
        ("quality x --topic pay --log-dir 1=a", {"topic": ["pay"], "log-dir": ["1=a"]}),
        ("find x --topic pay --partition 3 --offset 7", {"topic": ["pay"], "partition": ["3"], "log-dir": ["2=b"]}),
    ],
)
def test_commands_that_go_by_few_settings_show_those(words: str, heeded: dict[str, list[str]]) -> None:
    shown = run(*words.split(), "--show-settings", TIDEMARK_LOG_DIR="2=b", TIDEMARK_EXCLUDE_TOPIC="pay")
    assert shown.code == 0, shown.err
    rows = {line.split()[0]: line.split()[1:2] for line in shown.out.splitlines()[1:]}
    assert rows == heeded


def test_every_command_that_takes_settings_shows_them() -> None:
    group = typer.main.get_command(app)
    options = {name: {opt for p in c.params for opt in p.opts} for name, c in group.commands.items()}  # type: ignore[attr-defined]
    takes = {name for name, own in options.items() if own & {"--log-dir", "--topic", "--config", "--level", "--engine"}}
    assert {name for name, own in options.items() if {"--show-settings", "--config"} <= own} == takes
    assert {"audit", "quality", "find", "timeline", "bundle", "diff"} <= takes


@pytest.mark.parametrize("command", ["audit", "timeline", "find", "quality", "diff", "bundle"])
def test_settings_are_shown_of_a_command_that_is_given_nothing_to_work_on(command: str) -> None:
    shown = run(command, "--show-settings", TIDEMARK_LOG_DIR="2=b")
    assert shown.code == 0, shown.err
    assert "2=b" in shown.out
    assert run(command).err.startswith("Usage"), "what is missing is still missing without it"


@pytest.mark.parametrize(("given", "said"), [("3.9.1", 2), ("2=3.9.1", 1), ("1.1", 0), ("1.1.1", 0)])
def test_a_release_that_the_logs_deny_is_said(given: str, said: int) -> None:
    told = run("audit", str(SPLIT), "--engine", "local", "--kafka-version", given, "--format", "json").out
    denied = json.loads(told)["coverage"]["contradictedReleases"]
    assert [(each["given"], each["told"]) for each in denied] == [("3.9.1", "1.1.1")] * said
    shown = " ".join(run("audit", str(SPLIT), "--engine", "local", "--kafka-version", given).out.split())
    who = {0: None, 1: "the log of broker 2 says", 2: "the logs of brokers 1 and 2 say"}[said]
    assert (f"--kafka-version says 3.9.1, {who} 1.1.1" in shown) == (said > 0)
