"""Segments that were not copied are no log that ends: they are named and counted, and nobody is judged by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.auditor.dumps_at_hand import audited, copied
from tests.rules.broken_dumps import Yard, wrote

LOG = wrote(0, 0, 60) + wrote(1, 60, 100)


def accused(dump: Path) -> list[str]:
    return [finding.rule for finding in audited(dump).violations if finding.severity > 0]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return copied("unclean_rejoined", tmp_path / "dump")


@pytest.mark.parametrize("also", ["", ".index", ".timeindex", "index"])
def test_a_replica_without_segments_is_no_log_that_ends_at_0(dump: Path, also: str) -> None:
    clean = copied("clean_mixed", dump.parent / "clean")
    for file in [file for file in clean.glob("broker-2/data/orders-*/*") if file.suffix == ".log" or also in file.name]:
        if file.suffix == ".log" or also:
            file.unlink()
    report = audited(clean, topic=("orders",))
    assert report.verdict == "unknown"
    assert report.violations == ()
    asked = [f.message for f in report.findings if f.rule == "SEG003"]
    assert len(asked) == 3
    assert all("of broker 2 is not copied" in message for message in asked)


def test_what_was_not_copied_counts_in_the_coverage(dump: Path) -> None:
    whole = audited(dump).coverage
    next(dump.glob("broker-2/data/*-0/00000000000000000000.log")).unlink()
    part = audited(dump).coverage
    assert part.bytes_seen == pytest.approx(whole.bytes_seen, rel=0.1)
    assert part.ratio < 0.9


def test_checkpoints_alone_are_no_clean_cluster(dump: Path) -> None:
    for file in dump.rglob("*"):
        if file.is_file() and not file.name.endswith("checkpoint"):
            file.unlink()
    report = audited(dump, min_coverage=1.0)
    assert (report.verdict, report.exit_code, report.coverage.ratio) == ("unknown", 3, 0.0)
    assert accused(dump) == []


def test_epoch_checkpoints_alone_are_replicas_without_their_segments(dump: Path) -> None:
    for file in dump.rglob("*"):
        if file.is_file() and file.name != "leader-epoch-checkpoint":
            file.unlink()
    report = audited(dump)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert accused(dump) == []
    folders = [path.parent for path in dump.rglob("leader-epoch-checkpoint")]
    assert len([finding for finding in report.findings if finding.rule == "SEG003"]) == len(folders) > 0


def test_a_middle_segment_of_which_the_index_is_there_was_not_copied(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG, segments=[30, 60])
    (folder / f"{30:020d}.log").unlink()
    (folder / f"{30:020d}.index").write_bytes(b"")
    assert yard.told() == []
    assert ("SEG003", (3,)) in yard.undecided()


def test_a_last_segment_of_which_only_a_snapshot_tells_was_not_copied(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG, segments=[60])
    (folder / f"{60:020d}.snapshot").write_bytes(b"")
    assert yard.told() == []
    assert yard.undecided() == []
    (folder / f"{60:020d}.log").unlink()
    assert yard.told() == []
    assert ("SEG003", (3,)) in yard.undecided()


def test_a_replica_that_is_not_here_whole_is_advised_for_nothing(dump: Path) -> None:
    next(dump.glob("broker-2/data/*-0/00000000000000000000.log")).unlink()
    (placed,) = [one for one in audited(dump).advice if one.topic != "__cluster_metadata"]
    going = {gate.action: gate.going for gate in placed.advice.gates}
    assert going["elect broker 2"] == "no-go"
    assert "go" not in {word for action, word in going.items() if action.startswith("elect")}
    assert going["restart broker 2"] == "unknown"
    assert [candidate.broker for candidate in placed.advice.candidates][-1] == 2
