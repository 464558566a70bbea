"""Ends of transactions that compaction took before a replica copied them, and what is lawful beside that."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.catalog.log005_compaction_raced_replication import compaction_raced_replication
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
        " goes on beyond an open transaction, and on brokers 1 and 2 it reached offset 8. Under broker 3 as leader,"
        " readers of committed records stop at offset 1, its last stable offset."
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
    "its log ends too early": (HELD[:4], 8, {}, "beyond the end of broker 3's log. Add a later copy"),
    "no checkpoint tells": (HELD, None, {"cleaner": 1}, "brokers 1 and 2 lack its records"),
    "no high watermark": (HELD, 8, {"hw": None, "cleaner": 1}, "replication-offset-checkpoint of broker 3"),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_proved_keeps_the_verdict_open(yard: Yard, name: str) -> None:
    held, cleaner, own, words = OPEN[name]
    beside(yard, CLEANED, held, reached=cleaner, **own)
    (told,) = asked(yard)
    assert (found(yard), words in told) == ([], True)


def test_headers_alone_ask_for_a_full_audit(yard: Yard) -> None:
    beside(yard, CLEANED, HELD, reached=8)
    assert [f.rule for f in yard.report("quick").violations if f.rule == "LOG005"] == []
    (told,) = asked(yard, "quick")
    assert "Add an audit at level full." in told


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
