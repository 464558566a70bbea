"""Stretches that ceased to count: each record once, by the epoch that wrote it, none that had been deleted before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.bill import details
from rules.loss.incurred import losses
from rules.loss.left_out import left_out
from rules.sketch.notation import read_sketch
from tests.lab.sketches import OPENED_ONCE_MORE

Stretch = tuple[int, int, int, int]


def stretches(drawing: str) -> list[Stretch]:
    """Epoch, the epoch after it, start and end of what was left out."""
    found = left_out(read_sketch(drawing).evidence)
    return sorted((each.epoch, each.next_epoch, each.start, each.end) for each in found)


UNCLEAN = """
broker 1 000000|
broker 2 001|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 5 acks=all
{deleted}
t9 leads 2 epoch 1 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("deleted", "left"),
    [
        ("", [(0, 1, 2, 6)]),
        ("t3 fetch 3@6 from 1 hw 6 start=4", [(0, 1, 4, 6)]),
        ("t3 fetch 3@6 from 1 hw 6 start=6", []),
        ("t3 fetch 3@6 from 1 hw 6 start=1", [(0, 1, 2, 6)]),
    ],
)
def test_what_was_deleted_before_the_epoch_ended_was_not_lost_with_it(deleted: str, left: list[Stretch]) -> None:
    assert stretches(UNCLEAN.format(deleted=deleted)) == left


REPLACED = """
broker 1 001133555|
broker 2 001133555|
t1 leads 1 epoch 1 at 2 hw 2
t2 acks 1 at 3 acks=1
t3 leads 2 epoch 3 at 4 hw 4
t4 saves 1 at 6
t4 loads 1 at 6
t5 leader 2 epoch 3 isr 2 told 1
{then}
t9 loads 1 at 9
"""


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ("t6 leads 1 epoch 5 at 6 hw 4", []),
        ("t5 truncates 1 to 4\nt6 leads 1 epoch 5 at 6 hw 4", [(1, 3, 4, 6)]),
        ("t6 follows 1 epoch 5 at 6 hw 4", [(1, 3, 4, 6)]),
    ],
)
def test_what_a_broker_loaded_and_led_on_with_is_of_the_epochs_that_its_log_shows(
    then: str, left: list[Stretch]
) -> None:
    """Broker 1's folder was replaced by a copy of broker 2's while it was away, and led epoch 1 before."""
    assert stretches(REPLACED.format(then=then)) == left


def test_what_the_next_leader_deletes_of_its_own_log_saves_nobody() -> None:
    later = UNCLEAN.format(deleted="") + "t10 fetch 1@2 from 2 hw 3 start=3"
    assert stretches(later) == [(0, 1, 2, 6)]


LED_ON = """
broker 1 001111|
broker 2 00333|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 3 acks=1
t3 leads {between} at {opened} hw 4
t4 acks {answered} at 5 acks=1
t5 fetch 3@6 from {answered} hw 6 epoch {epoch} start={start}
t9 leads 2 epoch 3 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("start", "left"),
    [
        (0, [(0, 3, 2, 4), (1, 3, 4, 6)]),
        (3, [(0, 3, 3, 4), (1, 3, 4, 6)]),
        (5, [(1, 3, 5, 6)]),
        (6, []),
    ],
)
def test_what_a_later_leader_deleted_before_it_was_lost_was_not_lost(start: int, left: list[Stretch]) -> None:
    """It began with those records: since 1.1 a leader's epoch grows when a follower dies, and retention goes on."""
    drawn = LED_ON.format(between="1 epoch 1", opened=4, answered=1, epoch=1, start=start)
    assert stretches(drawn) == left


def test_what_a_leader_deletes_that_began_without_the_records_saves_nobody() -> None:
    drawn = LED_ON.format(between="1 epoch 1", opened=2, answered=1, epoch=1, start=6)
    assert (0, 1, 2, 4) in stretches(drawn)


SHORTER = """
broker 1 00|
broker 2 00|
t1 leads 2 epoch 0 at 0 hw 0
t2 follows 1 epoch 0 at 0 hw 0 from 2
t10 loads 2 at 2
t11 loads 1 at 6
t12 leads 2 epoch 0 at 2 hw 2
t13 follows 1 epoch 0 at 6 hw 5 from 2
t14 follows 2 epoch 2 at 2 hw 2
t15 follows 1 epoch 2 at 6 hw 5
t16 leads 2 epoch 3 at 2 hw 2
t17 follows 1 epoch 3 at 6 hw 5 from 2
t18 truncates 1 to 2
"""


def test_a_follower_that_was_told_its_role_again_had_copied_records_of_that_epoch() -> None:
    """After a crash of all, the leader had lost the end of its log: only a follower's log and cut tell of it."""
    assert stretches(SHORTER) == [(0, 3, 2, 6)]
    (lost,) = losses(read_sketch(SHORTER).evidence)
    # Nothing tells that nobody was answered for the last one: no log of requests is here.
    assert [(part.worth, part.end_offset) for part in lost.portions] == [("committed", 5), ("possibly acknowledged", 6)]


def test_a_cut_and_an_opening_that_overlap_count_the_shared_offsets_once() -> None:
    cut = "t11 follows 1 epoch 1 at 8 hw 2 from 2\nt12 truncates 1 to 2"
    assert stretches(UNCLEAN.format(deleted="") + cut) == [(0, 1, 2, 8)]


BEHIND = """
broker 1 0022|
broker 2 0022|
broker 3 0022|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 5 acks=all
t3 follows 3 epoch 0 at 0 hw 0 from 1
t4 leads 2 epoch 1 at 2 hw 2
t5 follows 3 epoch 1 at 6 hw 2 from 2
{fetched}
t8 leads 1 epoch 2 at 2 hw 2
t9 follows 3 epoch 2 at 6 hw 2 from 1
t10 truncates 3 to 2
"""


IDLE = """
broker 2 0022|
t1 leads 3 epoch 0 at 0 hw 0
t2 acks 3 at 5 acks=all
t3 fetch 1@5 from 3 hw 4 epoch 0
t4 leads 1 epoch 1 at 6 hw 6
{wrote}
t7 leads 2 epoch 2 at 2 hw 2
t8 follows 1 epoch 2 at 6 hw 6 from 2
t9 truncates 1 to 2
"""
"""Broker 1 led at the end of the records that were lost, and came back with them."""


def test_older_records_that_a_follower_cuts_later_are_those_that_were_left_out_already() -> None:
    assert stretches(BEHIND.format(fetched="")) == [(0, 1, 2, 6)]


def test_what_a_reign_that_wrote_nothing_cuts_is_of_the_leader_before_it() -> None:
    assert stretches(IDLE.format(wrote="")) == [(0, 2, 2, 6)]
    (bill,) = losses(read_sketch(IDLE.format(wrote="")).evidence)
    assert (bill.epoch, bill.committed_end, bill.answers) == (0, 6, 1)


def test_what_it_wrote_itself_is_billed_beside() -> None:
    wrote = "t5 acks 1 at 6 acks=all\nt6 fetch 3@8 from 1 hw 8 epoch 1"
    assert stretches(IDLE.format(wrote=wrote).replace("at 6 hw 6 from 2", "at 8 hw 8 from 2")) == [
        (0, 2, 2, 6),
        (1, 2, 6, 8),
    ]


def test_what_a_later_leader_committed_of_an_older_epoch_was_committed_when_it_went() -> None:
    """Broker 3 wrote offsets 4 and 5 last; that they are committed is told by broker 1 alone, which led after it."""
    late = IDLE.replace("t2 acks 3 at 5 acks=all", "t2 acks 3 at 3 acks=all")
    (bill,) = losses(read_sketch(late.format(wrote="t5 fetch 4@6 from 1 hw=6 epoch 1")).evidence)
    assert (bill.epoch, bill.start_offset, bill.committed_end, bill.end_offset) == (0, 2, 6, 6)


def test_a_broker_that_follows_nobody_cuts_what_it_had_before_and_nothing_that_others_committed_since() -> None:
    """Broker 2 had offset 4 of an epoch that nobody saw; others committed up to 9 before it came back leaderless."""
    drawn = (
        "broker 1 00001111133|\nt1 leads 2 epoch 0 at 0 hw 0\nt2 fetch 1@4 from 2 hw=4 epoch 0\n"
        "t3 leads 1 epoch 1 at 4 hw 4\nt4 acks 1 at 8 acks=all\nt5 fetch 3@9 from 1 hw=9 epoch 1\n"
        "t6 loads 2 at 5\nt7 follows 2 epoch 2 at 5 hw 4\nt8 leads 1 epoch 3 at 9 hw 9\n"
        "t9 follows 2 epoch 3 at 5 hw 4 from 1\nt10 truncates 2 to 4\n"
    )
    told = losses(read_sketch(drawn).evidence)
    assert [(bill.start_offset, bill.end_offset, bill.matters) for bill in told] == [(4, 5, False)]


def test_records_that_a_follower_had_fetched_in_the_later_epoch_are_others() -> None:
    fetched = "t6 truncates 3 to 2\nt7 fetch 3@5 from 2 hw 2 epoch 1"
    assert stretches(BEHIND.format(fetched=fetched)) == [(0, 1, 2, 6), (1, 2, 2, 6)]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.lists(st.integers(0, 12), min_size=8, max_size=8))
def test_of_many_openings_none_that_counts_is_passed_over(opened: list[int], ends: list[int]) -> None:
    """As if every later opening were looked at: the records that an epoch loses to each, lowest offset by offset."""
    lines = ["broker 3 |"]
    for epoch, offset in enumerate(opened):
        lines.append(f"t{10 * epoch} leads 1 epoch {epoch} at {offset} hw 0")
        if ends[epoch] > offset:
            lines.append(f"t{10 * epoch + 1} fetch 2@{ends[epoch]} from 1 hw 0 epoch {epoch}")
    due: list[Stretch] = []
    for epoch, offset in enumerate(opened):
        end = max([offset, ends[epoch], *opened[epoch + 1 : epoch + 2]])  # the one leader's own log
        for later, start in enumerate(opened[epoch + 1 :], epoch + 1):
            if max(offset, start) < end:
                due.append((epoch, later, max(offset, start), end))
                end = max(offset, start)
    assert stretches("\n".join(lines)) == sorted(due)


@pytest.mark.parametrize(
    ("first", "second", "reused"),
    [
        # The next leader wrote the offsets anew, and after it another one.
        ("001122", "001122", 6),
        # It wrote nothing there: what a later one wrote begins beyond the stretch, behind records that are its own.
        ("000000222", "000000222", 2),
    ],
)
def test_offsets_are_reused_only_where_a_later_record_stands(first: str, second: str, reused: int) -> None:
    drawn = (
        f"broker 1 {first}|\nbroker 2 {second}|\nt1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 5 acks=all\n"
        "t3 leads 2 epoch 1 at 2 hw 2\nt4 leads 1 epoch 2 at 6 hw 2\n"
    )
    bills = losses(read_sketch(drawn).evidence)
    assert [bill.reused_end for bill in bills if bill.epoch == 0] == [reused]


PUT_BACK = f"""{OPENED_ONCE_MORE}
t7 follows 2 epoch 3 at 6 hw 6 from 1
t8 truncates 2 to 3
"""


def test_a_disk_that_was_put_back_loses_what_older_epochs_wrote_when_the_epoch_is_opened_once_more() -> None:
    told = losses(read_sketch(PUT_BACK).evidence)
    assert [(bill.epoch, bill.leader, bill.next_epoch, bill.start_offset, bill.end_offset) for bill in told] == [
        (2, 1, 3, 3, 6),
        (3, 1, 3, 6, 7),
    ]
    assert all(bill.again for bill in told)


def test_offsets_that_a_leader_gave_are_as_many_records() -> None:
    """A leader gives one offset after the other, and to markers of transactions too; a compacted log has holes."""
    told, *_ = losses(read_sketch(PUT_BACK).evidence)
    assert "3 records, any transaction markers included" in next(details(told))
    compacted, *_ = losses(read_sketch(PUT_BACK.replace("broker 2  000 33|", "broker 2  000 33| ; cleaner 2")).evidence)
    assert "1 to 3 records" in next(details(compacted))


def test_what_a_follower_cuts_is_of_the_leader_that_wrote_it() -> None:
    drawn = "broker 2 00 2|\nt1 leads 1 epoch 1 at 2 hw 2\nt2 follows 2 epoch 1 at 2 hw 2 from 1\n"
    drawn += "t3 fetch 2@4 from 1 hw=2 epoch 1\nt4 follows 2 epoch 2 at 4 hw 2 from 3\nt5 truncates 2 to 2\n"
    (bill,) = losses(read_sketch(drawn).evidence)
    assert (bill.epoch, bill.leader, bill.start_offset, bill.end_offset) == (1, 1, 2, 4)


def test_a_replica_that_restarts_in_the_first_epoch_cuts_nothing_older() -> None:
    drawn = "broker 2 00|\nt1 loads 2 at 4\nt2 follows 2 epoch 0 at 4 hw 2 from 1\nt3 truncates 2 to 2\n"
    assert stretches(drawn) == []


RECORDED = """
broker 1* 000 44|
broker 2  000 44|
t1 leader 1 epoch 0 isr 1,2
t2 leader 2 epoch 1 isr 2
t3 leader 1 epoch 2 isr 1,2
t4 acks 1 at 3 acks=all
t5 fetch 2@6 from 1 hw=6 epoch 2
t6 acks 1 at {last} acks=all
t7 leader -1 epoch 3 isr 1
t8 leader 1 epoch 4 isr 1
t9 fetch 2@5 from 1 hw=5 epoch 4
"""


@pytest.mark.parametrize(("last", "left"), [(6, [(2, 4, 3, 7)]), (4, [(2, 4, 3, 6)]), (7, [(2, 4, 3, 6)])])
def test_an_answer_of_one_of_two_epochs_that_goes_on_and_that_no_log_reaches_is_billed(
    last: int, left: list[Stretch]
) -> None:
    assert stretches(RECORDED.format(last=last)) == left


HOLED = """
broker 1 0000111122|
broker 2 0000111122|
t1 leads 1 epoch 0 at 0 hw 0
t2 fetch 2@4 from 1 hw=4
t3 leads 2 epoch 1 at 4 hw 4
t6 loads 1 at 8
t7 leads 1 epoch 2 at 8 hw 8
"""


def test_a_log_end_behind_untold_roles_is_no_older_epochs_where_a_later_ones_records_reach_it() -> None:
    """Broker 1's word of epoch 1 is missing: what its log held when it was loaded it may have fetched in it."""
    assert stretches(HOLED) == []


STOPPED = """
broker 1 {disk}|
broker 2 {disk}|
t1 leads 1 epoch 0 at 0 hw 0
t2 follows 2 epoch 0 at 0 hw 0 from 1
t3 fetch 2@4 from 1 hw=4
t9 saves 1 at 10
{later}
"""


@pytest.mark.parametrize(
    ("disk", "later", "end"),
    [
        # Epochs 1 to 3 are in no log: the stop is the one that the disk shows, with records of epoch 3.
        ("0000333333", "", 4),
        ("0000333", "", 10),
        ("0000333333", "t10 loads 1 at 10", 10),
        ("0000333333", "t10 follows 1 epoch 3 at 10 hw 4 from 2", 10),
    ],
)
def test_what_a_broker_saved_when_it_stopped_is_of_the_epoch_that_its_disk_shows(
    disk: str, later: str, end: int
) -> None:
    told = read_sketch(STOPPED.format(disk=disk, later=later)).evidence.epoch_ends[0]
    assert told.offset == end


CUT_BEHIND_A_HOLE = """
broker 2* 00 33|
t1 leads 2 epoch 0 at 0 hw 0
t1 follows 1 epoch 0 at 0 hw 0 from 2
{between}
t4 loads 1 at 5
t5 leads 2 epoch 3 at 2 hw 2
t6 follows 1 epoch 3 at 5 hw 5 from 2
t7 answers 1 with 0:2 from 2
t8 truncates 1 to 2
"""


@pytest.mark.parametrize(
    ("between", "latest"), [("t1 leader 2 epoch 0 isr 1,2", 0), ("t2 leader 1 epoch 1 isr 1", 2)]
)
def test_what_a_broker_cut_may_be_of_an_epoch_that_it_led_and_its_own_log_lacks(between: str, latest: int) -> None:
    evidence = read_sketch(CUT_BEHIND_A_HOLE.format(between=between)).evidence
    assert [(part.epoch, part.newest, part.start, part.end) for part in left_out(evidence)] == [(0, latest, 2, 5)]


@pytest.mark.parametrize(
    ("between", "parts"), [("t1 leader 2 epoch 0 isr 1,2", [(0, 2, 5)]), ("t2 leader 1 epoch 1 isr 1", [])]
)
def test_a_cut_is_of_no_known_epoch_where_its_broker_led_one_since_of_which_its_own_log_does_not_tell(
    between: str, parts: list[tuple[int, int, int]]
) -> None:
    drawing = CUT_BEHIND_A_HOLE.format(between=between).replace("t7 answers 1 with 0:2 from 2\n", "")
    assert [(part.epoch, part.start, part.end) for part in left_out(read_sketch(drawing).evidence)] == parts


LACKING_ROLES = """
broker 1 0022225|
broker 2 0022225|
t1 leads 3 epoch 1 at 1 hw 1
t2 follows 2 epoch 1 at 1 hw 1 from 3
t4 leads 2 epoch 2 at 2 hw 2
t18 leads 2 epoch 5 at 6 hw 6
t20 loads 3 at 9
t21 follows 3 epoch 5 at 9 hw 9 from 2
t22 truncates 3 to 6
"""
"""Broker 3's log lacks its roles between epochs 1 and 5."""


def test_a_log_end_that_may_be_of_several_epochs_bills_what_is_gone_in_any_of_them() -> None:
    told = left_out(read_sketch(LACKING_ROLES).evidence)
    found = [(each.epoch, each.latest_epoch, each.start, each.end) for each in told]
    assert (1, 4, 6, 9) in found
    assert not any(start < 6 < end for _, _, start, end in found)


def test_what_a_broker_cut_is_of_the_epoch_in_which_its_log_grew_last() -> None:
    """Broker 2 wrote in epoch 3, of which its leader tells nothing, none in epoch 5, and kept none of epoch 2."""
    drawn = (
        "broker 1 0033336|\nbroker 2 0033336|\nt1 leads 3 epoch 0 at 0 hw 0\nt2 leads 3 epoch 2 at 1 hw 1\n"
        "t3 follows 2 epoch 2 at 1 hw 1 from 3\nt5 follows 2 epoch 3 at 2 hw 2 from 1\nt6 leads 1 epoch 3 at 2 hw 2\n"
        "t10 loads 2 at 9\nt11 follows 2 epoch 5 at 9 hw 9 from 4\nt12 follows 2 epoch 6 at 9 hw 9 from 3\n"
        "t13 leads 3 epoch 6 at 6 hw 6\nt14 truncates 2 to 6\n"
    )
    assert (3, 6, 6, 9) in stretches(drawn)


def test_what_a_leader_cut_below_its_own_opening_is_of_an_older_epoch() -> None:
    """Broker 2 opened epoch 2 at offset 6: what it cut below that it had copied before."""
    drawn = (
        "broker 2 001144|\nt1 follows 2 epoch 0 at 0 hw 0 from 3\nt2 follows 2 epoch 1 at 2 hw 2 from 1\n"
        "t3 leads 2 epoch 2 at 6 hw 4\nt4 acks 2 at 7 acks=all\nt5 loads 2 at 8\n"
        "t6 follows 2 epoch 4 at 8 hw 8 from 3\nt7 leads 3 epoch 4 at 4 hw 4\nt8 truncates 2 to 4\n"
    )
    assert stretches(drawn) == [(1, 4, 4, 6), (2, 4, 6, 8)]


def test_what_a_follower_cut_may_be_of_every_epoch_since_its_log_ended_there() -> None:
    """Nothing tells where epochs 3 and 5 opened. Broker 2's log ended at 0 when it took up epoch 3, and grew since."""
    orders = "".join(f"t{epoch}0 leader {4 - epoch % 4} epoch {epoch} isr 1,2 told 2\n" for epoch in (2, 3, 5))
    drawn = (
        f"broker 1 666|\nbroker 2 666|\n{orders}t35 keeps 2 at 0\nt55 keeps 2 at 4\nt57 loads 2 at 4\n"
        "t61 follows 2 epoch 6 at 4 hw 3 from 1\nt62 truncates 2 to 0\n"
    )
    billed = [(loss.epochs, loss.start_offset, loss.end_offset) for loss in losses(read_sketch(drawn).evidence)]
    assert billed == [("an epoch from 3 to 5", 0, 4)]


def test_what_a_leader_led_again_with_and_deleted_since_is_restored() -> None:
    """One log of broker 1 reaches from its first lead to its second: nothing was cut in between."""
    drawn = (
        "broker 1 ..<22|\nt0 loads 1 at 0\nt1 leads 1 epoch 0 at 0 hw 0\nt5 acks 1 at 1 acks=1\n"
        "t6 follows 1 epoch 1 at 2 hw 0 from 2\nt7 leads 2 epoch 1 at 0 hw 0\nt9 leads 1 epoch 2 at 2 hw 0\n{last}"
    )
    for last, again in (("t12 saves 1 at 4\n", True), ("", False)):
        billed = [(b.start_offset, b.restored) for b in losses(read_sketch(drawn.format(last=last)).evidence)]
        assert billed == [(0, again)]


@pytest.mark.parametrize(("left", "cleaner", "cleaned"), [("..11|", 4, True), ("1111|", 4, False), ("|", 0, False)])
def test_where_compaction_left_nothing_of_what_came_after_no_record_is_there_to_read(
    left: str, cleaner: int, cleaned: bool
) -> None:
    disks = "".join(f"broker {number} 00{left} ; cleaner {cleaner}\n" for number in (1, 2))
    past = "t1 leads 1 epoch 0 at 0 hw 0 isr 1,2\nt2 fetch 2@0 from 1 hw=0\nt3 fetch 2@4 from 1 hw=4\n"
    (bill,) = losses(read_sketch(f"{disks}{past}t4 leads 2 epoch 1 at 2 hw 2 isr 2\n").evidence)
    assert (bill.start_offset, bill.end_offset, bill.cleaned_since) == (2, 4, cleaned)


IN_PARTS = """
kafka 1 3.6.2 ibp 3.6
broker 1 44| ; hw 0
broker 2 44| ; hw 0
t1 begins 1
t1 leader 1 epoch 0 isr 1,2 told 1
t2 acks 1 at 2 acks=1
t3 leader 1 epoch 1 isr 1 told 1
t4 acks 1 at 5 acks=1
t5 leader 1 epoch 2 isr 1 told 1
t6 acks 1 at 8 acks=1
t7 loads 1 at 10
t8 leader 2 epoch 4 isr 2 told 1
{follows}t10 truncates 1 to 0
t9 leads 2 epoch 4 at 0 hw 0
"""
OF_SOME_EPOCH = """
broker 1 44555| ; hw 0
broker 2 44555| ; hw 0
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 1 epoch 2 at 3 hw 3
t3 loads 1 at 6
t4 leader 2 epoch 4 isr 2 told 1
t4 leads 2 epoch 4 at 0 hw 0
t5 leads 1 epoch 5 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("drawing", "parts"),
    [
        # Nothing tells where epochs 1 and 2 opened: offsets 3 and 4 may be of 0 or 1, by the cut of 2 as well.
        (IN_PARTS.format(follows=""), [(0, 3), (3, 5), (5, 6), (6, 10)]),
        (IN_PARTS.format(follows="t9 follows 1 epoch 4 at 10 hw 9 from 2\n"), [(0, 3), (3, 5), (5, 6), (6, 10)]),
        # The log of epochs 2 to 4 has records of epoch 0 below 3, which that epoch's bill names.
        (OF_SOME_EPOCH, [(0, 3), (3, 6)]),
    ],
)
def test_each_record_is_left_out_once_whatever_epochs_it_may_be_of(drawing: str, parts: list[tuple[int, int]]) -> None:
    assert sorted((part.start, part.end) for part in left_out(read_sketch(drawing).evidence)) == parts


ROLES_UNTOLD = """
broker 1 0000{later}|
broker 2 0000{later}|
t1 leader 1 epoch 0 isr 1,2 record
t5 leader 2 epoch 1 isr 2 record
{more}
t6 loads 1 at 7
{cut}
"""
CUT_BY_ANSWER = "t7 answers 1 with 0:4 from 2\nt8 truncates 1 to 4"
LED_SINCE = "t7 leader 1 epoch 2 isr 1,2 record\nt8 leader 2 epoch 3 isr 2 record"


@pytest.mark.parametrize(
    ("later", "more", "cut", "left"),
    [
        ("1111", "", CUT_BY_ANSWER, [(0, None, 4, 7)]),
        # Its leader is not told, or has cut nothing by an answer: of which epoch those records were is not known.
        ("1111", "", "t8 truncates 1 to 4", []),
        ("1111", "", "t7 cuts 1 to 4 by hw\nt8 truncates 1 to 4", []),
        # The same broker led once more: what was cut may be of an epoch between.
        ("1133", LED_SINCE, CUT_BY_ANSWER, [(0, 2, 6, 7)]),
        # It removed nothing.
        ("1111", "", "t7 answers 1 with 0:7 from 2\nt8 truncates 1 to 7", []),
    ],
)
def test_what_a_leaders_answer_had_cut_is_of_the_epoch_that_it_named(
    later: str, more: str, cut: str, left: list[tuple[int, int | None, int, int]]
) -> None:
    """No log of roles is here."""
    told = left_out(read_sketch(ROLES_UNTOLD.format(later=later, more=more, cut=cut)).evidence)
    assert [(each.epoch, each.latest_epoch, each.start, each.end) for each in told] == left
