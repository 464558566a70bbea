"""A reader or a judge that fails on one file leaves that file unread and the verdict open; it never ends an audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # published without types
import pytest

from auditor.engines import reading, settle
from auditor.engines.witnesses import log_statements, transcribed
from rules.evidence import PartitionEvidence
from rules.judging.judge import judge
from rules.rule import Rule
from rules.verdict import PartitionVerdict
from tests.auditor.command import run
from tests.auditor.dumps_at_hand import ROOT, SAMPLES, copied, told, told_of, violations

SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
LOST = SAMPLES / "acks_one_lost" / "dump"
SEGMENT = "broker-2/data/fire-0/00000000000000000000.log"


def failing_on(source: str, reader: Callable[..., Any]) -> Callable[..., Any]:
    """A reader with a defect that one file shows: some argument of it names the file."""

    def read(*given: object, **named: object) -> object:
        sources = [getattr(each, "source", each) for each in (*given, *named.values())]
        if any(source in str(each) for each in sources):
            raise IndexError("a secret of the file")
        return reader(*given, **named)

    return read


READERS = [
    (reading, "read_offset_checkpoint", "broker-1/data/replication-offset-checkpoint"),
    (reading, "read_leader_epoch_checkpoint", "broker-2/data/fire-0/leader-epoch-checkpoint"),
    (reading, "read_producer_snapshot", "broker-2/data/fire-0/00000000000000000060.snapshot"),
    (reading, "scan_source", SEGMENT),
    (reading, "fold", SEGMENT),
    (log_statements, "Trace", "broker-1/logs/kafka-request.log"),
    (log_statements, "read_broker_log", "broker-1/logs/server.log"),
    (transcribed, "parse_describe_text", "tools/topics.txt"),
]


@pytest.mark.parametrize(("room", "reader", "source"), READERS, ids=[name for _, name, _ in READERS])
def test_a_reader_that_fails_leaves_its_file_unread(
    room: ModuleType, reader: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    (dump / "tools").mkdir()
    (dump / "tools/topics.txt").write_text("Topic: fire\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n")
    whole = told_of("acks_one_lost")
    monkeypatch.setattr(room, reader, failing_on(source, getattr(room, reader)))
    report = told(dump)
    jsonschema.validate(report, SCHEMA)
    (refusal,) = [each for each in report["refusals"] if each["path"] == source]
    assert refusal["found"].startswith("IndexError in read:")
    assert refusal["blocking"]
    assert "secret" not in json.dumps(report)
    accused = {rule for rule, *_ in violations(report)}
    assert accused <= {rule for rule, *_ in violations(whole)}
    assert report["verdict"] == ("findings" if accused else "unknown")


def test_a_judge_that_fails_leaves_its_partition_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(evidence: PartitionEvidence, *given: Sequence[Rule]) -> PartitionVerdict:
        if evidence.topic == "fire":
            raise KeyError("a secret of the file")
        return judge(evidence, *given)

    monkeypatch.setattr(settle, "judge", judged)
    ended = run("audit", str(LOST), "--engine", "local", "--format", "json")
    report = json.loads(ended.out)
    jsonschema.validate(report, SCHEMA)
    assert (ended.code, report["verdict"]) == (3, "unknown")
    told_of = {each["path"]: each["found"] for each in report["refusals"]}
    assert sorted(told_of) == [f"broker-{n}/data/fire-0" for n in (1, 2, 3)]
    assert all(found.startswith("KeyError in judged:") for found in told_of.values())
    assert "secret" not in ended.out
