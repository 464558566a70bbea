"""Two reports beside each other: what is new, changed or fixed, what is told no more, how the command ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # published without types
import pytest
from command import Ended, run
from dumps_at_hand import ROOT, SAMPLES, audited, told

from auditor.kept_report import fingerprint_of
from parsers.writers.checkpoints import write_partition_metadata
from tests.rules.broken_dumps import Yard, change, wrote

SPLIT = SAMPLES / "fast_failover_kip101" / "dump"
UNCLEAN = SAMPLES / "unclean_4x" / "dump"
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/diff.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """Two sound copies."""
    yard = Yard(tmp_path / "dump")
    for broker in (1, 2):
        yard.broker(broker, wrote(0, 0, 60))
    return yard


def rot(yard: Yard, place: int = 70) -> None:
    change(next(yard.root.rglob("broker-1/data/t-0/*.log")), place, lambda byte: byte ^ 1)


def kept(report: dict[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


def diff(*words: object) -> Ended:
    return run("diff", *map(str, words))


def compared(*words: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(diff(*words, "--format", "json").out)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def lists(document: dict[str, Any]) -> tuple[list[str], ...]:
    return tuple([each["rule"] for each in document[name]] for name in ("new", "changed", "fixed", "untold"))


def test_a_report_and_itself_do_not_differ(tmp_path: Path) -> None:
    report = told(UNCLEAN)
    path = kept(report, tmp_path / "a.json")
    document = compared(path, path)
    assert lists(document) == ([], [], [], [])
    assert (document["same"], document["exitCode"]) == (len(report["findings"]), 0)
    assert document["before"]["verdict"] == "findings"


def test_damage_is_new_and_once_mended_fixed(yard: Yard, tmp_path: Path) -> None:
    sound = kept(told(yard.root), tmp_path / "sound.json")
    rot(yard)
    damaged = kept(told(yard.root), tmp_path / "damaged.json")
    worse, better = compared(sound, damaged), compared(damaged, sound)
    assert (lists(worse), worse["exitCode"]) == ((["SEG001"], [], [], []), 1)
    assert (lists(better), better["exitCode"]) == (([], [], ["SEG001"], []), 0)
    assert compared(sound, damaged, "--fail-on", "high")["exitCode"] == 0
    assert worse["after"]["coverage"]["bytesRead"] == told(yard.root)["coverage"]["bytesRead"]


def test_the_gravest_comes_first_whatever_became_of_it(tmp_path: Path) -> None:
    report, clean = told(UNCLEAN), told(SAMPLES / "clean_4x" / "dump")
    report["findings"].reverse()
    with_findings, without = kept(report, tmp_path / "a.json"), kept(clean, tmp_path / "b.json")
    for document, became in (
        (compared(without, with_findings), "new"),
        (compared(with_findings, without), "untold"),
    ):
        levels = ["info", "low", "medium", "high", "critical"]
        weights = [(each["verdict"] == "undecided", -levels.index(each["severity"])) for each in document[became]]
        assert len(set(weights)) > 1
        assert weights == sorted(weights)


def test_it_ends_as_an_audit_with_that_baseline_does(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    before = kept(told(yard.root), tmp_path / "before.json")
    for step in (lambda: None, lambda: rot(yard, 300), lambda: shutil.rmtree(next(yard.root.rglob("broker-2")))):
        step()
        by_baseline = audited(yard.root, baseline=str(before))
        document = compared(before, yard.root, "--engine", "local")
        assert document["exitCode"] == by_baseline.exit_code
        assert by_baseline.policy is not None
        assert len(document["changed"]) + document["same"] == len(by_baseline.policy.known)
        assert len(document["fixed"]) + len(document["untold"]) == by_baseline.policy.gone


def under_id(yard: Yard, home: Path, topic_id: str | None) -> Path:
    """A copy whose replicas bear another topic id, or none."""
    copy = Path(shutil.copytree(yard.root, home))
    for file in list(copy.rglob("partition.metadata")):
        file.unlink() if topic_id is None else file.write_bytes(write_partition_metadata(topic_id))
    return copy


def test_a_copy_without_topic_ids_has_the_same_findings(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    report, bare = told(yard.root), told(under_id(yard, tmp_path / "bare", None))
    assert [f["topicId"] is None for f in (*report["findings"], *bare["findings"])] == [False, True]
    assert [fingerprint_of(f) for f in report["findings"]] == [fingerprint_of(f) for f in bare["findings"]]
    for before, after in ((report, bare), (bare, report)):
        first, second = kept(before, tmp_path / "first.json"), kept(after, tmp_path / "second.json")
        document = compared(first, second)
        assert (lists(document), document["same"]) == (([], [], [], []), 1)
    policy = audited(tmp_path / "bare", baseline=str(kept(report, tmp_path / "kept.json"))).policy
    assert policy is not None
    assert (len(policy.known), policy.gone) == (1, 0)


def test_a_topic_that_was_created_again_is_another_one(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    again = under_id(yard, tmp_path / "again", "AAAAAAAAQACAAAAAAAAAAQ")
    before, after = kept(told(yard.root), tmp_path / "before.json"), kept(told(again), tmp_path / "after.json")
    document = compared(before, after)
    assert (lists(document), document["exitCode"]) == ((["SEG001"], [], [], ["SEG001"]), 1)
    assert document["new"][0]["insteadOf"] is None
    assert document["new"][0]["id"] != document["untold"][0]["id"]
    assert document["untold"][0]["because"] == "the later audit reads another topic of that name, by its topic id"
    by_baseline = audited(again, baseline=str(before))
    assert by_baseline.policy is not None
    assert (by_baseline.exit_code, by_baseline.policy.known, by_baseline.policy.gone) == (1, (), 1)


def test_two_dumps_are_audited_and_the_later_one_is_remembered(yard: Yard, tmp_path: Path) -> None:
    before = Path(shutil.copytree(yard.root, tmp_path / "before"))
    rot(yard)
    document = compared(before, yard.root, "--engine", "local")
    assert lists(document)[0] == ["SEG001"]
    assert "SEG001" in run("show", document["new"][0]["id"]).out


def test_what_happened_once_is_never_fixed(tmp_path: Path) -> None:
    """Without the logs the election is told no more, though nobody undid it."""
    before = kept(told(SPLIT), tmp_path / "before.json")
    later = Path(shutil.copytree(SPLIT, tmp_path / "later", ignore=shutil.ignore_patterns("logs")))
    document = compared(before, later, "--engine", "local")
    assert document["untold"]
    assert document["fixed"] == []
    assert {each["because"] for each in document["untold"]} == {
        "the later audit read nothing of server-log, state-change-log, request-log, metadata",
        "ACK001 could not be decided there",
    }


def without_a_replica(report: dict[str, Any]) -> None:
    report["replicas"].pop(0)


def with_the_rule_off(report: dict[str, Any]) -> None:
    report["policy"] = {"rulesOff": ["SEG001"]}


def with_a_threshold_raised(report: dict[str, Any]) -> None:
    raised = {"rule": "SEG001", "name": "slack", "unit": "ms", "value": 9, "default": 5}
    report["policy"] = {"thresholds": [raised]}


def read_quickly(report: dict[str, Any]) -> None:
    report["tool"]["level"] = "quick"


def stopped(report: dict[str, Any]) -> None:
    report["interrupted"] = True


@pytest.mark.parametrize(
    ("spoil", "because"),
    [
        (without_a_replica, "read no replica of it on broker 1"),
        (with_the_rule_off, "SEG001 was turned off"),
        (with_a_threshold_raised, "SEG001's threshold was raised: slack to 9 ms"),
        (read_quickly, "read at level quick"),
        (stopped, "stopped early"),
    ],
)
def test_what_was_not_looked_for_is_not_fixed(
    yard: Yard, tmp_path: Path, spoil: Callable[[dict[str, Any]], None], because: str
) -> None:
    sound = told(yard.root)
    rot(yard)
    damaged = kept(told(yard.root), tmp_path / "damaged.json")
    spoil(sound)
    document = compared(damaged, kept(sound, tmp_path / "later.json"))
    assert lists(document) == ([], [], [], ["SEG001"])
    assert because in document["untold"][0]["because"]


def test_a_finding_that_has_grown_names_the_one_before(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    report = told(yard.root)
    before = kept(report, tmp_path / "before.json")
    (finding,) = (each for each in report["findings"] if each["rule"] == "SEG001")
    was = finding["id"]
    finding.update(fingerprint="0" * 64, id="F-00000000", endOffset=finding["endOffset"] + 1)
    document = compared(before, kept(report, tmp_path / "after.json"))
    assert [each["insteadOf"] for each in document["new"]] == [was]
    assert "at other offsets" in document["untold"][0]["because"]


def test_a_changed_severity_is_told_and_fails_nothing(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    report = told(yard.root)
    before = kept(report, tmp_path / "before.json")
    report["findings"][0]["severity"] = "critical"
    after = kept(report, tmp_path / "after.json")
    document = compared(before, after)
    assert document["changed"][0]["changes"] == [{"field": "severity", "before": "medium", "after": "critical"}]
    assert document["exitCode"] == 0
    assert "severity: medium → critical" in diff(before, after).out


def test_an_open_verdict_is_no_clean_one(yard: Yard, tmp_path: Path) -> None:
    report = told(yard.root)
    before = kept(report, tmp_path / "before.json")
    for spoil, because in (
        ({"ratio": 0.4}, "the later side read 40% of its bytes, and --min-coverage asks for 50%"),
        ({"replicasLacking": 1}, "the later side lacks replicas or logs of some brokers"),
    ):
        worse = json.loads(before.read_text())
        worse["coverage"].update(spoil)
        after = kept(worse, tmp_path / "after.json")
        ended = diff(before, after, "--min-coverage", "0.5")
        assert ended.code == 3
        assert f"ENDS 3: {because}" in " ".join(ended.out.split())


def test_it_says_why_it_ends_as_it_does(yard: Yard, tmp_path: Path) -> None:
    sound = kept(told(yard.root), tmp_path / "sound.json")
    rot(yard)
    damaged = kept(told(yard.root), tmp_path / "damaged.json")
    stopped_early = told(yard.root)
    stopped(stopped_early)
    early = kept(stopped_early, tmp_path / "early.json")
    for before, after, words, code, because in (
        (sound, damaged, (), 1, "1 new finding of severity medium or graver"),
        (sound, damaged, ("--fail-on", "high"), 0, "nothing new of severity high or graver"),
        (damaged, early, (), 3, "the later audit was stopped early"),
    ):
        document = compared(before, after, *words)
        assert (document["exitCode"], document["because"]) == (code, [because])
        assert f"ENDS    {code}: {because}." in diff(before, after, *words).out


def test_verbose_names_the_files_of_the_evidence(yard: Yard, tmp_path: Path) -> None:
    sound = kept(told(yard.root), tmp_path / "sound.json")
    rot(yard)
    damaged = kept(told(yard.root), tmp_path / "damaged.json")
    assert "Evidence in" not in diff(sound, damaged).out
    assert "00000000000000000000.log" in diff(sound, damaged, "-v").out


def test_help_tells_the_exit_codes_of_a_comparison() -> None:
    told_of = run("diff", "--help").out
    assert "at least one new finding of the asked severity" in told_of
    assert "no finding of the asked severity" not in told_of


def test_text_says_it_in_one_screen(yard: Yard, tmp_path: Path) -> None:
    sound = kept(told(yard.root), tmp_path / "sound.json")
    rot(yard)
    ended = diff(sound, yard.root, "--engine", "local")
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert "FOUND   1 new, 0 changed, 0 fixed, 0 no longer told, 0 as before" in lines
    assert any(line.startswith("  MEDIUM  SEG001  t-0  F-") for line in lines)
    assert len(lines) <= 25


def spoiled(*path: str | int, by: object) -> Callable[[dict[str, Any]], None]:
    def spoil(report: dict[str, Any]) -> None:
        at: Any = report
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = by

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoiled("schemaVersion", by=2), "at schemaVersion expected 1, found 2"),
        (spoiled("tool", by=[]), "at tool expected an object, found a list"),
        (spoiled("verdict", by="fine"), "at verdict expected one of clean, findings, unknown, found 'fine'"),
        (spoiled("findings", by={}), "at findings expected a list, found an object"),
        (spoiled("findings", 0, by=7), "at findings[0] expected an object, found 7"),
        (spoiled("findings", 0, "severity", by="dire"), "at findings[0].severity expected one of info, low"),
        (spoiled("findings", 0, "partition", by=10**40), "at findings[0].partition expected a whole number"),
        (spoiled("findings", 0, "message", by=None), "at findings[0].message expected text, found nothing"),
        (spoiled("coverage", "ratio", by=float("nan")), "at coverage.ratio expected a number from 0 to 1"),
        (spoiled("coverage", "replicasSeen", by=True), "at coverage.replicasSeen expected a whole number"),
        (spoiled("refusals", by=[{}]), "at refusals[0].blocking expected true or false, found nothing"),
        (spoiled("replicas", by=["x"]), "at replicas[0].topic expected text, found nothing"),
    ],
)
def test_what_is_no_report_is_refused_by_its_place(
    yard: Yard, tmp_path: Path, spoil: Callable[[dict[str, Any]], None], said: str
) -> None:
    rot(yard)
    report = told(yard.root)
    good = kept(report, tmp_path / "good.json")
    spoil(report)
    bad = kept(report, tmp_path / "bad.json")
    for sides in ((good, bad), (bad, good)):
        ended = diff(*sides)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert f"{bad}: expected a report of --format json; {said}" in ended.err


def test_a_fingerprint_told_twice_is_refused(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    report = told(yard.root)
    report["findings"].append(report["findings"][0])
    path = kept(report, tmp_path / "twice.json")
    assert "at findings[1].fingerprint expected one of its own" in diff(path, path).err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "no object"),
        ("nonsense", "no JSON at line 1, column 1"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "a number in it has too many digits"),
        ("\0", "no JSON at line 1, column 1"),
    ],
)
def test_a_file_that_holds_no_report_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    ended = diff(path, path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"tidemark: {path}: expected a report of --format json, or a dump; {said}\n"


def test_a_side_that_is_not_there_is_named(tmp_path: Path) -> None:
    ended = diff(tmp_path / "x.json", tmp_path)
    said = "expected a report of --format json, or a dump; found nothing"
    assert ended.err == f"tidemark: {tmp_path / 'x.json'}: {said}\n"


def test_names_of_a_hostile_report_move_no_cursor(yard: Yard, tmp_path: Path) -> None:
    rot(yard)
    report = told(yard.root)
    good = kept(report, tmp_path / "good.json")
    for key in ("id", "rule", "topic", "message", "confidence"):
        report["findings"][0][key] = "\x1b[2Jevil\r\n\u202e"
    report["findings"][0]["facts"] = {"\x1b]0;x\x07": "\x1b[2J"}
    bad = kept(report, tmp_path / "bad.json")
    out = diff(good, bad).out + diff(bad, good).out
    assert "evil" in out
    assert [character for character in out if not (character.isprintable() or character == "\n")] == []


def test_neither_side_is_written_over(yard: Yard, tmp_path: Path) -> None:
    path = kept(told(yard.root), tmp_path / "a.json")
    before = path.read_bytes()
    ended = diff(path, path, "--format", "json", "--output", path, "--force")
    assert (ended.code, path.read_bytes()) == (2, before)
    assert "one of the two that are compared" in ended.err
    assert "inside the dump" in diff(path, yard.root, "--output", yard.root / "x").err
    assert diff(path, path, "--format", "json", "--output", tmp_path / "d.json").code == 0
    assert json.loads((tmp_path / "d.json").read_text())["same"] == 0


def test_reports_of_two_clusters_are_not_compared(tmp_path: Path) -> None:
    report = told(UNCLEAN)
    own = report["replicas"][0]["clusterId"]
    here = kept(report, tmp_path / "here.json")
    other = json.loads(json.dumps(report).replace(own, "ZmFyIGF3YXkgZnJvbSBoZQ"))
    ended = diff(here, kept(other, tmp_path / "there.json"))
    assert ended.code == 2
    assert own in ended.err
    assert "ZmFyIGF3YXkgZnJvbSBoZQ" in ended.err


def test_sides_that_share_a_topics_name_alone_are_said_so_first(tmp_path: Path) -> None:
    sides = [kept(told(SAMPLES / name / "dump"), tmp_path / name) for name in ("unclean_4x", "unclean_rejoined")]
    first, *_ = diff(*sides).out.splitlines()
    assert first.startswith("NOTE    Topic 'pay' is another topic on each side, by its id. No topic is the same")
    document = compared(*sides)
    assert (document["same"], document["fixed"]) == (0, [])
    assert not {f["id"] for f in document["new"]} & {f["id"] for f in document["untold"]}
    assert compared(sides[0], sides[0])["warning"] is None


def test_what_another_topic_of_that_name_lacks_is_not_fixed(yard: Yard, tmp_path: Path) -> None:
    sound = under_id(yard, tmp_path / "sound", "AAAAAAAAQACAAAAAAAAAAQ")
    rot(yard)
    document = compared(kept(told(yard.root), tmp_path / "a.json"), kept(told(sound), tmp_path / "b.json"))
    assert lists(document) == ([], [], [], ["SEG001"])
    assert "another topic of that name" in document["untold"][0]["because"]
