"""A leader whose log had lost its beginning when it was loaded: no line tells of a deletion, so it is asked about."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.catalog import BY_ID
from rules.evidence import PartitionEvidence
from rules.finding import Undecided
from rules.settings import KAFKA_VERSION, Setting, Settings
from rules.sketch.notation import read_sketch
from tests.replaced import replace

DISKS = "broker 1* @4:00011|\nbroker 2 @4:00011|\n"
BEGAN = "t1 begins 1\nt2 leads 1 epoch 0 at 0 hw 0\n"
LOADED = "t5 loads 1 at 7 start 4\n"
LED = "t7 leads 1 epoch 1 at 7 hw 7\n"
FOLLOWED = "t8 follows 2 epoch 1 at 7 hw 7 from 1\n"


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (BEGAN + LOADED + LED, [(0, 4)]),
        ("t1 loads 1 at 6 start 2\nt2 leads 1 epoch 0 at 6 hw 6\n" + LOADED + LED, [(2, 4)]),
        # It is asked once, of the first lead after it.
        (f"{BEGAN}{LOADED}{LED}t8 leads 1 epoch 2 at 9 hw 9\n", [(0, 4)]),
        # Its log tells why the start rose, or it fetched the log again from a leader that began there.
        (f"{BEGAN}t3 starts 1 at 4\n{LOADED}{LED}", []),
        (f"{BEGAN}{LOADED}t6 resets 1 to 4\n{LED}", []),
        (f"{BEGAN}t3 resets 1 to 4\n{LOADED}{LED}", []),
        # The leader before had deleted them.
        (f"t1 begins 1\nt2 leads 2 epoch 0 at 0 hw 0\nt3 starts 2 at 4\n{LOADED}{LED}{FOLLOWED}", []),
        (f"t1 begins 1\nt2 leads 2 epoch 0 at 0 hw 0\nt3 starts 2 at 3\n{LOADED}{LED}{FOLLOWED}", [(3, 4)]),
        # A follower deletes what its leader lacks: that is no reason for it.
        (f"t1 begins 1\nt2 leads 2 epoch 0 at 0 hw 0\n{LOADED}{LED}{FOLLOWED}t9 starts 2 at 4\n", [(0, 4)]),
        # A later start has them again.
        (f"{BEGAN}{LOADED}t6 loads 1 at 7 start 0\n{LED}", []),
        # It never led with that log; or nothing tells where it had begun.
        (BEGAN + LOADED, []),
        (LOADED + LED, []),
    ],
)
def test_what_a_leader_s_log_lost_at_its_beginning_is_asked_for(told: str, asked: list[tuple[int, int]]) -> None:
    evidence = read_sketch(DISKS + told).evidence
    at = Span(source="log", start=0, end=1)
    release = Setting(name=KAFKA_VERSION, value="3.5.2", origin="log", broker=1, span=at)
    own = _asked(replace(evidence, settings=Settings(statements=(release,))))
    assert [(q.start_offset, q.end_offset) for q in own] == asked
    assert all(q.blocking and q.brokers == (1,) for q in own)
    # Before 0.11, or of no known release, a broker need not tell where it moves a log's start.
    assert _asked(evidence) == []


def _asked(evidence: PartitionEvidence) -> list[Undecided]:
    said = BY_ID["ACK001"].check(evidence)
    return [q for q in said if isinstance(q, Undecided) and "when broker 1's log was loaded" in q.reason]
