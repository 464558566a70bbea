"""Ends of transactions that compaction took before a replica copied them, and what is lawful beside that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.catalog.log005_compaction_raced_replication import compaction_raced_replication
from rules.evidence.lost_ends import lost_ends
from rules.finding import Violation
from rules.sketch.notation import read_sketch
from tests.rules.broken_dumps import Batch, Yard
from tests.rules.test_marker_sets import ends, plain, writes

BEGUN = writes(1, sequence=0)
LATER = [plain(at) for at in range(4, 12)]
WHOLE = [plain(0), BEGUN, ends(3), *LATER]
HELD = [plain(0), BEGUN, *LATER]
"""Without the marker."""
CLEANED = [plain(0), *LATER]
"""Without the transaction."""


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def beside(yard: Yard, others: list[Batch], held: list[Batch], *, reached: int | None, **own: int | None) -> Yard:
    """Brokers 1 and 2 hold the one log, whose cleaner came so far, and broker 3 the other."""
    for broker in (1, 2):
        yard.broker(broker, others, cleaner=reached)
    yard.broker(3, held, **own)  # type: ignore[arg-type]
    return yard


def found(yard: Yard) -> list[tuple[tuple[int, ...], int | None, int | None]]:
    return [(f.brokers, f.start_offset, f.end_offset) for f in yard.report().violations if f.rule == "LOG005"]


def asked(yard: Yard, level: str = "full") -> list[str]:
    return [f.message for f in yard.report(level).findings if f.rule == "LOG005" and f.verdict == "undecided"]


def test_a_marker_that_was_compacted_away_before_it_was_copied(yard: Yard) -> None:
    beside(yard, CLEANED, HELD, reached=8)
    assert found(yard) == [((3,), 1, 2)]
    (told,) = [f for f in yard.report().violations if f.rule == "LOG005"]
    assert told.message == (
        "Broker 3 keeps producer 7's transaction open from offset 1 on, and lacks the marker that ended it. No cleaner"
        " goes on beyond an open transaction, and on brokers 1 and 2 it reached offset 8. Whenever broker 3 leads,"
        " consumers with isolation.level=read_committed stop at offset 1, its last stable offset."
    )
    assert yard.report("deep").violations[0].rule == "LOG005"
    assert told.exhibits[0].span.source.startswith(f"{yard.cluster}/broker-3")


def test_every_replica_whose_own_cleaner_passed_it_has_lost_it(yard: Yard) -> None:
    for broker in (1, 2, 3):
        yard.broker(broker, HELD, cleaner=8)
    assert found(yard) == [((broker,), 1, 2) for broker in (1, 2, 3)]


def test_transactions_of_one_replica_are_told_together(yard: Yard) -> None:
    second = writes(4, producer=8, sequence=0)
    beside(yard, [plain(0), *LATER[3:]], [plain(0), BEGUN, second, *LATER[3:]], reached=9)
    assert found(yard) == [((3,), 1, 2)]
    assert next(f for f in yard.report().violations if f.rule == "LOG005").values()["transactions"] == 2


LAWFUL: dict[str, tuple[list[Batch], list[Batch], int | None, dict[str, int | None]]] = {
    "open everywhere, and no cleaner passed it": (HELD, HELD, 1, {}),
    "a marker that the log does not reach": (WHOLE, HELD[:2], 8, {}),
    "a marker that stands behind the end of the log": ([plain(0), *LATER[:4], ends(8), *LATER[5:]], HELD[:5], 7, {}),
    "records that nobody knows as committed": (CLEANED, HELD, 8, {"hw": 1}),
    "logs that begin behind the records": (LATER, HELD, 8, {}),
    "a log that is not compacted": (CLEANED, HELD, None, {}),
}


@pytest.mark.parametrize("name", LAWFUL)
def test_what_is_lawful_is_no_finding(yard: Yard, name: str) -> None:
    others, held, cleaner, own = LAWFUL[name]
    beside(yard, others, held, reached=cleaner, **own)
    assert (found(yard), asked(yard)) == ([], [])


def test_a_checkpoint_may_have_been_copied_later_than_the_log_of_a_running_broker(yard: Yard) -> None:
    for broker in (1, 2, 3):
        yard.broker(broker, HELD, cleaner=8, clean=False)
    assert (found(yard), asked(yard)) == ([], [])


OPEN: dict[str, tuple[list[Batch], int | None, dict[str, int | None], str]] = {
    "its log ends too early": (HELD[:4], 8, {}, "beyond the end of broker 3's log. To decide it, add a later copy"),
    "no checkpoint tells": (HELD, None, {"cleaner": 1}, "brokers 1 and 2 lack its records"),
    "no high watermark": (HELD, 8, {"hw": None, "cleaner": 1}, "replication-offset-checkpoint of broker 3"),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_proved_keeps_the_verdict_open(yard: Yard, name: str) -> None:
    held, cleaner, own, words = OPEN[name]
    beside(yard, CLEANED, held, reached=cleaner, **own)
    assert (found(yard), any(words in told for told in asked(yard))) == ([], True)


def test_headers_alone_ask_for_a_full_audit(yard: Yard) -> None:
    beside(yard, CLEANED, HELD, reached=8)
    assert [f.rule for f in yard.report("quick").violations if f.rule == "LOG005"] == []
    (told,) = asked(yard, "quick")
    assert "Audit again at level full." in told


def drawn(text: str) -> list[Violation]:
    told = compaction_raced_replication.check(read_sketch(text).evidence)
    return [each for each in told if isinstance(each, Violation)]


def test_the_same_as_a_drawing() -> None:
    lost = "broker 1* 0...0000| ; cleaner 6\nbroker 2  0{MARKS}.0000|".replace("{MARKS}", "0{7:0t}0{7:1t}")
    (told,) = drawn(lost)
    assert (told.brokers, told.start_offset) == ((2,), 1)
    assert drawn(lost.replace("cleaner 6", "cleaner 1")) == []


def test_a_replica_that_lacks_an_end_leads_last(yard: Yard) -> None:
    beside(yard, CLEANED, HELD, reached=8)
    (placed,) = yard.report().advice
    damaged = [(each.broker, bool(each.damage)) for each in placed.advice.candidates]
    assert damaged == [(1, False), (2, False), (3, True)]


Event = tuple[str, int]
"""What stands at an offset, and whose it is: `t` a record of a transaction, `c` its end, and of nobody `0`."""
EVENTS = st.lists(st.tuples(st.sampled_from("ttc0"), st.integers(1, 3)), min_size=4, max_size=16).map(
    lambda told: [*told, ("0", 1)]  # the active segment is never cleaned
)


def stable(log: Sequence[Event], end: int) -> int:
    """How far a cleaner may go in the first so many offsets."""
    begun: dict[int, int] = {}
    for offset, (what, producer) in enumerate(log[:end]):
        if what == "t":
            begun.setdefault(producer, offset)
        elif what == "c":
            begun.pop(producer, None)
    return min(begun.values(), default=end)


def taken(log: Sequence[Event], point: int, copied: int) -> set[int]:
    """What a cleaner takes below a point: all records of transactions, and the markers that everybody has."""
    below = [(offset, *log[offset]) for offset in range(point)]
    return {offset for offset, what, _ in below if what == "t" or (what == "c" and offset < copied)}


def cells(log: Sequence[Event], gone: set[int], end: int, cleaner: int) -> str:
    """One replica as a line of a sketch."""
    marks = {"t": "0{%d:0t}", "c": "0{%dc}", "0": "0"}
    drawn = ("." if at in gone else marks[w] % p if w != "0" else "0" for at, (w, p) in enumerate(log[:end]))
    return f"{''.join(drawn)}| ; cleaner {cleaner}"


@given(EVENTS, st.data())
def test_cleaners_that_keep_to_the_law_are_never_accused(log: list[Event], data: st.DataObject) -> None:
    ends = data.draw(st.lists(st.integers(1, len(log)), min_size=3, max_size=3))
    lines = []
    for broker, end in enumerate(ends, start=1):
        point = data.draw(st.integers(0, stable(log, data.draw(st.integers(0, end - 1)))))
        lines.append(f"broker {broker} {cells(log, taken(log, point, min(ends)), end, point)}")
    assert list(lost_ends(read_sketch("\n".join(lines)).evidence)) == []


@given(EVENTS, st.data())
def test_a_marker_that_a_cleaner_took_too_early_is_always_missed(log: list[Event], data: st.DataObject) -> None:
    """Broker 2 was away behind `away`, and copies the rest of a log in which the ends are gone."""
    end = len(log)
    point = stable(log, end - 1)
    away = data.draw(st.integers(0, end))
    gone = taken(log, point, end)
    lines = [
        f"broker 1* {cells(log, gone, end, point)}",
        f"broker 2 {cells(log, {at for at in gone if at >= away}, end, 0)}",
    ]
    found = list(lost_ends(read_sketch("\n".join(lines)).evidence))
    later = {log[at][1] for at in range(point, end) if log[at][0] == "c"}
    begun: dict[int, int] = {}
    for at, (what, producer) in enumerate(log[:away]):
        begun = {p: s for p, s in begun.items() if what != "c" or p != producer}
        if what == "t":
            begun.setdefault(producer, at)
    lost = {p: s for p, s in begun.items() if p not in later and s < point}
    assert sum(each.count for each in found) == len(lost)
    assert all((each.broker, each.proved, each.passed.cleaned) == (2, True, point) for each in found)
    assert not lost or min(each.begun.offset for each in found) == min(lost.values())
