"""Evidence reopened: the bytes that a finding names, without the payload, and a word where they are not the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import Ended, run
from dumps_at_hand import SAMPLES, copied

from auditor.report.json import render
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_short, report_on

pytestmark = pytest.mark.slow

CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A dump whose audit is remembered; its one finding is a batch with a wrong checksum."""
    copy = copied("bit_rot_payload", tmp_path / "dump")
    assert run("audit", str(copy), "--engine", "local", "--topic", "d").code == 1
    return copy


def show(*words: str) -> Ended:
    ended = run("show", *words)
    assert "\x1b" not in ended.out
    return ended


def finding_id(dump: Path) -> str:
    report = json.loads(run("audit", str(dump), "--engine", "local", "--topic", "d", "--format", "json").out)
    return str(next(finding["id"] for finding in report["findings"] if finding["rule"] == "SEG001"))


def test_a_rules_id_lists_its_findings(dump: Path) -> None:
    for word in ("SEG001", "seg001"):
        ended = show(word)
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("SEG001 is a rule. Its findings in the audit of ")
        assert f"{finding_id(dump)}  SEG001  medium  d-0" in ended.out
    none = show("LEAD001")
    assert (none.code, "F-LEAD001" in none.err) == (2, False)
    assert "LEAD001 is a rule and has no finding in the audit of " in none.err
    assert "SEG001" in none.err
    assert "F-abc123 is no finding" in show("abc123").err
    for word in ("LEAD001", "abc123"):
        assert "; of another audit with --report REPORT.json and --dump DUMP" in show(word).err


def test_a_dump_that_is_gone_is_asked_for_by_its_option(dump: Path, tmp_path: Path) -> None:
    name = finding_id(dump)
    moved = Path(shutil.move(dump, tmp_path / "moved"))
    says = f"{dump} is not there: say with --dump DUMP where the dump is now."
    assert says in show(name).out
    found = show(name, "--dump", str(moved))
    assert (found.code, "is not there" in found.out) == (0, False)


def test_an_archive_that_is_gone_is_asked_for_by_its_option(dump: Path, tmp_path: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "gztar", dump))
    name = finding_id(packed)
    packed.unlink()
    assert f"{packed} is not there: say with --dump DUMP where the dump is now" in show(name).err


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_every_address_of_a_samples_findings_can_be_reopened(case: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(render(report_on(case)))
    findings = report_on(case).findings
    for finding in findings[:3]:
        ended = show(finding.id, "--report", str(report), "--dump", str(case / "dump"))
        assert ended.code == 0, ended.err
        assert finding.rule in ended.out
        for exhibit in finding.exhibits:
            assert f"{exhibit.span.source} [{exhibit.span.start}, {exhibit.span.end})" in ended.out
        assert "cannot be opened" not in ended.out
        assert "changed since" not in ended.out
    none = show("F-00000000", "--report", str(report), "--dump", str(case / "dump"))
    assert (none.code, "of another audit" in none.err) == (2, False)


def test_the_last_audit_is_remembered(dump: Path) -> None:
    ended = show(finding_id(dump))
    assert ended.code == 0
    assert "offsets 40 to 49, epoch 0, crc 3688335821" in ended.out
    assert "00 00 00 00 00 00 00 28" in ended.out
    assert show(finding_id(dump)[:5]).out == ended.out
    assert show(finding_id(dump).removeprefix("F-")).out == ended.out


def test_payloads_are_shown_to_those_who_ask(dump: Path) -> None:
    hidden, shown = show(finding_id(dump)), show(finding_id(dump), "--print-data-log")
    assert "bytes of records are hidden (--print-data-log shows them)" in hidden.out
    assert "value '" not in hidden.out
    assert "offset 40  key " in shown.out or "records cannot be decoded" in shown.out
    assert "are hidden" not in shown.out


def test_a_changed_file_is_said(dump: Path) -> None:
    segment = dump / "broker-3/data/d-0/00000000000000000000.log"
    name = finding_id(dump)
    content = segment.read_bytes()
    segment.write_bytes(content[:3500])
    assert "has changed since the audit" in show(name).out
    assert "only 356 of 791 bytes are there" in show(name).out
    segment.write_bytes(b"\x00" * len(content))
    assert "has changed since the audit" in show(name).out
    assert "791 bytes of zeros" in show(name).out
    segment.unlink()
    assert "cannot be opened" in show(name).out


def test_a_report_and_a_dump_may_be_given(dump: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert run("audit", str(dump), "--engine", "local", "--format", "json", "--output", str(report)).code == 1
    elsewhere = tmp_path / "elsewhere"
    shutil.move(dump, elsewhere)
    name = json.loads(report.read_text())["findings"][0]["id"]
    assert "cannot be opened" in show(name).out
    moved = show(name, "--report", str(report), "--dump", str(elsewhere))
    assert moved.code == 0
    assert "cannot be opened" not in moved.out
    assert "changed" not in moved.out
    assert show(name, "--dump", str(elsewhere)).out == moved.out
    assert show(name, "--report", str(report)).code == 2


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000, '{"findings": [{"id": "F-1", "evidence": [{}]}]}'])
def test_what_is_no_report_is_said(content: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(content)
    ended = show("F-1", "--report", str(report), "--dump", str(SAMPLES))
    assert ended.code == 2
    assert ended.err.startswith("tidemark: ")


def test_evidence_never_leads_out_of_the_dump(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    (tmp_path / "secret").write_text("secret words")
    place = {"path": "../secret", "start": 0, "end": 12, "role": "x"}
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"findings": [{"id": "F-1", "evidence": [place]}]}))
    ended = show("F-1", "--report", str(report), "--dump", str(tmp_path / "dump"))
    assert "secret words" not in ended.out
    assert "cannot be opened" in ended.out


def test_contents_of_a_dump_text_are_hidden(tmp_path: Path) -> None:
    line = "| offset: 3 CreateTime: 5 keySize: 2 valueSize: 6 sequence: 0 headerKeys: [h] key: me payload: secret\n"
    text = "baseOffset: 3 lastOffset: 3 count: 1 position: 0\n" + line + "rest of the secret\n"
    (tmp_path / "dump.txt").write_text(text)
    place = {"path": "dump.txt", "start": 0, "end": len(text), "role": "x"}
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"findings": [{"id": "F-1", "evidence": [place]}]}))
    hidden = show("F-1", "--report", str(report), "--dump", str(tmp_path)).out
    assert "valueSize: 6 sequence: 0 …" in hidden
    assert "secret" not in hidden
    assert "1 lines are hidden" in hidden
    assert "payload: secret" in show("F-1", "--report", str(report), "--dump", str(tmp_path), "--print-data-log").out


def test_of_many_ids_the_first_are_named_and_how_many_more_there_are(tmp_path: Path) -> None:
    report = report_on(SAMPLES / "fast_failover_kip101")
    (tmp_path / "r.json").write_text(render(report))
    where = ("--report", str(tmp_path / "r.json"), "--dump", str(SAMPLES / "fast_failover_kip101" / "dump"))
    said = run("show", "F-", *where).err
    assert f" and {len(report.findings) - 10} more" in said
    assert said.count("F-") == 11, "ten of them, and the one that was asked for"
