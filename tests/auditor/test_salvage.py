"""Lost records come back bit by bit from wherever a copy stands, and only when asked for in so many words."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import Ended, run
from dumps_at_hand import SAMPLES, audited, copied, digest
from lost_records import LOST, PLACES, lost_batches, marker, record, unclean

from auditor.report.json import render
from parsers.provenance import Origin
from parsers.records import BATCH_LIMIT
from parsers.records.record_contents import decode_contents
from parsers.writers.segments import TRANSACTIONAL, Record, batch_bytes
from tests.lab.written_bytes import marker_bytes

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@cache
def report_text() -> str:
    """What an audit says of the loss: the logs tell of it, wherever the last copy stands."""
    with tempfile.TemporaryDirectory() as folder:
        return render(audited(unclean(Path(folder, "dump"), "replica", logs=True)))


def reported(to: Path, text: str | None = None) -> Path:
    to.write_text(text or report_text(), encoding="utf-8")
    return to


def finding(report: Path, rule: str) -> str:
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    return next(str(f["id"]) for f in findings if f["rule"] == rule and f["startOffset"] is not None)


def salvage(dump: Path, rule: str, to: Path, *words: str) -> Ended:
    report = reported(to.with_name("report.json"))
    asked = ("salvage", finding(report, rule), "--to", str(to), "--report", str(report), "--dump", str(dump))
    return run(*asked, *words)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def bytes_of(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)


@pytest.mark.parametrize("place", PLACES)
def test_every_bit_comes_back(place: str, tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", place)
    before = digest(dump)
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert ended.code == 0, ended.err
    assert "Wrote 50 records" in ended.out
    assert f"broker 1, {place} " in ended.out
    assert digest(dump) == before
    told = lines(tmp_path / "out.jsonl")
    assert [row["offset"] for row in told] == list(LOST)
    for row in told:
        original = record(row["offset"])
        assert bytes_of(row["key"]) == original.key
        assert bytes_of(row["value"]) == original.value
        headers = tuple((bytes_of(header["key"]), bytes_of(header["value"])) for header in row["headers"])
        assert headers == original.headers
        assert (row["topic"], row["partition"], row["leaderEpoch"]) == ("pay", 0, 0)
        assert (row["producerId"], row["producerEpoch"], row["sequence"]) == (77, 3, row["offset"] - 100)
        assert row["timestamp"] == 1_700_000_000_000 + row["offset"]


@pytest.mark.parametrize("rule", ["ACK001", "TRUNC001"])
def test_other_findings_of_the_same_loss_give_the_same_records(rule: str, tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "deleted file")
    assert salvage(dump, rule, tmp_path / "out.jsonl", "--yes-i-understand").code == 0
    assert [row["offset"] for row in lines(tmp_path / "out.jsonl")] == list(LOST)


def test_the_owed_cut_gives_what_would_be_cut(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica")
    ended = salvage(dump, "TRUNC004", tmp_path / "out.jsonl", "--yes-i-understand")
    assert ended.code == 0, ended.err
    assert [row["offset"] for row in lines(tmp_path / "out.jsonl")] == list(LOST)


@pytest.mark.parametrize("place", PLACES)
def test_a_producer_that_sends_the_file_brings_the_same_records(place: str, tmp_path: Path) -> None:
    assert salvage(unclean(tmp_path / "dump", place), "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand").code == 0
    base = lines(tmp_path / "out.jsonl")[0]["timestamp"]
    sent = [
        Record(
            offset_delta=number,
            timestamp_delta=row["timestamp"] - base,
            key=bytes_of(row["key"]),
            value=bytes_of(row["value"]),
            headers=tuple((bytes_of(header["key"]) or b"", bytes_of(header["value"])) for header in row["headers"]),
        )
        for number, row in enumerate(lines(tmp_path / "out.jsonl"))
    ]
    batch = batch_bytes(base_offset=130, leader_epoch=2, records=sent, codec="lz4", base_timestamp=base)
    written = decode_contents(batch, Origin(source="sent"), 0, limit=BATCH_LIMIT)
    assert not written.refusals
    lost = [
        row
        for batch in lost_batches()
        for row in decode_contents(batch, Origin(source="lost"), 0, limit=BATCH_LIMIT).rows
    ]
    told = ("timestamp", "key", "value", "headers")
    assert [[getattr(row, name) for name in told] for row in written.rows] == [
        [getattr(row, name) for name in told] for row in lost
    ]


def test_the_preview_names_the_bytes_that_are_read(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica")
    asked = salvage(dump, "LEAD001", tmp_path / "out.jsonl").out
    done = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand").out
    (before,) = [line.strip() for line in asked.splitlines() if " bytes [" in line]
    assert f"read from {before}" in done
    end = (dump / "broker-1/data/pay-0" / f"{0:020d}.log").stat().st_size
    assert before.endswith(f"bytes [{end - sum(map(len, lost_batches()))}, {end})")


def of_the_failover(said: str, to: Path, *words: str) -> Ended:
    """The salvage of the opening that is told to have gone on like this."""
    dump = SAMPLES / "fast_failover_kip101" / "dump"
    report = reported(to.with_name("report.json"), render(audited(dump)))
    findings = json.loads(report.read_text())["findings"]
    (name,) = [f["id"] for f in findings if f["rule"] == "LEAD001" and str(f["facts"]["instead"]).startswith(said)]
    asked = ("--to", str(to), "--report", str(report), "--dump", str(dump), "--yes-i-understand")
    return run("salvage", name, *asked, *words)


def test_an_opening_gives_what_older_epochs_lost_by_it(tmp_path: Path) -> None:
    ended = of_the_failover("with log end offset", tmp_path / "out.jsonl")
    assert ended.code == 0, ended.err
    assert "again, by the report's bill" not in ended.out
    told = [(row["offset"], row["leaderEpoch"]) for row in lines(tmp_path / "out.jsonl")]
    assert told == [(offset, 0) for offset in range(10, 15)]


def test_what_the_log_that_leads_holds_again_is_written_only_from_a_chosen_copy(tmp_path: Path) -> None:
    refused = of_the_failover("with epoch 0's records", tmp_path / "out.jsonl")
    assert refused.code == 2
    assert "the leader's log has offsets 10–14 again, by the report's bill" in refused.err
    assert not (tmp_path / "out.jsonl").exists()
    chosen = of_the_failover("with epoch 0's records", tmp_path / "out.jsonl", "--broker", "2")
    assert chosen.code == 0, chosen.err
    assert "Warning: The leader's log has offsets 10–14 of epoch 1 again" in chosen.out
    told = [(row["offset"], row["leaderEpoch"]) for row in lines(tmp_path / "out.jsonl")]
    assert told == [(offset, 1) for offset in range(10, 15)]


def test_nothing_is_written_until_it_is_understood(tmp_path: Path) -> None:
    ended = salvage(unclean(tmp_path / "dump", "replica"), "LEAD001", tmp_path / "out.jsonl")
    assert ended.code == 2
    assert "Nothing was written" in ended.out
    assert "a second time" in ended.out
    assert not (tmp_path / "out.jsonl").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica")
    target = tmp_path / "out.jsonl"
    target.write_text("mine")
    assert salvage(dump, "LEAD001", target, "--yes-i-understand").code == 2
    assert target.read_text() == "mine"
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "elsewhere")
    assert salvage(dump, "LEAD001", link, "--yes-i-understand").code == 2
    assert not (tmp_path / "elsewhere").exists()


def test_the_dump_is_never_written_into(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica")
    report = reported(tmp_path / "report.json")
    door = tmp_path / "door"
    door.symlink_to(dump / "broker-1", target_is_directory=True)
    before = digest(dump)
    for target in (dump / "out.jsonl", door / "out.jsonl"):
        name = finding(report, "LEAD001")
        words = ("--to", str(target), "--report", str(report), "--dump", str(dump), "--yes-i-understand")
        ended = run("salvage", name, *words)
        assert ended.code == 2
        assert "never written into" in ended.err
    assert digest(dump) == before


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    salvage(unclean(tmp_path / "dump", "replica"), "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o077 == 0


def test_a_damaged_batch_is_left_out_and_named(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "deleted file")
    left_over = dump / "broker-1/data/pay-0" / f"{100:020d}.log.deleted"
    data = bytearray(left_over.read_bytes())
    data[len(lost_batches()[0]) + 80] ^= 1
    left_over.write_bytes(data)
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert ended.code == 0, ended.err
    assert "no record was found at offsets 110–119" in ended.out
    assert {row["offset"] for row in lines(tmp_path / "out.jsonl")} == set(LOST) - set(range(110, 120))


def test_a_second_copy_fills_what_the_first_lacks(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "stray dir")
    stray = next((dump / "broker-1/data").glob("pay-0.*-stray")) / f"{0:020d}.log"
    data = bytearray(stray.read_bytes())
    data[-len(lost_batches()[-1]) + 70] ^= 1
    stray.write_bytes(data)
    other = dump / "broker-2/data/pay-0" / f"{140:020d}.log.deleted"
    other.write_bytes(lost_batches()[-1])
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert [row["offset"] for row in lines(tmp_path / "out.jsonl")] == list(LOST), ended.out


def test_transaction_markers_are_not_written(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "deleted file")
    left_over = dump / "broker-1/data/pay-0" / f"{100:020d}.log.deleted"
    left_over.write_bytes(b"".join([*lost_batches()[:4], marker(140)]))
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert "1 transaction marker left out" in ended.out
    assert [row["offset"] for row in lines(tmp_path / "out.jsonl")] == list(range(100, 140))


def test_each_record_says_what_became_of_its_transaction(tmp_path: Path) -> None:
    def batch(base: int, producer: int, attributes: int = TRANSACTIONAL) -> bytes:
        return batch_bytes(
            base_offset=base, records=[Record(value=b"v")], attributes=attributes,
            producer_id=producer, producer_epoch=0,
            base_sequence=0,
        )  # fmt: skip

    def end(offset: int, producer: int, *, commit: bool) -> bytes:
        return marker_bytes(offset=offset, leader_epoch=0, producer_id=producer, producer_epoch=0, commit=commit)

    dump = unclean(tmp_path / "dump", "deleted file")
    left_over = dump / "broker-1/data/pay-0" / f"{100:020d}.log.deleted"
    written = [
        batch(100, 1), batch(101, 2), end(102, 1, commit=True), batch(103, 1), end(104, 2, commit=False),
        batch(105, 2), batch(106, 9, 0), end(107, 1, commit=False),
    ]  # fmt: skip
    left_over.write_bytes(b"".join(written))
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert {row["offset"]: row["transaction"] for row in lines(tmp_path / "out.jsonl")} == {
        100: "committed", 101: "aborted", 103: "aborted", 105: "unknown", 106: None,
    }  # fmt: skip
    assert "2 records of aborted transactions" in ended.out
    assert "1 record of transactions whose end is not in the copy" in ended.out


def test_without_a_copy_it_says_so(tmp_path: Path) -> None:
    dump = copied("unclean_rejoined", tmp_path / "dump")
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert ended.code == 2
    assert "no copy of offsets 100–149 is in this dump: what is at these offsets is of the leader's log" in ended.err


def test_sides_that_cannot_be_told_apart_must_be_chosen(tmp_path: Path) -> None:
    dump = SAMPLES / "lost_pages_hw" / "dump"
    report = reported(tmp_path / "report.json", render(audited(dump)))
    asked = ("salvage", finding(report, "LOG001"), "--to", str(tmp_path / "out.jsonl"), "--yes-i-understand")
    asked += ("--report", str(report), "--dump", str(dump))
    ended = run(*asked)
    assert ended.err.rstrip().endswith("choose one of brokers 1 and 2 with --broker"), ended.err
    ended = run(*asked, "--broker", "1")
    assert ended.code == 0, ended.err
    told = lines(tmp_path / "out.jsonl")
    assert [row["offset"] for row in told] == list(range(40, 60))
    assert all((bytes_of(row["value"]) or b"").startswith(f"v{row['offset']}".encode()) for row in told)


def test_where_no_epoch_tells_them_apart_the_bill_names_the_copy(tmp_path: Path) -> None:
    dump, out = SAMPLES / "lost_pages_hw" / "dump", tmp_path / "out.jsonl"
    report = reported(tmp_path / "report.json", render(audited(dump)))
    asked = ("salvage", finding(report, "LEAD001"), "--to", str(out), "--yes-i-understand")
    ended = run(*asked, "--report", str(report), "--dump", str(dump))
    assert ended.code == 0, ended.err
    assert "from broker 1, replica" in ended.out
    assert "from broker 2" not in ended.out
    assert [row["offset"] for row in lines(out)] == list(range(40, 60))


@pytest.mark.parametrize("rule", ["LEAD001", "ACK001"])
def test_what_the_next_leader_wrote_there_is_not_what_its_opening_lost(rule: str, tmp_path: Path) -> None:
    dump, out = SAMPLES / "fast_failover_kip101" / "dump", tmp_path / "out.jsonl"
    report = reported(tmp_path / "report.json", render(audited(dump)))
    asked = ("salvage", finding(report, rule), "--to", str(out), "--yes-i-understand")
    ended = run(*asked, "--report", str(report), "--dump", str(dump))
    assert ended.code == 0, ended.err
    assert "offsets 10–14, records of epoch 0 or older" in ended.out
    assert [(row["offset"], row["leaderEpoch"]) for row in lines(out)] == [(offset, 0) for offset in range(10, 15)]


def test_a_finding_without_lost_records_is_refused(tmp_path: Path) -> None:
    report = reported(tmp_path / "report.json")
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    name = next(f["id"] for f in findings if f["rule"] == "LEAD002")
    ended = run("salvage", name, "--to", str(tmp_path / "o"), "--report", str(report), "--dump", str(tmp_path / "dump"))
    assert ended.code == 2
    assert "names lost records" in ended.err or "name lost records" in ended.err


def test_a_topic_of_the_same_name_is_no_copy(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "deleted dir")
    gone = next((dump / "broker-1/data").glob("pay-0.*-delete"))
    (gone / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n")
    ended = salvage(dump, "LEAD001", tmp_path / "out.jsonl", "--yes-i-understand")
    assert ended.code == 2
    assert "no copy" in ended.err


def test_the_dump_may_have_moved(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica")
    report = reported(tmp_path / "report.json")
    moved = Path(shutil.move(dump, tmp_path / "moved"))
    asked = ("salvage", finding(report, "LEAD001"), "--to", str(tmp_path / "o"), "--report", str(report))
    assert f"{dump} is not there: say with --dump DUMP" in run(*asked, "--dump", str(dump)).err
    words = ("--to", str(tmp_path / "o"), "--report", str(report), "--dump", str(moved), "--yes-i-understand")
    assert run("salvage", finding(report, "LEAD001"), *words).code == 0
