"""The bill names what went, who wrote it, who read it and who stands beyond it."""

from __future__ import annotations

import json
import struct
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from dumps_at_hand import SAMPLES, audited
from lost_records import LOST, lost_batches, record, unclean

from auditor.report.json import document
from parsers.writers.segments import TRANSACTIONAL, Record, batch_bytes, write_segment
from tests.lab.sample_reports import report_on
from tests.lab.written_bytes import marker_bytes

pytestmark = pytest.mark.slow


def losses(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [loss for history in document["histories"] for loss in history["losses"]]


def told(dump: Path, level: str) -> dict[str, Any]:
    report = json.loads(json.dumps(document(audited(dump, topic=("pay",), level=level))))
    (loss,) = losses(report)
    return loss


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def commit(group: str, offset: int | None, epoch: int, topic: str = "pay") -> Record:
    key = b"\x00\x01" + text(group) + text(topic) + struct.pack(">i", 0)
    value = None if offset is None else struct.pack(">hqi", 3, offset, epoch) + text("") + struct.pack(">q", 9)
    return Record(key=key, value=value)


COMMITS = (
    commit("ahead", 145, 0),
    commit("cut", 120, 0),
    commit("moved-on", 125, 0),
    commit("moved-on", 128, 1),
    commit("before", 90, 0),
    commit("old-client", 120, -1),
    commit("gone", 120, 0),
    commit("gone", None, 0),
    commit("elsewhere", 999, 0, topic="pays"),
)


def with_groups(dump: Path) -> Path:
    folder = dump / "broker-2" / "data" / "__consumer_offsets-3"
    folder.mkdir()
    batches = [
        batch_bytes(base_offset=number, leader_epoch=0, records=[record], codec=("none", "zstd")[number % 2])
        for number, record in enumerate(COMMITS)
    ]
    undone = batch_bytes(
        base_offset=9, leader_epoch=0, records=[commit("undone", 120, 0)], producer_id=5, producer_epoch=0,
        base_sequence=0, attributes=TRANSACTIONAL,
    )  # fmt: skip
    abort = marker_bytes(offset=10, leader_epoch=0, producer_id=5, producer_epoch=0, commit=False)
    write_segment(folder / f"{0:020d}.log", [*batches, undone, abort])
    return dump


@pytest.mark.parametrize("place", ["replica", "deleted file", "deleted dir"])
def test_a_copy_tells_who_wrote_what_and_when(place: str, tmp_path: Path) -> None:
    loss = told(unclean(tmp_path / "dump", place, logs=True), "deep")
    keys = {record(offset).key for offset in LOST} - {None}
    contents = loss["contents"]
    assert (contents["offsets"], contents["records"]) == (50, 50)
    assert contents["bytes"] == sum(map(len, lost_batches()))
    assert contents["producers"] == [
        {
            "producerId": 77, "producerEpoch": 3, "firstSequence": 0, "lastSequence": 49, "startOffset": 100,
            "endOffset": 150, "records": 50, "transactional": False,
        }
    ]  # fmt: skip
    assert contents["keys"] == sorted(blake2b(key or b"", digest_size=8).hexdigest() for key in keys)
    assert (contents["keyCount"], contents["nullKeys"]) == (len(keys), sum(offset % 7 == 0 for offset in LOST))
    assert (contents["firstTimestamp"], contents["lastTimestamp"]) == (1_700_000_000_100, 1_700_000_000_149)
    (portion,) = loss["portions"]
    assert (portion["worth"], portion["records"], portion["bytes"]) == ("committed", 50, contents["bytes"])


def test_keys_are_read_at_level_deep_alone(tmp_path: Path) -> None:
    contents = told(unclean(tmp_path / "dump", "deleted file", logs=True), "full")["contents"]
    assert (contents["records"], contents["keyCount"], contents["keys"]) == (50, None, [])


def test_groups_that_stand_beyond_or_read_what_went(tmp_path: Path) -> None:
    loss = told(with_groups(unclean(tmp_path / "dump", "deleted file", logs=True)), "full")
    assert loss["groupsKnown"] == 5
    assert {group["group"]: group["standing"] for group in loss["groups"]} == {
        "ahead": "beyond the log end",
        "cut": "in the cut epoch",
        "old-client": "among the cut offsets",
    }


def test_without_a_copy_the_requests_tell_their_size_and_sender() -> None:
    truth = json.loads((SAMPLES / "unclean_4x" / "truth.json").read_text(encoding="utf-8"))
    (loss,) = losses(document(report_on(SAMPLES / "unclean_4x")))  # type: ignore[arg-type]
    assert [loss["startOffset"], loss["endOffset"]] == truth["lost"]
    assert loss["contents"] is None
    (portion,) = loss["portions"]
    assert portion["records"] is None
    (client,) = loss["clients"]
    assert portion["bytes"] is None
    assert portion["atLeast"] == {"records": client["answers"], "bytes": client["bytes"]}
    assert client["bytes"] > 0
    assert client["firstOffset"] == truth["lost"][0]
    assert (loss["groups"], loss["groupsKnown"]) == ([], 0)
    assert loss["reusedEpochs"] == [1]


def test_a_format_without_epochs_denies_no_acknowledged_record() -> None:
    """What stands at an offset bears no epoch there: only the next leader's opening tells what went."""
    report = report_on(SAMPLES / "lost_pages_hw")
    told = [(f.brokers, f.start_offset, f.end_offset) for f in report.violations if f.rule == "ACK001"]
    assert told == [((1,), 40, 60)]


def test_what_one_replica_acknowledged_is_told_apart_from_what_nobody_was_told() -> None:
    """Others had waited for all replicas: of two answers the first records are sure."""
    (loss,) = losses(document(report_on(SAMPLES / "acks_one_lost")))  # type: ignore[arg-type]
    parts = [(part["worth"], part["startOffset"], part["endOffset"]) for part in loss["portions"]]
    assert parts == [
        ("acknowledged", 50, 51), ("possibly acknowledged", 51, 60), ("acknowledged", 60, 61),
        ("possibly acknowledged", 61, 70),
    ]  # fmt: skip
