"""The report for people: what it says and in which order; widths and blanks are free."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from dumps_at_hand import ROOT, SAMPLES, audited, copied
from hypothesis import given
from hypothesis import strategies as st

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport, UndecidedLine
from auditor.report.plain import plain
from auditor.report.sheet import size
from auditor.report.summary import summary
from auditor.report.terminal import render
from auditor.report.terminal.screen import lost_words
from rules.finding import Severity, capital, place_of
from rules.words import counted
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_typical, report_on
from tests.replaced import replace

CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))
SPLIT = SAMPLES / "fast_failover_kip101"


def lines_of(report: AuditReport, *, verbose: bool = True, quiet: bool = False) -> list[str]:
    return render(report, columns=100, verbose=verbose, quiet=quiet).splitlines()


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_the_first_line_is_the_verdict_with_its_coverage(case: Path) -> None:
    report = report_on(case)
    first = " ".join(" ".join(lines_of(report)[:3]).split())
    assert first.startswith(report.verdict.upper())
    assert f"{report.coverage.replicas_seen} replica" in first
    assert f"{report.coverage.partitions + summary(report).partitions_elsewhere} partition" in first
    assert "% of" in first


def test_findings_come_under_their_incident_with_the_cause_first() -> None:
    report = report_on(SPLIT)
    lines = lines_of(report, verbose=True)
    incident = report.incidents[0]
    start = next(place for place, line in enumerate(lines) if line.startswith(incident.id))
    order = [name for line in lines[start:] for name in incident.findings if name in line.split()]
    assert order == list(incident.findings)
    assert order[0] == incident.cause
    for finding in report.findings:
        assert sum(finding.id in line.split() for line in lines) == (1 if finding.severity > Severity.INFO else 0)


def test_a_window_is_drawn_once_under_the_first_finding_that_it_shows() -> None:
    report = report_on(SPLIT)
    finding = next(finding for finding in report.findings if finding.rule == "LOG001")
    lines = lines_of(report)
    drawn = [f"      {line}" for line in finding.sketch.splitlines()]
    place = lines.index(drawn[0])
    assert lines[place : place + 2] == drawn
    assert all(lines.count(line) == 1 for line in drawn), "five findings lie in this window"
    head = [line for line in lines[:place] if re.match(r"  \S", line)][-1]
    assert head.split()[2:4] == ["ff-0", report.incidents[0].cause]
    for exhibit in finding.exhibits:
        address = f"{exhibit.span.source} [{exhibit.span.start}, {exhibit.span.end})"
        assert any(address in line for line in lines)


def test_drawings_are_explained_before_the_first_and_only_where_there_is_one() -> None:
    split, clean = render(report_on(SPLIT), verbose=True), render(report_on(SAMPLES / "clean_4x"), verbose=True)
    assert split.count("In drawings a line is a replica") == 1
    assert split.index("In drawings") < split.index("broker 1  @")
    assert "In drawings" not in clean


def test_windows_apart_are_drawn_apart() -> None:
    report = report_on(SAMPLES / "epoch_checkpoint_deleted")
    text = render(report, verbose=True)
    assert all(f"    {f.sketch.splitlines()[0]}" in text for f in report.violations if f.rule == "EPOCH003")


def test_the_readme_shows_what_is_printed() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    screen, details = re.findall(r"^```\n((?:FINDINGS|  [A-Z]+  [A-Z]+\d{3}).*?)^```", readme, re.DOTALL | re.MULTILINE)
    assert screen == render(report_on(SPLIT), columns=80)
    text = render(report_on(SPLIT), verbose=True)
    for part in details.split("…\n"):
        place = text.find(part.strip("\n"))
        assert place >= 0, part
        text = text[place:]


def test_the_head_counts_what_the_findings_are_about() -> None:
    assert "3 critical, 2 high, 1 medium, 2 low in 2 of 7 replicas, 1 of 2 partitions;" in " ".join(
        line.strip() for line in lines_of(report_on(SAMPLES / "unclean_4x"))[:2]
    )
    head = " ".join(line.strip() for line in lines_of(report_on(SAMPLES / "recreated_topic"))[:2])
    assert "no problem found in 9 replicas of 2 partitions;" in head


def test_whoever_led_last_by_the_logs_is_starred() -> None:
    report = report_on(SAMPLES / "unclean_4x")
    drawn = [line for finding in report.violations for line in finding.sketch.splitlines()]
    assert {line.split()[1] for line in drawn if "* " in line} == {"3*"}, "all three logs are alike; epoch 2 is 3's"


def test_what_this_level_does_not_ask_is_one_line() -> None:
    said = " ".join(" ".join(lines_of(report_on(SAMPLES / "clean_mixed"))).split())
    keys = "whether every key is in its right partition (PLACE001)"
    assert f"NOT SEEN Not checked without --level deep: {keys}, whether every record can be decoded (SEG007)." in said


def test_the_counterfactual_table_names_every_protocol_and_fits_80_columns() -> None:
    report = report_on(SPLIT)
    lines = render(report, columns=80, verbose=True).splitlines()
    place = next(place for place, line in enumerate(lines) if "what each protocol does when" in line)
    rows = [line for line in lines[place : place + 10] if line.startswith("    ")]
    for name in ("hw-truncation", "kip-101", "kip-279", "truncate-on-fetch"):
        assert sum(row.strip().startswith(name) for row in rows) == 1
    assert sum(row.strip() == "the two logs part at 10" for row in rows) == 2  # no cut is no rescue
    assert any("1 → (0, 15)" in row and "10" in row and "10–14" in row for row in rows)
    assert all(len(row) <= 80 for row in rows)


def test_the_replica_table_comes_last_with_one_line_a_replica() -> None:
    report = report_on(SPLIT)
    lines = lines_of(report)
    heads = next(place for place, line in enumerate(lines) if line.startswith("replica "))
    assert re.split(r"\s{2,}", lines[heads]) == [
        "replica", "broker", "log start", "log end", "LEO expected", "HW on disk", "HW expected", "last epoch",
        "verdict",
    ]  # fmt: skip
    assert [re.split(r"\s{2,}", line) for line in lines[heads + 1 :]] == [
        ["ff-0", "1", "0", "20", "20 or more", "20", "20", "2", "critical"],
        ["ff-0", "2", "0", "20", "20 or more", "20", "20", "2", "critical"],
    ]


def test_a_log_end_that_nothing_tells_is_told_with_the_reason() -> None:
    known, untold = lines_of(report_on(SPLIT)), lines_of(report_on(SAMPLES / "clean_4x"))
    replicas = known[len(known) - known[::-1].index("") :]
    assert len(replicas) > len(report_on(SPLIT).replicas)
    assert not any("not told" in line for line in replicas)
    (why,) = (place for place, line in enumerate(untold) if line.startswith("LEO expected is worked out from"))
    assert any(re.search(r"LEO expected\s+not told", line) for line in untold[why + 2 :])


def test_on_a_narrow_page_every_replica_is_a_paragraph() -> None:
    report = report_on(SAMPLES / "unclean_4x")
    lines = render(report, columns=80, verbose=True).splitlines()
    place = lines.index("replicas")
    told = " ".join(lines[place + 1 :])
    for placed in report.replicas:
        name = f"{placed.topic}-{placed.partition} broker {placed.replica.broker} {placed.replica.verdict}: log start"
        assert name in told
    assert all(len(line) <= 80 for line in lines[place:])


def crowded(report: AuditReport) -> AuditReport:
    """The report with everything that a dump may name made long and hostile."""
    name, told = "<script>\x1b[2J\u202e" + "n" * 249, report.findings
    return replace(
        report,
        findings=tuple(replace(finding, topic=name, message=f"{finding.message} {name}") for finding in told),
        incidents=tuple(replace(i, title=f"{name}: {i.title}") for i in report.incidents),
        histories=tuple(replace(history, topic=name) for history in report.histories),
        advice=tuple(replace(placed, topic=name) for placed in report.advice),
    )


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
@pytest.mark.parametrize("harm", [lambda report: report, crowded], ids=["as it is", "crowded"])
def test_the_first_screen_fits_25_lines_of_80_columns(case: Path, harm: Callable[[AuditReport], AuditReport]) -> None:
    report = harm(report_on(case))
    for columns in (40, 80, 200):
        text = render(report, columns=columns)
        lines = text.splitlines()
        assert columns < 80 or len(lines) <= 25
        assert max(map(len, lines)) <= min(columns, 80)
        assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs")} <= {"\n"}


def test_the_first_screen_says_what_was_lost_why_what_to_do_and_what_was_not_seen() -> None:
    report = report_on(SAMPLES / "unclean_4x")
    lines = render(report, columns=80).splitlines()
    heads = [line.split("  ")[0] for line in lines if re.match(r"GO|[A-Z]{2}", line)]
    assert heads == ["FINDINGS", "LOST", "WHY", "DO NOW", "GO?", "NOT SEEN"]
    told = " ".join(" ".join(lines).split())
    assert "50 records, all committed: pay-0 offsets 100–149 of epoch 0. No broker in this dump still has them." in told
    assert report.incidents[0].id in told
    assert "LEAD001" in lines[-2] + lines[-1]


NAMES = ("LOST", "WHY", "DO NOW", "GO?", "NOT SEEN")


def told_within(report: AuditReport) -> tuple[dict[str, str], str]:
    """What each part of the first screen says, in one line, and the lines below the parts."""
    parts, name = {"": ""}, ""
    *body, footer = render(report).split("\n\n")
    for line in "\n".join(body).splitlines():
        name = head if (head := line[:10].strip()) in NAMES else name
        parts[name] = f"{parts.get(name, '')} {line.removeprefix(name).strip()}".strip()
    return parts, " ".join(footer.split())


def test_a_question_that_two_pairs_of_brokers_leave_open_is_asked_once() -> None:
    report = audit(SAMPLES / "compaction_race" / "dump", AuditConfig(engine="local", level="quick"))
    assert len(summary(report).perhaps) > 1
    (asked,) = lost_words(summary(report))
    assert asked.startswith("Perhaps lost in kv-0: their batches differ as cleaning or conversion lets them")


EVERY = [*CASES, SAMPLES / "dump_log_text", SAMPLES / "metadata_snapshots"]


@pytest.mark.parametrize("case", fast_if(is_typical, EVERY), ids=lambda case: case.name)
def test_every_first_screen_decides(case: Path) -> None:
    """Verdict, loss, causes, what to do and what was not seen: each begins, and what is left out is counted."""
    report = report_on(case) if (case / "dump").is_dir() else audit(case, AuditConfig(engine="local"))
    known, (parts, footer) = summary(report), told_within(report)
    assert render(report).startswith(report.verdict.upper())
    asked, gates = ([a for a in known.actions if a.is_gate == is_gate] for is_gate in (False, True))
    done = {"WHY": known.incidents, "DO NOW": asked, "GO?": gates, "NOT SEEN": known.unseen}
    there = {"LOST": lost_words(known), **done}
    assert [name for name in parts if name in there] == [name for name, told in there.items() if told]
    if known.lost is not None and known.lost.for_good:
        assert parts["LOST"].startswith(capital(f"{known.lost.amount}, {known.lost.worth}"))
    for name, items in done.items():
        more = re.search(r"…(?: and (\d+) more.*)? \(-v.*\)$", parts.get(name, ""))
        assert more is None or int(more[1] or 0) < len(items)
    if known.incidents:
        cause = known.incidents[0].incident
        assert parts["WHY"].startswith(Severity(cause.severity).label.upper())
        assert cause.id in parts["WHY"] or parts["WHY"].endswith("…") or "… and" in parts["WHY"]
        assert any(entry.ids[0] in footer for entry in known.incidents[0].entries)
    assert footer.endswith("-v.")
    for name, items in (("DO NOW", asked), ("GO?", gates)):
        firsts = [next(a for a in items if a.kind == kind) for kind in {a.kind for a in items} - {"go"}]
        untold = [action for action in firsts if action.words[:25] not in parts[name]]
        assert not untold or (all(a.kind in ("act", "unknown") for a in untold) and "… and" in parts[name])
    barred = [action.words for action in gates if action.kind == "no-go"]
    told = [words for words in barred if words[:25] in parts["GO?"]]
    in_full = parts.get("GO?", "").partition("… and")[0]
    assert " GO: " not in f" {in_full}" or told == barred, "what is free is told last"


def test_bars_that_have_no_room_are_named_all_the_same() -> None:
    report = report_on(SAMPLES / "never_rejoined")
    many = replace(report, advice=tuple(replace(p, topic=f"t{n}") for n in range(4) for p in report.advice))
    (parts, _), barred = told_within(many), [a.words for a in summary(many).actions if a.kind == "no-go"]
    assert len(barred) > parts["GO?"].count("NO-GO: ") > 1
    doing = {re.match(r"(?:restarting|electing) broker \d+(?:, \d+)*(?: or \d+)?|a rolling restart", w) for w in barred}
    assert None not in doing
    for verb, brokers in ((found[0].partition(" broker ")[0], re.findall(r"\d", found[0])) for found in doing if found):
        named = "".join(re.findall(rf"{verb}(?: broker [\d, or]+)?", parts["GO?"]))
        assert verb in named
        assert set(brokers) <= set(named)


def test_equal_bars_of_several_partitions_are_one_though_their_reasons_differ() -> None:
    report = report_on(SAMPLES / "never_rejoined")
    for verbose in (False, True):
        text = " ".join(render(report, verbose=verbose).partition("\n\n")[2].partition("\n\n")[0].split())
        bars = re.findall(r"NO-GO: .*?(?= NO-GO: | GO: | \S+ offsets? \d)", text)
        assert len(bars) == len(set(bars)) > verbose


def test_no_part_is_cut_inside_a_sentence_while_there_is_room_for_the_whole_of_it() -> None:
    """What was lost, in which partitions and who still has it is whole on every screen of 80 columns."""
    for case in CASES:
        known, (parts, _) = summary(report_on(case)), told_within(report_on(case))
        if known.lost is not None and known.lost.for_good:
            assert lost_words(known)[0] in parts["LOST"]


def test_a_large_incident_still_fits_the_first_screen_and_v_tells_each_finding() -> None:
    report = report_on(SAMPLES / "bit_rot_payload")
    model = next(finding for finding in report.findings if finding.rule == "SEG001")
    findings = tuple(replace(model, partition=number) for number in range(500))
    crowd = replace(report, findings=findings, incidents=())
    assert lines_of(crowd, verbose=False)[0].startswith("FINDINGS  500 medium")
    assert len(lines_of(crowd, verbose=False)) <= 25
    assert len([line for line in lines_of(crowd) if line.startswith("MEDIUM")]) == 500


def test_an_unknown_verdict_says_why() -> None:
    report = report_on(SPLIT)
    coverage = replace(report.coverage, replicas_seen=0)
    nothing = replace(report, verdict="unknown", findings=(), incidents=(), counterfactuals=(), coverage=coverage)
    assert "no replica was read" in render(nothing)
    low = replace(nothing, coverage=report.coverage)
    assert "less was read than --min-coverage asks for" in render(low)
    assert "No verdict" not in render(report)


def test_colour_changes_no_word() -> None:
    report = report_on(SPLIT)
    coloured = render(report, colour=True)
    assert "\x1b[1;31mFINDINGS\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(report)


@given(st.text())
def test_plain_text_shows_as_itself_or_spelled_out(text: str) -> None:
    shown = plain(text)
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in shown)
    assert plain(shown) == shown
    if all(character.isalnum() for character in text):
        assert shown == text


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_stands_in_a_report_the_terminal_is_left_alone(message: str, path: str) -> None:
    report = report_on(SPLIT)
    finding = report.findings[0]
    span = replace(finding.exhibits[0].span, source=path)
    exhibits = (replace(finding.exhibits[0], span=span, role=message),)
    hostile = replace(finding, message=message, exhibits=exhibits, topic=path, sketch=f"x\n{message}")
    text = render(replace(report, findings=(hostile, *report.findings[1:])), verbose=True)
    assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs")} <= {"\n"}


def test_numbers_are_said_as_people_say_them() -> None:
    assert [size(count) for count in (0, 1023, 1024, 1536, 5 << 30)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.5 KiB",
        "5.0 GiB",
    ]
    assert [counted(1, "replica"), counted(2, "batch"), counted(0, "partition")] == [
        "1 replica",
        "2 batches",
        "0 partitions",
    ]
    assert [counted(2, noun) for noun in ("key", "query", "loss")] == ["2 keys", "2 queries", "2 losses"]


def test_a_finding_without_an_end_is_told_from_its_start_on() -> None:
    report = report_on(SPLIT)
    worst = max(report.violations, key=lambda finding: finding.severity)
    first = replace(worst, start_offset=7, end_offset=None)
    (head,) = (
        line
        for line in lines_of(replace(report, findings=(first,), incidents=()))
        if first.id in line.split()
    )
    assert "from offset 7 on" in head
    assert "None" not in head


def test_what_has_no_room_and_may_be_lost_is_said_to_be() -> None:
    screen = render(report_on(SAMPLES / "lives_without_ids"), columns=80)
    assert re.search(r"… and \d+ more, perhaps lost \(-v\)", screen)


def test_the_first_screen_names_records_that_may_be_lost_by_no_bill() -> None:
    report = report_on(SAMPLES / "clean_4x")
    place = place_of(report.replicas[0])
    reason = "it is not known whether committed records 4–5 of epoch 1 are lost"
    asked = UndecidedLine(
        rule="the bill", reason=reason, missing="the logs of the producers", places=(place,), blocking=False,
        perhaps_lost=True,
    )  # fmt: skip
    undecided = (*report.coverage.undecided, asked)
    lines = lines_of(replace(report, coverage=replace(report.coverage, undecided=undecided)), verbose=False)
    said = " ".join(" ".join(lines).split())
    assert f"LOST Perhaps lost. Open in partition {place[1]}-{place[2]}: {reason}." in said
    assert said.count(reason) == 1, "and is not told among what was not seen too"


def test_a_question_that_is_told_under_lost_is_named_by_its_rule_alone_below() -> None:
    report = report_on(SAMPLES / "never_rejoined")
    said, at_length = (" ".join(render(report, columns=80, verbose=verbose).split()) for verbose in (False, True))
    assert said.count("no later leader's log had records 50–59 of epoch 3") == 1
    assert all("NOT SEEN ACK001 not decided in partition tail-0: see LOST." in words for words in (said, at_length))


@pytest.mark.parametrize(("case", "columns"), [("never_rejoined", 60), ("lives_without_ids", 80)])
def test_a_question_whose_words_under_lost_found_no_room_is_not_said_to_stand_there(case: str, columns: int) -> None:
    report = report_on(SAMPLES / case)
    said, at_length = (" ".join(render(report, columns=columns, verbose=verbose).split()) for verbose in (False, True))
    assert "see LOST" in at_length
    assert "see LOST" not in said


def test_the_first_line_names_the_rules_that_leave_a_verdict_open() -> None:
    report = report_on(SAMPLES / "never_rejoined")
    asked = [finding for finding in report.findings if finding.blocking]
    assert {finding.rule for finding in asked} == {"ACK001"}
    opened = replace(report, verdict="unknown", findings=tuple(asked), incidents=())
    said = " ".join(render(opened, columns=80).split())
    assert f"No verdict, because {counted(len(asked), 'question')} could not be decided (ACK001)." in said
    rules = [replace(asked[0], rule=rule) for rule in ("HW001", "HW001", "ACK001", "LOG001", "SEG003")]
    many = " ".join(render(replace(opened, findings=tuple(rules)), columns=80).split())
    assert "5 questions could not be decided (HW001, ACK001, LOG001 and 1 more)." in many


def test_what_is_barred_in_some_partitions_and_open_in_others_is_not_said_of_all() -> None:
    parts, _ = told_within(report_on(SAMPLES / "never_rejoined"))
    assert "; in some partitions NO-GO: restarting broker 2" in parts["GO?"]
    alone, _ = told_within(report_on(SAMPLES / "lost_pages_hw"))
    assert "in some" not in alone["GO?"], "all of it is of one partition"


def test_the_first_line_counts_the_partitions_of_a_question_that_is_asked_of_several(tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump", logs=True)
    for checkpoint in dump.rglob("leader-epoch-checkpoint"):
        checkpoint.unlink()
    said = " ".join(render(audited(dump), columns=80).split())
    assert "No verdict, because 2 questions about 11 partitions could not be decided (EPOCH003)." in said
