"""The expected high watermark: which facts bound it, and that each of them carries its weight."""

from __future__ import annotations

import pytest

from rules.evidence import PartitionEvidence, Replica
from rules.evidence.expected import bounds, expected_high_watermark
from rules.protocol.watermarks import expected_interval
from rules.sketch.notation import read_sketch


def interval(drawing: str, broker: int = 1) -> tuple[int | None, int | None]:
    evidence, replica = of(drawing, broker)
    expected = expected_high_watermark(replica, evidence).interval
    assert expected.low is None or expected.high is None or expected.low <= expected.high
    return expected.low, expected.high


def of(drawing: str, broker: int = 1) -> tuple[PartitionEvidence, Replica]:
    evidence = read_sketch(drawing).evidence
    return evidence, next(replica for replica in evidence.replicas if replica.broker == broker)


CASES = {
    "clean shutdown": ("broker 1 0000|00\nbroker 2 000000|", (4, 4)),
    "clean shutdown, checkpoint beyond the log": ("broker 1 0000 ; hw 9", (4, 4)),
    "clean shutdown, checkpoint below the log start": ("broker 1 @5:<000 ; hw 2", (5, 5)),
    "no checkpoint": ("broker 1 @5:<000 ; hw none", (5, 8)),
    "crash in the newest term": ("broker 1 0011|11 ; unclean\nbroker 2 0011|", (4, 6)),
    "crash at the very start of the newest term": ("broker 1 0000|11 ; unclean\nbroker 2 0000|", (0, 6)),
    "crash, and a newer term is known": ("broker 1 0000|00 ; unclean\nbroker 2 000000|11", (0, 6)),
    "crash, a newer term's cut is owed": ("broker 1 0000|00 ; unclean\nbroker 2 000011|11", (4, 6)),
    "crash, without epochs": ("broker 1 ----|-- ; unclean", (0, 6)),
    "empty log": ("broker 1 @7:<| ", (7, 7)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_interval_is_as_tight_as_the_disks_allow(name: str) -> None:
    drawing, expected = CASES[name]
    assert interval(drawing) == expected


@pytest.mark.parametrize("name", CASES)
def test_taking_a_fact_away_never_narrows_and_the_binding_ones_widen(name: str) -> None:
    evidence, replica = of(CASES[name][0])
    given = tuple(bounds(replica, evidence))
    whole = expected_interval(given).interval
    for index, bound in enumerate(given):
        without = expected_interval((*given[:index], *given[index + 1 :])).interval
        assert without.covers(whole)
        edge = whole.low if bound.side == "low" else whole.high
        others = [b.offset for b in given if b is not bound and b.side == bound.side]
        if bound.offset == edge and bound.offset not in others:
            assert without != whole


WIDENED = {
    "the clean shutdown": ("broker 1 0000|00\nbroker 2 000000|11", "broker 1 0000|00 ; unclean\nbroker 2 000000|11"),
    "the checkpoint": ("broker 1 0000|00", "broker 1 000000"),
    "the cut that is still owed": (
        "broker 1 0000|00 ; unclean\nbroker 2 000011|11", "broker 1 0000|00 ; unclean\nbroker 2 000000|11",
    ),
    "the log start": ("broker 1 @3:<000 ; hw none", "broker 1 @0:000000 ; hw none"),
}  # fmt: skip


@pytest.mark.parametrize("fact", WIDENED)
def test_without_the_fact_the_interval_is_wider(fact: str) -> None:
    with_it, without = (interval(drawing) for drawing in WIDENED[fact])
    widths = [high - low for low, high in (with_it, without) if low is not None and high is not None]
    assert widths[0] < widths[1]


METADATA = "topic __cluster_metadata\n"


@pytest.mark.parametrize(
    ("drawing", "broker", "expected"),
    [
        # The lone voter commits what it writes; an observer that shut down cleanly took its high watermark along.
        ("broker 100 00000 ; voters 100\nbroker 1 000", 100, (5, 5)),
        ("broker 100 00000 ; voters 100\nbroker 1 000", 1, (3, 3)),
        ("broker 100 00000 ; voters 100\nbroker 1 000 ; unclean", 1, (0, 3)),
        # An observer that shows more than the voter has no more committed than the voter.
        ("broker 100 00000 ; voters 100\nbroker 1 0000000", 1, (5, 5)),
        ("live\nbroker 100 00000 ; voters 100\nbroker 1 0000000 ; unclean", 1, (0, 7)),
        # Two of three voters hold five records; the third, absent, might hold any number.
        ("broker 7 0000000 ; voters 7 8 9\nbroker 8 00000\nbroker 9 000", 7, (0, 5)),
        ("broker 7 0000000 ; voters 7 8 9\nbroker 8 00000", 7, (0, 7)),
        ("broker 7 000 ; voters 7 8 9\nbroker 8 00000", 8, (0, 5)),
        ("broker 7 0000000 ; voters 7 8 9", 7, (0, 7)),
        # Dynamic quorums keep their voters in the log: nothing is known of them here.
        ("broker 100 00000\nbroker 1 000", 1, (0, 3)),
        ("broker 100 00000 ; voters 100\nbroker 1 000 ; voters 100 101", 1, (0, 3)),
    ],
)
def test_the_metadata_log_is_bounded_by_its_voters(drawing: str, broker: int, expected: tuple[int, int]) -> None:
    assert interval(METADATA + drawing, broker) == expected


@pytest.mark.parametrize("state", ["deleted", "stray"])
def test_a_copy_out_of_use_says_so(state: str) -> None:
    evidence, replica = of(f"broker 1 0000 ; {state}\nbroker 2 0000|")
    expected = expected_high_watermark(replica, evidence)
    assert (expected.interval.low, expected.interval.high) == (0, 4)
    assert all("no high watermark applies" in because for because in expected.because)


def test_every_bound_names_its_fact() -> None:
    evidence, replica = of("broker 1 0000|00 ; unclean\nbroker 2 000011|11")
    low = expected_high_watermark(replica, evidence).low
    assert low is not None
    assert "high watermark 4" in low.because
    assert "never followed epoch 1, begun at 4" in low.because
