"""A leader that was started again in its epoch tells where its log ends then, not where the epoch began."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.history.moments import Moment
from rules.history.statements import statement


def role(broker: int, kind: str, offset: int, state: int | None, *, fresh: bool = False) -> Moment:
    span = Span(source=f"broker-{broker}/logs/state-change.log", start=offset, end=offset + 1)
    return statement(
        kind, clock=f"broker {broker}", witness=broker, broker=broker, leader=3, time=offset, epoch=5, offset=offset,
        partition_epoch=state, fresh=fresh, span=span,
    )  # fmt: skip


FOLLOWER = role(1, "follower-starts", 133, 9)


@pytest.mark.parametrize(
    ("others", "leader", "opened"),
    [
        ([FOLLOWER], role(3, "leader-starts", 242, 12, fresh=True), None),
        ([], role(3, "leader-starts", 242, 12, fresh=True), 242),
        ([FOLLOWER], role(3, "leader-starts", 242, None, fresh=True), 242),
        ([FOLLOWER], role(3, "leader-starts", 139, 9, fresh=True), 139),
        ([FOLLOWER], role(3, "leader-starts", 139, 10), 139),
    ],
)
def test_a_role_in_a_later_state_of_its_epoch_opened_nothing_if_its_broker_had_just_started(
    others: list[Moment], leader: Moment, opened: int | None
) -> None:
    found = Chronicle((*others, leader)).opened.get(5)
    assert (None if found is None else found.offset) == opened


def test_what_it_told_at_first_counts() -> None:
    first, again = role(3, "leader-starts", 139, 9), role(3, "leader-starts", 242, 12, fresh=True)
    assert Chronicle((first, again)).opened[5].offset == 139
