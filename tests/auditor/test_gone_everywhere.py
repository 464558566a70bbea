"""What no disk of a dump holds any more, although the rest of the dump tells of it, is never clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.finding import Severity
from tests.auditor.dumps_at_hand import audited, copied
from tests.hostile.dumps import batches_of, checkpoint_of, rows_of

HELD = "my-topic.v2-0"
EPOCH_6 = (6).to_bytes(4, "big")
CHECKPOINTS = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint")


def brokers(dump: Path) -> list[Path]:
    return sorted(dump.glob("broker-[123]/data"))


def claim(data: Path, offset: int | None) -> None:
    """Have the checkpoints of a log dir name another offset for the partition, or not name it."""
    for file in (data / name for name in CHECKPOINTS):
        others = [row for row in rows_of(file.read_bytes()) if row[:2] != ("my-topic.v2", "0")]
        own = [] if offset is None else [("my-topic.v2", "0", offset)]
        file.write_bytes(checkpoint_of([*others, *own]))


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    return copied("clean_4x", tmp_path / "dump", logs=True)


@pytest.mark.parametrize("how", ["", "crashed", "stopped"])
def test_logs_that_all_brokers_lost_without_a_word_on_disk(clean: Path, how: str) -> None:
    for data in brokers(clean):
        (data / ".kafka_cleanshutdown").unlink()
        claim(data, 0)
        for file in (data / HELD).iterdir():
            if file.name != "partition.metadata":
                file.unlink()
        (data / HELD / f"{0:020d}.log").touch()
        (data / HELD / "leader-epoch-checkpoint").write_text("0\n0\n", encoding="ascii")
    report = audited(clean, topic=("my-topic.v2",), **({"copied": how} if how else {}))
    assert report.verdict == ("findings" if how else "unknown")
    (told,) = (finding for finding in report.findings if finding.rule == "LOG008")
    assert (told.topic, told.start_offset, told.end_offset) == ("my-topic.v2", 0, 1000)
    assert (told.verdict == "violated") is bool(how)


@pytest.mark.parametrize("logs", ["kafka-request.log", "nothing"])
@pytest.mark.parametrize(("marked", "how"), [(True, ""), (False, ""), (False, "stopped")])
def test_an_end_that_one_broker_lost_is_told_or_asked(clean: Path, logs: str, how: str, *, marked: bool) -> None:
    """Its fetches, or the snapshot of its producers that it took when it stopped, tell where its log ended then."""
    data = clean / "broker-2/data"
    log = data / "orders-1" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-9])
    for file in clean.glob(f"*/logs/{logs}"):
        file.unlink()
    if not marked:
        (data / ".kafka_cleanshutdown").unlink()
    report = audited(clean, topic=("orders",), **({"copied": how} if how else {}))
    told = [finding for finding in report.findings if finding.rule == "LEO001" and finding.brokers == (2,)]
    assert [(f.topic, f.partition, f.start_offset, f.end_offset) for f in told] == [("orders", 1, 380, 400)]
    assert [f.verdict for f in told] == ["violated" if marked or how else "undecided"]
    assert report.verdict == ("findings" if marked or how else "unknown")


def test_partitions_whose_folders_no_broker_has(clean: Path) -> None:
    for data in brokers(clean):
        claim(data, None)
        for file in (data / HELD).iterdir():
            file.unlink()
        (data / HELD).rmdir()
    report = audited(clean)
    assert (report.verdict, report.coverage.replicas_assigned_elsewhere) == ("unknown", 3)
    accepted = audited(clean, partial=True)
    assert accepted.verdict == "clean"


def test_folders_that_wait_for_their_deletion_are_no_replicas(clean: Path) -> None:
    for data in brokers(clean):
        claim(data, None)
        (data / HELD).rename(data / f"{HELD}.{'6' * 32}-delete")
    report = audited(clean)
    assert (report.verdict, report.coverage.replicas_assigned_elsewhere) == ("unknown", 3)


@pytest.mark.parametrize("stopping", [True, False])
def test_a_fetcher_that_fails_while_its_broker_stops_is_no_replica_that_stopped_fetching(
    tmp_path: Path, *, stopping: bool
) -> None:
    dump = copied("clean_2_8", tmp_path / "dump", logs=True)
    log = dump / "broker-1/logs/server.log"
    if not stopping:
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(line for line in lines if "KafkaServer id=1] shut" not in line))
    (last,) = (dump / "broker-1/data/orders-0").glob("*.log")
    content = last.read_bytes()
    start = next(start for start, end in batches_of(content) if content[start + 12 : start + 16] == EPOCH_6)
    last.write_bytes(content[:start])
    (dump / "broker-1/data/.kafka_cleanshutdown").unlink()
    for requests in dump.glob("broker-*/logs/kafka-request.log"):
        requests.unlink()
    accused = {finding.rule for finding in audited(dump, copied="live", topic=("orders",)).violations}
    assert ("LEO002" in accused) is not stopping


@pytest.mark.parametrize(("how", "found"), [("crashed", {(1, 954, 1000), (3, 954, 1000)}), ("live", set())])
def test_a_leader_that_lost_its_end_is_told_by_its_log_where_the_files_are_as_it_left_them(
    clean: Path, how: str, found: set[tuple[int, int, int]]
) -> None:
    for data in (clean / "broker-1/data", clean / "broker-3/data"):
        (data / ".kafka_cleanshutdown").unlink()
        claim(data, 954)
        last = max((data / HELD).glob("*.log"))
        content = last.read_bytes()
        last.write_bytes(content[: next(start for start, _ in batches_of(content) if base(content, start) == 954)])
        (data / HELD / f"{1000:020d}.snapshot").unlink()
        epochs = (data / HELD / "leader-epoch-checkpoint").read_text().splitlines()[2:]
        kept = [line for line in epochs if int(line.split()[1]) < 954]
        (data / HELD / "leader-epoch-checkpoint").write_text("\n".join(["0", str(len(kept)), *kept, ""]))
    report = audited(clean, topic=("my-topic.v2",), copied=how)
    told = {(f.brokers[0], f.start_offset, f.end_offset) for f in report.violations if f.rule == "LEO001"}
    assert told == found
    starts = [gate for each in report.advice for gate in each.advice.gates if gate.action == "restart broker 3"]
    assert [gate.going for gate in starts] == (["no-go"] if found else [])


def base(content: bytes, start: int) -> int:
    return int.from_bytes(content[start : start + 8], "big")


@pytest.mark.parametrize(("how", "verdict"), [("", "unknown"), ("live", "clean")])
def test_a_log_shorter_than_at_its_brokers_stop_is_asked_about_where_no_marker_tells_of_the_stop(
    how: str, verdict: str, tmp_path: Path
) -> None:
    dump = copied("clean_2_8", tmp_path / "dump", logs=True)
    for data in brokers(dump):
        (data / ".kafka_cleanshutdown").unlink()
    assert audited(dump, topic=("orders",)).verdict == "clean"
    (last,) = (dump / "broker-2/data/orders-0").glob("*.log")
    content = last.read_bytes()
    *_, (start, _) = batches_of(content)
    last.write_bytes(content[:start])
    report = audited(dump, topic=("orders",), **({"copied": how} if how else {}))
    assert report.verdict == verdict
    assert [f.verdict for f in report.findings if f.rule == "LEO001"] == ["undecided"] * (not how)


def cut_all(dump: Path, folder: str, offset: int) -> None:
    """Cut the only segment of a partition at a batch on all brokers, and leave all that stands beside it."""
    for data in brokers(dump):
        (log,) = (data / folder).glob("*.log")
        content = log.read_bytes()
        log.write_bytes(content[: next(start for start, _ in batches_of(content) if base(content, start) == offset)])


@pytest.mark.parametrize(
    ("marked", "how", "verdict"),
    [(True, "", "findings"), (False, "", "unknown"), (False, "crashed", "findings"), (False, "live", "unknown")],
)
def test_an_end_cut_where_a_broker_had_stopped_before_is_no_segment_that_was_not_copied(
    clean: Path, how: str, verdict: str, *, marked: bool
) -> None:
    """All had stopped at 300 once and saved their producers there; time indexes lead behind it."""
    cut_all(clean, "orders-2", 300)
    for data in brokers(clean) if not marked else ():
        (data / ".kafka_cleanshutdown").unlink()
    report = audited(clean, topic=("orders",), **({"copied": how} if how else {}))
    assert report.verdict == verdict
    (told,) = (finding for finding in report.findings if finding.rule == "LOG008")
    assert (told.partition, told.start_offset, told.end_offset) == (2, 300, 400)
    assert "SEG003" not in {finding.rule for finding in report.findings}


def test_a_high_watermark_that_is_wrong_by_its_recovery_point_takes_no_record_away(clean: Path) -> None:
    file = clean / "broker-2/data/replication-offset-checkpoint"
    file.write_text(file.read_text(encoding="ascii").replace("orders 0 458\n", "orders 0 900\n"), encoding="ascii")
    report = audited(clean)
    assert [(f.rule, f.severity) for f in report.violations] == [("HW001", Severity.MEDIUM)]
    assert "The checkpoint alone is wrong" in report.violations[0].message
    assert not report.coverage.undecided or all(not line.blocking for line in report.coverage.undecided)
