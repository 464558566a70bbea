"""Whose answers a log of requests holds."""

from __future__ import annotations

import pytest

from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.untold_requests import of_several_brokers
from rules.sketch.statement_lines import read_event

LOG = ReadUnit(
    kind="request-log", dump=".", cluster_id=None, broker=1, log_dir="", topic=None, topic_id=None, partition=None,
    path=None, state="current", order=0, pieces=(),
)  # fmt: skip


@pytest.mark.parametrize(("topic", "mixed"), [("orders", True), ("__cluster_metadata", False)])
def test_a_broker_asks_itself_for_nothing_but_the_metadata_log(topic: str, mixed: bool) -> None:
    itself = read_event("t1 fetch 1@0 from 1 hw=0 error 6")
    assert (of_several_brokers(LOG, {(topic, 0): [itself]}) is not None) is mixed
