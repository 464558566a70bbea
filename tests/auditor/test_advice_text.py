"""The advice as it is printed: by the tools of the release, each gate once, and nothing that is to be copied broken."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES
from lost_records import TOPIC_ID, unclean

from auditor.advise import run_advise
from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.report.advice.advice_json import document
from auditor.report.advice.advice_text import text
from auditor.report.model import PlacedAdvice, UndecidedLine
from auditor.report.postmortem.document import render as postmortem
from auditor.report.summary.actions import actions
from auditor.report.summary.perhaps import beside_the_advice
from tests.lab.sample_reports import report_on
from tests.replaced import replace

pytestmark = pytest.mark.slow


def advice_on(case: str) -> PlacedAdvice:
    (placed,) = report_on(SAMPLES / case).advice
    return placed


def undecided(placed: PlacedAdvice) -> PlacedAdvice:
    """The same where nobody knows who led last, so that somebody has to be put first."""
    return replace(placed, advice=replace(placed.advice, leading=None))


def test_where_nothing_is_to_be_done_nothing_is_to_be_typed() -> None:
    placed = advice_on("unclean_4x")
    told = text([placed])
    nothing = "No election and no copy is needed. Broker 3, the last leader, has all that any copy here has"
    assert nothing in " ".join(told.split())
    assert "Nothing to do" not in told, "producers may have to write again what is lost"
    assert "kafka-" not in told
    assert json.loads(document([placed]))["partitions"][0]["nothingToDo"] is True
    assert json.loads(document([undecided(placed)]))["partitions"][0]["nothingToDo"] is False


@pytest.mark.parametrize(
    ("case", "release", "said", "unsaid"),
    [
        ("lost_pages_hw", (1, 1, 1), "kafka-preferred-replica-election --zookeeper", "kafka-leader-election"),
        ("lost_pages_hw", (1, 1, 1), "kafka-reassign-partitions --zookeeper", "--bootstrap-server"),
        ("unclean_4x", (4, 3, 0), "kafka-leader-election --bootstrap-server", "--zookeeper"),
        ("unclean_4x", (4, 3, 0), "kafka-reassign-partitions --bootstrap-server", "preferred-replica"),
    ],
)
def test_the_commands_are_those_of_the_release(case: str, release: tuple[int, ...], said: str, unsaid: str) -> None:
    placed = advice_on(case)
    assert placed.advice.release[:3] == release
    told = text([undecided(placed)])
    assert said in told
    assert unsaid not in told


@pytest.mark.parametrize(
    ("release", "zookeeper"), [((2, 4, 0), True), ((2, 5, 1), True), ((2, 6, 0), False), ((), False)]
)
def test_between_the_releases_each_tool_has_its_own_first_one(release: tuple[int, ...], zookeeper: bool) -> None:
    placed = advice_on("unclean_4x")
    told = text([undecided(replace(placed, advice=replace(placed.advice, release=release)))])
    assert "kafka-leader-election --bootstrap-server" in told
    assert ("kafka-reassign-partitions --zookeeper" in told) == zookeeper


def test_no_unclean_election_is_offered_where_nobodys_lead_costs_anything() -> None:
    placed = advice_on("unclean_4x")
    assert "--election-type unclean" not in text([undecided(placed)])
    absent = replace(placed, advice=replace(placed.advice, absent=(4,)))
    assert "--election-type unclean" in text([undecided(absent)])


def test_of_equal_logs_any_could_lead_and_the_newest_epoch_is_that_of_records() -> None:
    placed = advice_on("unclean_4x")
    assert "Brokers 1, 2 and 3 have the same epoch of their last records" in text([placed])
    one = replace(placed, advice=replace(placed.advice, leaders=(3,)))
    assert "By last epoch and log end offset, broker 3 comes first" in text([one])
    assert "First choice: broker 3. Its last records are of epoch 1, and its log end offset is 130." in " ".join(
        text([placed]).split()
    )


def test_a_copy_without_its_marker_is_said_to_be_one_and_not_that_its_broker_crashed_or_will_cut() -> None:
    placed = advice_on("unclean_4x")
    clean = " ".join(text([placed]).split())
    assert "It shut down cleanly." in clean
    assert "no clean-shutdown marker" not in clean
    unmarked = tuple(replace(c, shut_down_cleanly=False) for c in placed.advice.candidates)
    told = " ".join(text([replace(placed, advice=replace(placed.advice, candidates=unmarked))]).split())
    assert "Its copy has no clean-shutdown marker. A start from these files reads the log's end again." in told
    assert "shut down cleanly" not in told
    assert "may cut" not in told


def test_files_are_one_line_each_and_whole() -> None:
    placed = advice_on("unclean_4x")
    lines = text([undecided(replace(placed, topic="t" * 200))]).splitlines()
    files = [json.loads(line.split(maxsplit=1)[1]) for line in lines if ".json  " in line]
    assert [sorted(file) for file in files] == [["partitions", "version"], ["partitions"]]
    assert all(file["partitions"][0]["topic"] == "t" * 200 for file in files)


def test_what_is_said_of_several_brokers_is_said_once() -> None:
    told = text([advice_on("unclean_4x")])
    assert (
        "GO Restarting or electing broker 1, 2 or 3 cuts nothing and loses nothing more. No replica here has"
        " acknowledged records that another one lacks." in " ".join(told.split())
    )
    apart = " ".join(text([advice_on("bit_rot_payload")]).split())
    assert "GO Restarting broker 1 or 2 cuts nothing from its log" in apart
    assert "NO-GO Restarting broker 3 makes it leader at once, although 1 batch fails its checksum." in apart
    assert (
        "No such fault is known of brokers 1 and 2. First, start broker 1 or 2 and make it leader by an unclean"
        " election, which loses nothing as far as known." in apart
    )
    assert "GO Electing broker 1 or 2 loses nothing." in apart
    assert "NO-GO Electing broker 3 makes it lead, although 1 batch fails its checksum." in apart


def test_elections_of_which_each_costs_something_are_weighed_in_one_sentence() -> None:
    told = " ".join(text([advice_on("fast_failover_kip101")]).split())
    assert (
        "NO-GO Electing broker 1 or 2 loses committed records, which another broker has, unless they are copied before."
        " If broker 2 leads, this is lost: offsets 10–14 of epoch 0 from broker 1. If broker 1 leads, this is lost:"
        " offsets 10–14 of epoch 1 from broker 2. First, copy offsets 10–14 of epoch 0 from broker 1, then let broker 2"
        " lead." in told
    )
    assert "First, copy offsets 10–14 of epoch 0 from broker 1, then let broker 1 copy broker 2's log again." in told


def test_steps_copy_before_they_elect_and_write_back_at_the_end() -> None:
    lines = [line.strip() for line in text([advice_on("lost_pages_hw")]).splitlines()]
    steps = [line.partition(". ")[2] for line in lines if re.match(r"\d\. ", line)]
    assert steps == [
        (
            "Save offsets 40–59 from broker 1: copy its folder broker-1/data/t-0."
            " Later steps may remove them from its log."
        ),
        "Put broker 2 first in the assignment, if it has not become leader on its own.",
        "Elect broker 2, if it has not become leader on its own.",
        (
            "Stop broker 1 if it runs. On broker 1, move the folder t-0 out of its log dir (here: broker-1/data/t-0)."
            " Start the broker."
            " It copies broker 2's log."
        ),
        "Set consumers back. Then write the copied records to the partition again, unless their producers do.",
    ]


def test_a_folder_that_is_copied_holds_what_is_to_be_copied_and_salvage_is_named_with_its_finding() -> None:
    report = report_on(SAMPLES / "never_rejoined")
    placed = next(each for each in report.advice if (each.topic, each.partition) == ("pay", 0))
    told = text([placed])
    assert told.count("1. Copy broker 1's folder pay-0 (here: broker-1/data/pay-0).") == 1
    assert not re.search(r"2\. (Copy|Save)", told)
    (loss,) = placed.losses
    (command,) = re.findall(r"tidemark salvage (F-\w+) --broker (\d) --to FILE", told)
    finding = next(each for each in report.findings if each.id == command[0])
    assert (finding.topic, finding.partition, int(command[1])) == ("pay", 0, loss.survivors[0].broker)
    assert (finding.start_offset or 0) <= loss.start_offset < loss.end_offset <= (finding.end_offset or 0)


def test_who_would_lead_wrongly_by_its_start_waits_for_another_to_lead() -> None:
    told = " ".join(text([advice_on("compaction_race")]).split())
    start, elect = told.index("1. Stop broker 3 if it runs. Then start broker 1."), told.index("3. Elect broker 1 by")
    assert start < elect < told.index("4. On broker 3, move the folder kv-0 out of its log dir")
    assert "--election-type preferred" not in told, "broker 1 is outside the ISR"


def test_who_waits_in_the_isr_for_another_of_it_needs_no_unclean_election() -> None:
    placed = advice_on("compaction_race")
    first = "start broker 1 or 2, which then leads"
    gates = tuple(replace(gate, first=first) if gate.after_lead_of else gate for gate in placed.advice.gates)
    told = text([replace(placed, advice=replace(placed.advice, gates=gates))])
    assert "3. Elect broker 1.\n" in told
    assert "outside the ISR" not in told


def test_advice_that_was_cut_short_says_so() -> None:
    placed = advice_on("unclean_4x")
    assert text([placed], interrupted=True).startswith("Interrupted. ")
    assert text([placed], interrupted=True).endswith(text([placed]))
    assert "Nothing is to be decided" not in text([], interrupted=True)
    assert json.loads(document([placed], interrupted=True))["interrupted"] is True


def test_where_advice_is_withheld_nobody_is_told_that_nothing_is_to_be_decided() -> None:
    places = (("c", "pay", 0), ("c", "pay", 1))
    reason, missing = "no advice: epochs fall", "older files"
    untold = [UndecidedLine(rule="-", reason=reason, missing=missing, places=places, blocking=False)]
    asked = "In 2 partitions (pay-0, pay-1): no advice: epochs fall. To decide it, add older files.\n"
    assert text([], untold=untold) == asked
    assert text([advice_on("unclean_4x")], untold=untold).endswith("To decide it, add older files.\n")
    (told,) = json.loads(document([], untold=untold))["untold"]
    assert (told["reason"], told["missing"], told["partitions"]) == ("no advice: epochs fall", "older files", 2)
    assert [(each["clusterId"], each["topic"], each["partition"]) for each in told["places"]] == [*places]


def test_before_a_restart_the_last_copy_is_named_with_its_bytes(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "replica", logs=True)
    told = text(audit(dump, AuditConfig(engine="local", topic=("pay",))).advice)
    place = told.index("Before you restart anything")
    assert "broker 1: offsets 100–149 of epoch 0, all committed; the last copy in this dump" in told[place:]
    assert "copy now: broker-1/data/pay-0/00000000000000000000.log bytes [" in told[place:]
    assert "NO-GO    Restarting broker 1 destroys the last copy" in told


def test_a_stray_folder_with_the_last_copy_is_copied_in_the_first_step(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "stray dir", logs=True)
    told = " ".join(text(audit(dump, AuditConfig(engine="local", topic=("pay",))).advice).split())
    folder = f"folder pay-0.{TOPIC_ID}-stray (here: broker-1/data/pay-0.{TOPIC_ID}-stray)"
    destroys = "destroys lost records that no log here holds: offsets 100–149 of epoch 0."
    assert f"NO-GO Deleting the {folder} {destroys}" in told
    assert f"1. Copy broker 1's {folder}." in told
    assert "No election and no copy is needed" not in told


def test_of_equal_candidates_one_whose_start_destroys_nothing_comes_first(tmp_path: Path) -> None:
    dump = unclean(tmp_path / "dump", "deleted file", logs=True)
    (placed,) = audit(dump, AuditConfig(engine="local", topic=("pay",))).advice
    assert [candidate.broker for candidate in placed.advice.candidates] == [3, 2, 1]


def test_the_advice_goes_to_a_file_and_never_into_the_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = SAMPLES / "lost_pages_hw" / "dump"
    target = tmp_path / "advice.json"
    assert run_advise([dump], AuditConfig(engine="local", format=("json",), output=str(target), quiet=True)) == 1
    assert json.loads(target.read_text(encoding="utf-8"))["partitions"][0]["release"] == [1, 1, 1, 0]
    assert capsys.readouterr().out == ""
    with pytest.raises(ConfigError, match="inside the dump"):
        run_advise([dump], AuditConfig(engine="local", output=str(dump / "advice"), quiet=True))
    assert not (dump / "advice").exists()


@pytest.mark.parametrize(("case", "code"), [("unclean_4x", 1), ("clean_2_8", 0)])
def test_a_loss_is_an_exit_code_of_its_own_even_where_nothing_is_left_to_decide(
    case: str, code: int, tmp_path: Path
) -> None:
    target = tmp_path / "advice"
    config = AuditConfig(engine="local", output=str(target), quiet=True)
    assert run_advise([SAMPLES / case / "dump"], config) == code
    assert ("LOST: " in target.read_text(encoding="utf-8")) == bool(code)


def test_an_election_that_is_no_go_is_not_printed_as_one_without_loss() -> None:
    assert "this loses nothing" not in text([advice_on("fast_failover_kip101")])
    assert "this loses nothing" in text([undecided(advice_on("unclean_4x"))])


@pytest.mark.parametrize("case", ["unclean_4x", "fast_failover_kip101"])
def test_advice_names_every_step_of_the_first_screen(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Consumers and producers act on a loss though nobody is to be elected and nothing to be copied."""
    steps = [action for action in actions(report_on(SAMPLES / case)) if not action.is_gate]
    assert any("must go back" in step.words for step in steps)
    run_advise([SAMPLES / case / "dump"], AuditConfig(engine="local"))
    printed = " ".join(capsys.readouterr().out.split())
    assert all(step.text.split(". ")[0] in printed for step in steps)
    run_advise([SAMPLES / case / "dump"], AuditConfig(engine="local", format=("json",)))
    listed = json.loads(capsys.readouterr().out)["steps"]
    assert [each["words"] for each in listed] == [step.text for step in steps]


def test_restarts_are_told_by_broker_where_several_partitions_are_advised_on() -> None:
    """A broker restarts with all its partitions: free in one of them, it is barred by another."""
    barred = advice_on("bit_rot_payload")
    free = replace(advice_on("unclean_4x"), cluster_id=barred.cluster_id)
    lines = text([barred, free]).splitlines()
    assert lines[0] == "Restarts, with all partitions of a broker"
    assert "  NO-GO    restart broker 3: d-0" in lines
    assert "  GO       restart broker 1" in lines
    assert not any(line.startswith("  GO") and "restart broker 3" in line for line in lines[: lines.index("")])
    assert not text([barred]).startswith("Restarts")


def test_why_nothing_can_be_said_is_told_once() -> None:
    report = report_on(SAMPLES / "controller_restored")
    told = " ".join(text(report.advice, untold=report.untold, perhaps=tuple(beside_the_advice(report))).split())
    assert "losses cannot be listed, and no advice can be given. The reason is told above." in told
    (reason,) = {point.reason.partition(". ")[2] for point in report.untold}
    assert told.count(reason[1:]) == 1
    impact = postmortem(report).partition("## Impact")[2].partition("\n## ")[0]
    assert impact.count("losses cannot be listed, and no advice can be given. The reason is told above.") == 1
    alone = " ".join(text(report.advice, untold=report.untold).split())
    assert f"losses cannot be listed, and no advice can be given. {reason}" in alone
