"""The parts of a loss: they are the loss, in the order of their worth, and a copy ends the last answered batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.chronicle.extents import Extents
from rules.facts.surviving_copies import CopiedBatch, CopyRead
from rules.history.moments import Moment
from rules.history.statements import Fetched, Produced
from rules.loss.accounts import committed_end_of
from rules.loss.incurred import losses
from rules.loss.left_out import left_out
from rules.loss.lost_stretch import LeftOut
from rules.loss.read_before import groups_at_risk, readers
from rules.loss.worth import ToldProducers, contents, portions
from rules.replicas.commits_of_groups import GroupCommit
from rules.sketch.notation import read_sketch
from tests.replaced import replace

SPAN = Span(source="log", start=0, end=1)


def batch(base: int, width: int, *, producer: int = 1, control: bool = False) -> CopiedBatch:
    return CopiedBatch(
        base_offset=base, end_offset=base + width, records=width, size=10 * width, first_timestamp=base,
        last_timestamp=base + width, producer_id=producer, producer_epoch=0, base_sequence=base, transactional=control,
        control=control, span=SPAN,
    )  # fmt: skip


def copy(start: int, batches: tuple[CopiedBatch, ...]) -> CopyRead:
    end = max((one.end_offset for one in batches), default=start)
    return CopyRead(path="b/t-0", lost_epoch=0, start_offset=start, end_offset=end, batches=batches)


def answer(offset: int, size: int | None = None) -> Moment:
    return Produced(kind="produced", clock="broker 1", offset=offset, acks=1, error=0, records_size=size, span=SPAN)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[CopiedBatch], int, list[int]]:
    widths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    batches = [batch(100 + sum(widths[:place]), width) for place, width in enumerate(widths)]
    bases = [one.base_offset for one in batches]
    committed = draw(st.integers(100, batches[-1].end_offset))
    return batches, committed, draw(st.lists(st.sampled_from(bases), max_size=5, unique=True))


@given(cases(), st.booleans())
def test_parts_are_the_whole_and_a_copy_tells_all_of_each(
    case: tuple[list[CopiedBatch], int, list[int]], held: bool
) -> None:
    batches, committed, bases = case
    end = batches[-1].end_offset
    read = [copy(100, tuple(batches))] if held else []
    ends = {one.base_offset: one.end_offset for one in batches}
    told = ToldProducers([answer(base) for base in bases], Extents.of((base, ends[base]) for base in bases))
    parts = portions((100, end), committed, told, read)
    assert [part.start_offset for part in parts] == [100, *(part.end_offset for part in parts[:-1])]
    assert parts[-1].end_offset == end
    order = {"committed": 0, "acknowledged": 1, "possibly acknowledged": 1, "never committed": 2}
    assert [order[part.worth] for part in parts] == sorted(order[part.worth] for part in parts)
    sure = Extents.of((part.start_offset, part.end_offset) for part in parts if part.worth == "acknowledged")
    assert sure == told.batches - Extents.of([(100, committed)])
    if held:
        last = max((one.end_offset for one in batches if one.base_offset in bases), default=100)
        assert sum(p.end_offset - p.start_offset for p in parts if p.worth != "never committed") + 100 == max(
            last, committed
        )
        widths = [part.end_offset - part.start_offset for part in parts]
        assert [part.records for part in parts] == widths
        assert [part.bytes for part in parts] == [10 * width for width in widths]
        assert [(p.records_at_least, p.bytes_at_least) for p in parts] == [(p.records, p.bytes) for p in parts]
        edges = {edge for one in batches for edge in (one.base_offset, one.end_offset)}
        assert [part.divided for part in parts] == [not {p.start_offset, p.end_offset} <= edges for p in parts]
    else:
        assert all(part.records is None for part in parts)
        assert all(part.records_at_least <= part.end_offset - part.start_offset for part in parts)


def test_a_copy_of_half_does_not_count_for_the_whole() -> None:
    (part,) = portions((100, 110), 110, ToldProducers([answer(100, 7), answer(105, 8)]), [copy(100, (batch(100, 5),))])
    assert (part.records, part.bytes) == (None, None)
    assert (part.records_at_least, part.bytes_at_least) == (6, 50)


def test_records_of_a_batch_with_gaps_are_not_shared_out() -> None:
    sparse = replace(batch(100, 10), records=3)
    told = portions((100, 110), 104, ToldProducers([answer(100)]), [copy(100, (sparse,))])
    assert [(part.records, part.bytes, part.divided) for part in told] == [(None, 40, True), (None, 60, True)]
    assert [part.records_at_least for part in told] == [0, 0]


def test_answers_alone_tell_the_fewest_records_and_the_bytes_that_were_sent() -> None:
    told = [answer(100, 7), answer(100, 7), answer(105, 8), answer(107)]
    (part,) = portions((100, 110), 110, ToldProducers(told), [])
    assert (part.records, part.bytes) == (None, None)
    # One that was answered twice was sent twice and stands once.
    assert (part.records_at_least, part.bytes_at_least) == (3, 15)


def test_a_copy_that_could_be_read_in_part_tells_no_whole() -> None:
    damaged = replace(copy(100, (batch(100, 5), batch(105, 5))), complete=False)
    (part,) = portions((100, 110), 110, ToldProducers(), [damaged])
    told = contents([damaged])
    assert part.records is None
    assert told is not None
    assert (told.complete, told.records) == (False, 10)


def test_producers_are_told_apart_and_sequences_begin_again() -> None:
    late = CopiedBatch(
        base_offset=104, end_offset=108, records=4, size=9, first_timestamp=None, last_timestamp=None, producer_id=2,
        producer_epoch=1, base_sequence=(1 << 31) - 2, transactional=True, control=False, span=SPAN,
    )  # fmt: skip
    told = contents([copy(100, (batch(100, 4), late, batch(108, 1, producer=2, control=True)))])
    assert told is not None
    assert [(p.producer_id, p.producer_epoch, p.first_sequence, p.last_sequence) for p in told.producers] == [
        (1, 0, 100, 103), (2, 1, (1 << 31) - 2, 1),
    ]  # fmt: skip
    assert (told.records, told.key_count) == (8, None)
    assert contents([]) is None


def test_only_what_was_served_in_the_lost_epoch_was_read() -> None:
    def fetch(offset: int, client: str, term: int = 0, witness: int = 1, *, doubtful: bool = False) -> Moment:
        return Fetched(
            kind="consumed", clock="broker 1", witness=witness, term=term, offset=offset, error=0, client_id=client,
            doubtful=doubtful, span=SPAN,
        )  # fmt: skip

    moments = [
        fetch(100, "at the start"), fetch(105, "a"), fetch(110, "a"), fetch(105, "later", term=1),
        fetch(105, "other", witness=2), fetch(105, "unsure", doubtful=True),
    ]  # fmt: skip
    assert [(r.client_id, r.up_to) for r in readers(moments, 0, 1, 100, 110)] == [("a", 110)]


def test_a_group_that_read_on_in_the_new_epoch_is_not_at_risk() -> None:
    commits = (
        GroupCommit(group="new", offset=108, leader_epoch=1, span=SPAN),
        GroupCommit(group="cut", offset=108, leader_epoch=0, span=SPAN),
    )
    found = groups_at_risk(commits, 0, 100, 110, 200)
    assert [(group.group, group.standing) for group in found] == [("cut", "in the cut epoch")]


LOST = """
broker 1 00|11
broker 2 00|11
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 2 acks=1
t3 acks 1 at 5 acks=1
t9004 loads 1 at 8
t9005 leads 2 epoch 1 at 2 hw 2
"""


def test_answers_of_which_others_are_left_out_tell_of_their_first_records() -> None:
    """A busy log's answers are kept in part: what lies between two may have been answered for."""
    told = read_sketch(LOST).evidence
    moments = tuple(replace(m, left_out=2) if m.kind == "produced" and m.offset == 2 else m for m in told.moments)
    (whole,), (part,) = losses(told), losses(replace(told, chronicle=Chronicle(moments)))
    assert [(p.worth, p.start_offset, p.end_offset) for p in whole.portions] == [("acknowledged", 2, 8)]
    assert [(p.worth, p.start_offset, p.end_offset) for p in part.portions] == [
        ("acknowledged", 2, 3),
        ("possibly acknowledged", 3, 5),
        ("acknowledged", 5, 6),
        ("possibly acknowledged", 6, 8),
    ]


UNSURE = """
broker 1 00222| ; hw 0
broker 2 00222| ; hw 0
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 5 acks=all
t9 follows 1 epoch 2 at 6 hw 2 from 2
t10 leads 2 epoch 2 at 2 hw 2
"""
ALONE = """
kafka 1 2.8.0 ibp 2.8
broker 1 0011| ; hw 0
t1 leader 1 epoch 0 isr 1 of {assigned}
t1 leads 1 epoch 0 at 0 hw 0 isr 1
t2 acks 1 at 3 acks=1
t3 loads 1 at 2
t4 leads 1 epoch 1 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("drawing", "committed", "below"),
    [
        # An answer for all replicas of epoch 0 or 1, and nothing tells of epoch 1.
        (UNSURE, 6, [2]),
        (ALONE.format(assigned="1"), 4, [1]),
        # Broker 2 may be waited for, though it is out of sync.
        (ALONE.format(assigned="1,2"), 2, []),
    ],
)
def test_what_a_leader_had_committed_is_so_for_the_bill_and_for_the_rules(
    drawing: str, committed: int, below: list[int]
) -> None:
    told = read_sketch(drawing).evidence
    (loss,) = losses(told)
    assert loss.committed_end == committed
    assert [lost.epoch for lost in told.lost_terms] == below


SERVED = """
broker 1 1111|12
broker 2 1111|116
t1 leads 2 epoch 1 at 0 hw 0
t2 leads 1 epoch 2 at 5 hw 0
t3 leads 3 epoch 5 at 6 hw 0
{asks}t5 fetch 2@6 from 3 hw 6 epoch 5
t6 leads 2 epoch 6 at 6 hw 0
"""


@pytest.mark.parametrize(("asks", "committed"), [("", 6), ("t4 asks 2 of 3 epoch 4 answer 1:6\n", 5)])
def test_who_answers_that_it_has_nothing_of_an_epoch_commits_nothing_of_it(asks: str, committed: int) -> None:
    """Broker 3 went on from record 5 of epoch 2, as far as its log end tells; its answer names epoch 1 for it."""
    evidence = read_sketch(SERVED.format(asks=asks)).evidence
    (part,) = (part for part in left_out(evidence) if part.epoch == 2)
    assert (part.start, committed_end_of(evidence, part, again=False)) == (5, committed)


CUT_LATE = """
broker 1 00112| ; hw 5
broker 2 00112| ; hw 5
t1 leads 2 epoch 0 at 0 hw 0
t2 fetch 1@2 from 2 hw 2
t3 leads 3 epoch 1 at {opened} hw 2
t4 leads 1 epoch 2 at 4 hw 4
t5 acks 1 at 4 acks=all
t6 loads 2 at 3
t7 follows 2 epoch 3 at 3 hw 2 from 1
t8 truncates 2 to 2
"""


@pytest.mark.parametrize(("opened", "committed"), [(2, 2), (3, 3)])
def test_what_goes_on_from_a_log_that_began_without_records_commits_none_of_them(opened: int, committed: int) -> None:
    """Broker 1 leads epoch 2 with a log long enough, in which record 2 is of epoch 1 where that opened at 2."""
    evidence = read_sketch(CUT_LATE.format(opened=opened)).evidence
    part = LeftOut(
        epoch=0, leader=2, next_epoch=3, next_leader=1, start=2, end=3, because="broker 2 cut its log there"
    )
    assert committed_end_of(evidence, part, again=False) == committed


ORDERS_ALONE = """
kafka 1 3.6.2 ibp 3.6
broker 1 55566| ; hw 0
broker 2 55566| ; hw 0
t1 begins 1
t2 leader 1 epoch 0 isr 1,2 told 1
t2 leader 1 epoch 0 isr 1,2 told 2
t3 leader 2 epoch 2 isr 2 told 2
t8 loads 1 at 7
t9 leader 2 epoch 4 isr 2,1 told 1
t9 leader 2 epoch 4 isr 2 told 2
t10 truncates 1 to 0
t10 leader 2 epoch 5 isr 1,2 told 2
t11 leader 1 epoch 6 isr 1,2 told 1
t11 leader 1 epoch 6 isr 1,2 told 2
"""


def test_a_log_of_some_epoch_is_left_out_where_none_of_these_is_told_to_open() -> None:
    """Without `state-change.log` orders alone tell of epochs 0 to 4, and disks where later ones begin."""
    (part,) = left_out(read_sketch(ORDERS_ALONE).evidence)
    assert (part.start, part.end, part.first, part.newest, part.next_epoch) == (0, 7, 0, 4, 5)


def test_where_a_batch_ends_at_least_in_a_thinned_log_is_no_end_of_the_loss() -> None:
    told = "t1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 2 acks=1\nt3 leads 2 epoch 1 at 2 hw 2"
    evidence = read_sketch(f"broker 1 0011|\nbroker 2 0011|\n{told}").evidence
    thin = tuple(replace(m, end_offset=3) if isinstance(m, Produced) else m for m in evidence.moments)
    bills = losses(evidence), losses(replace(evidence, chronicle=Chronicle(thin)))
    ends = [[(one.start_offset, one.end_offset, one.end_known) for one in bill] for bill in bills]
    assert ends == [[(2, 3, False)], [(2, 3, False)]]
