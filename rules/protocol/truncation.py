"""Where a follower cuts its log after an election: one function a generation of the protocol, side by side.

Every function takes the follower and the leader as they stand and plays the exchange between them to its end. It says
what was asked, what was answered and what is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from rules.protocol.epochs import (
    EndOffsetRule,
    EpochEnd,
    end_offset_for,
    end_offset_for_before_kafka_7415,
    latest_epoch,
    offset_only,
)
from rules.protocol.leader import FetchReply, answer_epoch, answer_fetch
from rules.protocol.offsets import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, Epoch, Offset
from rules.protocol.replica_log import ReplicaLog, batch_around, divergence_point, truncate_fully, truncate_to
from rules.protocol.steps import StepLimit
from rules.protocol.versions import KafkaVersion, ProtocolVersion, protocol

RuleName = Literal["hw-truncation", "kip-101", "kip-279", "truncate-on-fetch", "out-of-range-reset"]


class Exchange(Struct, frozen=True, kw_only=True):
    """One question of the follower and the leader's answer; -1 stands where Kafka sends -1.

    A Fetch asks with an offset, OffsetsForLeaderEpoch without. A Fetch that was accepted shows the epoch end that the
    leader found and did not need to send.
    """

    asked_epoch: Epoch
    asked_offset: Offset | None
    answered_epoch: Epoch
    answered_offset: Offset

    @classmethod
    def of(cls, asked_epoch: Epoch | None, asked_offset: Offset | None, answer: EpochEnd | None) -> Exchange:
        """An exchange as it stands on the wire, where the unknown is -1."""
        return cls(
            asked_epoch=UNDEFINED_EPOCH if asked_epoch is None else asked_epoch,
            asked_offset=asked_offset,
            answered_epoch=UNDEFINED_EPOCH if answer is None else answer.epoch,
            answered_offset=UNDEFINED_EPOCH_OFFSET if answer is None else answer.end_offset,
        )


class Truncation(Struct, frozen=True, kw_only=True):
    """What a rule makes of a follower."""

    rule: RuleName
    exchanges: tuple[Exchange, ...]
    offset: Offset
    """The log end that the follower takes on, and fetches from."""
    kept_log_end_offset: Offset
    """The end of the records that are left: below `offset` when that lay inside a batch, which leaves a hole."""
    begins_anew: bool
    """Whether nothing is left and the log starts at `offset`, where the leader's does."""
    cuts: bool
    because: str


class TruncationPoint(Struct, frozen=True, kw_only=True):
    """What a follower makes of one answer; when not completed it cuts and asks again."""

    offset: Offset
    completed: bool
    because: str


Rule = Callable[[ReplicaLog, ReplicaLog], Truncation]


def conclude(
    rule: RuleName, follower: ReplicaLog, state: ReplicaLog, exchanges: tuple[Exchange, ...], because: str
) -> Truncation:
    """The account of a rule that left a follower in this state."""
    offset = state.log_end_offset
    # a cut lowers a log's start or lets it be: it rose because all was dropped
    begins_anew = state.log_start_offset > follower.log_start_offset
    if begins_anew:
        kept = min(follower.log_start_offset, follower.log_end_offset)
    else:
        broken = batch_around(follower, offset)
        kept = offset if broken is None else broken.start_offset
    return Truncation(
        rule=rule,
        exchanges=exchanges,
        offset=offset,
        kept_log_end_offset=kept,
        begins_anew=begins_anew,
        cuts=kept < follower.log_end_offset,
        because=because,
    )


def truncate_by_high_watermark(follower: ReplicaLog, _leader: ReplicaLog) -> Truncation:
    """Up to 0.10.2, and wherever the inter-broker protocol is older than 0.11.0-IV2: nobody is asked."""
    return _at_high_watermark("hw-truncation", follower, follower, (), "this rule asks no leader")


def truncate_by_end_offset(follower: ReplicaLog, leader: ReplicaLog) -> Truncation:
    """KIP-101, OffsetsForLeaderEpoch v0: one question, and the answer does not say whose end it is."""
    asked = latest_epoch(follower.epochs)
    # 0.11 to 1.x put the question even without an epoch to ask about
    answer = offset_only(answer_epoch(leader, asked))
    exchanges = (Exchange.of(asked, None, answer),)
    if answer is None:
        return _at_high_watermark("kip-101", follower, follower, exchanges, _why_undefined(asked))
    point = truncation_point(follower, answer)
    return conclude("kip-101", follower, truncate_to(follower, point.offset), exchanges, point.because)


def truncate_by_epoch_end(follower: ReplicaLog, leader: ReplicaLog) -> Truncation:
    """KIP-279, OffsetsForLeaderEpoch v1 and later: the answer names its epoch; the follower asks until both agree."""
    return _ask_until_agreed("kip-279", follower, leader)


def truncate_on_fetch(follower: ReplicaLog, leader: ReplicaLog) -> Truncation:
    """2.8 with 2.7-IV1 and later: every Fetch names the last fetched epoch, a diverging answer cuts and fetches on."""
    if latest_epoch(follower.epochs) is None:
        return _at_high_watermark("truncate-on-fetch", follower, follower, (), _why_undefined(None))
    state, because = follower, ""
    exchanges: tuple[Exchange, ...] = ()
    bound = _bound("truncate-on-fetch", follower, leader)
    stood: list[ReplicaLog] = []
    while True:
        bound.step()
        asked = latest_epoch(state.epochs)
        reply = answer_fetch(leader, state.log_end_offset, asked)
        exchanges += (Exchange.of(asked, state.log_end_offset, reply.end),)
        if reply.kind == "records":
            because = because or f"the leader holds epoch {asked} up to offset {state.log_end_offset} too"
            return conclude("truncate-on-fetch", follower, state, exchanges, because)
        stood.append(state)
        after, because = _after_reply(state, leader, reply)
        if after in stood:
            return conclude("truncate-on-fetch", follower, state, exchanges, f"{because}; it fetches again in vain")
        state = after


def truncation_point(follower: ReplicaLog, answer: EpochEnd) -> TruncationPoint:
    """What a follower makes of an epoch end that a leader answered, by OffsetsForLeaderEpoch or as divergingEpoch."""
    said = f"epoch {answer.epoch} ends at offset {answer.end_offset} in the leader's log"
    if answer.epoch == UNDEFINED_EPOCH:
        said = f"the leader answered offset {answer.end_offset} without its epoch"
        return TruncationPoint(offset=min(answer.end_offset, follower.log_end_offset), completed=True, because=said)
    own = answer_epoch(follower, answer.epoch)
    if own is None:
        said += ", and the follower has nothing of that epoch or an older one"
        return TruncationPoint(offset=min(answer.end_offset, follower.log_end_offset), completed=True, because=said)
    same = " and" if own.epoch == answer.epoch else f", and epoch {own.epoch}"
    said += f"{same} at offset {own.end_offset} in the follower's"
    if own.epoch != answer.epoch:
        return TruncationPoint(offset=min(own.end_offset, follower.log_end_offset), completed=False, because=said)
    offset = min(own.end_offset, answer.end_offset, follower.log_end_offset)
    return TruncationPoint(offset=offset, completed=True, because=said)


def reset_out_of_range(follower: ReplicaLog, leader: ReplicaLog) -> Truncation:
    """OFFSET_OUT_OF_RANGE on a follower's Fetch: offsets are compared and epochs are not, so a wrong prefix stays."""
    if leader.log_end_offset < follower.log_end_offset:
        because = f"the leader's log ends at {leader.log_end_offset}, below the log end {follower.log_end_offset} here"
        state = truncate_to(follower, leader.log_end_offset)
    elif leader.log_start_offset > follower.log_end_offset:
        because = f"the leader's log starts at {leader.log_start_offset}, beyond this one's end by then: all is dropped"
        state = truncate_fully(follower, leader.log_start_offset)
    else:
        because = f"the leader holds offset {follower.log_end_offset}: the same offset is fetched again"
        state = follower
    return conclude("out-of-range-reset", follower, state, (), because)


def after_first_fetch(follower: ReplicaLog, leader: ReplicaLog, truncation: Truncation) -> Truncation | None:
    """What the first plain Fetch after a truncation brings: the reset when it is out of range, None when it is not."""
    state = after_truncation(follower, truncation)
    reply = answer_fetch(leader, state.log_end_offset, None)
    return reset_out_of_range(state, leader) if reply.kind == "out-of-range" else None


def after_truncation(follower: ReplicaLog, truncation: Truncation) -> ReplicaLog:
    """The follower as a truncation leaves it, by the log end that it believes in."""
    if truncation.begins_anew:
        return truncate_fully(follower, truncation.offset)
    return truncate_to(follower, truncation.offset)


Consequence = Literal["agrees", "diverges", "hole", "stuck"]


def consequence(follower: ReplicaLog, leader: ReplicaLog, truncation: Truncation) -> Consequence:
    """What comes of a follower that goes on fetching after a truncation.

    A hole: the records below its fetch offset are gone, and are not fetched. Stuck: the next batch of the leader begins
    below its log end and cannot be appended. Diverges: silently, for the offsets match and the epochs do not.
    """
    if truncation.kept_log_end_offset < truncation.offset and not truncation.begins_anew:
        return "hole"
    if batch_around(leader, truncation.offset) is not None:
        return "stuck"
    return "agrees" if divergence_point(after_truncation(follower, truncation), leader) is None else "diverges"


RULES: Final[Mapping[RuleName, Rule]] = MappingProxyType(
    {
        "hw-truncation": truncate_by_high_watermark,
        "kip-101": truncate_by_end_offset,
        "kip-279": truncate_by_epoch_end,
        "truncate-on-fetch": truncate_on_fetch,
    }
)
"""The generations between which a cluster's versions choose, oldest first."""

LEADER_EPOCHS: Final = protocol("0.11.0-IV2")
EPOCH_IN_ANSWER: Final = protocol("2.0-IV0")
LAST_FETCHED_EPOCH: Final = protocol("2.7-IV1")
OLDEST_SPOKEN_BY_4_0: Final = protocol("3.3-IV3")


def rule_in_force(binary: KafkaVersion | None, spoken: ProtocolVersion | None) -> RuleName | None:
    """Which rule a follower applied, by its binary and the inter-broker protocol; None when they do not settle it.

    The binary alone settles it up to 0.10.2 and from 4.0 on. A protocol newer than the binary is a contradiction.
    """
    if binary is None or (spoken is not None and spoken.release[:2] > binary.release[:2]):
        return None
    if not binary.at_least(0, 11):
        return "hw-truncation"
    if spoken is None:
        spoken = OLDEST_SPOKEN_BY_4_0 if binary.at_least(4, 0) else None
    if spoken is None:
        return None
    if spoken < LEADER_EPOCHS:
        return "hw-truncation"
    if not binary.at_least(2, 0) or spoken < EPOCH_IN_ANSWER:
        return "kip-101"
    # Fetch v12 came with 2.7, but no broker sent an epoch in it before 2.8
    return "truncate-on-fetch" if binary.at_least(2, 8) and spoken >= LAST_FETCHED_EPOCH else "kip-279"


def end_offset_rule(binary: KafkaVersion) -> EndOffsetRule:
    """How a broker of this version searches its epoch cache, as a leader and as a follower."""
    return end_offset_for if binary.at_least(2, 0, 1) else end_offset_for_before_kafka_7415


def _bound(rule: RuleName, follower: ReplicaLog, leader: ReplicaLog) -> StepLimit:
    """Each answer takes an entry from the follower's epochs or ends at one of the leader's; a reset empties them."""
    entries = len(follower.epochs) + len(leader.epochs)
    return StepLimit(2 * entries + 4, f"the exchange of {rule}")


def _ask_until_agreed(rule: RuleName, follower: ReplicaLog, leader: ReplicaLog) -> Truncation:
    state = follower
    exchanges: tuple[Exchange, ...] = ()
    bound = _bound(rule, follower, leader)
    while True:
        bound.step()
        asked = latest_epoch(state.epochs)
        answer = answer_epoch(leader, asked)
        if asked is not None:
            exchanges += (Exchange.of(asked, None, answer),)
        if answer is None:
            return _at_high_watermark(rule, follower, state, exchanges, _why_undefined(asked))
        point = truncation_point(state, answer)
        after = truncate_to(state, point.offset)
        if point.completed:
            return conclude(rule, follower, after, exchanges, point.because)
        if after == state:
            return conclude(rule, follower, after, exchanges, f"{point.because}; it asks again in vain")
        state = after


def _after_reply(state: ReplicaLog, leader: ReplicaLog, reply: FetchReply) -> tuple[ReplicaLog, str]:
    if reply.end is not None:
        point = truncation_point(state, reply.end)
        return truncate_to(state, point.offset), point.because
    reset = reset_out_of_range(state, leader)
    return after_truncation(state, reset), f"out of range: {reset.because}"


def _at_high_watermark(
    rule: RuleName, follower: ReplicaLog, state: ReplicaLog, exchanges: tuple[Exchange, ...], because: str
) -> Truncation:
    because = f"the high watermark {follower.high_watermark} decides: {because}"
    return conclude(rule, follower, truncate_to(state, follower.high_watermark), exchanges, because)


def _why_undefined(asked: Epoch | None) -> str:
    return "the follower holds no epoch to ask about" if asked is None else f"the leader cannot place epoch {asked}"
