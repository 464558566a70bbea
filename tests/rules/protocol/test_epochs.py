"""Epoch chains: laws, and the examples every explanation of leader epochs uses."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.protocol.epochs import (
    EndOffsetRule,
    EpochChain,
    EpochEnd,
    assign,
    assign_before_kafka_7415,
    end_offset_for,
    end_offset_for_before_kafka_7415,
    epoch_at,
    latest_epoch,
    offset_only,
    rebuild,
    truncate_from_end,
    truncate_from_start,
)
from rules.protocol.offsets import UNDEFINED_EPOCH, Epoch, Offset
from tests.rules.protocol.lineages import chain, chains

small_epochs = st.integers(-1, 13).map(Epoch)
small_offsets = st.integers(0, 45).map(Offset)


def end(epoch: int, end_offset: int) -> EpochEnd:
    return EpochEnd(epoch=Epoch(epoch), end_offset=Offset(end_offset))


@pytest.mark.parametrize(("asked", "answer"), [(1, end(1, 80)), (2, end(2, 120)), (3, end(3, 150)), (4, None)])
def test_an_epoch_ends_where_the_next_begins_and_the_last_at_the_log_end(asked: int, answer: EpochEnd | None) -> None:
    assert end_offset_for(chain((1, 20), (2, 80), (3, 120)), Epoch(asked), Offset(150)) == answer


def test_a_missing_epoch_is_answered_by_the_one_below_it() -> None:
    answer = end_offset_for(chain((1, 0), (3, 21)), Epoch(2), Offset(31))
    assert answer == end(1, 21)
    assert offset_only(answer) == end(UNDEFINED_EPOCH, 21)
    assert offset_only(None) is None


def test_an_epoch_below_the_first_entry_became_defined_with_kafka_7415() -> None:
    entries = chain((5, 40), (7, 60))
    assert end_offset_for(entries, Epoch(3), Offset(90)) == end(3, 40)
    assert end_offset_for_before_kafka_7415(entries, Epoch(3), Offset(90)) is None
    assert end_offset_for_before_kafka_7415(entries, Epoch(6), Offset(90)) == end(5, 60)


@pytest.mark.parametrize("rule", [end_offset_for, end_offset_for_before_kafka_7415])
def test_nothing_is_known_of_the_undefined_epoch_or_by_an_empty_cache(rule: EndOffsetRule) -> None:
    assert rule(chain((0, 0)), UNDEFINED_EPOCH, Offset(9)) is None
    assert rule((), Epoch(0), Offset(9)) is None


@given(chains(), small_epochs, small_epochs, st.integers(0, 20))
def test_end_offsets_rise_with_the_epoch_asked_for(entries: EpochChain, a: Epoch, b: Epoch, beyond: int) -> None:
    log_end_offset = Offset(beyond + (entries[-1].start_offset if entries else 0))
    low, high = (end_offset_for(entries, asked, log_end_offset) for asked in sorted((a, b)))
    if low is not None and high is not None:
        assert low.end_offset <= high.end_offset <= log_end_offset
        assert low.epoch <= high.epoch


@given(chains(), small_epochs, st.integers(0, 20))
def test_both_generations_agree_from_the_first_entry_on(entries: EpochChain, asked: Epoch, beyond: int) -> None:
    log_end_offset = Offset(beyond + (entries[-1].start_offset if entries else 0))
    if not entries or asked >= entries[0].epoch:
        new = end_offset_for(entries, asked, log_end_offset)
        assert end_offset_for_before_kafka_7415(entries, asked, log_end_offset) == new


def rises(entries: EpochChain) -> bool:
    """Whether epochs and offsets both rise strictly and neither is negative."""
    rising = all(a.epoch < b.epoch and a.start_offset < b.start_offset for a, b in pairwise(entries))
    return rising and all(entry.epoch >= 0 <= entry.start_offset for entry in entries)


@given(st.lists(st.tuples(small_epochs, st.integers(-1, 45).map(Offset)), max_size=12))
def test_whatever_is_assigned_a_chain_stays_a_chain(assigned: list[tuple[Epoch, Offset]]) -> None:
    entries: EpochChain = ()
    for epoch, offset in assigned:
        entries = assign(entries, epoch, offset)
        assert rises(entries)
        if epoch >= 0 and offset >= 0:
            assert latest_epoch(entries) == epoch


def test_the_new_rule_drops_what_contradicts_and_the_old_one_ignores() -> None:
    entries = chain((1, 0), (2, 10), (4, 30))
    assert assign(entries, Epoch(3), Offset(20)) == chain((1, 0), (2, 10), (3, 20))
    assert assign(entries, Epoch(5), Offset(10)) == chain((1, 0), (5, 10))
    assert assign(entries, Epoch(4), Offset(25)) == chain((1, 0), (2, 10), (4, 25))
    assert assign(entries, Epoch(4), Offset(35)) == entries
    assert assign_before_kafka_7415(entries, Epoch(3), Offset(20)) == entries
    assert assign_before_kafka_7415(entries, Epoch(5), Offset(10)) == entries
    assert assign_before_kafka_7415(entries, Epoch(5), Offset(30)) == chain((1, 0), (2, 10), (4, 30), (5, 30))


def test_an_entry_is_written_at_election_or_with_the_first_record() -> None:
    log_end_offset = Offset(130)
    at_election = assign(chain((0, 0), (1, 100)), Epoch(2), log_end_offset)
    assert at_election == chain((0, 0), (1, 100), (2, 130))
    assert end_offset_for(at_election, Epoch(2), log_end_offset) == end(2, 130)
    assert end_offset_for_before_kafka_7415(chain((0, 0), (1, 100)), Epoch(2), log_end_offset) is None


@given(chains())
def test_a_chain_is_rebuilt_from_the_batches_that_it_describes(entries: EpochChain) -> None:
    batches = [(entry.epoch, Offset(entry.start_offset + step)) for entry in entries for step in (0, 0)]
    assert rebuild(batches) == entries
    assigned: EpochChain = ()
    for epoch, offset in batches:
        assigned = assign(assigned, epoch, offset)
    assert assigned == entries


def test_a_regressed_or_missing_epoch_leaves_no_entry_when_rebuilt() -> None:
    batches = [(-1, 0), (1, 5), (3, 9), (2, 12), (3, 15), (4, 20)]
    assert rebuild((Epoch(epoch), Offset(offset)) for epoch, offset in batches) == chain((1, 5), (3, 9), (4, 20))


@given(chains(), small_offsets, small_offsets)
def test_cutting_either_end_keeps_the_epochs_of_what_is_left(entries: EpochChain, cut: Offset, at: Offset) -> None:
    tail, head = truncate_from_end(entries, cut), truncate_from_start(entries, cut)
    assert rises(tail)
    assert rises(head)
    if at < cut:
        assert epoch_at(tail, at) == epoch_at(entries, at)
    else:
        assert epoch_at(head, at) == epoch_at(entries, at)
    assert truncate_from_end(tail, cut) == tail
    assert truncate_from_start(head, cut) == head


def test_a_clipped_chain_begins_at_the_log_start() -> None:
    assert truncate_from_start(chain((0, 0), (1, 120), (2, 300)), Offset(150)) == chain((1, 150), (2, 300))
    assert truncate_from_end(chain((0, 0), (1, 120)), Offset(120)) == chain((0, 0))
    assert truncate_from_end(chain((0, 0)), Offset(-1)) == chain((0, 0))
