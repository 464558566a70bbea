"""Roles that a broker had and its own log lacks, and those that it was only meant to have."""

from __future__ import annotations

import pytest

from rules.sketch.notation import read_sketch

ORDERED = """
kafka 1 3.6.2 ibp 3.6
broker 1 00022|
broker 2 00022|
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t3 follows 2 epoch 1 at 3 hw 3 from 1
t4 leads 2 epoch 2 at 3 hw 3
{own}t9 follows 1 epoch 2 at 3 hw 3 from 2
"""


@pytest.mark.parametrize(
    ("own", "lacked"),
    [
        ("", {1: {1: "amid"}}),
        ("t8 loads 1 at 3\n", {}),
        # What it did in the epoch shows that it lived then.
        ("t3 fetch 2@3 from 1 hw 3 epoch 1\nt8 loads 1 at 3\n", {1: {1: "amid"}}),
    ],
)
def test_who_was_to_lead_and_started_again_since_may_have_died_before(own: str, lacked: dict[int, object]) -> None:
    """Broker 2 was told to follow broker 1 in epoch 1, as ZooKeeper's controller tells it when others died."""
    assert read_sketch(ORDERED.format(own=own)).evidence.lacked_roles == lacked
