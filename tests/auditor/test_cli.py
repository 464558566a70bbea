"""The command line as its user meets it: options, precedence, exit codes, what goes to which stream."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from command import Ended, run
from dumps_at_hand import ROOT, SAMPLES, copied, digest

from auditor.exit_codes import MEANINGS

SPLIT = SAMPLES / "fast_failover_kip101" / "dump"
CLEAN = SAMPLES / "recreated_topic" / "dump"
ROTTEN = SAMPLES / "bit_rot_payload" / "dump"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith("TIDEMARK_")]:
        monkeypatch.delenv(name)


def audit(*words: object) -> Ended:
    return run("audit", *map(str, words), "--engine", "local")


def test_help_teaches() -> None:
    told = run("audit", "--help").out
    for code, meaning in MEANINGS.items():
        assert f"{code.value}  {meaning}" in told
    for option in (
        "--topic",
        "--exclude-topic",
        "--partition",
        "--level",
        "--engine",
        "--format",
        "--output",
        "--fail-on",
    ):
        assert option in told
    for option in (
        "--min-coverage",
        "--config",
        "--exit-zero",
        "--kafka-version",
        "--inter-broker-protocol",
        "--log-dir",
    ):
        assert option in told
    assert "tidemark audit /mnt/broker-1 /mnt/broker-2" in told
    assert "[bold" not in told
    assert "tidemark show" in run("--help").out


@pytest.mark.parametrize("command", ["audit", "salvage", "show", "find", "bundle", "diff", "rules", "simulate"])
def test_help_shows_no_type_of_the_program(command: str) -> None:
    told = run(command, "--help").out
    assert not re.findall(r"<\w.*?>|\{\w+\}|\[\[|x>=", told)


def test_help_loads_nothing_heavy() -> None:
    asks = (
        "import sys; sys.argv = ['tidemark', 'audit', '--help']\n"
        "from auditor.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'pyspark', 'great_expectations', 'polars', 'pyarrow', 'numba', 'numpy', 'pandas', 'yaml'}\n"
        "print('LOADED', sorted(heavy & sys.modules.keys()))"
    )
    ended = subprocess.run([sys.executable, "-c", asks], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip().endswith("LOADED []")


@pytest.mark.slow
def test_a_short_audit_in_one_process_waits_for_nothing_that_it_does_not_need() -> None:
    """Arrow loads pandas with the first list that it converts, be it while modules are loaded."""
    asks = (
        "import sys; sys.argv = ['tidemark', 'audit', 'sample_logs/clean_4x/dump', '--engine', 'local', '--quiet']\n"
        "from auditor.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'pyspark', 'py4j', 'great_expectations', 'numba', 'llvmlite', 'pandas', 'rich', 'yaml'}\n"
        "print('LOADED', sorted(heavy & sys.modules.keys()))"
    )
    ended = subprocess.run([sys.executable, "-c", asks], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip().endswith("LOADED []")


def test_the_version_is_the_distributions() -> None:
    ended = run("--version")
    assert ended.code == 0
    assert f'version = "{ended.out.removeprefix("tidemark ").strip()}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((SPLIT,), 1),
        ((SPLIT, "--exit-zero"), 0),
        ((CLEAN, "--topic", "again", "--min-coverage", "1"), 0),
        ((ROTTEN, "--fail-on", "high", "--topic", "d"), 0),
        ((ROTTEN, "--fail-on", "medium", "--topic", "d"), 1),
    ],
)
def test_the_exit_code_is_the_tables_and_the_reports(words: tuple[object, ...], code: int) -> None:
    ended = audit(*words, "--format", "json")
    assert ended.code == code
    assert json.loads(ended.out)["exitCode"] == code


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("no-such-folder",), "no-such-folder: expected a folder"),
        ((ROOT / "README.md",), "found a file; give its folder, or an archive"),
        ((ROOT / "docs",), "found no log dir"),
        ((SPLIT, "--topic", "nothing*"), "--topic nothing*: matches nothing"),
        ((SPLIT, "--exclude-topic", "nothing*"), "--exclude-topic nothing*: matches nothing"),
        ((SPLIT, "--partition", "77"), "--partition 77: matches nothing"),
        ((SPLIT, "--partition", "77"), "; partitions here: 0"),
        ((SPLIT, "--level", "thorough"), "--level: expected one of quick, full, deep, found 'thorough'"),
        ((SPLIT, "--format", "xml"), "--format: expected one of terminal, json"),
        ((SPLIT, "--fail-on", "worst"), "--fail-on: expected one of info, low"),
        ((SPLIT, "--min-coverage", "1.5"), "--min-coverage: expected a ratio from 0 to 1"),
        ((SPLIT, "--min-coverage", "nan"), "--min-coverage: expected a ratio from 0 to 1"),
        ((SPLIT, "--kafka-version", "new"), "--kafka-version: expected a release such as 3.9.1, found 'new'"),
        ((SPLIT, "--kafka-version", "9=3.9.1"), "--kafka-version 9=3.9.1: matches nothing"),
        ((SPLIT, "--kafka-version", "9=3.9.1"), "; brokers here: 1, 2"),
        ((SPLIT, "--inter-broker-protocol", "x"), "--inter-broker-protocol: expected a version such as"),
        ((SPLIT, "--log-dir", "1"), "--log-dir: expected BROKER=VALUE"),
        ((SPLIT, "--log-dir", "1=gone"), "--log-dir 1=gone: no such folder"),
        ((SPLIT, "--config", "gone.yaml"), "gone.yaml: cannot read the configuration"),
        ((SPLIT, "--output", "no/such/folder/report"), "expected a file in a folder that exists"),
        ((SPLIT, "--output", "no/such/folder/report"), "there is no folder "),
        ((SPLIT, "--output", ROOT), "expected a file in a folder that exists; "),
        ((SPLIT, "--output", ROOT), " is a folder"),
        ((SPLIT, "--dry-run", "--format", "xml"), "--format: expected one of terminal, json"),
        ((SPLIT, "--output", SPLIT / "report.json"), "inside the dump, which is never written into"),
        ((SPLIT, SPLIT), "are the same folder"),
        ((SPLIT, SPLIT / "broker-1"), "lies inside"),
    ],
)
def test_what_cannot_be_meant_ends_with_2_and_one_sentence(words: tuple[object, ...], complaint: str) -> None:
    ended = audit(*words)
    assert ended.code == 2
    assert ended.out == ""
    assert complaint in ended.err
    assert ended.err.startswith("tidemark: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("audit",), ("audit", "--lvel"), ("adit",), ("show",), ("audit", "x", "--partition", "y"), ()]
)
def test_wrong_usage_ends_with_2(words: tuple[str, ...]) -> None:
    ended = run(*words)
    assert ended.code == 2
    assert ended.out == "" or not words


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("find",), "DUMP, --topic TOPIC, --partition N"),
        (("timeline", SPLIT, "--partition", "0"), "--topic TOPIC"),
        (("bundle", SPLIT), "--output FILE"),
        (("salvage",), "FINDING, --to FILE"),
    ],
)
def test_all_that_is_missing_is_named_at_once(words: tuple[object, ...], missing: str) -> None:
    ended = run(*map(str, words))
    assert ended.code == 2
    assert ended.err.endswith(f"Error: Missing: {missing}\n")


def test_a_flag_outranks_the_variable_and_the_variable_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text("level: quick\nexit-zero: true\ntopic: [ff]\nformat: json\n")

    def level(*words: str) -> str:
        ended = audit(SPLIT, *words)
        assert ended.code == 0, ended.err
        return str(json.loads(ended.out)["tool"]["level"])

    assert level("--config", str(file)) == "quick"
    monkeypatch.setenv("TIDEMARK_LEVEL", "deep")
    assert level("--config", str(file)) == "deep"
    assert level("--config", str(file), "--level", "full") == "full"
    monkeypatch.setenv("TIDEMARK_CONFIG", str(file))
    assert level() == "deep"


def test_a_wrong_setting_is_named_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text("fail_om: low\n")
    assert f"{file}: unknown setting 'fail_om'; did you mean 'fail-on'?" in audit(SPLIT, "--config", file).err
    file.write_text("level: thorough\n")
    assert f"{file}: level: expected one of" in audit(SPLIT, "--config", file).err
    file.write_text("- level\n")
    assert "expected settings as 'name: value' lines" in audit(SPLIT, "--config", file).err
    file.write_text("level: [quick\n")
    assert audit(SPLIT, "--config", file).code == 2
    monkeypatch.setenv("TIDEMARK_MIN_COVERAGE", "all")
    assert "TIDEMARK_MIN_COVERAGE: expected a ratio" in audit(SPLIT).err
    monkeypatch.delenv("TIDEMARK_MIN_COVERAGE")
    monkeypatch.setenv("TIDEMARK_FAIL_IN", "low")
    assert "TIDEMARK_FAIL_IN: unknown setting 'fail_in'; did you mean 'fail-on'?" in audit(SPLIT).err


def test_the_report_alone_is_on_stdout(tmp_path: Path) -> None:
    ended = audit(SPLIT, "--format", "json", "--output", "-")
    assert json.loads(ended.out)["verdict"] == "findings"
    assert ended.err == ""
    file = tmp_path / "report.json"
    written = audit(SPLIT, "--format", "json", "--output", file)
    assert (written.out, written.err) == ("", f"tidemark: The result is in {file}.\n")
    assert file.read_text() == ended.out
    quiet = audit(SPLIT, "--format", "json", "--output", file, "--force", "-q")
    assert (quiet.out, quiet.err) == ("", "")


def test_colour_is_for_terminals_that_want_it() -> None:
    assert "\x1b" not in audit(SPLIT).out
    assert "\x1b[" in run("audit", str(SPLIT), "--engine", "local", terminal=True).out
    assert "\x1b" not in run("audit", str(SPLIT), "--engine", "local", terminal=True, NO_COLOR="1").out
    assert "\x1b" not in run("audit", str(SPLIT), "--engine", "local", terminal=True, TERM="dumb").out


def test_quiet_leaves_out_remarks_and_verbose_adds_them() -> None:
    usual, quiet, verbose = (
        audit(SAMPLES / "recreated_topic" / "dump", *flags).out for flags in ((), ("-q",), ("-v",))
    )
    assert "Not checked without --level deep" in usual
    assert "Not checked without --level deep" not in quiet
    assert " deleted: log start" in verbose
    assert len(verbose.splitlines()) > len(usual.splitlines())


def test_a_dump_is_left_as_it_was(tmp_path: Path) -> None:
    dump = copied("bit_rot_payload", tmp_path / "dump")
    before = digest(dump)
    assert audit(dump, "--level", "deep").code == 1
    assert digest(dump) == before


def test_a_cache_inside_the_dump_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    monkeypatch.setenv("XDG_CACHE_HOME", str(dump / "broker-1"))
    before = digest(dump)
    assert audit(dump).code == 1
    assert digest(dump) == before


def test_nothing_in_a_dump_reaches_the_terminal_raw(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    nasty = [
        "\x1b[31mred\x07.log",
        "two\nlines",
        "\u202egol.thgir",
        "\x9b2J",
        "\udc80\udcff.log",
        "zero\u200bwidth",
        "[bold]x",
    ]
    for folder in (dump / "broker-1" / "data", dump / "broker-1" / "data" / "ff-0", dump):
        for name in nasty:
            (folder / name).mkdir()
            os.mkfifo(folder / f"fifo{name}")
            (folder / f"link{name}").symlink_to(f"../../../../../{name}")
            (folder / name / "00000000000000000000.log").write_bytes(b"\x1b]0;owned\x07" * 20)
    (dump / "broker-1" / "data" / "replication-offset-checkpoint").write_text("0\n1\n\x1b[2Jff \u202e0 1\x07\n")
    for words in (("--format", "terminal"), ("--format", "json"), ("-v",)):
        ended = audit(dump, *words)
        assert ended.code in (1, 3), ended.err
        shown = ended.out + ended.err
        assert {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs")} == {"\n"}
    assert "\\x1b" in ended.out or "%1B" in ended.out


@pytest.mark.slow
def test_a_reader_who_goes_away_does_not_change_the_verdict() -> None:
    command = [sys.executable, "-m", "auditor.cli", "audit", str(SPLIT), "--engine", "local"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 1
    assert complaint == b""


def test_a_release_newer_than_any_known_is_remarked_on_and_a_known_one_is_not() -> None:
    told = ("timeline", str(SAMPLES / "unclean_rejoined/dump"), "--topic", "pay", "--partition", "0")
    newer = run(*told, "--kafka-version", "99.1")
    assert newer.code == 0
    assert newer.err.count("--kafka-version 99.1: newer than") == 1
    assert "newer than" not in run(*told, "--kafka-version", "3.9.1").err
