"""Things that bear numbers are counted: one noun, its plural, and the verb that goes with either."""

from __future__ import annotations

import pytest

from rules.words import amount, any_of, from_to, it_or_them, numbered


@pytest.mark.parametrize(
    ("brokers", "verb", "words"),
    [
        ((), "holds", "no broker holds"),
        ((2,), "", "broker 2"),
        ((2,), "holds", "broker 2 holds"),
        ((2, 3), "holds", "brokers 2 and 3 hold"),
        ([1, 2, 3], "has", "brokers 1, 2 and 3 have"),
        ((1, 2), "is", "brokers 1 and 2 are"),
        ((1, 2), "", "brokers 1 and 2"),
    ],
)
def test_a_verb_goes_with_its_noun(brokers: tuple[int, ...], verb: str, words: str) -> None:
    assert numbered("broker", brokers, verb) == words


def test_any_of_several_is_one() -> None:
    told = [any_of("broker", own) for own in ((1,), (1, 2), (1, 2, 3))]
    assert told == ["broker 1", "broker 1 or 2", "broker 1, 2 or 3"]


def test_one_thing_is_it() -> None:
    assert [it_or_them(count) for count in (0, 1, 2)] == ["them", "it", "them"]


def test_an_amount_tells_offsets_and_records_apart_where_they_are_not_as_many() -> None:
    told = [amount(1, 1), amount(7, None), amount(3, 3, "committed"), amount(30, 1, "committed")]
    assert told == ["1 record", "7 offsets", "3 committed records", "30 committed offsets (1 record)"]


@pytest.mark.parametrize(("end", "words"), [(6, "from offset 6 to 2"), (None, "to offset 2")])
def test_a_log_whose_end_nobody_tells_is_not_cut_from_an_offset(end: int | None, words: str) -> None:
    assert from_to(end, 2) == words
