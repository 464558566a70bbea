"""The incident report says what happened and nothing else: facts as recorded, words escaped, the same every time."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import run
from dumps_at_hand import SAMPLES, copied, widened
from lost_records import unclean

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, GroupAtRisk, Loss, LostReader, RefusalLine
from auditor.report.postmortem.document import render
from auditor.report.utc_times import moment
from parsers.provenance import Span
from parsers.tables import from_arrow, to_arrow
from rules.catalog import BEARINGS
from rules.finding import Exhibit, Severity
from rules.verdict import PartitionVerdict
from tests.lab.sample_reports import report_on
from tests.replaced import replace

pytestmark = pytest.mark.slow

MOST_LINES = 150
"""Three pages."""
HOSTILE = "x<script>alert(1)</script> ![a](http://e) [b](http://e) `c` |d| *e* _f_ \x1b[2J\u202e\n# g"


def truth(case: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((SAMPLES / case / "truth.json").read_text(encoding="utf-8"))
    return told


def report(case: str) -> AuditReport:
    return report_on(SAMPLES / case)


def bill(case: str) -> list[str]:
    """The cells of the one line of the bill."""
    (cells,) = bills(case)
    return cells


def bills(case: str) -> list[list[str]]:
    lines = [line for line in render(report(case)).splitlines() if line.startswith("| ") and "(broker" in line]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def spoken(start: int, end: int) -> str:
    return f"{start}–{end - 1}"


def test_an_unclean_election_costs_what_was_lost() -> None:
    told = truth("unclean_rejoined")
    lost, again = told["lost"], told["acked"]["after"]
    place, offsets, committed, acknowledged, change, reused, standing = bill("unclean_rejoined")
    assert place == f"{told['topic']}-{told['partition']}"
    assert offsets == f"{spoken(*lost)} ({told['acked_lost']})"
    assert committed == acknowledged == spoken(*told["acked"]["lost"])
    assert f"(broker {told['old_leader']}) to epoch 1 (broker {told['new_leader']})" in change
    assert reused == spoken(*again)
    assert standing == "nobody"


def test_a_fast_fail_over_is_told_with_its_lost_and_its_written_offsets() -> None:
    told = truth("fast_failover_kip101")
    lost = spoken(told["a_wrote"][0], told["a_wrote"][-1] + 1)
    first, second = bills("fast_failover_kip101")
    _, offsets, committed, _, change, reused, standing = first
    assert offsets == f"{lost} ({len(told['a_wrote'])})"
    assert committed == lost
    assert "epoch 0 (broker 1) to epoch 1 (broker 2)" in change
    assert reused == spoken(told["b_wrote"][0], told["b_wrote"][-1] + 1)
    assert standing == f"broker 1, replica: {lost}"
    again = spoken(told["b_wrote"][0], told["b_wrote"][-1] + 1)
    assert (second[1], second[2]) == (f"{again} ({len(told['b_wrote'])})", again)
    assert "epoch 1 (broker 2) to epoch 2 (broker 1)" in second[4]
    assert second[6] == f"broker 2, replica: {again} (led again)"
    said = render(report("fast_failover_kip101"))
    back = "Consumers of lost records must go back to offset 10"
    assert said.count(back) == 1, "nobody reads again what the leader's log holds"


def test_lost_pages_of_a_format_without_epochs_still_stand_on_the_deposed_leader() -> None:
    told = truth("lost_pages_hw")
    _, offsets, committed, _, change, reused, standing = bill("lost_pages_hw")
    assert offsets == f"{spoken(*told['lost'])} (20)"
    assert committed == reused == spoken(*told["lost"])
    assert "(broker 1) to epoch 1 (broker 2)" in change
    assert standing == f"broker 1, replica: {spoken(*told['lost'])}"


def test_acknowledged_by_one_is_told_apart_from_committed() -> None:
    told = truth("acks_one_lost")
    start, end = told["acked_by_leader_alone"]
    _, offsets, committed, acknowledged, change, reused, _ = bill("acks_one_lost")
    assert offsets == f"{spoken(start, end)} ({end - start})"
    assert committed == "none"
    assert acknowledged == "50, 60; perhaps 51–59, 61–69"
    assert spoken(start, end) == "50–69"
    said = render(report("acks_one_lost"))
    assert "Consumers that read any of the lost records must go back to offset 50" in said
    assert f"(broker {told['new_leader']})" in change
    assert reused == spoken(*told["then"])


def test_a_healthy_cluster_has_nothing_to_report() -> None:
    told = render(report("clean_mixed"))
    assert "Nothing of medium severity or above was found." in told
    assert "Nobody, as far as this evidence goes." in told
    assert "Verdict: **clean**" in told


@pytest.mark.parametrize("place", ["replica", "deleted file", "deleted dir", "stray dir"])
def test_a_copy_that_still_stands_is_named_before_anybody_restarts(place: str, tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", place, logs=True)
    told = render(audit(dump, AuditConfig(engine="local", topic=("pay",))))
    assert f"broker 1, {place}: 100–149" in told
    kind = "" if place == "replica" else f"{place} "
    (asked,) = (line for line in told.replace("\\", "").splitlines() if "Copy these records" in line)
    assert asked.startswith(f"- pay-0 offsets 100–149: Copy these records from broker 1 ({kind}broker-1/data/pay-0")


def test_the_same_dump_gives_the_same_words_wherever_it_lies(tmp_path: Path) -> None:
    words = []
    for name in ("here", "there"):
        dump = unclean(tmp_path / name / "dump", "deleted file", logs=True)
        words.append(render(audit(dump, AuditConfig(engine="local"))))
    assert words[0] == words[1]
    assert str(tmp_path) not in words[0]


def test_no_clock_of_this_machine_is_read() -> None:
    told = render(report("unclean_rejoined"))
    witnessed = {milestone.time for history in report("unclean_rejoined").histories for milestone in history.milestones}
    days = set(re.findall(r"\d{4}-\d\d-\d\d", told))
    assert days == {"2026-11-21"}, "the day of the recording, and no other"
    assert witnessed


def test_every_finding_is_told_with_its_bytes() -> None:
    told = render(report("unclean_rejoined"), appendix=True)
    worth_it = [f for f in report("unclean_rejoined").violations if f.severity >= Severity.MEDIUM]
    assert {"LEAD001", "ACK001", "TRUNC001"} <= {finding.rule for finding in worth_it}
    for finding in worth_it:
        assert finding.id in told
        for exhibit in finding.exhibits:
            assert f"`{exhibit.span.source}` bytes [{exhibit.span.start}, {exhibit.span.end})" in told


def test_the_body_is_the_story_and_the_appendix_its_proof() -> None:
    body, whole = render(report("unclean_rejoined")), render(report("unclean_rejoined"), appendix=True)
    assert " bytes [" not in body
    assert "(`--appendix`)" in body
    heads = [line for line in whole.splitlines() if line.startswith("## Appendix")]
    assert len(heads) == 6
    assert whole.startswith(body.rpartition("\n\n")[0]), "the appendix stands behind the body"
    for history in report("unclean_rejoined").histories:
        for milestone in history.milestones:
            assert f"`{milestone.span.source}` [{milestone.span.start}, {milestone.span.end})" in whole


@pytest.mark.parametrize("case", ["unclean_4x", "fast_failover_kip101", "fast_failover_kip279", "lost_pages_hw"])
def test_one_incident_is_three_pages(case: str) -> None:
    assert len(render(report(case)).splitlines()) <= MOST_LINES


def test_one_incident_of_many_partitions_is_three_pages_too(tmp_path: Path) -> None:
    dump = widened("fast_failover_kip101", tmp_path / "dump", 30)
    wide, one = audit(dump, AuditConfig(engine="local")), report("fast_failover_kip101")
    body = render(wide)
    assert len(body.splitlines()) <= MOST_LINES
    rows = [line.split(" | ") for line in body.splitlines() if line.startswith("| ff-")]
    lost = [loss for history in one.histories for loss in history.losses]
    assert [row[0] for row in rows] == ["| ff-0 to ff-29"] * len(lost)
    assert [row[1] for row in rows] == [f"{30 * loss.offsets} in 30 ranges" for loss in lost]
    assert "broker 1, replica: 150 offsets" in rows[0][-1]
    assert "Of epoch 0: 10–14 in ff-0 to ff-29." in body
    rules = {finding.rule for finding in one.violations if finding.severity >= Severity.MEDIUM}
    assert all(f"- {rule} (" in body for rule in rules), "the chain leaves out no kind of finding"
    again = "let the producers write the acknowledged records again, or write them yourself from the copies."
    back = "First set consumers back to offset 10."
    assert f"- ff-0 to ff-29, each offsets 10–14 of epoch 0: {back} Then {again}" in body
    whole = render(wide, appendix=True)
    assert all(finding.id in whole for finding in wide.violations if finding.severity >= Severity.MEDIUM)
    assert all(f"\nff-{number} 10–14 of epoch 0:\n" in whole for number in range(30))


def test_a_time_before_one_above_says_what_placed_it_there() -> None:
    told = report("unclean_4x")
    (history,) = (h for h in told.histories if h.milestones)
    first, newest = (next(m for m in history.milestones if f"leader in epoch {n}" in m.text) for n in (0, 2))
    early = replace(newest, time=(first.time or 0) + 1, reference_time=(first.time or 0) + 1)
    misplaced = replace(history, milestones=tuple(early if m is newest else m for m in history.milestones))
    assert "leader epochs place it here" not in render(told, appendix=True)
    for appendix in (False, True):
        body = render(replace(told, histories=(misplaced,)), appendix=appendix)
        marked = [line for line in body.splitlines() if "(leader epochs place it here; by its clock it was" in line]
        assert len(marked) == 1 + appendix
        assert all("becomes leader in epoch 2" in line for line in marked)


def test_a_partition_that_went_another_way_is_told_apart(tmp_path: Path) -> None:
    dump = widened("fast_failover_kip101", tmp_path / "dump", 3)
    told = audit(dump, AuditConfig(engine="local"))
    histories = [h for h in told.histories if h.milestones]
    last = replace(histories[2], milestones=histories[2].milestones[:-1])
    client = replace(last.losses[0].clients[0], client_id="another-7")
    last = replace(last, losses=(replace(last.losses[0], clients=(client,), next_leader=9), *last.losses[1:]))
    body = render(replace(told, histories=(*histories[:2], last)))
    assert "### ff-0, ff-1" in body
    assert "### ff-2" in body
    assert "epoch 0 (broker 1) to epoch 1 (broker 9)" in body
    (producers,) = (line for line in body.splitlines() if "let the producers write the acknowledged" in line)
    assert "client ids 'rdkafka' and 'another-7'" in producers


def hostile(loss: Loss) -> Loss:
    """The loss with the worst that a client can call itself."""
    return replace(
        loss,
        clients=tuple(replace(client, client_id=HOSTILE) for client in loss.clients),
        readers=(LostReader(client_id=HOSTILE, up_to=130),),
        groups=(GroupAtRisk(group=HOSTILE, offset=140, epoch=0, time=None, standing="beyond the log end"),),
        clock=HOSTILE,
    )


def test_hostile_words_neither_mark_up_nor_move_the_cursor() -> None:
    honest = report("unclean_rejoined")
    span = Span(source=HOSTILE, start=0, end=1)
    findings = tuple(
        replace(f, message=HOSTILE, topic=HOSTILE, exhibits=(Exhibit(span=span, role=HOSTILE),))
        for f in honest.findings
    )
    refused = RefusalLine(kind="unreadable", expected=HOSTILE, found=HOSTILE, path=HOSTILE, start=0, end=1)
    incidents = tuple(replace(incident, title=HOSTILE) for incident in honest.incidents)
    histories = tuple(replace(h, topic=HOSTILE, losses=tuple(map(hostile, h.losses))) for h in honest.histories)
    advice = tuple(replace(placed, topic=HOSTILE) for placed in honest.advice)
    told = render(
        replace(
            honest, findings=findings, incidents=incidents, refusals=(refused,), histories=histories, advice=advice
        ),
        appendix=True,
    )
    assert told.count("alert") > 20
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert not re.search(r"(?<!\\)<script", re.sub(r"`[^`]*`", "", told))
    assert not re.search(r"\]\((?!\\)", re.sub(r"`[^`]*`", "", told).replace(r"]\(", ""))
    assert not any(line.startswith("# g") for line in told.splitlines())
    assert [line for line in told.splitlines() if line.startswith("# ")] == ["# Incident report"]


@pytest.mark.parametrize("words", ["www.e.com", "&#x202e;", "&lt;b&gt;", "~~x~~", "$x$"])
def test_what_renderers_act_on_beside_the_marks_is_escaped(words: str) -> None:
    assert re.sub(r"\\(.)", r"\1", text(words)) == words
    assert not re.search(r"(?<!\\)[~$]|(?<!\\)&[#a-z]|www\.", text(words))


def test_a_clock_that_stands_apart_is_aligned_and_its_own_time_said(tmp_path: Path) -> None:
    dump = copied("unclean_rejoined", tmp_path / "dump", logs=True)
    for log in (dump / "broker-1" / "logs").iterdir():
        log.write_bytes(log.read_bytes().replace(b"2026-11-21 05:", b"2026-11-21 09:"))
    (moved,) = (h for h in audit(dump, AuditConfig(engine="local", topic=("pay",))).histories if h.milestones)
    (honest,) = (h for h in report("unclean_rejoined").histories if h.milestones)
    assert [m.text for m in moved.milestones] == [m.text for m in honest.milestones], "the order is the cluster's"
    told = render(replace(report("unclean_rejoined"), histories=(moved,)))
    (line,) = (line for line in told.splitlines() if "broker 1 truncates its log to offset 100" in line)
    own = next(m.time for m in moved.milestones if m.text == "broker 1 truncates its log to offset 100")
    assert f"(own clock {moment(own)})" in line
    assert "- clock of broker 1: between +143" in told
    assert "causes and effects; aligned" in told
    assert "(own clock" not in render(report("unclean_rejoined")), "a second's doubt is no reason to shift"


@pytest.mark.parametrize("case", ["unclean_4x", "lost_pages_hw", "fast_failover_kip101", "fast_failover_kip279"])
def test_an_incident_is_one_chain_from_its_cause(case: str) -> None:
    lines = render(report(case)).splitlines()
    start = lines.index("## Causes, before what follows from them")
    chain = [line for line in lines[start : lines.index("## What each protocol would have done")] if "- " in line]
    assert chain[0].split()[1] in ("CONF001", "LEO001", "BUG001")
    steps = [len(line) - len(line.lstrip()) for line in chain]
    assert steps[0] == 0
    assert all(after - before <= 2 for before, after in pairwise(steps))
    assert {line.split()[1] for line, step in zip(chain, steps, strict=True) if step} >= {"LEAD001", "ACK001"}


@pytest.mark.parametrize("case", ["unclean_4x", "fast_failover_kip101", "fast_failover_kip279"])
def test_every_step_stands_below_the_finding_that_it_follows_from(case: str) -> None:
    (incident,) = report(case).incidents
    assert sorted(step.finding for step in incident.steps) == sorted(incident.findings)
    rules = {finding.id: finding for finding in report(case).violations}
    above: list[str] = []
    for step in incident.steps:
        above = above[: step.depth]
        assert step.follows == (above[-1] if above else None)
        if step.follows is not None and not BEARINGS[rules[step.finding].rule].spoils_what_went_wrong:
            assert rules[step.follows].rule in rules[step.finding].implied_by
        above.append(step.finding)


def test_what_a_known_defect_did_stands_below_what_parted_the_logs() -> None:
    """Of two quick fail-overs and an answer that does not say whose end it tells there is one chain."""
    (incident,) = report("fast_failover_kip101").incidents
    rules = {finding.id: finding.rule for finding in report("fast_failover_kip101").violations}
    assert [rules[step.finding] for step in incident.steps if step.follows is None] == ["CONF001"]
    assert {rules[step.follows] for step in incident.steps if step.follows and rules[step.finding] == "BUG001"} == {
        "LEAD001"
    }


def test_of_two_elections_each_has_what_followed_from_it() -> None:
    (incident,) = report("fast_failover_kip279").incidents
    told = {finding.id: finding for finding in report("fast_failover_kip279").violations}
    pairs = {
        (told[step.finding].rule, told[step.finding].values().get("epoch"), told[step.follows].values()["epoch"])
        for step in incident.steps
        if step.follows is not None and told[step.follows].rule in ("LEAD001", "LEAD002")
    }
    assert {pair for pair in pairs if pair[0] == "LEAD001"} == {("LEAD001", 2, 2), ("LEAD001", 4, 4)}
    assert ("ACK001", 2, 4) in pairs, "what epoch 2 had acknowledged went when epoch 4 opened"


@pytest.mark.parametrize("words", ["pay-0", "my_topic_1", "offsets [100, 150)", "epoch 0 (broker 1)", "a.b-c: d"])
def test_honest_words_are_left_as_they_are(words: str) -> None:
    assert text(words) == words


def test_code_cannot_be_ended_from_inside() -> None:
    assert code("a`b|c") == "`a%60b%7Cc`"


def test_the_command_writes_it_and_ends_as_an_audit_does(tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    dump = SAMPLES / "fast_failover_kip101" / "dump"
    asked = ("postmortem", str(dump), "--engine", "local", "--topic", "ff")
    ended = run(*asked, "--output", str(target), XDG_CACHE_HOME=str(tmp_path))
    assert ended.code == 1
    assert target.read_text(encoding="utf-8").startswith("# Incident report\n")
    same = run("audit", *asked[1:], "--format", "postmortem", XDG_CACHE_HOME=str(tmp_path))
    assert same.out == target.read_text(encoding="utf-8")


def test_advice_is_given_on_the_command_line(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica", logs=True)
    ended = run("advise", str(dump), "--engine", "local", "--topic", "pay", "--format", "json")
    assert ended.code == 1
    (told,) = json.loads(ended.out)["partitions"]
    assert told["election"] == {"partitions": [{"topic": "pay", "partition": 0}]}
    assert told["reassignments"][0]["reassignment"]["partitions"][0]["replicas"] == [3, 1, 2]
    (doomed,) = told["doomed"]
    stretch = doomed["stretch"]
    assert (doomed["broker"], stretch["startOffset"], stretch["endOffset"]) == (1, 100, 150)
    assert doomed["spans"][0]["spans"][0]["source"] == "broker-1/data/pay-0/00000000000000000000.log"


def test_what_is_judged_travels_whole(tmp_path: Path) -> None:
    """Both engines tell of survivors and advice: what a task sends to the driver comes back as it was."""
    from auditor.audit import prepare
    from auditor.dumps import gather
    from auditor.engines import local
    from auditor.engines.progress import Progress

    dump = unclean(tmp_path / "dump", "deleted file", logs=True)
    config = AuditConfig(engine="local", topic=("pay",))
    prepared = prepare(gather(dump), config)
    verdicts = [*local.run(prepared.units, prepared.surroundings, Progress(), config.selection)]
    assert any(loss.survivors for verdict in verdicts for loss in verdict.losses)
    assert any(verdict.advice for verdict in verdicts)
    assert [*from_arrow(to_arrow(verdicts, PartitionVerdict), PartitionVerdict)] == verdicts
