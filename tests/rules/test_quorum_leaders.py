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


LEFT_OUT = """
broker 1 00111|
broker 2 00111|
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@0 from 1 hw=0
t3 fetch 2@4 from 1 hw=4
t4 leads 2 epoch 1 at 2 hw 2 isr 2
"""


@pytest.mark.parametrize(("topic", "goes_back"), [("__cluster_metadata", False), ("t", True)])
def test_no_consumer_has_to_go_back_in_the_log_that_nodes_alone_read(topic: str, goes_back: bool) -> None:
    evidence = read_sketch(f"topic {topic}{LEFT_OUT}").evidence
    (found,) = (v for v in BY_ID["CONS003"].check(evidence) if isinstance(v, Violation))
    readers = str(found.facts["readers"])
    assert readers.startswith("Consumers that read") is goes_back
    assert readers.startswith("Brokers and controllers that had read") is not goes_back
