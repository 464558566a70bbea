"""What logs prove of records is known of them beyond what checkpoints tell, which are written every few seconds."""

from __future__ import annotations

import pytest

from parsers.provenance import FileKind
from rules.catalog import BY_ID
from rules.finding import Severity, Undecided, Violation
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from tests.replaced import replace

PARTED = """
broker 1  000111|{first}
broker 2* 0002|{second}
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 1 epoch 1 at 3 hw 3
t3 acks 1 at 5 acks={acks}
t4 leads 2 epoch 2 at 3 hw 3
t5 acks 2 at 3 acks={acks}
"""


@pytest.mark.parametrize(
    ("mark", "acks", "owed", "diverging"),
    [
        # Checkpoints are written every few seconds: a broker that was killed may have answered more since.
        (" ; hw 3", "all", Severity.CRITICAL, [(3, 4)]),
        (" ; hw none", "all", Severity.CRITICAL, [(3, 4)]),
        # What the leader alone holds is not committed.
        (" ; hw 3", "1", Severity.INFO, []),
    ],
)
def test_what_was_answered_for_all_is_committed_beyond_an_old_checkpoint(
    mark: str, acks: str, owed: Severity, diverging: list[tuple[int, int]]
) -> None:
    known = with_differences(read_sketch(PARTED.format(first=mark, second=mark, acks=acks)).evidence)
    cuts = [v for v in BY_ID["TRUNC004"].check(known) if isinstance(v, Violation)]
    assert [(v.brokers, v.start_offset, v.end_offset, v.severity) for v in cuts] == [((1,), 3, 6, owed)]
    apart = [v for v in BY_ID["LOG001"].check(known) if isinstance(v, Violation)]
    assert [(v.start_offset, v.end_offset) for v in apart] == diverging


@pytest.mark.parametrize(
    ("untold", "asks"),
    [
        (
            frozenset({"replication-offset-checkpoint"}),
            "the replication-offset-checkpoint of broker 1, which holds high watermarks",
        ),
        # The file is here, and has no entry for the partition: another copy of it would tell no more.
        (frozenset(), "broker 1's state-change.log (Kafka 2.5 and older: server.log), or broker 1's request log"),
    ],
)
def test_a_checkpoint_without_an_entry_is_not_asked_for(untold: frozenset[FileKind], asks: str) -> None:
    told = with_differences(read_sketch("broker 1 000111 ; hw none\nbroker 2* 0002|\n").evidence)
    first = replace(told.differences[0], left=replace(told.differences[0].left, untold=untold))
    found = BY_ID["LOG001"].check(replace(told, differences=(first,)))
    (open_one,) = (one for one in found if isinstance(one, Undecided))
    assert open_one.missing == asks
    assert open_one.reason.endswith("of broker 1 has no entry for this partition") == (not untold)
