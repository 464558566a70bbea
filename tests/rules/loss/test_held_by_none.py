"""Records that stand readable in no replica here: what is lost, what is only not seen, and what nobody may be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.advice import advise, told_gates
from rules.catalog import BY_ID, RULES
from rules.evidence import PartitionEvidence
from rules.judging.judge import judge
from rules.loss.held_by_none import held_by_none, own_logs
from rules.loss.incurred import losses
from rules.loss.readable import readable
from rules.sketch.notation import read_sketch
from tests.replaced import replace

OF_TWO = "t1 leader 1 epoch 0 isr 1,2 of 1,2"
LOST_AT_4 = (OF_TWO, "t2 leads 1 epoch 0 at 0 hw 0", "t3 acks 1 at 8 acks=all", "t4 leads 2 epoch 1 at 4 hw 4")
Told = tuple[int, int, int, bool]


def drawn(*lines: str) -> PartitionEvidence:
    return read_sketch("\n".join(lines)).evidence


def told(evidence: PartitionEvidence) -> list[Told]:
    """Range, committed end, and whether it is lost for sure."""
    return [(found.start_offset, found.end_offset, found.committed_end, found.sure) for found in held_by_none(evidence)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # The tail, cut on every disk, with a high watermark that its recovery point bears out.
        (("broker 1 0000 ; hw 6, recovery 6", "broker 2 0000 ; hw 6, recovery 6", OF_TWO), [(4, 6, 6, True)]),
        # One copy is left.
        (("broker 1 0000 ; hw 6, recovery 6", "broker 2 000000|", OF_TWO), []),
        # Every replica had flushed it: what all had written is committed.
        (("broker 1 0000 ; recovery 6", "broker 2 0000 ; recovery 6", OF_TWO), [(4, 6, 6, True)]),
        # One had: nothing tells that it was committed.
        (("broker 1 0000 ; recovery 6", "broker 2 0000|", OF_TWO), [(4, 6, 4, False)]),
        # The checkpoint alone is wrong, by the recovery point beside it.
        (("broker 1 0000 ; hw 6, recovery 4", "broker 2 0000|", OF_TWO), []),
        # Unless another one says the same.
        (("broker 1 0000 ; hw 6, recovery 4", "broker 2 0000 ; hw 6, recovery 4", OF_TWO), [(4, 6, 4, False)]),
        # Bytes that nobody can read, at the same place in all logs.
        (("broker 1 00#0|", "broker 2 00#0|", OF_TWO), [(2, 3, 3, True)]),
        (("broker 1 000!0|", "broker 2 00#0|", OF_TWO), [(2, 3, 3, True)]),
        (("broker 1 00#0|", "broker 2 0#00|", OF_TWO), []),
        # Nothing stands there: the files may not have been copied.
        (("broker 1 0..0|", "broker 2 0..0|", OF_TWO), [(1, 3, 3, False)]),
        # Compaction leaves holes.
        (("broker 1 0..0| ; cleaner 4", "broker 2 0..0| ; cleaner 4", OF_TWO), []),
        # A third replica is assigned and not here, or nothing tells whether there is one.
        (("broker 1 00#0|", "broker 2 00#0|", "t1 leader 1 epoch 0 isr 1,2 of 1,2,3"), [(2, 3, 3, False)]),
        (("broker 1 00#0|", "broker 2 00#0|"), [(2, 3, 3, False)]),
        # What was deleted is nothing that went.
        (("broker 1 ...0| ; start 3", "broker 2 ...0| ; start 3", OF_TWO), []),
        # An answer to a producer tells as well, with acks=1 too.
        (
            ("broker 1 00|", "broker 2 00|", OF_TWO, "t2 leads 1 epoch 0 at 0 hw 0", "t3 acks 1 at 3 acks=1"),
            [(2, 4, 2, True)],
        ),
        (
            ("broker 1 00|", "broker 2 00|", OF_TWO, "t2 leads 1 epoch 0 at 0 hw 0", "t3 acks 1 at 3 acks=all"),
            [(2, 4, 4, True)],
        ),
        # A later leader left it out: that is told by its epoch.
        (
            (
                "broker 1 0011|", "broker 2 0011|", OF_TWO, "t2 leads 1 epoch 0 at 0 hw 0", "t3 acks 1 at 5 acks=all",
                "t4 leads 2 epoch 1 at 2 hw 2",
            ),
            [],
        ),
        # That leader wrote at the same offsets, and no log holds that either: these are other records.
        (
            ("broker 1 0000 ; epochs 0@0 1@4", "broker 2 0000 ; hw 7, recovery 7, epochs 0@0 1@4", *LOST_AT_4),
            [(4, 7, 7, True)],
        ),
        # A broker that knows the epoch before alone tells of the records that were left out.
        (("broker 1 0000 ; hw 9, recovery 9, epochs 0@0", "broker 2 0000|", *LOST_AT_4), []),
    ],
)  # fmt: skip
def test_what_no_replica_holds(lines: tuple[str, ...], expected: list[Told]) -> None:
    assert told(drawn(*lines)) == expected


TAIL = ("broker 1 0000 ; unclean, hw 6", "broker 2 0000 ; unclean, hw 6", OF_TWO, "live")


@pytest.mark.parametrize(
    ("copied", "expected"), [("", [(4, 6, 6, False)]), ("live", []), ("crashed", [(4, 6, 6, True)])]
)
def test_a_copy_of_running_brokers_may_be_of_several_moments(copied: str, expected: list[Told]) -> None:
    evidence = replace(drawn(*TAIL), copied=copied, copied_live=copied in ("", "live"))
    assert told(evidence) == expected


def test_the_bill_the_finding_and_the_advice_say_the_same() -> None:
    evidence = drawn("broker 1 0000 ; hw 6, recovery 6", "broker 2 0000 ; hw 6, recovery 6", OF_TWO)
    verdict = judge(evidence, RULES)
    (loss,) = verdict.losses
    assert (loss.start_offset, loss.end_offset, loss.next_epoch, loss.survivors) == (4, 6, None, ())
    assert loss.matters
    assert not loss.restored
    assert [f.severity for f in verdict.findings if f.rule == "LOG008"] == [4]
    (advice,) = verdict.advice
    assert [(each.start_offset, each.end_offset, each.doubt) for each in advice.nowhere] == [(4, 6, "")]
    assert {candidate.had_reached for candidate in advice.candidates} == {6}
    assert not advice.settled
    words = " ".join(gate.because for gate in told_gates(advice))
    assert "loses nothing more. No copy here holds offsets 4–5." in words
    assert "loses nothing." not in words


def test_what_is_only_not_seen_lets_nobody_be_elected() -> None:
    (away,) = advise(drawn("broker 1 00 ; hw 4", "broker 2 00 ; hw 4", "t1 leader 1 epoch 0 isr 1,2 of 1,2,3"))
    assert {gate.going for gate in away.gates if gate.action.startswith("elect ")} == {"unknown"}


def test_a_replica_is_given_up_only_where_another_copy_is_whole() -> None:
    def whole(*lines: str) -> list[object]:
        findings = judge(drawn(*lines, OF_TWO), RULES).findings
        return [finding.values()["whole"] for finding in findings if finding.rule == "SEG002"]

    assert whole("broker 1 00#0|", "broker 2 0000|") == [[2]]
    assert whole("broker 1 00#0|", "broker 2 00#0|") == [[], []]
    assert whole("broker 1 00#0|", "broker 2 0#00|") == [[], []]


CELLS = st.lists(st.sampled_from(["0", "#", "0!"]), min_size=4, max_size=4).map(lambda cells: f"{''.join(cells)}0|")


@given(st.lists(CELLS, min_size=1, max_size=3))
def test_what_no_replica_holds_is_in_none_and_all_else_is_in_one(cells: list[str]) -> None:
    brokers = range(1, len(cells) + 1)
    assigned = ",".join(map(str, brokers))
    logs = (f"broker {broker} {own}" for broker, own in zip(brokers, cells, strict=True))
    evidence = drawn(*logs, f"t1 leader 1 epoch 0 isr {assigned} of {assigned}")
    held = {
        offset
        for replica in own_logs(evidence)
        for low, high in readable(replica, compacted=False)
        for offset in range(low, high)
    }
    gone = {offset for low, high, _, _ in told(evidence) for offset in range(low, high)}
    assert gone.isdisjoint(held)
    assert gone | held == set(range(5))
    assert sum(loss.offsets for loss in losses(evidence)) == len(gone)
    fewer = drawn(*[f"broker 1 {cells[0]}"], f"t1 leader 1 epoch 0 isr {assigned} of {assigned}")
    assert len(cells) == 1 or not any(sure for *_, sure in told(fewer))


def test_two_losses_at_the_same_offsets_are_two_bills() -> None:
    evidence = drawn(
        "broker 1 0000 ; epochs 0@0 1@4", "broker 2 0000 ; hw 7, recovery 7, epochs 0@0 1@4", *LOST_AT_4
    )
    billed = [(loss.epoch, loss.start_offset, loss.end_offset) for loss in losses(evidence) if loss.matters]
    assert billed == [(0, 4, 9), (1, 4, 7)]


def test_epoch_files_tell_the_epochs_of_what_no_log_holds() -> None:
    file = "hw 9, recovery 9, epochs 0@0 1@4 2@6"
    evidence = drawn(f"broker 1 00 ; {file}", f"broker 2 00 ; {file}", OF_TWO)
    billed = [(loss.epoch, loss.start_offset, loss.end_offset) for loss in losses(evidence)]
    assert billed == [(0, 2, 4), (1, 4, 6), (2, 6, 9)]


def test_what_is_there_now_is_what_the_leader_holds() -> None:
    """Broker 2 led epoch 1 and wrote up to 8; broker 3 leads epoch 2 without that."""
    lines = ("broker 1 00000000|", "broker 2 00001111|", "broker 3 00002|", "t0 leader 1 epoch 0 isr 1,2,3 of 1,2,3")
    leads = ("t2 leads 1 epoch 0 at 0 hw 0", "t3 acks 1 at 7 acks=all", "t4 leads 2 epoch 1 at 4 hw 4",
             "t5 leads 3 epoch 2 at 4 hw 4")  # fmt: skip
    first = next(loss for loss in losses(drawn(*lines, *leads)) if loss.epoch == 0)
    assert (first.start_offset, first.end_offset, first.reused_end, first.reused_epochs) == (4, 8, 5, (2,))


LED = "broker 1 0|\nbroker 2 0|\nt1 leads 1 epoch 0 at 0 hw 0 isr 1,2\nt2 acks 1 at 1 acks=1\nt4 loads 1 at 1\n"


@pytest.mark.parametrize(
    ("then", "asked"), [("", [1]), ("t5 leader 1 epoch 1 isr 1", [1]), ("t5 leader 2 epoch 1 isr 2", [])]
)
def test_who_leads_on_gave_nothing_up_in_an_epoch_of_which_nothing_tells_where_it_opened(
    then: str, asked: list[int]
) -> None:
    """Its log ended before what it had answered for: no other leader can have left that out."""
    said = BY_ID["LOG008"].check(read_sketch(LED + then).evidence)
    assert [one.start_offset for one in said] == asked
