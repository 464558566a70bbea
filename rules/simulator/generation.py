"""What a broker of some version does, as one bundle of functions: chosen once, by its binary and what it speaks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from msgspec import Struct

from rules.protocol.epochs import EndOffsetRule, EpochChain, assign, assign_before_kafka_7415
from rules.protocol.isr import ALTER_ISR, ExpandRule, ShrinkRule, default_lag_time_max_ms, expand_rule, shrink_rule
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.truncation import LEADER_EPOCHS, RuleName, end_offset_rule, rule_in_force
from rules.protocol.versions import (
    METADATA_VERSIONS,
    KafkaVersion,
    ProtocolVersion,
    parse_kafka_version,
    parse_protocol_version,
    protocol,
)
from rules.protocol.watermarks import (
    HighWatermarkRule,
    high_watermark_after_truncation,
    high_watermark_after_truncation_before_2_4,
    high_watermark_rule,
)

FENCED_EPOCH_QUESTION: Final = protocol("2.1-IV1")
FENCED_FETCH: Final = protocol("2.1-IV2")
ISR_WITHOUT_NEW_EPOCH: Final = protocol("3.6-IV0")
MISSED_AN_EPOCH: Final = 2

Assign = Callable[[EpochChain, Epoch, Offset], EpochChain]
ChangeOfLeader = Callable[[bool, int], bool]
"""From whether the leader's id changed, and by how much the epoch rose, to whether a follower reconciles its log."""


class UnknownGeneration(ValueError):
    """A version, or a pair of versions, that no broker can have, or that is not described here."""


class Generation(Struct, frozen=True, kw_only=True):
    """The functions that a broker of one version runs."""

    binary: KafkaVersion
    spoken: ProtocolVersion
    rule: RuleName
    end_offset_rule: EndOffsetRule
    assign: Assign
    high_watermark_rule: HighWatermarkRule
    after_truncation: Callable[[Offset, Offset], Offset]
    shrinks: ShrinkRule
    expands: ExpandRule
    reconciles: ChangeOfLeader
    lag_time_max_ms: int
    keeps_epochs: bool
    """Whether batches carry a leader epoch that the broker remembers."""
    enters_at_election: bool
    """Whether a leader notes its epoch when it is elected, rather than at its first append."""
    sends_epoch_in_question: bool
    sends_epoch_in_fetch: bool
    """Whether OffsetsForLeaderEpoch, and Fetch, name the follower's epoch: then a leader of another one refuses."""
    asynchronous_isr: bool
    """Whether ISR changes are asked of the controller, and are in flight until it answers."""
    moves_at_commit: bool
    """Whether the high watermark is looked at again when such an answer comes (KAFKA-13091)."""
    counts_diverging_fetch: bool
    """Whether a leader believes the offset of a Fetch that it answered as diverging (KAFKA-13141)."""
    takes_diverging_high_watermark: bool
    """Whether a follower takes the high watermark of a diverging answer before it cuts (KAFKA-14704)."""
    kraft: bool
    halts_out_of_range: bool
    """Whether a broker stops rather than cut to a shorter leader while unclean election is off (KAFKA-7414)."""
    unclean_by_default: bool

    def __str__(self) -> str:
        return f"Kafka {self.binary}, inter-broker protocol {self.spoken}"


def at_any_new_leader(other_leader: bool, _raised_by: int) -> bool:  # noqa: FBT001 - a plain fact of a change
    """Up to 2.0.0 a follower reconciles when the leader's id changes; a new epoch of the same leader passes unseen."""
    return other_leader


def at_missed_epoch(other_leader: bool, raised_by: int) -> bool:  # noqa: FBT001 - a plain fact of a change
    """2.0.1: also when an epoch in between was missed (KAFKA-7164)."""
    return other_leader or raised_by >= MISSED_AN_EPOCH


def at_every_epoch(_other_leader: bool, _raised_by: int) -> bool:  # noqa: FBT001 - a plain fact of a change
    """Since 2.1.0: at every new epoch."""
    return True


@cache
def generation(version: str, inter_broker_protocol: str | None = None) -> Generation:
    """The functions of a version; without an inter-broker protocol the newest that the binary speaks."""
    binary = parse_kafka_version(version)
    if binary is None:
        raise UnknownGeneration(f"expected a Kafka version such as 3.9.1, found {version!r}")
    newest = newest_described()
    if binary.release[:2] > newest.release[:2]:
        known = ".".join(map(str, newest.release[:2]))
        raise UnknownGeneration(f"Kafka {binary} is newer than {known}, the newest release described here")
    spoken = parse_protocol_version(inter_broker_protocol) if inter_broker_protocol else newest_spoken(binary)
    if spoken is None:
        raise UnknownGeneration(f"expected an inter-broker protocol such as 3.9, found {inter_broker_protocol!r}")
    rule, counting = rule_in_force(binary, spoken), high_watermark_rule(binary)
    if rule is None or counting is None:
        reason = "is older than 0.10.2" if counting is None else f"cannot speak {spoken}"
        raise UnknownGeneration(f"Kafka {binary} {reason}")
    return _bundle(binary, spoken, rule, counting)


def newest_described() -> ProtocolVersion:
    """The newest release of which anything is known."""
    return protocol(METADATA_VERSIONS[-1])


def newest_spoken(binary: KafkaVersion) -> ProtocolVersion:
    """The inter-broker protocol of a broker that nobody configured."""
    places = 3 if binary.release[0] == 0 else 2
    return protocol(".".join(map(str, binary.release[:places])))


def _bundle(binary: KafkaVersion, spoken: ProtocolVersion, rule: RuleName, counting: HighWatermarkRule) -> Generation:
    keeps_epochs = binary.at_least(0, 11) and spoken >= LEADER_EPOCHS
    asynchronous_isr = binary.at_least(2, 7) and spoken >= ALTER_ISR
    on_fetch = rule == "truncate-on-fetch"
    return Generation(
        binary=binary,
        spoken=spoken,
        rule=rule,
        end_offset_rule=end_offset_rule(binary),
        assign=assign if binary.at_least(2, 0, 1) else assign_before_kafka_7415,
        high_watermark_rule=counting,
        after_truncation=high_watermark_after_truncation
        if binary.at_least(2, 4)
        else high_watermark_after_truncation_before_2_4,
        shrinks=shrink_rule(binary),
        expands=expand_rule(binary),
        reconciles=_change_of_leader(binary),
        lag_time_max_ms=default_lag_time_max_ms(binary),
        keeps_epochs=keeps_epochs,
        enters_at_election=keeps_epochs and binary.at_least(2, 0, 1),
        sends_epoch_in_question=binary.at_least(2, 1) and spoken >= FENCED_EPOCH_QUESTION,
        sends_epoch_in_fetch=binary.at_least(2, 1) and spoken >= FENCED_FETCH,
        asynchronous_isr=asynchronous_isr,
        moves_at_commit=binary.at_least(3, 1) or not asynchronous_isr,
        counts_diverging_fetch=on_fetch and not binary.at_least(2, 8, 1),
        takes_diverging_high_watermark=on_fetch and not binary.at_least(3, 4, 1),
        kraft=binary.at_least(3, 3),
        halts_out_of_range=not binary.at_least(2, 1),
        unclean_by_default=not binary.at_least(0, 11),
    )


def _change_of_leader(binary: KafkaVersion) -> ChangeOfLeader:
    if binary.at_least(2, 1):
        return at_every_epoch
    return at_missed_epoch if binary.at_least(2, 0, 1) else at_any_new_leader
