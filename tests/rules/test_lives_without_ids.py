"""A topic that was deleted and created again before topics had ids: a replica that was left behind is no divergence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from auditor.report.unbilled import unbilled
from parsers.writers.segments import Record, batch_bytes
from rules.catalog import BY_ID
from rules.evidence import gives_role
from rules.finding import Severity, Undecided
from rules.history.last_life import EarlierLife, earlier_life, of_the_last_life
from rules.history.log_cuts import cuts
from rules.history.terms import in_terms
from rules.replicas.lives import begun_again
from rules.sketch.notation import read_sketch
from rules.sketch.statement_lines import read_event
from tests.auditor.dumps_at_hand import audited
from tests.lab.recorded_damage import SAMPLES
from tests.lab.sample_histories import histories
from tests.lab.sample_reports import report_on
from tests.replaced import replace
from tests.rules.broken_dumps import Batch, Yard
from tests.rules.recast import recast

RECORDED = SAMPLES / "lives_without_ids"
SHARED_FROM = 1554
"""Where in broker 2's log of topic `starts` the batch at offset 40 begins, which both brokers hold."""
BEFORE, SINCE = 1_795_341_012_000, 1_795_341_042_000

MADE = """\
[2026-11-22 09:50:{at},892] INFO [Broker id={broker}] {role} t-0 starts at leader epoch 0 from offset 0 with high \
watermark 0{isr}. Previous leader epoch was -1. (state.change.logger)
"""
GONE = """\
[2026-11-22 09:50:29,660] INFO Log for partition t-0 is renamed to /d/t-0.24563d40234a483abf46d3086ce10e96-delete and \
is scheduled for deletion (kafka.log.LogManager)
"""
BEGAN = f"Kafka startTimeMs: {BEFORE - 7000} (org.apache.kafka.common.utils.AppInfoParser)"
ISR = " ISR [1,2{third}] addingReplicas [] removingReplicas []"


def records(since: int, end: int, epoch: int = 0) -> list[Batch]:
    values = [Record(offset_delta=delta, value=f"{since}-{delta}".encode()) for delta in range(10)]
    made = (
        (base, batch_bytes(base_offset=base, leader_epoch=epoch, records=values, base_timestamp=since + base))
        for base in range(0, end, 10)
    )
    return [Batch(base, base + 10, epoch, content) for base, content in made]


def roles(broker: int, at: int, third: str = "") -> str:
    isr = ISR.format(third=third) if broker == 1 else ""
    return MADE.format(at=at, broker=broker, role="Leader" if broker == 1 else "Follower", isr=isr)


def write_logs(yard: Yard, broker: int, stated: str, server: str = "") -> None:
    logs = yard.root / yard.cluster / f"broker-{broker}" / "logs"
    logs.mkdir(parents=True)
    (logs / "state-change.log").write_text(stated)
    if server:
        (logs / "server.log").write_text(server)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, records(SINCE, 60), topic_id=None)
    yard.broker(3, records(BEFORE, 40), topic_id=None)
    return yard


def test_disks_alone_leave_open_whether_it_is_one_topic(yard: Yard) -> None:
    assert yard.told() == []
    assert yard.undecided() == [("LOG001", (1, 3)), ("LOG001", (2, 3))]


def test_an_id_that_one_directory_lacks_leaves_it_open_too(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, records(SINCE, 60))
    yard.broker(2, records(BEFORE, 40), topic_id=None)
    assert yard.told() == []
    assert yard.undecided() == [("LOG001", (1, 2))]


def test_logs_tell_that_a_replica_is_of_an_earlier_life(yard: Yard) -> None:
    for broker in (1, 2):
        write_logs(yard, broker, roles(broker, 10, ",3") + roles(broker, 40), GONE)
    write_logs(yard, 3, roles(3, 11))
    assert yard.told(least=Severity.INFO) == [("LOG006", "info", (3,), None, None)]
    assert yard.undecided() == []


def test_brokers_that_tell_of_one_life_hold_one_topic(yard: Yard) -> None:
    for broker in (1, 2, 3):
        write_logs(yard, broker, roles(broker, 10, ",3"))
    assert {rule for rule, *_ in yard.told(least=Severity.CRITICAL)} == {"LOG001", "LOG003"}


@pytest.mark.parametrize(
    ("goes_on", "behind"),
    [
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0\nt8 follows 1 epoch 0 at 0 hw 0", {3}),
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0", {1, 3}),
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0\nt8 fetch 3@0 from 2 hw=0", {1}),
        ("t5 leads 1 epoch 1 at 4 hw 4", set()),
    ],
)
def test_who_is_named_in_the_last_life_was_not_left_behind(goes_on: str, behind: set[int]) -> None:
    begun = "t1 leads 1 epoch 0 at 0 hw 0\nt1 follows 2 epoch 0 at 0 hw 0\nt1 follows 3 epoch 0 at 0 hw 0\n"
    told = [read_event(line) for line in (begun + goes_on).splitlines()]
    assert earlier_life(told, of_the_last_life(told)).left_behind == behind


@pytest.mark.parametrize(
    ("goes_on", "before"),
    [
        ("t5 deletes 1\nt6 begins 1\nt7 leads 1 epoch 0 at 0 hw 0", {1}),
        # It gave up a log of the last life as well: which one waits for its deletion is not told.
        ("t5 deletes 1\nt6 begins 1\nt7 leads 1 epoch 0 at 0 hw 0\nt9 deletes 1", set()),
        ("t5 leads 1 epoch 1 at 4 hw 4\nt9 deletes 1", set()),
    ],
)
def test_a_log_was_given_up_before_the_last_life(goes_on: str, before: set[int]) -> None:
    told = [read_event(line) for line in f"t1 leads 1 epoch 0 at 0 hw 0\n{goes_on}".splitlines()]
    assert earlier_life(told, of_the_last_life(told)).deleted_before == before


@pytest.mark.parametrize(
    ("goes_on", "may_be_older"),
    [
        ("t8 loads 2 at 4\nt9 follows 2 epoch 0 at 4 hw 4", {2}),
        ("t5 deletes 2\nt8 loads 2 at 4", {2}),  # its folder was put back
        ("t5 deletes 2\nt6 begins 2\nt8 loads 2 at 4", set()),
        ("t8 begins 2\nt9 loads 2 at 4", set()),
        ("t8 follows 2 epoch 0 at 0 hw 0\nt9 loads 2 at 4", set()),
    ],
)
def test_a_log_not_made_in_the_last_life_may_be_of_an_earlier_one(goes_on: str, may_be_older: set[int]) -> None:
    begun = "t1 leads 1 epoch 0 at 0 hw 0\nt1 follows 2 epoch 0 at 0 hw 0\nt5 deletes 1\nt6 begins 1\n"
    told = [read_event(line) for line in f"{begun}t7 leads 1 epoch 0 at 0 hw 0\n{goes_on}".splitlines()]
    assert earlier_life(told, of_the_last_life(told)).not_made == may_be_older
    assert earlier_life(told, told).not_made == set()


def test_a_deletion_tells_of_a_life_before_of_which_no_other_line_is_left() -> None:
    made = "t5 deletes 1\nt6 begins 1\nt7 leads 1 epoch 0 at 0 hw 0\nt8 loads 2 at 4\nt9 follows 2 epoch 0 at 4 hw 4"
    told = [read_event(line) for line in made.splitlines()]
    assert of_the_last_life(told) == told
    assert earlier_life(told, told).not_made == {2}


def test_what_a_broker_knew_of_an_older_log_may_all_be_of_an_earlier_life_where_no_line_tells_its_end() -> None:
    started = recast(read_event("t1 loads 2 at 63"), "high-watermark-loaded", high_watermark=63, end_offset=None)
    told = [started, read_event("t2 truncates 2 to 40")]
    assert [cut.of_this_life for cut in cuts(told, EarlierLife(not_made=frozenset({2})))] == [63]
    assert [cut.of_this_life for cut in cuts(told)] == [40]


def test_who_leads_cuts_nothing_and_took_a_role_that_no_line_tells() -> None:
    told = in_terms([read_event(line) for line in ("t1 leads 2 epoch 3 at 50 hw 40", "t2 truncates 2 to 40")])
    assert [(cut.offset, cut.epoch, cut.former_epoch) for cut in cuts(told)] == [(40, None, None)]


def test_what_was_cut_from_a_log_of_an_earlier_life_stands_in_no_bill() -> None:
    """Broker 2 was away when the topic was deleted and made anew, and came back with its log of 63 records."""
    report = report_on(RECORDED)
    assert [finding for finding in report.violations if finding.rule == "TRUNC001"] == []
    asked = [f for f in report.findings if f.rule == "TRUNC001" and f.topic == "same" and f.verdict == "undecided"]
    assert [(f.brokers, f.start_offset, f.end_offset, f.blocking) for f in asked] == [((2,), 40, 63, True)]
    assert [loss for history in report.histories for loss in history.losses] == []
    assert unbilled(report) == []
    # What its leader answered then is not told: no table of protocols redoes the cut.
    assert [told.table.start_offset for told in report.counterfactuals if told.topic == "same"] == [0, 0]


def test_what_a_broker_knew_of_a_log_of_an_earlier_life_proves_nothing_of_this_one() -> None:
    evidence = histories("lives_without_ids")["same", 0]
    assert max(moment.high_watermark or 0 for moment in evidence.chronicle.told_by(2) if gives_role(moment)) == 63
    assert max(proof.end_offset for proof in evidence.committed_batches) == 50


def test_a_log_that_shares_its_last_batches_with_another_is_in_its_folder(tmp_path: Path) -> None:
    """Without them another partition's log may lie in the folder: epoch 2 begins elsewhere than it was opened."""
    assert ("LOG003", "violated") in said_of_starts(report_on(RECORDED))
    dump = shutil.copytree(RECORDED / "dump", tmp_path / "dump")
    log = dump / "broker-2/data/starts-0/00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:SHARED_FROM])
    told = said_of_starts(audited(dump))
    assert ("LOG007", "undecided") in told
    assert "LOG003" not in {rule for rule, _ in told}


def said_of_starts(report: AuditReport) -> set[tuple[str, str]]:
    return {(finding.rule, finding.verdict) for finding in report.findings if finding.topic == "starts"}


CUT_BACK = """\
[2026-11-22 09:50:44,023] INFO [Partition t-0 broker=2] Log loaded for partition t-0 with initial high watermark 60 \
(kafka.cluster.Partition)
[2026-11-22 09:50:44,140] INFO [Log partition=t-0, dir=/d] Truncating to offset 40 (kafka.log.Log)
"""
FOLDER = ".24563d40234a483abf46d3086ce10e96-delete"
NEXT = """\
[2026-11-22 09:50:50,892] INFO [Broker id=2] Leader t-0 starts at leader epoch 1 from offset 0 with high watermark 0 \
ISR [2] addingReplicas [] removingReplicas []. Previous leader epoch was 0. (state.change.logger)
"""
REQUEST = """\
[2026-11-22 09:50:49,535] DEBUG Completed request:RequestHeader(apiKey=PRODUCE, apiVersion=5, clientId=p, \
correlationId=125) -- {acks=1,timeout=3000,numPartitions=1},response:{responses=[{topic=t,partition_responses=\
[{partition=0,error_code=0,base_offset=0,log_append_time=-1,log_start_offset=0}]}],throttle_time_ms=0} from connection \
127.0.0.1:49997-127.0.0.1:49978-3;totalTime:3.442,requestQueueTime:1.053,localTime:2.337,remoteTime:0.0,\
throttleTime:0.06,responseQueueTime:0.053,sendTime:0.04,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,\
listener:PLAINTEXT (kafka.request.logger)
"""


PUT_BACK = """\
[2026-11-22 09:50:41,023] INFO [Log partition=t-0, dir=/d] Completed load of log with 1 segments, log start offset 0 \
and log end offset 60 in 5 ms (kafka.log.Log)
"""
MADE_AGAIN = """\
[2026-11-22 09:50:42,023] INFO Created log for partition t-0 in /d/t-0 with properties {} (kafka.log.LogManager)
"""


@pytest.mark.parametrize(("between", "sure"), [(PUT_BACK, True), (PUT_BACK + MADE_AGAIN, False)])
def test_a_log_that_was_deleted_and_put_back_is_of_the_earlier_topic(between: str, sure: bool, tmp_path: Path) -> None:
    """Broker 2 had 60 records of before with high watermark 60, cut them to 40 and goes on with the new topic's."""
    yard, since = Yard(tmp_path), records(SINCE, 80)
    for broker in (1, 3):
        yard.broker(broker, since, topic_id=None)
        write_logs(yard, broker, roles(broker, 10) + roles(broker, 40), GONE)
    yard.broker(2, [*records(BEFORE, 40), *since[4:]], topic_id=None)
    write_logs(yard, 2, roles(2, 10), GONE + between + CUT_BACK)
    report = yard.report()
    apart = next(finding for finding in report.violations if finding.rule == "LOG001")
    assert (apart.start_offset, apart.end_offset, apart.values()["deviating"]) == (0, 40, [2])
    assert ("earlier topic" in str(apart.values()["judgement"])) is sure
    (advice,) = report.advice
    lacking = {candidate.broker for candidate in advice.advice.candidates if candidate.lacks}
    assert lacking == ({2} if sure else {1, 2, 3})
    assert advice.advice.candidates[0].broker == 1


def test_a_folder_of_an_earlier_life_that_waits_for_its_deletion_is_no_copy_of_what_was_lost(tmp_path: Path) -> None:
    """Broker 1 answered for one record of the last life; 60 records of the first one lie beside."""
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, records(SINCE, 20, epoch=1), topic_id=None)
        yard.broker(broker, records(BEFORE, 60), topic_id=None, suffix=FOLDER, hw=None, recovery=None)
        write_logs(yard, broker, roles(broker, 10) + roles(broker, 40) + (NEXT if broker == 2 else ""), GONE)
    (yard.root / yard.cluster / "broker-1/logs/kafka-request.log").write_text(REQUEST)
    (lost,) = (loss for history in yard.report().histories for loss in history.losses)
    assert (lost.start_offset, lost.end_offset, lost.survivors) == (0, 1, ())


@pytest.mark.parametrize("zone", ["09:50:", "15:20:", "04:50:"])
def test_what_was_told_in_an_earlier_life_accuses_nobody_though_no_log_tells_that_it_ended(
    zone: str, tmp_path: Path
) -> None:
    """Broker 1 answered for record 50 of the first life, and of its end no line is left; logs bear local times."""
    yard, requests = Yard(tmp_path), REQUEST.replace("09:50:49", f"{zone}12").replace("base_offset=0", "base_offset=50")
    for broker in (1, 2):
        yard.broker(broker, records(SINCE, 20, epoch=1), topic_id=None)
        yard.broker(broker, records(BEFORE, 60), topic_id=None, suffix=FOLDER, hw=None, recovery=None)
        stated = roles(broker, 10) + (NEXT if broker == 2 else "")
        write_logs(yard, broker, stated.replace("09:50:", zone), f"[2026-11-22 {zone}05,008] INFO {BEGAN}\n")
    (yard.root / yard.cluster / "broker-1/logs/kafka-request.log").write_text(requests.replace("acks=1", "acks=-1"))
    assert yard.told() == []
    assert ("LOG006", (1, 2)) in yard.undecided()


def test_a_log_in_use_that_begins_again_tells_of_an_earlier_life_whose_log_another_one_has_in_use(
    tmp_path: Path,
) -> None:
    """Broker 2 came back with its log of the first life, and no line tells when that ended."""
    yard = Yard(tmp_path)
    yard.broker(1, records(SINCE, 20), topic_id=None)
    yard.broker(1, records(BEFORE, 60), topic_id=None, suffix=FOLDER, hw=None, recovery=None)
    yard.broker(2, records(BEFORE, 40), topic_id=None)
    write_logs(yard, 1, roles(1, 41))
    write_logs(yard, 2, roles(2, 5), CUT_BACK)
    assert yard.told() == []
    assert ("LOG006", (1,)) in yard.undecided()


@pytest.mark.parametrize(("others", "shows"), [("0 44", False), ("0 00", True), ("44 44", True)])
def test_a_log_that_begins_in_an_epoch_above_all_of_a_folder_may_be_of_the_same_life(others: str, shows: bool) -> None:
    """Who lost its disk and was elected from outside the ISR writes from offset 0 on; in a new life epochs fall."""
    logs = ["000", *others.split()]
    replicas = read_sketch("\n".join(f"broker {n} {log}" for n, log in enumerate(logs, 1))).evidence.replicas
    written = [1, 1 if others[0] == "0" else 5, 5]
    told = [
        replace(r, topic_id=None, log=replace(r.log, min_timestamp=at, max_timestamp=at))
        for r, at in zip(replicas, written, strict=True)
    ]
    folder = replace(told[0], state="deleted")
    assert begun_again([folder, *told[1:]], ()) == ((folder,) if shows else ())


def test_ids_in_logs_tell_lives_apart() -> None:
    begun = "t1 leader 1 epoch 0 isr 1,2,3\nt2 fetch 3@0 from 1 hw=0\nt5 leader 1 epoch 0 isr 1,2"
    first, fetch, last = (read_event(line) for line in begun.splitlines())
    told = [replace(first, topic_id="a"), replace(fetch, topic_id="a"), replace(last, topic_id="b")]
    assert earlier_life(told, told[2:]).left_behind == {3}
    assert earlier_life(told, told).left_behind == set()


@pytest.mark.parametrize(
    ("ids", "asked", "compared"),
    [
        (("; topic-id a", "", "; topic-id b"), [(2,)], 0),
        (("; topic-id a", "", "; topic-id a"), [], 3),
        (("", "", "; topic-id b"), [], 3),
        (("; topic-id a", "; topic-id a", "; topic-id b"), [], 1),
    ],
)
def test_a_log_without_an_id_is_of_no_known_topic_where_others_bear_several(
    ids: tuple[str, str, str], asked: list[tuple[int, ...]], compared: int
) -> None:
    drawing = "ids a b\n" + "\n".join(f"broker {number} 0000| {note}" for number, note in enumerate(ids, start=1))
    drawn = read_sketch(drawing).evidence
    said = (each for each in BY_ID["LOG006"].check(drawn) if isinstance(each, Undecided))
    assert [each.brokers for each in said if "bears no topic id" in each.reason] == asked
    assert len(drawn.pairs) == compared
