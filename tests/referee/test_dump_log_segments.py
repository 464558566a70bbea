"""Kafka's own DumpLogSegments judges the segment reader: every row of every recorded segment, field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from parsers.provenance import Origin
from parsers.segment import scan
from tests.lab.expected_from_truth import cases
from tests.lab.recorded_damage import damage_of, damaged_files
from tests.referee.maven import kafka_classpath, missing_tools, run_java

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(bool(missing_tools()), reason=f"Kafka's code cannot be run here without {missing_tools()}"),
]
NEWEST = "4.3.0"
FILES_AT_ONCE = 300
"""One argument holds the paths of so many wherever a checkout lies."""
UNREADABLE = "damage"
"""Bytes amid a file that are no batch, as zeros are."""
FIELD = re.compile(r"(\w+): (\S+)")
WORDS = {"true": 1, "false": 0}


def main_class(version: str) -> str:
    return "org.apache.kafka.tools.DumpLogSegments" if version.startswith("4.3") else "kafka.tools.DumpLogSegments"


def recorded_by(case: Path) -> str:
    return str(json.loads((case / "truth.json").read_text(encoding="utf-8"))["kafka"])


def segments(case: Path) -> list[Path]:
    """All that hold anything, but for those that were damaged so that Kafka's tool refuses the file."""
    held = (path for path in (case / "dump").glob("*/data/*/*.log") if path.stat().st_size)
    return sorted(path for path in held if UNREADABLE not in damage_of(path))


@cache
def printed(version: str) -> dict[str, list[dict[str, int]]]:
    """Rows by file of all recordings that this version is asked about, as its DumpLogSegments prints them."""
    files = [str(path) for case in cases() if version in versions(case) for path in segments(case)]
    asked = [files[start : start + FILES_AT_ONCE] for start in range(0, len(files), FILES_AT_ONCE)]
    text = "".join(run_java(kafka_classpath(version), main_class(version), "--files", ",".join(few)) for few in asked)
    rows: dict[str, list[dict[str, int]]] = {}
    current: list[dict[str, int]] = []
    for line in text.splitlines():
        if line.startswith("Dumping "):
            current = rows.setdefault(line.removeprefix("Dumping "), [])
        elif line.startswith(("baseOffset: ", "offset: ")):
            current.append(row_of(line))
    return rows


def row_of(line: str) -> dict[str, int]:
    fields = dict(FIELD.findall(line))
    time = next(fields[kind] for kind in ("CreateTime", "LogAppendTime", "NoTimestampType") if kind in fields)
    row = {
        "position": int(fields["position"]),
        "size": int(fields["size"]),
        "magic": int(fields["magic"]),
        "crc": int(fields["crc"]),
        "valid": WORDS[fields["isvalid"]],
        "max_timestamp": int(time),
        "last_offset": int(fields.get("lastOffset", fields.get("offset", "-1"))),
    }
    if "baseOffset" in fields:
        row |= {
            "base_offset": int(fields["baseOffset"]),
            "leader_epoch": int(fields["partitionLeaderEpoch"]),
            "producer_id": int(fields["producerId"]),
            "producer_epoch": int(fields["producerEpoch"]),
            "base_sequence": int(fields["baseSequence"]),
            "transactional": WORDS[fields["isTransactional"]],
        }
    if "count" in fields:
        row["record_count"] = int(fields["count"])
    if "isControl" in fields:
        row["control"] = WORDS[fields["isControl"]]
    return row


def read(path: Path) -> Iterator[dict[str, int]]:
    for chunk in scan(path, Origin(source=path.name)):
        for row in chunk.headers.to_pylist():
            yield {
                **row,
                "position": row["span_start"],
                "valid": int(row["crc_valid"]),
                "transactional": row["attributes"] >> 4 & 1,
                "control": row["attributes"] >> 5 & 1,
            }


def versions(case: Path) -> list[str]:
    return sorted({recorded_by(case), NEWEST})


@pytest.mark.parametrize(
    ("case", "version"),
    [pytest.param(case, version, id=f"{case.name}-{version}") for case in cases() for version in versions(case)],
)
def test_rows_equal_what_kafka_prints(case: Path, version: str) -> None:
    told = printed(version)
    assert segments(case)
    for path in segments(case):
        ours = list(read(path))
        theirs = told[str(path)]
        assert len(ours) == len(theirs), path
        for mine, kafkas in zip(ours, theirs, strict=True):
            assert {name: mine[name] for name in kafkas} == kafkas, f"{path} at {mine['position']}"


REFUSED = [
    pytest.param(case / "dump" / source, version, id=f"{case.name}-{version}")
    for case in cases()
    for source, kinds in damaged_files(case.name).items()
    if UNREADABLE in kinds
    for version in versions(case)
]


@pytest.mark.parametrize(("path", "version"), REFUSED)
def test_kafka_refuses_the_file_in_which_we_read_on(path: Path, version: str) -> None:
    with pytest.raises(RuntimeError, match="CorruptRecordException"):
        run_java(kafka_classpath(version), main_class(version), "--files", str(path))
    assert len([*read(path)]) > 1


def test_the_judge_would_notice_a_difference(tmp_path: Path) -> None:
    """The same comparison fails on a segment with one flipped bit, so it is able to fail."""
    source = next(path for path in segments(cases()[0]) if path.stat().st_size > 500)
    data = bytearray(source.read_bytes())
    data[30] ^= 1
    damaged = tmp_path / source.name
    damaged.write_bytes(bytes(data))
    text = run_java(kafka_classpath(NEWEST), main_class(NEWEST), "--files", str(damaged))
    line = next(line for line in text.splitlines() if line.startswith("baseOffset: "))
    assert row_of(line)["valid"] == 0
    assert next(read(damaged))["valid"] == 0
    assert next(read(damaged)) != next(read(source))
