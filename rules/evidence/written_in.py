"""The leader epochs in which records were written, as words behind them."""

from __future__ import annotations

from typing import Final

from rules.replicas.replica import Replica
from rules.words import numbered

NAMED: Final = 3
"""Epochs that are named one by one."""


def written_in(replica: Replica, start: int, end: int) -> str:
    """Of which epochs a replica's records between two offsets are; nothing where one of them carries none."""
    epochs = sorted({run.epoch for run in replica.runs_within(start, end)})
    if not epochs or epochs[0] < 0 or not replica.holds(start, end):
        return ""
    return f" of {numbered('epoch', epochs)}" if len(epochs) <= NAMED else f" of epochs {epochs[0]} to {epochs[-1]}"
