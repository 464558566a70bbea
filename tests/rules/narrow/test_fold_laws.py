"""The split law: a log may be cut anywhere, and the facts of its parts join to the facts of the whole."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.tables import from_arrow, to_arrow
from rules.facts import join as joining
from rules.facts import transactions
from rules.facts.join import join, join_all
from rules.facts.stretch import LogFacts
from rules.narrow import fold as folding
from tests.lab.effort import cases, fast_if
from tests.replaced import replace
from tests.rules.header_logs import Laid, folded, lay_out, logs


@given(logs(), st.data())
def test_every_cut_joins_to_the_whole(log: list[Laid], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(log)), label="cut")
    assert join(folded(log[:place]), folded(log[place:])) == folded(log)


@pytest.fixture
def keeping_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that keep two members, so that a short log overflows them."""
    monkeypatch.setattr(folding, "KEEP", 2)
    monkeypatch.setattr(joining, "KEEP", 2)
    monkeypatch.setattr(joining, "KEEP_RUNS", 2)


@pytest.mark.usefixtures("keeping_two")
@pytest.mark.parametrize("seed", range(3))
def test_every_cut_joins_where_lists_overflow(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a choice of cases
    items = [_defective(draw) for _ in range(14)]
    log = lay_out(items)
    whole = folded(log)
    for place in range(len(log) + 1):
        assert join(folded(log[:place]), folded(log[place:])) == whole
    assert len(whole.epochs) == 2 < whole.epoch_count
    assert len(whole.producers) == len(whole.gaps) == 2


def _defective(draw: random.Random) -> dict[str, object] | str:
    if draw.random() < 0.2:
        return "damage"
    return {
        "jump": draw.choice([0, 3, -2]), "delta": 1, "leader_epoch": draw.randrange(4), "magic": 2, "compressed": False,
        "size": 70, "crc": draw.randrange(9), "crc_valid": draw.random() < 0.5, "attributes": 0, "record_count": 9,
        "max_timestamp": 1, "producer_id": draw.randrange(4), "producer_epoch": 0, "base_sequence": draw.randrange(4),
        "new_file": draw.random() < 0.2,
    }  # fmt: skip


@settings(max_examples=cases(25))
@given(logs(6), logs(6), logs(6))
def test_joining_is_associative(first: list[Laid], second: list[Laid], third: list[Laid]) -> None:
    a, b, c = folded(first), folded(second), folded(third)
    assert join(join(a, b), c) == join(a, join(b, c))


@settings(max_examples=cases(25))
@given(logs())
def test_an_empty_stretch_changes_nothing(log: list[Laid]) -> None:
    facts = folded(log)
    assert join(facts, LogFacts()) == facts == join(LogFacts(), facts)


@settings(max_examples=cases(25))
@given(logs(20), st.data())
def test_a_log_in_many_parts_is_one_log(log: list[Laid], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(log)), max_size=6)))
    bounds = [0, *cuts, len(log)]
    assert join_all(folded(log[a:b]) for a, b in pairwise(bounds)) == folded(log)


@settings(max_examples=cases(25))
@given(logs(), st.randoms())
def test_digests_do_not_ask_where_batches_lie(log: list[Laid], order: random.Random) -> None:
    """Replicas hold the same batches in other files at other positions, and a bucket's sum does not see their order."""
    batches = [laid for laid in log if laid.row is not None]
    moved = [replace(laid, source="elsewhere.log") for laid in batches]
    order.shuffle(moved)
    assert folded(moved).digests == folded(log).digests


@settings(max_examples=cases(25))
@given(logs(8), st.sampled_from(["crc", "size", "leader_epoch"]))
def test_digests_see_every_field_that_tells_batches_apart(log: list[Laid], field: str) -> None:
    changed = [laid for laid in log if laid.row is not None][:1]
    if not changed or changed[0].row is None:
        return
    row = changed[0].row
    other = {**row, field: (int(str(row[field])) if row[field] is not None else 0) ^ 1 if row[field] != -1 else 0}
    facts = folded([replace(laid, row=other) if laid is changed[0] else laid for laid in log])
    assert facts.digests != folded(log).digests


@settings(max_examples=cases(25))
@given(logs())
def test_facts_travel_through_arrow_unchanged(log: list[Laid]) -> None:
    facts = folded(log)
    assert from_arrow(to_arrow([facts], LogFacts), LogFacts) == [facts]


@pytest.mark.parametrize("seed", fast_if(range(2).__contains__, range(8)))
@pytest.mark.parametrize("kept", [2, 4096])
def test_transactions_are_told_wherever_a_log_is_cut(seed: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "KEEP", kept)
    draw = random.Random(seed)  # noqa: S311 - a choice of cases
    producers = draw.choice([2, 3])
    batches = [(draw.randrange(producers), draw.random() < 0.4) for _ in range(14)]
    log = lay_out([_batch(producer, marker=marker) for producer, marker in batches])
    whole = folded(log).transactions
    for place in range(len(log) + 1):
        assert join(folded(log[:place]), folded(log[place:])).transactions == whole
    expected = _as_read(batches)
    if len({producer for producer, _ in batches}) > kept:
        assert whole == transactions.UNTOLD
        return
    assert whole.closed_count == len(expected)
    assert [(t.producer_id, t.start_offset, t.marker_offset) for t in whole.closed] == expected[-kept:]


@pytest.mark.parametrize("seed", fast_if(range(4).__contains__, range(24)))
@pytest.mark.parametrize("kept", [2, 4096])
def test_falls_of_epochs_are_told_wherever_a_log_is_cut(seed: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fence is kept as long as the run that it bars."""
    monkeypatch.setattr(joining, "KEEP_RUNS", kept)
    draw = random.Random(seed)  # noqa: S311 - a choice of cases
    written = [(draw.randrange(2), draw.randrange(4), draw.random() < 0.3) for _ in range(12)]
    log = lay_out([{**_batch(who, marker=marker), "producer_epoch": epoch} for who, epoch, marker in written])
    whole = folded(log)
    for place in range(len(log) + 1):
        joined = join(folded(log[:place]), folded(log[place:]))
        assert (joined.producers, joined.fences) == (whole.producers, whole.fences)
    falls = {(run.producer_id, run.producer_epoch): run.fall for run in whole.producers}
    for (producer, epoch), fall in falls.items():
        above = [at for at, (p, e, _) in enumerate(written) if p == producer and e > epoch]
        own = [at for at, (*who, marker) in enumerate(written) if who == [producer, epoch] and not marker]
        behind = [at for at in own if above and at > above[0]]
        assert (fall is None) == (not behind)
        if fall is not None:
            highest = max(e for p, e, _ in written[: behind[0]] if p == producer)
            before = [(not m, at) for at, (p, e, m) in enumerate(written[: behind[0]]) if (p, e) == (producer, highest)]
            records, last = max(before)
            assert (fall.offset, fall.higher, fall.end_before) == (behind[0], highest, last + 1)
            assert fall.fenced != records


def _batch(producer: int, *, marker: bool) -> dict[str, object]:
    return {
        "jump": 0, "delta": 0, "leader_epoch": 0, "magic": 2, "compressed": False, "size": 70, "crc": 1,
        "crc_valid": None, "attributes": 0x30 if marker else 0x10, "record_count": 1, "max_timestamp": 1,
        "producer_id": producer, "producer_epoch": 0, "base_sequence": -1 if marker else 0, "new_file": False,
    }  # fmt: skip


def _as_read(batches: list[tuple[int, bool]]) -> list[tuple[int, int, int]]:
    """Transactions as one reads them in a log; each producer's first one may have begun before it."""
    begun: dict[int, int] = {}
    seen: set[int] = set()
    found: list[tuple[int, int, int]] = []
    for offset, (producer, marker) in enumerate(batches):
        if not marker:
            begun.setdefault(producer, offset)
            continue
        if producer in begun and producer in seen:
            found.append((producer, begun[producer], offset))
        begun.pop(producer, None)
        seen.add(producer)
    return found
