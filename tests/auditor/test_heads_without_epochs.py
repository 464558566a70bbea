"""Logs of formats before epochs without their first segments: a broker's own log tells whether they were deleted."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from parsers.writers.checkpoints import offset_lines
from rules.simulator.run_rows import run
from tests.auditor.dumps_at_hand import audited, rolled

SCRIPT = """
title: Three records on two brokers
about: Both hold them.
brokers: [1, 2]
version: "{version}"
inter-broker-protocol: "0.10.2"
events: [{events}]
"""
EVENTS = ("produce 1 a", "produce 1 b", "produce 1 c", "fetch 2", "fetch 2", "fetch 2", "fetch 2", "checkpoint 1")
DELETED = ("expire 1 below 1", "expire 2 below 1")
_BEGUN = "[2020-09-13 12:26:39,000]"
CREATED = "Created log for partition simulated-0 in /d/simulated-0 with properties {}"
_STAMP = "[2020-09-13 12:26:59,000]"
_FETCHER = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
RESET = _FETCHER + "Reset fetch offset for partition simulated-0 from {} to current leader's start offset 1"
_LOG = "[Log partition=simulated-0, dir=/d] "
LOADED = _LOG + "Completed load of log with {} segments, log start offset {} and log end offset 3 in 4 ms"


def written(to: Path, *, version: str = "1.1.1", more: Sequence[str] = ()) -> Path:
    """The dump, each record in a segment of its own."""
    script = to.with_suffix(".yaml")
    script.write_text(SCRIPT.format(version=version, events=", ".join((*EVENTS, *more))), encoding="utf-8")
    write_dump(run(read_script(script)), to)
    for log in to.glob("broker-*/logs/server.log"):  # real brokers print it too; simulated ones begin behind it
        log.write_text(f"{_BEGUN} INFO {CREATED} (kafka.log.LogManager)\n{log.read_text()}", encoding="utf-8")
    for folder in to.glob("broker-*/data/simulated-0"):
        rolled(folder, range(3))
    return to


def without_heads(dump: Path, brokers: Sequence[int]) -> Path:
    for broker in brokers:
        (dump / f"broker-{broker}/data/simulated-0/{0:020d}.log").unlink()
    return dump


def without_logs(dump: Path) -> None:
    for folder in dump.glob("*/logs"):
        shutil.rmtree(folder)


def asked(dump: Path, **settings: object) -> list[tuple[int, ...]]:
    """Whose segments are asked for, where nothing else is said; a dump of which nothing is asked is clean."""
    report = audited(dump, **settings)
    assert (report.verdict, {f.rule for f in report.findings}) in (("clean", set()), ("unknown", {"SEG003"}))
    return [finding.brokers for finding in report.findings]


@pytest.mark.parametrize("brokers", [(), (1,), (2,), (1, 2)])
def test_a_first_segment_of_whose_deletion_its_broker_does_not_tell_is_asked_for(
    brokers: tuple[int, ...], tmp_path: Path
) -> None:
    dump = without_heads(written(tmp_path / "dump"), brokers)
    assert asked(dump) == [(broker,) for broker in brokers]


def test_what_retention_deleted_by_its_brokers_word_is_not_asked_for(tmp_path: Path) -> None:
    dump = written(tmp_path / "dump", more=DELETED)
    assert not [*dump.glob(f"*/data/*/{0:020d}.log")]
    assert asked(dump) == []


def test_disks_alone_do_not_tell_whether_a_head_was_deleted(tmp_path: Path) -> None:
    dump = without_heads(written(tmp_path / "dump"), (1, 2))
    without_logs(dump)
    assert asked(dump) == []


def test_a_release_that_prints_no_move_of_a_log_start_does_not_tell_either(tmp_path: Path) -> None:
    assert asked(without_heads(written(tmp_path / "dump", version="0.10.2.2"), (1, 2))) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (RESET.format(0), []),
        (RESET.format(2), [(2,)]),
        (LOADED.format(2, 1), []),
        (LOADED.format(3, 0), [(2,)]),
        ("Log for partition simulated-0 is renamed to /d/simulated-0.0-delete and is scheduled for deletion", []),
    ],
)
def test_a_log_that_began_anew_begins_there(line: str, told: list[object], tmp_path: Path) -> None:
    dump = without_heads(written(tmp_path / "dump"), (2,))
    with (dump / "broker-2/logs/server.log").open("a", encoding="utf-8") as log:
        log.write(f"{_STAMP} INFO {line} (kafka.log.Log)\n")
    assert asked(dump) == told


@pytest.mark.parametrize(("version", "told"), [("1.1.1", [(1,), (2,)]), ("2.8.2", []), ("", [])])
def test_a_snapshot_below_the_first_segment_tells_of_one_before_it_up_to_2_7(
    version: str, told: list[object], tmp_path: Path
) -> None:
    dump = without_heads(written(tmp_path / "dump"), (1, 2))
    for folder in dump.glob("broker-*/data/simulated-0"):
        (folder / f"{1:020d}.log").unlink()
        (folder / f"{1:020d}.snapshot").write_bytes(b"")
    without_logs(dump)
    assert asked(dump, **({"kafka_version": (version,)} if version else {})) == told


@pytest.mark.parametrize(("clean", "told"), [(True, [(2,)]), (False, [])])
def test_a_log_start_that_an_orderly_stop_wrote_down_lies_in_the_first_segment(
    clean: bool, told: list[object], tmp_path: Path
) -> None:
    dump = without_heads(written(tmp_path / "dump"), (1, 2))
    data = dump / "broker-2/data"
    (data / f"simulated-0/{1:020d}.log").unlink()
    (data / "log-start-offset-checkpoint").write_bytes(offset_lines([("simulated", 0, 1)]))
    without_logs(dump)
    if not clean:
        (data / ".kafka_cleanshutdown").unlink()
    assert asked(dump) == told
