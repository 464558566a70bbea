"""What a report comes to: totals, incidents, folded entries, actions and what was not seen, on recorded incidents."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES
from hypothesis import given
from hypothesis import strategies as st

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.alike import blurred
from auditor.report.markdown import text as escaped
from auditor.report.model import LOSES_NO_MORE, AuditReport, Doomed, Incident, Stretch
from auditor.report.named_places import named_places, told_places
from auditor.report.postmortem.document import render as postmortem
from auditor.report.summary import LossTotals, Summary, summary
from auditor.report.summary.action import PLACE_OF_START, READ_AGAIN, Action, Aim, Kind, in_brief
from auditor.report.summary.actions import actions
from auditor.report.summary.coordinators_topics import OF_BROKERS
from auditor.report.summary.folded_findings import folded
from auditor.report.summary.perhaps import at_stake, perhaps_lost
from auditor.report.terminal.screen import lost_words
from rules.finding import Finding, Severity, named_facts, offsets_told, with_last_offsets
from rules.protocol.topics import BROKERS_TOPICS, METADATA_TOPIC, TRANSACTIONS_TOPIC
from rules.words import listed
from tests.lab.sample_reports import report_on
from tests.replaced import replace

INCIDENTS = ("unclean_4x", "unclean_rejoined", "fast_failover_kip101", "lost_pages_hw", "acks_one_lost")


def told(case: str) -> Summary:
    return summary(report_on(SAMPLES / case))


def lost_in(case: str) -> LossTotals:
    lost = told(case).lost
    assert lost is not None
    return lost


def elsewhere(finding: Finding, partition: int) -> Finding:
    return replace(finding, partition=partition)


def repeated(report: AuditReport, times: int) -> AuditReport:
    """The report as if the same had happened to so many partitions."""
    findings = [elsewhere(finding, number) for number in range(times) for finding in report.findings]
    names = {(f.partition, f.rule, f.start_offset, f.brokers, str(f.facts)): f.id for f in findings}
    old = {f.id: (f.rule, f.start_offset, f.brokers, str(f.facts)) for f in report.findings}

    def moved(incident: Incident, number: int) -> Incident:
        own = {name: names[number, *old[name]] for name in incident.findings}
        steps = tuple(
            replace(step, finding=own[step.finding], follows=None if step.follows is None else own[step.follows])
            for step in incident.steps
        )
        places = tuple((cluster, topic, number) for cluster, topic, _ in incident.places)
        return replace(
            incident, id=f"{incident.id}{number}", findings=tuple(own.values()), steps=steps, places=places
        )

    return replace(
        report,
        findings=tuple(findings),
        incidents=tuple(moved(incident, number) for incident in report.incidents for number in range(times)),
        histories=tuple(replace(h, partition=number) for h in report.histories for number in range(times)),
        advice=tuple(replace(a, partition=number) for a in report.advice for number in range(times)),
    )


def test_an_unclean_election_comes_to_its_records_and_no_copy() -> None:
    lost = lost_in("unclean_4x")
    assert (lost.offsets, lost.committed, lost.partitions, lost.records) == (50, 50, 1, 50)
    assert (lost.standing, lost.gone, lost.unsearched) == (0, 50, 0)
    assert (lost.amount, lost.worth) == ("50 records", "all committed")
    assert lost.copies == "No broker in this dump still has them."


def test_copies_that_stand_are_named_and_what_came_back_is_no_loss() -> None:
    lost = lost_in("fast_failover_kip101")
    assert (lost.offsets, lost.standing) == (5, 5)
    assert [holder.broker for holder in lost.holders] == [1]
    assert [(r.loss.epoch, r.loss.offsets) for r in lost.restored] == [(1, 5)]
    assert lost.copies == "Copies of all of them survive on broker 1."


def test_a_copy_that_a_start_cuts_is_to_be_copied_before_it() -> None:
    """A second copy lets the broker start; what it holds itself is cut all the same."""
    report = report_on(SAMPLES / "fast_failover_kip101")
    (copy,) = (action for action in summary(report).actions if action.kind == "copy")
    assert copy.words.endswith("before broker 1 starts, and before any election.")
    (placed,) = report.advice
    stretch = Stretch(epoch=0, start_offset=10, end_offset=15, committed_end=15, acknowledged_end=10)
    doomed = Doomed(broker=1, path="broker-1", stretch=stretch, spans=(), others=(), because="it follows broker 2")
    cut = replace(report, advice=(replace(placed, advice=replace(placed.advice, doomed=(doomed,))),))
    (copy,) = (action for action in summary(cut).actions if action.kind == "copy")
    assert copy.words.endswith("before broker 1 starts. When it follows a leader again, it may truncate them.")


def test_what_one_broker_alone_acknowledged_is_not_called_committed() -> None:
    lost = lost_in("acks_one_lost")
    assert (lost.committed, lost.acknowledged, lost.possibly_acknowledged) == (0, 2, 18)
    assert lost.worth == "2 acknowledged but not committed, 18 possibly acknowledged"


def test_many_losses_are_told_by_their_worth_then_by_where_then_by_copies() -> None:
    words = lost_words(summary(repeated(report_on(SAMPLES / "acks_one_lost"), 9)))[0]
    worth = "18 acknowledged but not committed, 162 possibly acknowledged"
    assert words.startswith(f"180 records, {worth}, in 9 partitions (")
    assert words.endswith("No broker in this dump still has them.")


def test_equal_bills_in_one_row_keep_what_is_sure_and_what_is_possible() -> None:
    body = postmortem(repeated(report_on(SAMPLES / "acks_one_lost"), 3))
    (row,) = (line for line in body.splitlines() if line.startswith("| fire-0"))
    assert "| 60 in 3 ranges | none | 6; perhaps 54 |" in row


def test_a_question_about_records_that_a_bill_counts_is_no_further_loss() -> None:
    report = report_on(SAMPLES / "acks_one_lost")
    ((history, loss),) = ((h, loss) for h in report.histories for loss in h.losses if loss.matters)

    def asked(epoch: int, end: int) -> int:
        question = replace(
            report.findings[0], rule="ACK001", verdict="undecided", blocking=True, topic=history.topic,
            partition=history.partition, cluster_id=history.cluster_id, start_offset=loss.start_offset, end_offset=end,
            facts=named_facts({"epoch": epoch, "subject": "asked"}),
        )  # fmt: skip
        return len(perhaps_lost(replace(report, findings=(*report.findings, question)))) - len(perhaps_lost(report))

    assert asked(loss.epoch, loss.end_offset) == 0
    assert asked(loss.epoch, loss.end_offset + 1) == 1
    assert asked(loss.epoch + 1, loss.end_offset) == 1


def test_a_sound_cluster_comes_to_nothing() -> None:
    clean = told("clean_mixed")
    assert (clean.verdict, clean.lost, clean.incidents, clean.actions) == ("clean", None, (), ())
    assert clean.counted == "no problem found"


def without_logs(case: str, place: Path) -> AuditReport:
    dump = Path(shutil.copytree(SAMPLES / case / "dump", place / case, ignore=shutil.ignore_patterns("logs")))
    return audit(dump, AuditConfig(engine="local"))


def test_where_disks_alone_tell_that_replicas_differ_the_first_screen_says_how_much_may_be_lost(tmp_path: Path) -> None:
    report = without_logs("fast_failover_kip101", tmp_path)
    known, many = summary(report), summary(repeated(report, 1000))
    assert known.lost is None
    assert known.at_stake is not None
    assert (known.at_stake.offsets, known.at_stake.places) == (5, ((None, "ff", 0),))
    assert many.at_stake is not None
    told = lost_words(many)[0]
    assert told.startswith("Perhaps: 5000 offsets in 1000 partitions (ff-0 to ff-999). Replicas hold different ")
    assert f"- Perhaps lost: {escaped(known.at_stake.words)}" in postmortem(report)


def test_what_a_bill_tells_is_not_at_stake_beside_it() -> None:
    assert told("fast_failover_kip101").at_stake is None
    assert told("clean_mixed").at_stake is None


def test_what_a_bill_counts_as_lost_is_not_perhaps_lost_as_well() -> None:
    """What these records were worth is open, and the bill says so; that they are gone is not."""
    report = report_on(SAMPLES / "acks_one_lost")
    (acknowledged,) = (finding for finding in report.violations if finding.rule == "ACK001")
    asked = replace(acknowledged, verdict="undecided", blocking=True, facts=(), end_offset=60)
    later = replace(asked, end_offset=71)
    others = replace(asked, brokers=(2,), facts=())
    for question, open_questions in ((asked, ()), (later, (later,)), (others, (others,))):
        assert perhaps_lost(replace(report, findings=(acknowledged, question))) == open_questions


def test_copies_of_partitions_that_are_told_together_are_each_named_by_their_own_path() -> None:
    copies = [action for action in told("never_rejoined").actions if action.kind == "copy"]
    for action in copies:
        named = " ".join(action.names)
        assert all(f"broker-1/data/{aim.topic}-{aim.partition}" in named for aim in action.aims)
        assert f" ({listed(action.names)}) before " in action.text
    assert max(len(action.aims) for action in copies) > 1


def test_nobody_is_told_for_certain_what_was_only_possibly_acknowledged() -> None:
    report = report_on(SAMPLES / "acks_one_lost")
    (history,) = (history for history in report.histories if history.losses)
    (loss,) = history.losses
    perhaps = tuple(replace(part, worth="possibly acknowledged") for part in loss.portions)
    open_ = replace(report, histories=(replace(history, losses=(replace(loss, portions=perhaps),)),))
    sure, unsure = (next(a for a in summary(each).actions if "records again." in a.words) for each in (report, open_))
    both = replace(report, histories=(replace(open_.histories[0], partition=9), history))
    assert [a.unsure for a in summary(both).actions if "records again." in a.words] == [False, True]
    names_are = sure.names_are, unsure.names_are
    assert names_are == ("The records were acknowledged to", "The records may have been acknowledged to")
    back = "First set consumers back to {start}. Then"
    assert sure.words == f"{back} producers must write the acknowledged records again."
    perhaps = "Whether any of them was acknowledged is not known."
    assert unsure.words == f"{back} producers may have to write these records again. {perhaps}"
    told = "fire-0 offsets 50–69 of epoch 0 (acknowledged: 50, 60; perhaps 51–59, 61–69)"
    assert [aim.words for aim in sure.aims] == [told]
    assert "20 records possibly acknowledged, offsets 50–69 of epoch 0. Broker 2" in postmortem(open_)
    told = "20 records, offsets 50–69 of epoch 0: 2 acknowledged but not committed (50, 60), 18 possibly acknowledged"
    assert told in postmortem(report)


def test_an_unclean_election_of_which_nothing_tells_the_cost_may_have_lost_records(tmp_path: Path) -> None:
    report = without_logs("unclean_4x", tmp_path)
    (asked,) = lost_words(summary(report))
    assert asked.startswith("Perhaps lost in pay-0. Broker 2 was elected leader for epoch 1 from outside the ISR")
    assert "Perhaps lost in pay-0. Broker 2 was elected" in postmortem(report)
    assert not any(words.startswith("Perhaps") for words in lost_words(told("unclean_4x")))


def test_what_the_first_screen_asks_of_losses_the_incident_report_asks_under_its_impact(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "unclean_4x/dump/broker-1/data/pay-0", tmp_path / "broker-1" / "pay-0")
    report = audit(tmp_path, AuditConfig(engine="local"))
    (asked,) = lost_words(summary(report))
    alone = "it is not known whether replicas differ: only one is in this dump"
    assert asked == f"Perhaps lost in pay-0: {alone}. To decide it, add the log of another replica."
    impact = postmortem(report).partition("## Impact\n")[2].partition("\n## ")[0]
    assert f"- {escaped(asked)}" in impact


def test_a_loss_without_any_log_of_requests_may_be_larger(tmp_path: Path) -> None:
    """Watermarks tell what was committed; what a leader alone had acknowledged, requests would tell."""
    dump = tmp_path / "dump"
    shutil.copytree(SAMPLES / "unclean_rejoined" / "dump", dump)
    whole = audit(dump, AuditConfig(engine="local"))
    for log in dump.glob("*/logs/kafka-request.log*"):
        log.unlink()
    report = audit(dump, AuditConfig(engine="local"))
    more = "No request log is here, so nothing tells which other records brokers had acknowledged."
    assert f"Perhaps more lost. {more}" in lost_words(summary(report))
    assert not any(more in words for words in lost_words(summary(whole)))
    assert escaped(more) in postmortem(report)


@pytest.mark.parametrize("leaders", [False, True])
def test_only_the_request_log_of_whoever_led_tells_what_else_was_acknowledged(leaders: bool, tmp_path: Path) -> None:
    """Other brokers' request logs tell of no producer there."""
    dump = tmp_path / "dump"
    shutil.copytree(SAMPLES / "unclean_rejoined" / "dump", dump)
    (led,) = {loss.leader for each in report_on(SAMPLES / "unclean_rejoined").histories for loss in each.losses}
    for log in dump.glob("*/logs/kafka-request.log*"):
        if (log.parts[-3] == f"broker-{led}") is not leaders:
            log.unlink()
    words = lost_words(summary(audit(dump, AuditConfig(engine="local"))))
    more = (
        f"Perhaps more lost. No request log of broker {led}, which led before the loss, is here, so nothing tells which"
        " other records it had acknowledged."
    )
    assert (more in words) is not leaders


def test_offsets_at_stake_count_once_and_only_where_no_bill_counts_them(tmp_path: Path) -> None:
    report = without_logs("fast_failover_kip101", tmp_path)
    (finding,) = (f for f in report.violations if report.bearing(f).records is not None)
    wider = replace(finding, start_offset=8, end_offset=12)
    for findings, offsets in (((finding, finding), 5), ((finding, wider), 7)):
        known = at_stake(replace(report, findings=findings))
        assert known is not None
        assert known.offsets == offsets
    billed = tuple(history for history in report_on(SAMPLES / "fast_failover_kip101").histories)
    placed = tuple(replace(history, cluster_id=finding.cluster_id) for history in billed)
    assert at_stake(replace(report, histories=placed)) is None
    beyond = at_stake(replace(report, findings=(wider,), histories=placed))
    assert beyond is not None
    assert beyond.offsets == 2


@pytest.mark.parametrize("case", INCIDENTS)
def test_every_finding_stands_once_and_causes_before_what_follows(case: str) -> None:
    report = report_on(SAMPLES / case)
    known = summary(report)
    ids = [name for each in known.incidents for entry in each.entries for name in entry.ids]
    assert sorted(ids) == sorted(name for incident in report.incidents for name in incident.findings)
    for each in known.incidents:
        order = [name for entry in each.entries for name in entry.ids]
        for step in each.incident.steps:
            assert step.follows is None or order.index(step.follows) < order.index(step.finding)


@pytest.mark.parametrize("case", INCIDENTS)
def test_equal_partitions_are_one_entry_with_their_ranges(case: str) -> None:
    report = report_on(SAMPLES / case)
    one, many = summary(report), summary(repeated(report, 130))
    assert len(many.incidents) == len(one.incidents)
    for single, several in zip(one.incidents, many.incidents, strict=True):
        assert len(several.ids) == 130 * len(single.ids)
        assert len(several.entries) == len(single.entries)
        assert {entry.partitions for entry in several.entries} == {130}
    assert len(many.actions) == len(one.actions)
    assert one.lost is not None
    assert many.lost is not None
    assert (many.lost.offsets, many.lost.partitions) == (130 * one.lost.offsets, 130)
    assert len(many.unseen) == len(one.unseen)


def test_a_copy_on_a_broker_that_may_start_is_not_said_to_go_by_its_start() -> None:
    report = report_on(SAMPLES / "lost_pages_hw")
    (placed,) = report.advice
    gates = [replace(g, going="go") if g.action == "restart broker 1" else g for g in placed.advice.gates]
    free = replace(report, advice=(replace(placed, advice=replace(placed.advice, gates=tuple(gates))),))
    for known, said in (report, "before broker 1 starts, and before any election."), (free, "alone keeps them."):
        (copy,) = (a for a in summary(known).actions if a.kind == "copy")
        assert copy.words.endswith(said)


def test_numbers_that_are_of_one_partition_are_not_said_of_all_however_short_the_words_are_made() -> None:
    gate = next(a for a in told("clients_astray").actions if a.kind == "no-go" and a.aims[1:])
    assert gate.numbers_differ
    assert gate.in_brief.line(3).endswith(" (__consumer_offsets-1; small-0 with its own numbers)")
    assert gate.text.endswith(" The numbers are those of __consumer_offsets-1.")
    alike = replace(gate, numbers_differ=False)
    assert alike.in_brief.line(3).endswith(" (__consumer_offsets-1, small-0)")


def test_what_bars_an_action_comes_before_what_is_free() -> None:
    for case in INCIDENTS:
        kinds = [action.kind for action in told(case).actions]
        order = ("copy", "no-go", "act", "unknown", "go")
        assert kinds == sorted(kinds, key=order.index)


def test_who_is_to_mend_a_replica_is_told_whose() -> None:
    (asked,) = (action for action in told("bit_rot_payload").actions if action.kind == "act")
    assert asked.line(3).startswith("d-0 offsets 40–49 on broker 3: This copy is not sound. Let a broker")


def test_what_leaves_the_verdict_open_comes_first() -> None:
    report = report_on(SAMPLES / "lost_pages_hw")
    open_points = [each.blocking for each in summary(replace(report, interrupted=True)).unseen]
    assert open_points[0]
    assert open_points == sorted(open_points, reverse=True)


def test_notes_are_no_findings_in_the_count() -> None:
    report = report_on(SAMPLES / "unclean_rejoined")
    assert any(finding.severity == Severity.INFO for finding in report.findings)
    assert sum(number for _, number in summary(report).counts) == sum(
        finding.severity > Severity.INFO for finding in report.violations
    )


def test_findings_that_differ_in_more_than_numbers_stay_apart() -> None:
    first, *_ = report_on(SAMPLES / "unclean_4x").violations
    other = replace(first, partition=9, message=first.message.replace("broker", "nobody"))
    assert len(folded([first, elsewhere(first, 9)])) == 1
    assert len(folded([first, other])) == 2
    assert len(folded([first, replace(elsewhere(first, 9), brokers=(77,))])) == 2


def test_what_is_said_of_two_brokers_is_two_things_to_do() -> None:
    barred = [action.words for action in told("epoch_checkpoint_deleted").actions if action.kind == "no-go"]
    assert [words[:18] for words in barred] == ["restarting broker ", "electing broker 3 ", "a rolling restart "]
    assert blurred("brokers 1, 2 or 3 hold 10–14 of epoch 0") == "brokers 1, 2 or 3 hold #–# of epoch #"
    assert blurred("Broker 12 (broker-12/data/pay-0)") == "Broker 12 (broker-#/data/pay-#)"


def places(numbers: Iterator[int]) -> list[tuple[None, str, int]]:
    return [(None, "pay", number) for number in numbers]


def test_neighbouring_partitions_are_named_by_their_ends() -> None:
    assert named_places(places(iter([3, 0, 1, 2, 7]))) == "pay-0 to pay-3, pay-7"
    assert named_places(places(iter([5, 4]))) == "pay-4, pay-5"
    assert named_places(places(iter(range(0, 40, 2))), most=2) == "pay-0, pay-2 and 18 more partitions"
    assert named_places([(None, None, None)]) == told_places([(None, None, None)]) == "the whole dump"


@given(st.sets(st.integers(0, 60), min_size=1), st.integers(1, 8))
def test_named_partitions_add_up(numbers: set[int], most: int) -> None:
    words = named_places(places(iter(sorted(numbers))), most)
    named = 0
    for part in words.split(" and ")[0].split(", ") if "more partition" in words else words.split(", "):
        ends = [int(word.rpartition("-")[2]) for word in part.split(" to ")]
        named += ends[-1] - ends[0] + 1
    rest = int(words.rpartition(" and ")[2].split()[0]) if "more partition" in words else 0
    assert named + rest == len(numbers)


@given(st.integers(0, 10**12), st.integers(0, 10**6))
def test_offsets_are_said_with_the_last_one_named(start: int, width: int) -> None:
    words = offsets_told(start, start + width)
    if width > 1:
        first, last = words.removeprefix("offsets ").split("–")
        assert int(last) - int(first) + 1 == width
    else:
        assert words == (f"offset {start}" if width else "no offsets")


@given(st.sampled_from(["record", "offset"]), st.integers(0, 10**12), st.integers(1, 10**6))
def test_a_range_of_one_is_of_one(noun: str, start: int, width: int) -> None:
    told = with_last_offsets(f"it had the {noun}s [{start}, {start + width}) of epoch 1")
    named = f"{noun} {start}" if width == 1 else f"{noun}s {start}–{start + width - 1}"
    assert told == f"it had the {named} of epoch 1"


def test_an_election_of_a_log_with_dead_keys_and_a_start_that_elects_a_damaged_one_say_so() -> None:
    race = [action.line(3) for action in told("compaction_race").actions]
    assert any(words.startswith("NO-GO: electing broker 3") and "5 keys that were deleted" in words for words in race)
    rot = [action.line(3) for action in told("bit_rot_payload").actions]
    assert any(words.startswith("NO-GO: restarting broker 3 makes it leader at once") for words in rot)


def test_nobody_is_asked_to_write_or_read_again_what_brokers_alone_write() -> None:
    everything = actions(report_on(SAMPLES / "zookeeper_restored"))
    own = [action for action in everything if action.aims[0].topic == TRANSACTIONS_TOPIC]
    words = [action.line(3, 8, 80) for action in own if action.kind == "act"]
    assert any("where transactions stand" in each for each in words)
    assert not any("producers write" in each or "Consumers that read" in each for each in words)


def test_what_kafka_alone_writes_and_no_bill_names_is_seen_to_all_the_same() -> None:
    report = replace(report_on(SAMPLES / "zookeeper_restored"), histories=())
    own = [a for a in actions(report) if a.kind == "act" and a.aims[0].topic == TRANSACTIONS_TOPIC]
    assert OF_BROKERS[TRANSACTIONS_TOPIC] in {action.words for action in own}
    assert not any("must write" in action.words for action in own)


def test_every_topic_that_kafka_alone_writes_has_its_own_words() -> None:
    assert OF_BROKERS.keys() == BROKERS_TOPICS | {METADATA_TOPIC}


def step(words: str, *partitions: int, kind: Kind = "act") -> Action:
    aims = tuple(Aim(cluster_id=None, topic="t", partition=n, start_offset=n, end_offset=9) for n in partitions)
    return Action(kind=kind, words=words, first="", aims=aims)


def test_what_differs_in_its_brokers_alone_is_one_line_of_the_first_screen() -> None:
    """Each broker where it has a replica: in which partitions, the line says."""
    free = [
        step(f"restarting or electing broker {who} cuts nothing and {LOSES_NO_MORE} More.", n, kind="go")
        for n, who in enumerate(("1 or 2", "2 or 3"))
    ]
    (one,) = in_brief(free)
    assert one.line(3) == (
        "GO: restarting or electing broker 1, 2 or 3 where it has a replica cuts nothing and loses nothing more."
        " (t-0 offsets 0–8, t-1 offsets 1–8)"
    )
    assert in_brief(free[:1])[0].words == f"restarting or electing broker 1 or 2 cuts nothing and {LOSES_NO_MORE}"


def test_producers_follow_consumers_once_for_all_partitions() -> None:
    back, write = step(f"Consumers {READ_AGAIN}", 0), "producers must write again."
    first = step(f"First set consumers back to {PLACE_OF_START}. Then {write}", 0)
    both = in_brief([back, first, step("Producers must write again.", 1)])
    assert [each.words for each in both] == [back.words, f"Then {write}"]
    assert [aim.partition for aim in both[1].aims] == [0, 1]
    assert in_brief([first])[0].words == first.words, "nobody else says that consumers go back"


def test_of_many_ranges_it_is_said_whose_replicas_are_meant() -> None:
    """Where the ranges have no room, the words "this broker" need a name all the same."""
    aims = tuple(
        Aim(cluster_id=None, topic="t", partition=n, start_offset=n, end_offset=9 * n, brokers=(1,)) for n in (1, 2, 4)
    )
    asked = Action(kind="act", words="Keep this broker from leading.", first="", aims=aims)
    assert asked.line(2, 0, 20) == "t-1, t-2, t-4 (56 offsets in 3 ranges) on broker 1: " + asked.words
    apart = replace(asked, aims=(*aims[:2], replace(aims[2], brokers=(3,))))
    assert " on broker" not in apart.line(2, 0, 20)
