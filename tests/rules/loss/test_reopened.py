"""A leader whose disk was wiped takes the same epoch once more: two lives of one number are told apart, or not told."""

from __future__ import annotations

import pytest

from auditor.report.bill import details, sentence
from parsers.provenance import Span
from parsers.tables import RefusalKind
from rules.catalog import BY_ID, RULES
from rules.facts.stretch import UnreadBytes
from rules.judging.judge import judge
from rules.loss.incurred import Loss, losses
from rules.sketch.notation import read_sketch
from tests.lab.sketches import OPENED_ONCE_MORE
from tests.replaced import replace

TOLD = """
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 2 acks=all
t3 fetch 2@6 from 1 hw=6
t4 acks 1 at 8 acks=all
t5 begins 1
t6 leads 1 epoch 0 at 0 hw 0
t7 acks 1 at 0 acks=all
t8 acks 1 at 3 acks=all
"""
LEADER = "broker 1* 0b0b 00|\n"
FOLLOWER = "broker 2 0a0a 00|\n"


def bill(disks: str) -> list[Loss]:
    return list(judge(read_sketch(disks + TOLD).evidence, RULES).losses)


def test_what_was_written_before_is_lost_also_where_its_number_stands_again() -> None:
    (loss,) = bill(LEADER + FOLLOWER)
    assert (loss.epoch, loss.next_epoch, loss.start_offset, loss.end_offset) == (0, 0, 0, 9)
    assert not loss.restored
    assert [(copy.broker, copy.start_offset, copy.end_offset) for copy in loss.survivors] == [(2, 0, 2)]
    assert loss.reused_end == 4
    assert loss.answers == 2, "answers that were given since the epoch was opened again are of other records"


@pytest.mark.parametrize(("at", "start"), [("t9", 0), ("t4", 3)])
def test_what_was_deleted_is_no_loss_and_what_its_later_life_deletes_hides_none(at: str, start: int) -> None:
    fetch = f"{at} fetch 2@4 from 1 hw=4 start=3\n"
    told = TOLD + fetch if at == "t9" else TOLD.replace("t5", f"{fetch}t5")
    evidence = read_sketch(LEADER + FOLLOWER + told).evidence
    assert [(loss.start_offset, loss.end_offset) for loss in losses(evidence)] == [(start, 9)]
    (found,) = BY_ID["LEAD001"].check(evidence)
    assert (found.start_offset, found.end_offset) == (start, 9)


def test_a_log_start_of_an_earlier_life_hides_nothing_that_a_later_one_lost() -> None:
    earlier = "t1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 9 acks=all\nt3 fetch 2@10 from 1 hw=10 start=9\nt4 begins 1\n"
    later = "t5 leads 1 epoch 1 at 0 hw 0\nt6 acks 1 at 7 acks=all\nt7 leads 2 epoch 2 at 3 hw 3\n"
    evidence = read_sketch(f"broker 1 11122|\nbroker 2 11122|\n{earlier}{later}").evidence
    assert (1, 3, 8) in [(loss.epoch, loss.start_offset, loss.end_offset) for loss in losses(evidence)]


def test_a_last_batch_of_which_only_the_answer_is_left_may_have_held_more() -> None:
    (loss,) = bill(LEADER + FOLLOWER)
    assert (loss.end_known, loss.end_at_most) == (False, None)
    assert sentence(loss) == (
        "at least 9 committed records, offsets 0–8 of epoch 0. Broker 1 opened epoch 0 once more without them."
        " Copies of 0–1 survive on broker 2. Of the rest none was found."
    )
    assert any("the last batch that was answered begins at 8" in line for line in details(loss))
    assert any("at least" in line and " to 9 records" not in line for line in details(loss))


def test_without_the_leaders_disk_only_what_no_copy_holds_is_surely_gone() -> None:
    assert [(loss.start_offset, loss.end_offset, loss.survivors) for loss in bill(FOLLOWER)] == [(4, 9, ())]


def test_a_follower_that_leads_with_the_older_records_has_them_restored() -> None:
    disks = "broker 1 0b0b 00|\nbroker 2* 0a0a 0a0a 00000 1|\n"
    (loss, *_) = judge(read_sketch(f"{disks}{TOLD}t9 leads 2 epoch 1 at 9 hw 9\n").evidence, RULES).losses
    assert (loss.start_offset, loss.end_offset, loss.restored) == (0, 9, True)


def test_what_leads_again_in_part_is_restored_in_part() -> None:
    disks = "broker 1 0b0b 00|\nbroker 2* 0a0a 00 00000 1|\n"
    told = judge(read_sketch(f"{disks}{TOLD}t9 leads 2 epoch 1 at 9 hw 9\n").evidence, RULES).losses
    assert [(loss.start_offset, loss.end_offset, loss.restored) for loss in told] == [
        (0, 2, True), (2, 4, False), (4, 9, True),
    ]  # fmt: skip


EMPTIED = """
broker 1 000000 2|
broker 2* 000000 2|
t1 loads 1 at 0
t1 leads 1 epoch 0 at 0 hw 0
t3 fetch 2@6 from 1 hw=6
t4 acks 1 at 5 acks=all
t5 begins 1
t6 leads 1 epoch 0 at 0 hw 0
t7 follows 1 epoch 1 at {end} hw 0 from 2
t9 leads 2 epoch 2 at 6 hw 6
t9 follows 1 epoch 2 at {end} hw 0 from 2
"""


@pytest.mark.parametrize(("end", "said"), [(0, [(0, 6, True)]), (2, [(0, 2, False), (2, 6, True)])])
def test_what_an_emptied_leader_copied_later_it_had_not_written(end: int, said: list[tuple[int, int, bool]]) -> None:
    """It led for a moment with nothing: whoever leads now has kept all, and nobody wrote after he was deposed."""
    judged = judge(read_sketch(EMPTIED.format(end=end)).evidence, RULES)
    assert [(loss.start_offset, loss.end_offset, loss.restored) for loss in judged.losses] == said
    assert "LEAD004" not in {finding.rule for finding in judged.findings}


@pytest.mark.parametrize("kind", ["not_copied", "unreadable"])
def test_a_bill_tells_whose_disk_was_not_searched_whole(kind: RefusalKind) -> None:
    assert [loss.unsearched for loss in bill(FOLLOWER)] == [()]
    drawn = read_sketch(FOLLOWER + TOLD).evidence
    missing = UnreadBytes(
        kind=kind, expected_offset=4, next_offset=None, expected="a segment", found="no such file",
        span=Span(source="broker-2/t-0/00000000000000000004.log", start=0, end=0),
    )  # fmt: skip
    replicas = tuple(replace(r, log=replace(r.log, unread=(missing,), unread_count=1)) for r in drawn.replicas)
    losses = judge(replace(drawn, replicas=replicas), RULES).losses
    assert [loss.unsearched for loss in losses] == [(2,)]
    assert sentence(losses[0]).endswith(
        "No copy was found. Not all segments of broker 2 were copied or could be read."
    )


def test_without_any_disk_nothing_is_said_of_copies() -> None:
    (loss,) = bill("")
    assert loss.searched == ()
    assert sentence(loss).endswith("No disk in this dump could hold a copy.")


def test_records_below_the_first_opening_are_billed_to_the_epoch_that_wrote_them() -> None:
    losses = judge(read_sketch(OPENED_ONCE_MORE).evidence, RULES).losses
    told = [(loss.epoch, loss.start_offset, loss.end_offset) for loss in losses]
    assert (3, 6, 7) in told
    assert sum(end - start for _, start, end in told) == len({x for _, start, end in told for x in range(start, end)})


def test_what_a_leader_answered_for_alone_before_it_opened_its_epoch_again_is_gone_too() -> None:
    told = """
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@2 from 1 hw=2
    t3 acks 1 at 1 acks=all
    t4 acks 1 at 4 acks=1
    t5 begins 1
    t6 leads 1 epoch 0 at 1 hw 1
    t7 acks 1 at 1 acks=all
    t8 acks 1 at 5 acks=all
    """
    judged = judge(read_sketch(f"broker 1* 0000000|\nbroker 2 0000000|{told}").evidence, RULES)
    (loss,) = judged.losses
    assert (loss.start_offset, loss.end_offset, loss.end_known, loss.committed_end) == (1, 5, False, 2)
    assert not [finding for finding in judged.findings if finding.rule == "LOG008"], "the bill has told it"


def test_answers_before_an_epoch_was_opened_again_are_billed_to_no_other_epoch() -> None:
    told = """
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 2 acks=1
    t3 leads 1 epoch 1 at 3 hw 3
    t4 acks 1 at 4 acks=1
    t5 begins 1
    t6 leads 1 epoch 1 at 1 hw 1
    """
    found = losses(read_sketch(f"broker 1* 01|{told}").evidence)
    assert [(loss.epoch, loss.start_offset, loss.end_offset) for loss in found] == [(0, 1, 3), (1, 3, 5)]


BY_ONE = """
t1 leads 1 epoch 0 at 0 hw 0
t2 fetch 2@{fetched} from 1 hw={hw}
t3 acks 1 at 4 acks=1
t5 loads 1 at 2
t6 leads 1 epoch 0 at 2 hw 2
"""


def test_finding_bill_and_questions_agree_on_what_one_producer_was_told_before_an_epoch_was_opened_again() -> None:
    evidence = read_sketch(f"broker 1* 00000|\nbroker 2 00000|{BY_ONE.format(fetched=2, hw=2)}").evidence
    judged = judge(evidence, RULES)
    (found,) = [f for f in judged.findings if f.rule == "ACK001" and f.verdict == "violated"]
    at = found.start_offset, found.end_offset
    assert (at, found.confidence, found.values()["acks"]) == ((4, 5), "certain", "acks=1")
    assert "Broker 1 then opened epoch 0 once more with log end offset 2" in found.message
    assert [(loss.start_offset, loss.end_offset, loss.acknowledged_end) for loss in judged.losses] == [(2, 5, 5)]
    assert not [line for line in judged.undecided if "had records" in line.reason], "it is known that it had not"


@pytest.mark.parametrize(
    ("followed", "restored", "perhaps", "rules"),
    [
        ("t8 follows 1 epoch 1 at 2 hw 2 from 2\n", True, (), set()),
        ("t8 follows 1 epoch 1 at 5 hw 2 from 2\n", False, (), {"ACK001", "CONS003"}),
        ("", False, (2,), set()),
    ],
    ids=["it wrote nothing since", "it wrote all of it since", "nothing tells"],
)
def test_whose_records_stand_under_a_number_used_twice_is_no_surer_than_its_leaders_next_word(
    followed: str, restored: bool, perhaps: tuple[int, ...], rules: set[str]
) -> None:
    told = f"{BY_ONE.format(fetched=5, hw=5)}t7 leads 2 epoch 1 at 5 hw 5\n{followed}t9 acks 2 at 6 acks=all\n"
    judged = judge(read_sketch(f"broker 1 0000011|\nbroker 2* 0000011|{told}").evidence, RULES)
    assert [(loss.restored, loss.unread) for loss in judged.losses] == [(restored, perhaps)]
    assert {f.rule for f in judged.findings if f.verdict == "violated"} & {"ACK001", "CONS003"} == rules
    asked = [f.message for f in judged.findings if f.rule == "ACK001" and f.verdict == "undecided"]
    assert any("Whether those are the same ones is not known" in words for words in asked) == bool(perhaps)
    (words,) = map(sentence, judged.losses)
    assert ("Broker 2 led later and may have had them still. Broker 1's whole server.log would tell." in words) == bool(
        perhaps
    )


def test_what_was_answered_for_two_openings_before_is_billed_too() -> None:
    told = BY_ONE.format(fetched=2, hw=2).replace("loads 1 at 2", "loads 1 at 5").replace("at 2 hw 2", "at 5 hw 2")
    sketch = f"broker 1* 00|\nbroker 2 00|{told}t7 loads 1 at 2\nt8 leads 1 epoch 0 at 2 hw 2\n"
    judged = judge(read_sketch(sketch).evidence, RULES)
    (found,) = [f for f in judged.findings if f.rule == "ACK001" and f.verdict == "violated"]
    assert (found.start_offset, found.end_offset) == (4, 5)
    assert [(loss.start_offset, loss.end_offset) for loss in judged.losses] == [(2, 5)]


@pytest.mark.parametrize("before", ["t0 begins 3\n", "t0 truncates 3 to 1\n"])
def test_a_cut_or_a_beginning_of_no_known_order_proves_no_loss_of_what_its_broker_had_fetched(before: str) -> None:
    told = """t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 3@6 from 1 hw=6
    t3 acks 1 at 5 acks=all
    t5 loads 1 at 2
    t6 leads 1 epoch 0 at 2 hw 2
    t7 follows 1 epoch 1 at 2 hw 2 from 3
    t8 leads 3 epoch 1 at 6 hw 6
    t9 acks 3 at 6 acks=all
    """
    judged = judge(read_sketch(f"broker 1 0000001|\nbroker 2 0000001|\n{before}{told}").evidence, RULES)
    assert [(loss.restored, loss.unread) for loss in judged.losses] == [(False, (3,))]
    assert not {"ACK001", "CONS003"} & {f.rule for f in judged.findings if f.verdict == "violated"}


@pytest.mark.parametrize("lost", ["t12 begins 1\n", "t12 truncates 1 to 0\n"])
def test_what_its_leader_lost_once_more_and_copied_back_may_be_of_before(lost: str) -> None:
    told = """t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 2 acks=all
    t3 fetch 2@9 from 1 hw=9
    t4 acks 1 at 8 acks=all
    t5 begins 1
    t6 leads 1 epoch 0 at 0 hw 0
    t9 leads 2 epoch 1 at 9 hw 9
    t10 follows 1 epoch 1 at 4 hw 0 from 2
    """
    judged = judge(read_sketch(f"broker 1 0000000001|\nbroker 2* 0000000001|\n{told}{lost}").evidence, RULES)
    assert not {"ACK001", "CONS003"} & {f.rule for f in judged.findings if f.verdict == "violated"}
    assert (0, 4, False, (2,)) in [(x.start_offset, x.end_offset, x.restored, x.unread) for x in judged.losses]
