"""An ISR that is told of a reign, and from when on it was in force.

It has an earliest time from which it may have been in force, and a latest from which it surely was. Between the two,
both it and the one before it are possible.
"""

from __future__ import annotations

from msgspec import Struct

from rules.history.statements import Role


class InForce(Struct, frozen=True, kw_only=True):
    """One ISR; null times are open: possible since ever, or sure only once a later statement is."""

    isr: frozenset[int]
    earliest: int | None
    latest: int | None
    partition_epoch: int | None
    moment: Role
