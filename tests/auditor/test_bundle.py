"""Bundles: the findings are shown again by an audit of the bundle, and no payload, client or secret is in it."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zlib
from pathlib import Path

import pytest
from command import Ended, run
from dumps_at_hand import SAMPLES, copied, digest, told, told_of, violations
from test_text_dumps import printed

from auditor.bundle.asked_lines import asked_of
from auditor.bundle.masked_files import masked_dump_text, repacked
from auditor.bundle.masked_logs import masked_broker_log, masked_request_log
from auditor.bundle.masking import new_mask
from parsers.dump_text import DumpChunk, read_dump_text
from parsers.provenance import Origin
from parsers.records import BATCH_LIMIT
from parsers.records.record_contents import decode_contents
from parsers.segment import scan_source
from parsers.tables import Fetch
from tests.lab.effort import fast_if
from tests.lab.whole_logs import read_request_lines

CASES = fast_if("lost_pages_hw".__eq__, ("unclean_4x", "bit_rot_payload", "fast_failover_kip101", "lost_pages_hw"))
ORIGIN = Origin(source="server.log", broker=1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def bundle(dump: Path, to: Path, *words: str) -> Ended:
    return run("bundle", str(dump), "-o", str(to), "--engine", "local", *words)


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as packed:
        files = [member for member in packed if member.isreg()]
        return {member.name: content.read() for member in files if (content := packed.extractfile(member))}


def payloads(dump: Path) -> set[bytes]:
    """Every key, value and header of the records in the dump's own topics."""
    found: set[bytes] = set()
    for path in dump.rglob("*.log"):
        source = path.relative_to(dump).as_posix()
        if not path.name[0].isdigit() or "__cluster_metadata" in source:
            continue
        data = path.read_bytes()
        for chunk in scan_source(dump, Origin(source=source)):
            spans = (chunk.headers.column(name).to_pylist() for name in ("span_start", "span_end"))
            for start, end in zip(*spans, strict=True):
                for record in decode_contents(data[start:end], Origin(source=source), 0, limit=BATCH_LIMIT).rows:
                    if not record.control:
                        found |= {record.key or b"", record.value or b"", *(held or b"" for _, held in record.headers)}
    return {each for each in found if len(each) > 3}


@pytest.mark.parametrize("case", CASES)
def test_the_findings_are_shown_again_and_no_payload_is_in_it(tmp_path: Path, case: str) -> None:
    dump, target = SAMPLES / case / "dump", tmp_path / "bundle.tar.gz"
    before = digest(dump)
    ended = bundle(dump, target)
    assert (ended.code, digest(dump)) == (0, before)
    again = json.loads(run("audit", str(target), "--engine", "local", "--format", "json").out)
    prints = [[f["fingerprint"] for f in report["findings"]] for report in (told_of(case), again)]
    assert prints[0] == prints[1] != []
    held = contents(target)
    secret = payloads(dump)
    assert len(secret) >= 15
    assert [(name, each) for name, data in held.items() for each in secret if each in data] == []


@pytest.mark.slow
def test_the_manifest_states_what_checksums_told(tmp_path: Path) -> None:
    dump, target = SAMPLES / "bit_rot_payload" / "dump", tmp_path / "b.tgz"
    assert bundle(dump, target).code == 0
    manifest = json.loads(contents(target)["tidemark-bundle.json"])
    (finding,) = (f for f in told_of("bit_rot_payload")["findings"] if f["rule"] == "SEG001")
    failed = {f["path"]: f["checksumsFailed"] for f in manifest["files"] if f["checksumsFailed"]}
    shown = finding["evidence"][0]
    assert failed == {shown["path"]: [[shown["start"], shown["end"]]]}
    assert manifest["notReproduced"] == []
    assert sum(f["checksumsHeld"] for f in manifest["files"]) > 100


@pytest.mark.slow
def test_one_finding_takes_its_partition_alone(tmp_path: Path) -> None:
    dump, target = SAMPLES / "recreated_topic" / "dump", tmp_path / "b.tar.gz"
    told_in = told_of("recreated_topic")["findings"]
    chosen = next(f for f in told_in if f["verdict"] == "violated" and f["partition"] is not None)
    ended = bundle(dump, target, "--finding", chosen["id"])
    manifest = json.loads(contents(target)["tidemark-bundle.json"])
    shown = {each["fingerprint"] for each in (*manifest["reproduced"], *manifest["notReproduced"])}
    assert shown == {chosen["fingerprint"]}
    assert ended.code == (3 if manifest["notReproduced"] else 0)
    place = f"/{chosen['topic']}-{chosen['partition']}"  # and what a deletion left of a topic of that name
    segments = [name for name in contents(target) if name.endswith(".log") and "/data/" in name]
    assert segments
    assert [name for name in segments if place not in name and "__cluster_metadata" not in name] == []
    assert manifest["partitions"] == [{"topic": chosen["topic"], "partition": chosen["partition"]}]
    assert manifest["ofPartitions"] == 1
    assert "F-00000000: expected one finding" in bundle(
        dump, tmp_path / "c.tar.gz", "--finding", "F-00000000"
    ).err


def test_a_finding_alone_is_of_the_last_audit_and_an_incident_is_all_of_its_findings(tmp_path: Path) -> None:
    dump = SAMPLES / "fast_failover_kip101" / "dump"
    report = json.loads(run("audit", str(dump), "--engine", "local", "--format", "json").out)
    chosen, incident = report["findings"][0], report["incidents"][0]
    short, target = chosen["id"][:6], tmp_path / "bundle.tar.zst"
    ended = run("bundle", short, "-o", str(target), "--engine", "local")
    assert (ended.code, ended.out.count(chosen["id"])) == (0, 1)
    assert f", of {dump.resolve()}." in ended.out.splitlines()[0]
    again = json.loads(run("audit", str(target), "--engine", "local", "--format", "json").out)
    assert chosen["fingerprint"] in {finding["fingerprint"] for finding in again["findings"]}
    assert bundle(dump, tmp_path / "whole.tar.gz", incident["id"]).code == 0
    manifest = json.loads(contents(tmp_path / "whole.tar.gz")["tidemark-bundle.json"])
    assert {each["id"] for each in manifest["reproduced"]} == set(incident["findings"])
    none = bundle(dump, tmp_path / "c.tar.gz", "I-00000000").err
    assert "I-00000000: expected one incident of the audit of " in none


@pytest.mark.slow
def test_packed_logs_are_masked_and_packed_again(tmp_path: Path) -> None:
    dump = copied("unclean_4x", tmp_path / "dump", logs=True)
    for log in [*dump.rglob("logs/*.log")]:
        log.with_name(f"{log.name}.1.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
    target = tmp_path / "b.tar.gz"
    assert bundle(dump, target).code == 0
    again = told(unpacked(target, tmp_path / "again"))
    prints = [[f["fingerprint"] for f in report["findings"]] for report in (told(dump), again)]
    assert prints[0] == prints[1] != []
    logs = [gzip.decompress(data) for name, data in contents(target).items() if name.endswith(".gz")]
    assert len(logs) > 5
    assert not any(b'"clientId":"rdkafka"' in data for data in logs)


def test_a_packed_log_that_was_cut_short_is_so_again(tmp_path: Path) -> None:
    log, text = tmp_path / "server.log.gz", b"one line\nanother\n" * 50
    log.write_bytes(gzip.compress(text)[:-12])
    packed = repacked(log, 1 << 20, lambda data: data)
    assert isinstance(packed, bytes)
    assert zlib.decompressobj(31).decompress(packed)
    with pytest.raises(EOFError):
        gzip.decompress(packed)


def unpacked(archive: Path, to: Path) -> Path:
    for name, data in contents(archive).items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return to


def places_of(part: DumpChunk) -> list[tuple[str, int, int]]:
    return [(refusal.kind, refusal.span_start, refusal.span_end) for refusal in part.refusals]


@pytest.mark.parametrize("release", ["1.1.1", "2.8.2", "3.9.1", "4.3.0"])
def test_what_kafka_dump_log_printed_loses_its_contents_and_nothing_else(release: str) -> None:
    """Recorded outputs, with payloads and without: rows that the reader makes of them stay what they were."""
    mask, seen = new_mask(), 0
    for path in sorted((SAMPLES / "dump_log_text" / release).glob("*.out")):
        data = path.read_bytes()
        masked = masked_dump_text(data, mask)
        assert len(masked) == len(data)
        before, after = (list(read_dump_text(io.BytesIO(text), ORIGIN)) for text in (data, masked))
        assert [(part.rows, places_of(part)) for part in before] == [(part.rows, places_of(part)) for part in after]
        for line, hidden in zip(data.splitlines(), masked.splitlines(), strict=True):
            for mark in (b" payload: ", b" key: "):
                if mark in line and b"offset: " in line:
                    seen += 1
                    assert line.partition(mark)[2] not in hidden
    assert seen > 10 or release == "1.1.1"


def records_of(line: str) -> list[str]:
    """Records as kafka-dump-log prints them below their batch; the last payload holds the end of a line."""
    found = re.match(r"baseOffset: (\d+) lastOffset: (\d+) ", line)
    offsets = range(int(found[1]), int(found[2]) + 1) if found else ()
    shape = "| offset: {} CreateTime: 0 keySize: 3 valueSize: 6 sequence: -1 headerKeys: [] key: abc payload: tulip"
    return [*(shape.format(offset) for offset in offsets), *(["and a tulip again"] if found else [])]


@pytest.mark.slow
def test_a_text_in_a_brokers_folder_shows_its_findings_from_a_bundle(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump", logs=True)
    for segment in sorted(dump.glob("**/ff-0/*.log")):
        words = printed(segment, f"/data/ff-0/{segment.name}")
        lines = [part for line in words.splitlines() for part in (line, *records_of(line))]
        (segment.parent / f"{segment.stem}.txt").write_text("\n".join(lines) + "\n")
        segment.unlink()
    target = tmp_path / "b.tar.gz"
    assert bundle(dump, target).code == 0
    assert violations(told(unpacked(target, tmp_path / "again"))) == violations(told(dump)) != []
    assert not any(b"tulip" in data for data in contents(target).values())


def test_a_bundle_of_a_part_says_of_how_many_partitions_it_is_and_how_to_ask_of_these_alone(tmp_path: Path) -> None:
    dump, target = SAMPLES / "thawed_follower" / "dump", tmp_path / "b.tar.gz"
    said = bundle(dump, target, "--topic", "pay").out
    assert "It holds 1 of 3 partitions: pay-0." in said
    options = "--topic pay --partition 0"
    assert f"with {options} an audit of it leaves those out" in said
    assert f"tidemark audit {target} --topic pay finds again: " in said
    manifest = json.loads(contents(target)["tidemark-bundle.json"])
    assert (manifest["partitions"], manifest["ofPartitions"]) == ([{"topic": "pay", "partition": 0}], 3)
    words = ("audit", str(target), "--engine", "local", "--format", "json", *options.split())
    again = json.loads(run(*words).out)
    assert {(r["topic"], r["partition"]) for r in again["replicas"]} == {("pay", 0)}
    own = [each for each in violations(told_of("thawed_follower")) if each[1] == "pay"]
    assert violations(again) == own != []
    assert "partitions: " not in bundle(dump, tmp_path / "whole.tar.gz").out


def test_what_the_bundle_leaves_out_is_told(tmp_path: Path) -> None:
    """A table of fetches may hold anything."""
    dump = copied("bit_rot_payload", tmp_path / "dump")
    (dump / "fetches.csv").write_text("time,answeredBy,replica,topic,partition,fetchOffset\n1,1,2,pay,0,15\n")
    ended = bundle(dump, tmp_path / "b.tar.gz")
    manifest = json.loads(contents(tmp_path / "b.tar.gz")["tidemark-bundle.json"])
    assert ended.code == (3 if manifest["notReproduced"] else 0)
    assert "Left out: " in ended.out
    assert {f["how"] for f in manifest["files"] if f["path"] == "fetches.csv"} == {
        "left out: its kind may hold anything"
    }


def test_a_bundle_stands_whole_outside_the_dump_and_replaces_nothing_unasked(tmp_path: Path) -> None:
    dump = copied("bit_rot_payload", tmp_path / "dump")
    assert "inside the dump" in bundle(dump, dump / "b.tar.gz").err
    assert "expected a name that ends in .tar.gz, .tgz, .tar.zst or .tzst" in bundle(dump, tmp_path / "b.zip").err
    (tmp_path / "b.tar.gz").write_text("mine")
    assert "--force to replace it" in bundle(dump, tmp_path / "b.tar.gz").err
    assert (tmp_path / "b.tar.gz").read_text() == "mine"
    assert bundle(dump, tmp_path / "b.tar.gz", "--force").code == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".tidemark")] == []
    with tarfile.open(tmp_path / "b.tar.gz") as packed:
        assert {(m.uid, m.uname, m.mtime) for m in packed} == {(0, "", 0)}


@pytest.mark.slow
def test_a_clean_dump_has_nothing_to_show(tmp_path: Path) -> None:
    ended = bundle(SAMPLES / "clean_mixed" / "dump", tmp_path / "b.tar.gz")
    assert (ended.code, "found nothing that a bundle could show" in ended.err) == (2, True)


def test_lines_of_other_partitions_alone_are_masked_and_every_byte_keeps_its_place() -> None:
    log = (SAMPLES / "clean_2_8/dump/broker-2/logs/server.log").read_bytes()
    whole = masked_broker_log(log, ORIGIN, None)
    own = masked_broker_log(log, ORIGIN, frozenset({("orders", 0)}))
    assert len(own) == len(whole) == len(log)
    told, kept = (text.splitlines() for text in (whole, own))
    blanked = [line for line, left in zip(told, kept, strict=True) if line != left]
    assert any(b"state-0" in line for line in blanked)
    assert [line for line in blanked if b"orders-0" in line] == []
    assert [line for line in kept if re.search(rb"partition(?:=|s? )state-[01]\b", line)] == []
    assert b"orders-0" in own


def test_logs_keep_their_places_and_lose_the_words_that_no_rule_reads() -> None:
    log = (SAMPLES / "unclean_4x/dump/broker-2/logs/server.log").read_bytes()
    noise = b"[2026-11-21 06:18:13,607] INFO Login of alice from 10.0.0.7 (org.example.Audit)\n  at secret.Place\n"
    setting = b"\tssl.keystore.password = hunter2\n\tunclean.leader.election.enable = true\n"
    masked = masked_broker_log(log + noise + setting, ORIGIN, None)
    assert len(masked) == len(log + noise + setting)
    assert [len(line) for line in masked.split(b"\n")] == [len(line) for line in (log + noise + setting).split(b"\n")]
    for gone in (b"alice", b"10.0.0.7", b"secret.Place", b"hunter2"):
        assert gone not in masked
    assert b"[2026-11-21 06:18:13,607] INFO ....." in masked
    assert b"\tunclean.leader.election.enable = true\n" in masked


def test_request_logs_keep_what_rules_read_and_no_name_of_a_client() -> None:
    time = b"[2026-11-21 06:17:59,605] DEBUG Completed request:"
    head = time + b'{"requestHeader":{"clientId":"%s","requestApiKeyName":"%s"}'
    lines = [
        head % (b"payroll-app", b"PRODUCE") + b',"request":{"transactionalId":"pay\\"roll"},"principal":"User:bob",'
        b'"clientInformation":{"softwareName":"hr-lib","softwareVersion":"7.7.7"}}\n',
        head % (b"broker-3-fetcher-0", b"FETCH") + b"}\n",
        head % (b"payroll-app", b"JOIN_GROUP") + b',"request":{"groupId":"hr"}}\n',
        time + b"RequestHeader(apiKey=PRODUCE, clientId=payroll-app, c=1) -- {transactional_id=payroll}"
        b"principal:User:bob,listener:PLAINTEXT,clientInformation:ClientInformation(softwareName=hr-lib, "
        b"softwareVersion=7.7.7)\n",
    ]
    masked = masked_request_log(b"".join(lines), new_mask(), None)
    assert [len(line) for line in masked.splitlines()] == [len(line.rstrip(b"\n")) for line in lines]
    for gone in (b"payroll", b"bob", b"roll", b"JOIN_GROUP", b'"hr', b"hr-lib", b"7.7.7"):
        assert gone not in masked
    assert b'"clientId":"broker-3-fetcher-0","requestApiKeyName":"FETCH"' in masked
    assert b"listener:PLAINTEXT" in masked


def test_requests_for_other_partitions_alone_are_masked_and_the_sessions_of_its_own_stay() -> None:
    """A fetch of a session that holds the partition says where its follower stood, though it names no topic."""
    time = b'[2026-11-21 06:17:59,605] DEBUG Completed request:{"requestHeader":{"requestApiKeyName":"FETCH"},'
    own = b'"topics":[{"topic":"pay","partitions":[{"partition":1}]}]}'
    other = b'"topics":[{"topic":"payroll","partitions":[{"partition":1}]}]}'
    opened = time + own + b',"response":{"sessionId":71}\n'
    asked = asked_of({"pay"}, {1}, [opened, time + other + b',"response":{"sessionId":72}\n'])
    lines = [
        opened,
        time + b'"sessionId":71,"sessionEpoch":1,"topics":[]}\n',
        time + other + b',"response":{"sessionId":72}\n',
        time + b'"sessionId":72,"sessionEpoch":1,"topics":[]}\n',
        b'06:17:59 another layout {"requestApiKeyName":"FETCH",' + other + b"\n",
    ]
    told = masked_request_log(b"".join(lines), new_mask(), asked).splitlines(keepends=True)
    assert [line == left for line, left in zip(lines, told, strict=True)] == [True, True, False, False, True]
    assert [len(line) for line in told] == [len(line) for line in lines]
    assert told[2].startswith(b"[2026-11-21 06:17:59,605] DEBUG ....")


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b'{"topic":"pay","partitions":[{"partition":1,"fetchOffset":7}]}', True),
        (b'{"topic":"pay","partitions":[{"partition":10,"fetchOffset":1}]}', False),
        (b'{"name":"pay","partitionData":[{"index":0},{"index":1}]}', True),
        (b'{"name":"pay","partitionData":[{"index":0}]}', False),
        (b'{"topicName":"pay","partitionStates":[{"partitionIndex":1}]}', True),
        (b'{"forgottenTopicsData":[{"topic":"pay","partitions":[0,1]}]}', True),
        (b'{"forgottenTopicsData":[{"topic":"pay","partitions":[0,11]}]}', False),
        (b"{topic=pay,partitions=[{partition=1,fetch_offset=7}]}", True),
        (b"{topic=pay,partitions=[{partition=2,fetch_offset=1}]}", False),
        (b"partitionSizes=[pay-1=68]", True),
        (b'{"name":"pay","numPartitions":3}', True),
    ],
)
def test_a_request_is_of_a_partition_if_it_names_it_or_no_partition_of_its_topic(line: bytes, kept: bool) -> None:
    assert asked_of({"pay"}, {1}, []).holds(line) == kept


def test_of_a_recorded_log_each_fetch_of_the_partition_stays_and_others_go() -> None:
    """By the reader of request logs: the same rows of the partition, bytes and all, and fewer of its topic."""
    log = (SAMPLES / "clean_1_1/dump/broker-1/logs/kafka-request.log").read_bytes()
    kept = masked_request_log(log, new_mask(), asked_of({"orders"}, {2}, [log]))
    assert len(kept) == len(log)
    whole, own = (
        [row for row in read_request_lines(io.BytesIO(text), ORIGIN).fetches(ORIGIN) if isinstance(row, Fetch)]
        for text in (log, kept)
    )
    before, after = ([(r.partition, r.span_start) for r in rows if r.topic == "orders"] for rows in (whole, own))
    assert [row for row in before if row[0] == 2] == [row for row in after if row[0] == 2] != []
    assert len(after) < len(before)


def test_what_logs_tell_of_partitions_that_it_does_not_hold_is_not_blamed_on_the_masking(tmp_path: Path) -> None:
    """Disks of the other partitions are not in it, so their findings may differ there."""
    target = tmp_path / "b.tar.gz"
    said = bundle(SAMPLES / "never_rejoined" / "dump", target, "--topic", "pay", "--partition", "0").out
    others = bundle(SAMPLES / "never_rejoined" / "dump", tmp_path / "c.tar.gz", "--finding", "F-e44a2d13").out
    assert "finds again: LEAD001 F-e44a2d13." in others
    assert "The masking has made them" not in said + others
    assert json.loads(contents(tmp_path / "c.tar.gz")["tidemark-bundle.json"])["madeByMasking"] == []
