"""Logs that their own brokers' words belie: no loss does what a folder in a wrong place does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from hypothesis import assume, given
from hypothesis import strategies as st

from rules.catalog import RULES
from rules.protocol.epochs import EpochChain, EpochStart
from rules.protocol.offsets import Epoch, Offset
from rules.replicas.belied import Belied, LooseFolder, belied
from rules.replicas.topic_ids import Bearer, owners_of
from rules.sketch.notation import read_sketch

LENGTHS = st.lists(st.integers(1, 4), min_size=2, max_size=5)
"""How many records each leader epoch wrote."""


def starts(lengths: Sequence[int]) -> list[int]:
    return [0, *accumulate(lengths)][:-1]


def chain(lengths: Sequence[int]) -> EpochChain:
    return tuple(EpochStart(epoch=Epoch(e), start_offset=Offset(s)) for e, s in enumerate(starts(lengths)))


def log(lengths: Sequence[int]) -> str:
    return "".join(str(epoch) * length for epoch, length in enumerate(lengths))


def sketch(held: str, told: Sequence[int]) -> str:
    """A broker that opened every epoch of one log, and holds another."""
    roles = (f"t{2 * e + 1} leads 1 epoch {e} at {s} hw {s}\n" for e, s in enumerate(starts(told)))
    return f"broker 1 {held}|\n" + "".join(roles)


def of_sketch(
    text: str, *beside: EpochChain, ends: Sequence[int] = (), compacted: bool = False
) -> tuple[Belied, ...]:
    evidence = read_sketch(text).evidence
    own = [LooseFolder(of=("t", 0), broker=r.broker, path=r.path, end=None, told_end=None) for r in evidence.replicas]
    chains = {f"other-{place}": chain for place, chain in enumerate(beside)}
    others = [
        LooseFolder(of=("t", place + 1), broker=1, path=path, end=ends[place] if ends else None, told_end=None)
        for place, path in enumerate(chains)
    ]
    told, loose = evidence.chronicle, [*own, *others]
    return belied(evidence.replicas, told, loose, lambda path: chains.get(path, ()), compacted=compacted)


def test_no_example_of_a_rule_is_belied() -> None:
    """What rules show befell logs in their places."""
    shown = [text for rule in RULES for text in (rule.page.upheld, rule.page.violated) if " leads " in text]
    assert shown
    assert [text for text in shown if of_sketch(text)] == []


@given(LENGTHS, st.data())
def test_whatever_a_log_lost_its_broker_is_not_belied(lengths: list[int], data: st.DataObject) -> None:
    """It was cut anywhere, and went on under another leader: nothing that its broker opened begins elsewhere."""
    cut = data.draw(st.integers(0, sum(lengths)))
    since = data.draw(st.integers(0, 4))
    held = log(lengths)[:cut] + str(len(lengths)) * since
    assume(held)
    assert of_sketch(sketch(held, lengths)) == ()


@given(LENGTHS, LENGTHS)
def test_a_log_in_which_an_epoch_begins_elsewhere_is_found_and_so_is_where_it_lies(
    told: list[int], held: list[int]
) -> None:
    elsewhere = [(a, b) for a, b in zip(starts(told), starts(held), strict=False) if a != b]
    found = of_sketch(sketch(log(held), told), chain(told), ends=[sum(told)])
    if elsewhere:
        (one,) = found
        assert (one.broker, one.sure) == (1, True)
        assert one.lies_in is not None
        assert one.lies_in.path == "other-0"
        assert not any(each.sure for each in of_sketch(sketch(log(held), told)))
    elif len(held) >= len(told) and sum(held) >= sum(told):
        assert found == ()


@given(LENGTHS, LENGTHS)
def test_less_that_was_told_makes_nothing_sure(told: list[int], held: list[int]) -> None:
    """Whoever tells of fewer epochs may leave it open; nobody becomes sure by that."""
    whole = of_sketch(sketch(log(held), told), chain(told), ends=[sum(told)])
    lines = sketch(log(held), told).splitlines()
    for lacking in range(1, len(lines)):
        less = "\n".join(lines[:lacking] + lines[lacking + 1 :])
        assert len(of_sketch(less, chain(told), ends=[sum(told)])) <= len(whole)


COPIED_ANEW = """
    broker 2 000011|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 leads 1 epoch 1 at 2 hw 2
"""


def test_who_copied_a_compacted_log_may_find_that_an_epoch_begins_later() -> None:
    (one,) = of_sketch(COPIED_ANEW)
    assert (one.broker, one.sure) == (2, False)
    assert of_sketch(COPIED_ANEW, compacted=True) == ()
    earlier = COPIED_ANEW.replace("000011", "011111")
    assert [each.broker for each in of_sketch(earlier, compacted=True)] == [2]


def test_of_two_folders_that_have_what_was_told_neither_is_named() -> None:
    told, held = [2, 3, 1], [4, 1, 1]
    (one,) = of_sketch(sketch(log(held), told), chain(told), chain(told))
    assert (one.sure, one.lies_in) == (False, None)


BORNE = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 2)), max_size=12)


@given(BORNE)
def test_an_id_has_one_owner_and_a_topic_at_most_one_id(borne: list[tuple[str, str, int]]) -> None:
    bearers = [Bearer(topic_id=i, topic=t, partition=p, broker=b) for b, (i, t, p) in enumerate(borne)]
    owners = owners_of(bearers)
    assert len({*owners.values()}) == len(owners)
    assert {(b.topic_id, b.topic) for b in bearers} >= {*owners.items()}


def test_ids_of_healthy_topics_are_theirs() -> None:
    bearers = [
        Bearer(topic_id=i, topic=t, partition=p, broker=b) for i, t in ("ax", "by") for p in (0, 1) for b in (1, 2, 3)
    ]
    assert owners_of(bearers) == {"a": "x", "b": "y"}
