"""Who leads the metadata quorum is told by the log's own records of elections, and each names its epoch."""

from __future__ import annotations

import pytest

from auditor.engines.witnesses.registrations import quorum_leaders_in
from parsers.tables.metadata import QuorumChange
from rules.catalog import BY_ID
from rules.finding import Violation
from rules.settings import settings_of
from rules.sketch.notation import read_sketch
from tests.replaced import replace

PUT_BACK = "topic {topic}\nbroker 100* 000444|\nbroker 101 0000|\n"


def elected(leader: int, epoch: int) -> QuorumChange:
    """A controller's election as the log holds it."""
    columns = dict.fromkeys(QuorumChange.__struct_fields__)
    told = {"kind": "leader", "leader": leader, "controller_epoch": epoch, "time": 5, "offset": 3, "source": "log"}
    return QuorumChange(**{**columns, **told, "span_start": epoch * 10, "span_end": epoch * 10 + 9})


@pytest.mark.parametrize(
    ("topic", "changes", "who"),
    [
        # What only repeats the leader before is told of each epoch all the same.
        ("__cluster_metadata", [elected(100, 0), elected(101, 3), elected(101, 4)], "quorum leader 101"),
        ("__cluster_metadata", [elected(100, 0)], "an unknown controller"),
        # Two logs give the epoch to two.
        ("__cluster_metadata", [elected(100, 4), elected(101, 4)], "an unknown controller"),
        ("t", [elected(101, 4)], "an unknown broker"),
    ],
)
def test_a_leader_of_the_quorum_is_named_by_its_epoch(topic: str, changes: list[QuorumChange], who: str) -> None:
    drawn = read_sketch(PUT_BACK.format(topic=topic)).evidence
    evidence = replace(drawn, settings=settings_of(quorum_leaders_in(changes)))
    (found,) = (v for v in BY_ID["LEAD001"].check(evidence) if isinstance(v, Violation))
    assert (found.facts["who"], found.start_offset, found.end_offset) == (who, 3, 4)
