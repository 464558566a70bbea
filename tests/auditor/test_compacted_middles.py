"""Segments amid a compacted log that are not here: what no cleaner reached was not compacted away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.auditor.dumps_at_hand import audited, copied, rolled

TOPIC = ("state",)
"""Its partition 0 was cleaned up to 320 on all three brokers, which shut down cleanly; it ends at 400."""
DIRTY = (340, 360)


def dump_of(to: Path, *, rolled_at: Sequence[int] = DIRTY) -> Path:
    dump = copied("clean_4x", to)
    for folder in dump.glob("broker-*/data/state-0"):
        rolled(folder, rolled_at)
    return dump


def without(dump: Path, base: int, brokers: Sequence[int]) -> Path:
    for broker in brokers:
        (dump / f"broker-{broker}/data/state-0/{base:020d}.log").unlink()
    return dump


def asked(dump: Path) -> list[tuple[str, tuple[int, ...]]]:
    report = audited(dump, topic=TOPIC)
    assert report.verdict == ("unknown" if report.findings else "clean")
    assert report.violations == ()
    return sorted((f.rule, f.brokers) for f in report.findings if f.rule in ("SEG003", "SEG005"))


def test_more_segments_are_the_same_log(tmp_path: Path) -> None:
    assert asked(dump_of(tmp_path / "dump")) == []


def test_a_segment_that_a_peer_has_is_asked_for(tmp_path: Path) -> None:
    assert asked(without(dump_of(tmp_path / "dump"), 340, [2])) == [("SEG003", (2,))]


def test_a_segment_that_no_replica_has_leaves_a_hole_that_no_cleaning_left(tmp_path: Path) -> None:
    dump = without(dump_of(tmp_path / "dump"), 340, [1, 2, 3])
    assert asked(dump) == [("SEG005", (1,)), ("SEG005", (2,)), ("SEG005", (3,))]
    message = next(f.message for f in audited(dump, topic=TOPIC).findings)
    assert "has a hole at offsets 340–359, which reaches beyond offset 320" in message


def test_where_no_peer_has_a_segment_of_that_name_the_end_of_the_one_before_may_be_gone(tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump")
    rolled(dump / "broker-1/data/state-0", DIRTY)
    assert asked(without(dump, 340, [1])) == [("SEG005", (1,))]


def test_what_a_cleaner_reached_may_have_been_compacted_away(tmp_path: Path) -> None:
    assert asked(without(dump_of(tmp_path / "dump", rolled_at=(310, 315)), 310, [1, 2, 3])) == []


@pytest.mark.parametrize("gone", ["broker-3/data/cleaner-offset-checkpoint", "broker-3/data/.kafka_cleanshutdown"])
def test_a_cleaner_of_which_nothing_is_known_may_have_gone_further(gone: str, tmp_path: Path) -> None:
    dump = without(dump_of(tmp_path / "dump"), 340, [1, 2, 3])
    (dump / gone).unlink()
    assert "SEG005" not in {rule for rule, _ in asked(dump)}


@pytest.mark.parametrize(("line", "told"), [("state 0 360", []), ("state 0 345", [1, 2, 3])])
def test_a_hole_may_be_copied_from_a_leader_that_had_cleaned_further(
    line: str, told: list[int], tmp_path: Path
) -> None:
    dump = without(dump_of(tmp_path / "dump"), 340, [1, 2, 3])
    checkpoint = dump / "broker-3/data/cleaner-offset-checkpoint"
    checkpoint.write_text(checkpoint.read_text(encoding="utf-8").replace("state 0 320", line), encoding="utf-8")
    assert asked(dump) == [("SEG005", (broker,)) for broker in told]
