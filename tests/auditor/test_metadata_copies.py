"""What copies of a metadata log tell whose beginnings were deleted and whose ends differ."""

from __future__ import annotations

import shutil
from pathlib import Path

from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import plan
from auditor.engines.witnesses.metadata_copies import ToldMetadata, metadata_history_of
from parsers.inventory import take_inventory
from parsers.tables import Refusal
from tests.conftest import SAMPLE_LOGS

COPIES = SAMPLE_LOGS / "metadata_snapshots"


def told_by(dump: Path) -> tuple[ToldMetadata | None, list[Refusal]]:
    refusals: list[Refusal] = []
    units = [u for u in plan(str(dump), take_inventory(dump), Selection()) if u.kind == "metadata"]
    (unit,) = units
    return metadata_history_of(unit, refusals), refusals


def states(told: ToldMetadata | None) -> dict[tuple[str | None, int | None], tuple[int | None, int | None, str | None]]:
    """The last state of every partition."""
    assert told is not None
    return {(c.topic, c.partition): (c.leader, c.leader_epoch, c.isr) for c in told.history.partitions}


def only(nodes: list[str], home: Path) -> Path:
    for node in nodes:
        shutil.copytree(COPIES / node, home / node)
    return home


def test_a_snapshot_stands_for_the_beginning_that_was_deleted(tmp_path: Path) -> None:
    both, _ = told_by(COPIES)
    alone, refusals = told_by(only(["controller-100"], tmp_path / "dump"))
    assert refusals == []
    assert len(states(alone)) > 20
    assert states(alone) == states(both)


def test_a_longer_past_and_a_later_end_are_joined_from_two_copies(tmp_path: Path) -> None:
    both, refusals = told_by(COPIES)
    assert refusals == []
    broker, _ = told_by(only(["broker-1"], tmp_path / "dump"))
    assert both is not None
    assert broker is not None
    assert any(change.partition_epoch == 0 for change in both.history.partitions)
    assert len(both.history.partitions) > len(broker.history.partitions)


def test_only_a_voters_copy_shows_that_nothing_came_after_it(tmp_path: Path) -> None:
    both, _ = told_by(COPIES)
    broker, _ = told_by(only(["broker-1"], tmp_path / "dump"))
    assert both is not None
    assert broker is not None
    assert (both.to_its_end, broker.to_its_end) == (True, False)


def test_without_snapshots_a_beginning_that_was_deleted_leaves_the_log_open(tmp_path: Path) -> None:
    dump = only(["controller-100"], tmp_path / "dump")
    for snapshot in dump.rglob("*.checkpoint"):
        snapshot.unlink()
    _, refusals = told_by(dump)
    assert refusals[0].expected == "metadata offset 0 or a snapshot up to this record"


def test_a_torn_snapshot_is_passed_over_for_the_next(tmp_path: Path) -> None:
    dump = only(["controller-100"], tmp_path / "dump")
    oldest = min(dump.rglob("*-*.checkpoint"))
    whole = oldest.read_bytes()
    oldest.write_bytes(whole[: len(whole) // 2])
    both, _ = told_by(COPIES)
    cut, _ = told_by(dump)
    assert states(cut) == states(both)


def test_copies_without_a_file_tell_nothing(tmp_path: Path) -> None:
    dump = only(["controller-100"], tmp_path / "dump")
    for file in (dump / "controller-100" / "data" / "__cluster_metadata-0").iterdir():
        file.unlink()
    assert told_by(dump) == (None, [])
