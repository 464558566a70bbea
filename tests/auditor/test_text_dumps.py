"""A dump of texts that kafka-dump-log printed says what the segments say."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from command import run
from dumps_at_hand import SAMPLES, copied, told, violations

from parsers.provenance import Origin
from parsers.segment import scan

pytestmark = pytest.mark.slow

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
RELEASES = ("2.8.2", "3.9.1", "4.3.0")


def printed(segment: Path, name: str) -> str:
    """What kafka-dump-log of release 3.9 prints of a segment."""
    lines = [f"Dumping {name}", f"Log starting offset: {int(segment.stem)}"]
    for chunk in scan(segment, Origin(source=name)):
        lines += [line(row) for row in chunk.headers.to_pylist()]
    return "\n".join(lines) + "\n"


def line(row: dict[str, Any]) -> str:
    count = row["last_offset"] - row["base_offset"]
    last = -1 if row["base_sequence"] < 0 else row["base_sequence"] + count
    return (
        f"baseOffset: {row['base_offset']} lastOffset: {row['last_offset']} count: {row['record_count']}"
        f" baseSequence: {row['base_sequence']} lastSequence: {last} producerId: {row['producer_id']}"
        f" producerEpoch: {row['producer_epoch']} partitionLeaderEpoch: {row['leader_epoch']}"
        f" isTransactional: {word(row['attributes'] & 16)} isControl: {word(row['attributes'] & 32)}"
        f" deleteHorizonMs: OptionalLong.empty position: {row['span_start']} CreateTime: {row['max_timestamp']}"
        f" size: {row['size']} magic: 2 compresscodec: {CODECS[row['attributes'] & 7]}"
        f" crc: {row['crc']} isvalid: {word(row['crc_valid'])}"
    )


def word(truth: int) -> str:
    return "true" if truth else "false"


def with_texts(dump: Path, topic: str) -> Path:
    """The dump with every segment of a topic printed, one text a segment, where the segment was."""
    for segment in sorted(dump.glob(f"**/{topic}-[0-9]/*.log")):
        (segment.parent / f"{segment.stem}.txt").write_text(
            printed(segment, f"/data/{segment.parent.name}/{segment.name}")
        )
        segment.unlink()
    return dump


def one_text_a_broker(dump: Path, to: Path, topic: str, name: str) -> Path:
    """All that is left of a dump: one text for each broker."""
    for broker in sorted(dump.glob("broker-*")):
        segments = sorted(broker.glob(f"**/{topic}-[0-9]/*.log"), reverse=True)
        file = to / name.format(broker.name.removeprefix("broker-"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            "".join(printed(segment, f"/data/{segment.parent.name}/{segment.name}") for segment in segments)
        )
    return to


def replicas(report: dict[str, Any], topic: str) -> list[dict[str, Any]]:
    names = (
        "broker",
        "logStartOffset",
        "logEndOffset",
        "highWatermarkOnDisk",
        "epochs",
        "verdict",
        "batches",
        "records",
    )
    return [{name: r[name] for name in names} for r in report["replicas"] if r["topic"] == topic]


@pytest.mark.parametrize(
    ("name", "topic"), [("fast_failover_kip101", "ff"), ("fast_failover_kip279", "t"), ("bit_rot_payload", "d")]
)
def test_texts_in_place_of_segments_give_the_same_findings(name: str, topic: str, tmp_path: Path) -> None:
    dump = copied(name, tmp_path / "dump")
    topic = next(
        path.name.rpartition("-")[0] for path in dump.glob("broker-1/data/*-0") if not path.name.startswith("__")
    )
    raw = told(dump, topic=[topic])
    text = told(with_texts(dump, topic), topic=[topic])
    assert violations(raw)
    assert violations(text) == violations(raw)
    assert replicas(text, topic) == replicas(raw, topic)
    assert [r["path"] for r in text["replicas"]] == [r["path"] for r in raw["replicas"]]


@pytest.mark.parametrize("name", ["broker-{}.txt", "node{}/log.txt", "kafka-{}/a/b/c.out"])
def test_one_text_a_broker_is_a_dump(name: str, tmp_path: Path) -> None:
    texts = one_text_a_broker(SAMPLES / "fast_failover_kip101" / "dump", tmp_path / "texts", "ff", name)
    report = told(texts)
    assert [(r["broker"], r["logEndOffset"], r["batches"]) for r in report["replicas"]] == [(1, 20, 4), (2, 20, 4)]
    found = [entry for entry in violations(report) if entry[0].startswith("LOG")]
    assert [(brokers, start, end) for _, _, _, brokers, start, end in found] == [([1, 2], 10, 15)]
    assert report["coverage"]["ratio"] == 1
    assert report["coverage"]["brokers"] == 2


def test_the_broker_of_a_text_may_be_told(tmp_path: Path) -> None:
    texts = one_text_a_broker(SAMPLES / "fast_failover_kip101" / "dump", tmp_path / "texts", "ff", "copy-of-{}.txt")
    shutil.move(texts / "copy-of-1.txt", texts / "a.txt")
    shutil.move(texts / "copy-of-2.txt", texts / "b.txt")
    unknown = told(texts)
    assert unknown["verdict"] == "unknown"
    assert {(refusal["kind"], refusal["path"]) for refusal in unknown["refusals"]} == {
        ("ambiguous", "a.txt"), ("ambiguous", "b.txt"),
    }  # fmt: skip
    report = told(texts, log_dir=["1=a.txt", f"2={texts}/b.txt"])
    assert [replica["broker"] for replica in report["replicas"]] == [1, 2]


def replaced_by_text(dump: Path, text: Path) -> Path:
    place = dump / "broker-1/data/orders-0"
    for segment in place.glob("*.log"):
        segment.unlink()
    shutil.copy(text, place / "orders.txt")
    return dump


@pytest.mark.parametrize("release", RELEASES)
def test_real_outputs_are_compared_with_the_other_brokers_segments(release: str, tmp_path: Path) -> None:
    dump = copied("clean_mixed", tmp_path / "dump")
    raw = told(dump, topic=["orders"], partition=[0])
    replaced_by_text(dump, SAMPLES / "dump_log_text" / release / "orders-0.plain.out")
    report = told(dump, topic=["orders"], partition=[0])
    assert report["verdict"] == raw["verdict"] == "clean"
    ends = [(r["broker"], r["logEndOffset"], r["batches"]) for r in raw["replicas"]]
    assert [(r["broker"], r["logEndOffset"], r["batches"]) for r in report["replicas"]] == ends


@pytest.mark.parametrize("with_errors", [False, True])
def test_a_text_that_stops_in_the_middle_proves_nothing(tmp_path: Path, with_errors: bool) -> None:
    """Release 1.1.1 dies at the first zstd batch: the log did not end there."""
    text = tmp_path / "text"
    outputs = SAMPLES / "dump_log_text/1.1.1"
    said = (outputs / "orders-0.plain.out").read_bytes()
    text.write_bytes(
        said[: said.rindex(b"\n") + 1] + (outputs / "orders-0.plain.err").read_bytes() if with_errors else said
    )
    report = told(replaced_by_text(copied("clean_mixed", tmp_path / "dump"), text), topic=["orders"], partition=[0])
    assert violations(report) == []
    assert report["verdict"] == "unknown"
    assert [refusal["kind"] for refusal in report["refusals"]] == ["truncated_line"]
    assert [replica["broker"] for replica in report["replicas"]] == [2, 3]


def test_a_text_beside_its_segments_is_not_needed(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    raw = told(dump)
    shutil.copy(SAMPLES / "dump_log_text/3.9.1/orders-0.plain.out", dump / "broker-1/orders.txt")
    for segment in dump.glob("broker-1/data/ff-0/*.log"):
        text = printed(segment, f"/x/ff-0/{segment.name}").replace("partitionLeaderEpoch: 0", "partitionLeaderEpoch: 7")
        (dump / "broker-1/other.txt").write_text(text)
    assert violations(told(dump, topic=["ff"])) == violations(raw)


def test_two_texts_that_tell_one_segment_otherwise_are_refused(tmp_path: Path) -> None:
    texts = one_text_a_broker(SAMPLES / "fast_failover_kip101" / "dump", tmp_path / "texts", "ff", "broker-{}/x.txt")
    again = (texts / "broker-1/x.txt").read_text()
    (texts / "broker-1/y.txt").write_text(again)
    assert told(texts)["refusals"] == []
    (texts / "broker-1/y.txt").write_text(again.replace("crc: ", "crc: 1"))
    refused = told(texts)["refusals"]
    assert [refusal["kind"] for refusal in refused] == ["ambiguous"]
    assert "broker-1/x.txt and broker-1/y.txt" in refused[0]["found"]


def test_a_topic_that_no_text_tells_of_is_an_error(tmp_path: Path) -> None:
    texts = one_text_a_broker(SAMPLES / "fast_failover_kip101" / "dump", tmp_path / "texts", "ff", "broker-{}.txt")
    assert len(told(texts, topic=["f*"])["replicas"]) == 2
    ended = run("audit", str(texts), "--engine", "local", "--topic", "g*")
    assert ended.code == 2
    assert "--topic g*: matches nothing" in ended.err
