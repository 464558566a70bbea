"""A log under the name of a partition that is no copy of what the others hold tells nothing of the partition's past."""

from __future__ import annotations

from pathlib import Path

from tests.rules.broken_dumps import Yard, wrote

LOG = wrote(0, 0, 60) + wrote(1, 60, 100)
OTHERS = wrote(0, 0, 20, "x") + wrote(2, 20, 40, "x")
"""Another partition's log, with an epoch that this one never had."""


def accused(yard: Yard) -> set[str]:
    return {rule for rule, *_ in yard.told()}


def test_what_it_holds_is_not_what_was_committed_before_another_epoch_began(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, OTHERS)
    yard.healthy(LOG, 2, 3)
    assert {"LOG001", "LOG003"} <= accused(yard)
    assert not accused(yard) & {"LEAD001", "ACK001", "CONS003"}


def test_where_no_two_logs_agree_each_of_them_tells_it(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, OTHERS)
    yard.broker(2, LOG)
    assert "LEAD001" in accused(yard)
