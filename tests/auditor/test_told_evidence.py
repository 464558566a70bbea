"""What people bring along, tables of fetches, outputs of tools and copies of znodes, is evidence of an audit."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.config import AuditConfig, ConfigError
from auditor.timeline import Excerpt, evidence_of, timeline
from parsers.inventory import take_inventory
from parsers.provenance import Origin, Span
from parsers.tables.requests import Fetch
from rules.evidence import Moment, PartitionEvidence
from rules.history.moments import committed
from rules.history.repetitions import collapse
from tests.auditor.dumps_at_hand import SAMPLES, audited, copied, told, violations
from tests.lab.sample_histories import histories
from tests.lab.whole_logs import read_request_log
from tests.replaced import replace

pytestmark = pytest.mark.slow

COLUMNS = {
    "time": "time_text", "broker": "broker", "replica": "replica", "topic": "topic", "topicId": "topic_id",
    "partition": "partition", "fetchOffset": "fetch_offset", "leaderEpoch": "current_leader_epoch",
    "lastFetchedEpoch": "last_fetched_epoch", "highWatermark": "high_watermark",
    "logStartOffset": "leader_log_start_offset", "error": "error_code", "clientId": "client_id",
    "divergingEpoch": "diverging_epoch",
    "divergingEndOffset": "diverging_end_offset",
}  # fmt: skip


def fetches_of(log: Path, broker: int) -> list[dict[str, Any]]:
    """A recorded request log's fetches, as whoever captures packets would write them down."""
    origin = Origin(source="log", broker=broker)
    rows = (row for row in read_request_log(log, origin).fetches(origin) if isinstance(row, Fetch))
    return [{column: getattr(row, name) for column, name in COLUMNS.items()} for row in rows]


def write_csv(path: Path, rows: Sequence[dict[str, Any]], without: Sequence[str] = ()) -> Path:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [c for c in COLUMNS if c not in without], extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
    return path


def write_jsonl(path: Path, rows: Sequence[dict[str, Any]], without: Sequence[str] = ()) -> Path:
    kept = ({name: value for name, value in row.items() if name not in without} for row in rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    return path


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """A recorded incident whose request logs are gone, with tables of the same fetches instead."""
    dump = copied("unclean_rejoined", tmp_path / "dump", logs=True)
    for log in sorted(dump.glob("broker-*/logs/kafka-request.log")):
        broker = int(log.parts[-3].removeprefix("broker-"))
        write = write_csv if broker % 2 else write_jsonl
        write(log.with_name("captured.csv" if broker % 2 else "captured.jsonl"), fetches_of(log, broker))
        log.unlink()
    return dump


def served(evidence: PartitionEvidence) -> list[Moment]:
    """Answers to fetches, wherever they are written down and whatever their session left unsaid."""
    answers = [m for m in evidence.moments if m.kind in ("fetched", "consumed")]
    nowhere = Span(source="", start=0, end=0)
    untold = {
        "implied": False, "doubtful": False, "waited": False, "records_size": None, "session": None,
        **dict.fromkeys(("last_stable_offset", "arrived", "taken_in", "answered", "last_taken_in", "last_answered")),
        "min_bytes": None,
    }  # fmt: skip
    alike = (replace(m, span=nowhere, **untold) for m in answers)  # type: ignore[arg-type]
    return list(collapse(alike))


def test_a_table_of_fetches_tells_what_the_request_log_told(traced: Path) -> None:
    recorded, brought = histories("unclean_rejoined")["pay", 0], evidence_of(traced, "pay", 0)
    assert served(brought) == served(recorded)
    moment = next(m for m in brought.moments if m.kind == "fetched" and m.high_watermark)
    line = (traced / moment.span.source).read_bytes()[moment.span.start : moment.span.end]
    assert str(moment.high_watermark).encode() in line
    judged = [told.standing for told in brought.replayed.told_watermarks if told.by_leader]
    assert set(judged) <= {"inside", None}
    assert len(judged) > 20


def test_who_answered_is_said_by_a_column_or_by_the_user(traced: Path) -> None:
    rows = fetches_of(SAMPLES / "unclean_rejoined/dump/broker-1/logs/kafka-request.log", 1)
    for table in traced.rglob("captured.*"):
        table.unlink()
    (traced / "brought").mkdir()
    table = write_csv(traced / "brought" / "packets.dat", rows, without=["broker"])
    named = evidence_of(traced, "pay", 0, AuditConfig(trace=(f"1={table}",)))
    assert {m.witness for m in named.moments if m.kind == "fetched"} == {1}
    (refusal,) = (r for r in told(traced, trace=("brought/packets.dat",))["refusals"] if r["path"] in str(table))
    assert (refusal["kind"], refusal["expected"]) == (
        "ambiguous", "a broker column, or --trace BROKER=brought/packets.dat",
    )  # fmt: skip
    # Unnamed and of no table's name, it is nobody's evidence.
    assert not any(m.kind == "fetched" for m in evidence_of(traced, "pay", 0).moments)


def test_a_table_that_is_none_is_refused_by_name(traced: Path) -> None:
    (traced / "fetch-trace.csv").write_text("when,who,what\n1,2,3\n")
    (refusal,) = (r for r in told(traced)["refusals"] if r["path"] == "fetch-trace.csv")
    assert refusal["expected"] == "columns replica, partition, fetchOffset"
    assert refusal["blocking"]


def test_a_trace_outside_the_dump_is_a_mistake(traced: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("replica,partition,fetchOffset\n")
    with pytest.raises(ConfigError, match="lies outside"):
        audited(traced, trace=(str(outside),))
    with pytest.raises(ConfigError, match="no such file"):
        audited(traced, trace=("7=nowhere.csv",))


def test_a_fetch_that_nothing_places_proves_nothing(traced: Path) -> None:
    for table in traced.rglob("captured.*"):
        table.unlink()
    rows = fetches_of(SAMPLES / "unclean_rejoined/dump/broker-1/logs/kafka-request.log", 1)
    write_jsonl(traced / "bare.jsonl", rows, without=["time", "leaderEpoch"])
    moments = [m for m in evidence_of(traced, "pay", 0).moments if m.kind == "fetched"]
    assert moments
    assert list(committed(moments)) == []


def described(evidence: PartitionEvidence) -> list[Moment]:
    return [moment for moment in evidence.moments if moment.kind == "described"]


def test_what_tools_printed_is_told_without_a_time() -> None:
    found = histories("migrated")
    (leader,) = described(found["pay", 0])
    assert (leader.leader, leader.isr, leader.elr, leader.replicas) == (2, (1, 2), (), (1, 2))
    assert (leader.time, leader.trust) == (None, "medium")
    quorum = described(found["__cluster_metadata", 0])
    ends = {moment.broker: moment.end_offset for moment in quorum if moment.end_offset is not None}
    assert set(ends) == {1, 2, 100}
    assert [m.leader for m in quorum if m.end_offset is None] == [100]


FIRE = (
    "Topic: fire\tTopicId: {id}\tPartitionCount: 1\n"
    "\tTopic: fire\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 2\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(("topic_id", "refused"), [("x", ["malformed"]), ("AAAAAAAAAAAAAAAAAAAAAQ", [])])
def test_a_foreign_topic_id_in_a_tools_output_silences_nobody(
    topic_id: str, refused: list[str], tmp_path: Path
) -> None:
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    (dump / "tools.txt").write_text(FIRE.format(id=topic_id))
    report = audited(dump)
    assert [finding.rule for finding in report.violations] == ["ACK001"]
    assert [refusal.kind for refusal in report.refusals] == refused


def test_a_group_is_told_by_its_log_and_by_a_tool() -> None:
    (commit,) = histories("migrated")["pay", 0].group_offsets
    assert (commit.group, commit.offset, commit.end_offset, commit.told_by) == ("g1", 50, 55, "description")


def test_znodes_stand_before_the_log_that_took_their_place() -> None:
    for place, evidence in histories("migrated").items():
        held = [m for m in evidence.moments if m.clock == "zookeeper"]
        kept = {(m.epoch, m.partition_epoch): m for m in evidence.moments if m.clock == "controller"}
        assert bool(held) == (place[0] in ("pay", "two")), place
        earliest = min((key for key in kept if key[0] is not None), default=None)
        for moment in held:
            same = kept.get((moment.epoch, moment.partition_epoch))
            before = earliest is not None and (moment.epoch or 0) < (earliest[0] or 0)
            # A state of the time of double writing is the controller's own; an older one is nobody else's.
            assert before or (same is not None and (same.leader, same.isr) == (moment.leader, moment.isr)), moment


def test_a_migration_does_not_date_what_it_carries_over() -> None:
    pay = histories("migrated")["pay", 0]
    carried = [m for m in pay.moments if m.clock == "controller" and m.kind == "leadership" and m.time is None]
    assert [(m.epoch, m.partition_epoch) for m in carried] == [(4, 6)]
    # The brokers shared one machine's clock.
    assert all(abs(clock.milliseconds) < 200 for clock in pay.replayed.clocks.offsets)


def test_the_timeline_shows_them() -> None:
    text = timeline(SAMPLES / "migrated" / "dump", Excerpt(topic="pay", partition=0))
    assert "znode holds leader 1, epoch 2, isr {1,2}" in text
    assert text.rstrip().splitlines()[-1].split("  ")[0] == "?"
    assert "a tool printed: leader 2, isr {1,2}" in text.splitlines()[-1]


def test_a_stale_znode_accuses_nobody(tmp_path: Path) -> None:
    """Saved before the followers died, it still counts them in sync; what they lack now they were not asked to hold.

    What it settles is found in the whole cluster's evidence too.
    """
    dump = copied("unclean_rejoined", tmp_path / "dump", logs=True)
    whole = violations(told(dump))
    for folder in dump.glob("*/data/__cluster_metadata-0"):
        shutil.rmtree(folder)
    before = violations(told(dump))
    state = '{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2,3]}'
    (dump / "zk.txt").write_text(f"/brokers/topics/pay/partitions/0/state\n{state}\ndataVersion = 0\n")
    (held,) = (m for m in evidence_of(dump, "pay", 0).moments if m.clock == "zookeeper")
    assert (held.partition_epoch, held.isr) == (0, (1, 2, 3))
    after = violations(told(dump))
    known = [(one[:3], {*one[3]}) for one in before + whole]
    assert [one for one in after if not any(one[:3] == of and {*one[3]} <= brokers for of, brokers in known)] == []
    assert {found[0] for found in after} - {found[0] for found in before} <= {"ACK002", "CONF001"}


def test_contents_without_a_path_are_refused_and_others_passed_over() -> None:
    found = {f.origin.source: f.kind for f in take_inventory(SAMPLES / "tool_texts").files}
    assert {found[f"{v}/zookeeper-shell.txt"] for v in ("1.1.1", "2.8.2")} == {"znode-text"}
    texts = [kind for source, kind in found.items() if "zookeeper" not in source and source != "README.md"]
    assert set(texts) == {"describe-text"}
    assert found["README.md"] == "unknown"


def test_settings_of_znodes_and_tools_are_in_force(tmp_path: Path) -> None:
    settings = histories("migrated")["pay", 0].settings
    told_by = {s.origin: s.value for s in settings.statements if (s.topic, s.name) == ("pay", "retention.ms")}
    assert told_by == dict.fromkeys(("metadata", "znode", "describe", "log", "applied"), "86400000")
    dump = copied("migrated", tmp_path / "dump")
    for folder in dump.glob("*/data/__cluster_metadata-0"):
        shutil.rmtree(folder)
    shutil.rmtree(dump / "tools")
    shutil.rmtree(dump / "zookeeper" / "znodes")
    evidence = evidence_of(dump, "pay", 0)
    held = evidence.setting(1, "min.insync.replicas")
    assert held is not None
    assert (held.value, held.origin, held.topic) == ("1", "znode", "pay")
