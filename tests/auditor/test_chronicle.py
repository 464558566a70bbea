"""What the lines of a ZooKeeper controller say of a partition, with no request log and no metadata beside them."""

from __future__ import annotations

import pytest

from auditor.engines.witnesses.statements_of_rows import of_events
from parsers.broker_log import Reading
from parsers.provenance import Origin
from rules.chronicle.chronicle import Chronicle
from rules.history.moments import Moment, is_metadata, ordered
from rules.history.terms import in_terms
from tests.auditor.dumps_at_hand import SAMPLES
from tests.lab.sample_histories import histories
from tests.lab.sample_reports import report_on
from tests.lab.whole_logs import parse_events

CREATED = (
    "Changed partition pay-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=1, "
    "leaderEpoch=0, isr=List(1, 2), zkVersion=0)"
)
LEADERLESS = (
    "Partition pay-0 state changed to (Leader:-1,ISR:{isr},LeaderEpoch:1,ZkVersion:1,ControllerEpoch:2) "
    "after removing replica 1 from the ISR as part of transition to OfflineReplica"
)
ELECTED = (
    "Changed partition pay-0 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=2, "
    "leaderEpoch=2, isr=List(2), zkVersion=2)"
)


def moments(*words: str, writer: str = "Controller id=2 epoch=2") -> tuple[Moment, ...]:
    lines = [
        f"[2026-11-21 21:11:{25 + second},019] INFO [{writer}] {line} (state.change.logger)\n"
        for second, line in enumerate(words)
    ]
    rows = parse_events("".join(lines).encode(), Reading(origin=Origin(source="broker-2/state-change.log", broker=2)))
    return ordered(moment for _, _, moment in of_events(rows.rows))


def test_an_election_from_outside_the_isr_is_told_by_the_controllers_log_alone() -> None:
    found = Chronicle(moments(CREATED, LEADERLESS.format(isr="1"), ELECTED)).elections
    assert [(c.leader, c.epoch, c.previous_isr, c.unclean) for c in found] == [(2, 2, (1,), True)]


def test_an_election_from_the_isr_is_clean() -> None:
    found = Chronicle(moments(CREATED, LEADERLESS.format(isr="2"), ELECTED)).elections
    assert [(c.leader, c.epoch, c.previous_isr, c.unclean) for c in found] == [(2, 2, (2,), False)]


def test_with_a_state_missing_between_nothing_is_told() -> None:
    assert Chronicle(moments(CREATED, ELECTED)).elections == ()


@pytest.mark.parametrize(("folder", "kinds"), [("pay-0", ["log-created"]), ("pay-0.f00-future", [])])
def test_a_log_that_is_made_for_a_move_between_log_dirs_is_no_new_log(folder: str, kinds: list[str]) -> None:
    made = f"Created log for partition pay-0 in /d2/{folder} with properties {{}}"
    assert [moment.kind for moment in moments(made, writer="Log partition=pay-0")] == kinds


def test_a_log_that_is_cut_where_it_cannot_be_read_is_told_where() -> None:
    line = "Corruption found in segment 0, truncating to offset 240"
    found = moments(line, writer="LogLoader partition=pay-0, dir=/d")
    assert [(moment.kind, moment.broker, moment.offset) for moment in found] == [("damaged-end-cut", 2, 240)]


CRIED = (
    "UNCLEAN partition change for pay-0 with topic ID uriBSDhhRyyuFSCIzB207Q: isr: [] -> [3], leader: -1 -> 3, "
    "leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 2 -> 3, elr: {elr} -> [], partitionEpoch: 3 -> 4"
)


@pytest.mark.parametrize(("elr", "unclean"), [("[1]", True), ("[]", True), ("[1, 13]", True), ("[1, 3]", False)])
def test_an_eligible_leader_is_not_elected_uncleanly_though_the_controllers_line_says_so(
    elr: str, unclean: bool
) -> None:
    found = Chronicle(moments(CRIED.format(elr=elr), writer="QuorumController id=100")).elections
    assert [(c.leader, c.epoch, c.unclean) for c in found] == [(3, 3, True)] * unclean


def test_the_record_of_an_election_goes_before_the_line_that_tells_it() -> None:
    """How the record's clock stands to those of brokers is known more often than of a controller's own log."""
    election = histories("never_rejoined")["pay", 0].chronicle.elections[0]
    assert (election.unclean, election.moment.clock) == (True, "controller")
    found = {finding.rule for finding in report_on(SAMPLES / "never_rejoined").violations if finding.topic == "pay"}
    assert "CONF001" in found


def test_the_controllers_log_is_neither_the_brokers_word_nor_the_metadata() -> None:
    for moment in moments(CREATED, ELECTED):
        assert (moment.kind, moment.clock, moment.broker) == ("leadership", "controller 2", None)
        assert not is_metadata(moment)


def test_a_role_taken_right_after_the_replica_was_taken_up_is_the_first_of_its_process() -> None:
    """3.7.2 prints the new epoch as the previous one, and server.log, which tells of the restart, may not be here."""
    started = "Creating new partition pay-0 with topic id uriBSDhhRyyuFSCIzB207Q."
    role = "Follower pay-0 starts at leader epoch {epoch} from offset 9 with partition epoch 9 and high watermark 8."
    role += " Current leader is 3. Previous leader Some(3) and previous leader epoch was {epoch}."
    told = in_terms(moments(started, role.format(epoch=5), role.format(epoch=6), writer="Broker id=2"))
    assert [(m.kind, m.epoch, m.fresh) for m in told] == [("follower-starts", 5, True), ("follower-starts", 6, False)]
