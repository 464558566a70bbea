"""How brokers keep their epoch caches: when an epoch is entered, which entry wins, and how the cache is searched.

Two ways stand side by side. They are told apart by the generation of the truncation protocol that came with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from rules.protocol.epochs import (
    EndOffsetRule,
    EpochChain,
    assign,
    assign_before_kafka_7415,
    end_offset_for,
    end_offset_for_before_kafka_7415,
)
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.truncation import RuleName

Assign = Callable[[EpochChain, Epoch, Offset], EpochChain]


class Keeping(Struct, frozen=True, kw_only=True):
    """What some releases do with the epochs of a log."""

    assign: Assign
    end_offset_rule: EndOffsetRule
    enters_at_election: bool
    """Whether a leader notes its epoch when it is elected, rather than at its first append."""


UP_TO_2_0_0: Final = Keeping(
    assign=assign_before_kafka_7415, end_offset_rule=end_offset_for_before_kafka_7415, enters_at_election=False
)
SINCE_2_0_1: Final = Keeping(assign=assign, end_offset_rule=end_offset_for, enters_at_election=True)
WAYS: Final = (UP_TO_2_0_0, SINCE_2_0_1)
KEPT_BY: Final[Mapping[RuleName, Keeping]] = MappingProxyType(
    {"kip-101": UP_TO_2_0_0, "kip-279": SINCE_2_0_1, "truncate-on-fetch": SINCE_2_0_1}
)
"""How the cache is kept by the releases that brought each rule that asks for epochs, mended as they were."""
