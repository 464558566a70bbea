"""Small files that every broker writes: what lacks is named, and opens the verdict where it may hide something."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.report import terminal
from auditor.report.json import document
from auditor.report.model import AuditReport
from parsers.inventory import parse_file_name
from tests.auditor import dumps_at_hand
from tests.auditor.dumps_at_hand import SAMPLES, copied
from tests.lab.effort import fast_if
from tests.lab.sample_reports import report_on

CHECKPOINTS = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint", "log-start-offset-checkpoint")
GRAVE = (*CHECKPOINTS, "meta.properties", "quorum-state", "*.snapshot")
LIGHT = ("*.index", "*.timeindex", "partition.metadata")
TEXT = ("log-start-offset-checkpoint", "meta.properties", "leader-epoch-checkpoint")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return copied("clean_4x", tmp_path / "dump")


def audited(dump: Path, **settings: object) -> AuditReport:
    return dumps_at_hand.audited(dump, topic=("short", "orders", "__cluster_metadata"), **settings)


def words(report: AuditReport) -> str:
    return " ".join(terminal.render(report, columns=2000, verbose=True).split())


def without(dump: Path, pattern: str, broker: str = "*") -> Path:
    gone = [path for path in dump.glob(f"{broker}/data/**/{pattern}") if ".deleted" not in path.name]
    assert gone
    for path in gone:
        path.unlink()
    return dump


@pytest.mark.parametrize("name", ["clean_1_1", "clean_2_8", "clean_4x", "migrated", "power_cut", "thawed_follower"])
def test_no_recorded_cluster_lacks_a_file_that_is_due(name: str) -> None:
    """Brokers of 1.1 to 4.x, stopped, crashed and copied while they ran: what is not there was not written yet."""
    assert report_on(SAMPLES / name).coverage.scope.files == ()


def test_an_empty_checkpoint_of_a_broker_that_crashed_soon_is_named_and_lawful() -> None:
    report = report_on(SAMPLES / "recreated_topic")
    told = "without 1 of 3 recovery-point-offset-checkpoints and 1 of 3 log-start-offset-checkpoints"
    assert (report.verdict, report.coverage.scope.words) == ("clean", told)
    assert "(broker-3/data/recovery-point-offset-checkpoint). So nothing there tells how far" in words(report)


@pytest.mark.parametrize("pattern", fast_if((GRAVE[0], LIGHT[0]).__contains__, [*GRAVE, *LIGHT]))
def test_a_kind_that_nobody_has_stays_clean_and_is_named_first(dump: Path, pattern: str) -> None:
    report = audited(without(dump, pattern))
    assert (report.verdict, report.violations) == ("clean", ())
    assert ", without any " in words(report).partition(": ")[0]
    (told,) = document(report)["coverage"]["scope"]["filesLacking"]  # type: ignore[index]
    assert (len(told["paths"]), told["opens"]) == (told["due"], False)


@pytest.mark.parametrize(("broker", "told"), [("*", "any"), ("broker-2", "1 of 3")])
def test_a_marker_is_due_where_the_log_of_its_broker_ends_with_a_stop(tmp_path: Path, broker: str, told: str) -> None:
    dump = without(copied("clean_4x", tmp_path / "dump", logs=True), ".kafka_cleanshutdown", broker)
    report = audited(dump)
    assert (report.verdict, report.violations) == ("clean", ())
    assert f"without {told} clean-shutdown marker" in words(report).partition(": ")[0]
    for log in dump.glob("*/logs/server.log"):
        log.unlink()
    assert "clean-shutdown marker" not in words(audited(dump))


@pytest.mark.parametrize("pattern", fast_if((GRAVE[0], LIGHT[0]).__contains__, [*GRAVE, *LIGHT]))
def test_what_one_broker_lacks_opens_the_verdict_where_grave_findings_rest_on_it(dump: Path, pattern: str) -> None:
    report = audited(without(dump, pattern, "broker-2"))
    assert report.violations == ()
    assert report.verdict == ("unknown" if pattern in GRAVE else "clean")
    assert "Missing or empty: " in words(report)
    part = audited(dump, partial=True)
    assert part.verdict == "clean"
    assert " of " in words(part).partition(", without ")[2].partition(": ")[0]


@pytest.mark.parametrize("emptied", [False, True])
@pytest.mark.parametrize("node", ["broker-2", "controller-100"])
def test_every_node_of_a_kraft_cluster_has_a_metadata_log(dump: Path, node: str, emptied: bool) -> None:
    folder = dump / node / "data/__cluster_metadata-0"
    if emptied:
        for log in folder.glob("*.log"):
            log.write_bytes(b"")
    else:
        shutil.rmtree(folder)
    report = audited(dump)
    assert (report.verdict, report.violations) == ("unknown", ())
    assert f"1 of 4 metadata logs ({node}/data/__cluster_metadata-0)" in words(report)


def test_a_voter_of_which_nothing_is_here_is_a_replica_that_is_missing(dump: Path) -> None:
    shutil.rmtree(dump / "controller-100")
    report = audited(dump)
    assert report.verdict == "unknown"
    assert "__cluster_metadata-0 of broker 100 (replicas here: of brokers 1, 2 and 3)" in words(report)
    assert audited(dump, partial=True).verdict == "clean"


def test_a_log_in_which_no_broker_speaks_stands_in_for_none(tmp_path: Path) -> None:
    """ZooKeeper's own log is named `server.log` as well."""
    old = copied("clean_2_8", tmp_path / "dump", logs=True)
    (old / "broker-2/logs/server.log").unlink()
    report = dumps_at_hand.audited(old, topic=("short",))
    assert (report.verdict, report.coverage.scope.partly) == ("unknown", ("server-log",))


def _emptied(data: bytes) -> bytes:
    return data[:0]


def _halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


def lawful(path: Path, data: bytes, left: bytes) -> bool:
    """Whether a broker may have left the file so, or nobody reads it: nothing tells that it held more."""
    kind = parse_file_name(path.name).kind
    indexed = kind in ("offset-index", "time-index") and len(left) % (8 if kind == "offset-index" else 12) == 0
    running = not (path.parent.parent / ".kafka_cleanshutdown").exists()
    sparse = indexed and bool(left or running or path.with_suffix(".log").stat().st_size < 8192)
    older = kind == "producer-snapshot" and path not in sorted(path.parent.glob("*.snapshot"))[-2:]
    never_read = bool(left) and (older or path.name == "bootstrap.checkpoint")
    text_whole = path.name in TEXT and left == data[:-1]
    marker = kind == "clean-shutdown" and not left
    unused = kind == "leftover" or (kind == "cleaner-offset-checkpoint" and not left) or "-delete" in path.parent.name
    no_log = kind == "leader-epoch-checkpoint" and not any(log.stat().st_size for log in path.parent.glob("*.log"))
    two_lines = kind in ("log-start-offset-checkpoint", "cleaner-offset-checkpoint") and len(data) == 4 and bool(left)
    return sparse or never_read or text_whole or marker or unused or no_log or two_lines


@pytest.mark.parametrize("harm", [_emptied, _halved])
def test_no_file_of_a_disk_is_cut_or_emptied_in_silence(dump: Path, harm: Callable[[bytes], bytes]) -> None:
    """One file of each kind: either harm meets every second one. What is not clean, or names the file, is told."""
    tried: dict[tuple[str, str], Path] = {}
    for path in sorted(dump.glob("*/data/**/*")):
        if path.is_file() and path.stat().st_size and not lawful(path, path.read_bytes(), harm(path.read_bytes())):
            tried[path.relative_to(dump).parts[0], parse_file_name(path.name).kind + str("__cl" in str(path))] = path
    assert len(tried) > 20
    for path in [*tried.values()][harm is _halved :: 2]:
        data = path.read_bytes()
        path.write_bytes(harm(data))
        report = dumps_at_hand.audited(dump)
        source = path.relative_to(dump).as_posix()
        told = words(report).replace(" ", "")
        named = source in told or path.parent.relative_to(dump).as_posix() in told
        assert report.verdict != "clean" or named, source
        path.write_bytes(data)


@pytest.mark.parametrize("name", ["disk.tar", "logs/kafka.pipe"])
def test_whoever_asks_for_all_of_it_is_told_of_every_file_that_was_not_read(dump: Path, name: str) -> None:
    place = dump / "broker-1" / name
    place.parent.mkdir(exist_ok=True)
    if name.endswith(".tar"):
        place.write_bytes(bytes(2048))
    else:
        os.mkfifo(place)
    assert audited(dump).verdict == "clean"
    report = audited(dump, min_coverage=1.0)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert "less was read than --min-coverage asks for" in words(report)
