"""How a follower brings its log into line with a leader's: the rule of its version, and what it does to the log."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.offsets import BrokerId, Epoch, Offset
from rules.protocol.replica_log import truncate_to
from rules.protocol.truncation import (
    RULES,
    Exchange,
    Truncation,
    conclude,
    reset_out_of_range,
    truncate_by_high_watermark,
    truncation_point,
)
from rules.protocol.watermarks import follower_high_watermark
from rules.simulator.delivery import reach
from rules.simulator.log_changes import begun_anew, cut, ranges
from rules.simulator.notes import AnsweredEnd, AnsweredEpoch, Ended, Reconciled
from rules.simulator.state import (
    Broker,
    Cluster,
    InFlight,
    ReconciledCut,
    Stage,
    may_elect_unclean,
    note,
    put,
    replica_of,
    say,
)


def begin(cluster: Cluster, follower: Broker) -> Cluster:
    """A follower of a new leader: the high watermark rule cuts at once, the others ask before or while they fetch."""
    rule = follower.generation.rule
    if rule == "hw-truncation":
        return by_high_watermark(cluster, follower)
    stage: Stage = "fetching" if rule == "truncate-on-fetch" and follower.epochs else "truncating"
    return put(cluster, replace(follower, stage=stage))


def by_high_watermark(cluster: Cluster, follower: Broker) -> Cluster:
    """Cuts to the high watermark; no leader is asked."""
    replica = replica_of(follower)
    return _settle(cluster, follower, None, truncate_by_high_watermark(replica, replica))


def reconcile(cluster: Cluster, follower: Broker) -> Cluster:
    """The exchange of OffsetsForLeaderEpoch, played to its end, if the follower owes one."""
    if follower.stage != "truncating":
        return say(cluster, f"broker {follower.id} has nothing to ask before it fetches")
    rule = follower.generation.rule
    if rule == "truncate-on-fetch":  # no epoch to name in a Fetch: its high watermark decides, no leader is asked
        replica = replica_of(follower)
        return _settle(cluster, follower, None, RULES[rule](replica, replica))
    asked = -1 if follower.last_epoch is None else follower.last_epoch
    fenced = follower.generation.sends_epoch_in_question
    cluster, leader, error = reach(cluster, follower, fenced=fenced, what=f"OffsetsForLeaderEpoch({asked})")
    if leader is None:
        return note(cluster, *_turned_away(follower, asked, error))
    account = RULES[rule](replica_of(follower), replica_of(leader))
    asks = follower.last_epoch is not None or not follower.generation.binary.at_least(2)
    if asks:  # up to 1.1 a follower without epochs asks for -1
        cluster = note(cluster, *(_answered(follower, leader.id, exchange) for exchange in account.exchanges))
    return _settle(cluster, follower, leader.id, account)


def _turned_away(follower: Broker, asked: int, error: int) -> tuple[AnsweredEpoch, ...]:
    heard = follower.heard
    if not error or heard is None or heard.leader is None:
        return ()
    return (
        AnsweredEpoch(
            leader=heard.leader, follower=follower.id, believed_epoch=heard.epoch, asked_epoch=asked, error=error
        ),
    )


def _answered(follower: Broker, leader: BrokerId, exchange: Exchange) -> AnsweredEpoch:
    return AnsweredEpoch(
        leader=leader,
        follower=follower.id,
        believed_epoch=follower.heard.epoch if follower.heard else Epoch(-1),
        asked_epoch=exchange.asked_epoch,
        epoch=exchange.answered_epoch,
        end_offset=exchange.answered_offset,
    )


def diverge(cluster: Cluster, follower: Broker, answer: InFlight) -> Cluster:
    """A diverging answer to a Fetch: cut, and fetch on from there."""
    if answer.end is None:
        return cluster
    if follower.generation.takes_diverging_high_watermark:
        taken = follower_high_watermark(answer.high_watermark, follower.log.start_offset, follower.log.end_offset)
        follower = replace(follower, high_watermark=taken)
    replica = replica_of(follower)
    point = truncation_point(replica, answer.end)
    exchange = Exchange.of(follower.last_epoch, replica.log_end_offset, answer.end)
    after = truncate_to(replica, point.offset)
    account = conclude("truncate-on-fetch", replica, after, (exchange,), point.because)
    return _settle(cluster, follower, answer.leader, account)


def reset(cluster: Cluster, follower: Broker, leader: BrokerId) -> Cluster:
    """A Fetch out of range: the log ends are compared, epochs are not."""
    other = cluster.broker(leader)
    if not other.leads:
        return say(cluster, f"broker {leader} does not answer where its log ends")
    account = reset_out_of_range(replica_of(follower), replica_of(other))
    believed = follower.heard.epoch if follower.heard else Epoch(-1)
    end = AnsweredEnd(leader=leader, follower=follower.id, believed_epoch=believed, offset=other.log.end_offset)
    cluster = note(cluster, end)
    if other.log.end_offset >= follower.log.end_offset:
        cluster = note(cluster, replace(end, offset=other.log.start_offset, earliest=True))
    halts = follower.generation.halts_out_of_range and not may_elect_unclean(cluster, follower)
    if account.cuts and halts and other.log.end_offset < follower.log.end_offset:
        cluster = note(cluster, Ended(broker=follower.id, in_order=False))
        stopped = put(
            cluster, replace(follower, alive=False, shut_down_cleanly=False, heard=None, in_flight=None, stage="idle")
        )
        return say(stopped, f"broker {follower.id} stops: {account.because}, and unclean leader election is off")
    return _settle(cluster, follower, leader, account, out_of_range=True)


def _settle(
    cluster: Cluster,
    follower: Broker,
    leader: BrokerId | None,
    account: Truncation,
    *,
    out_of_range: bool = False,
) -> Cluster:
    """Does to the log what a rule concluded, and keeps the account."""
    before = follower.log.end_offset
    after, removed = begun_anew(follower, account.offset) if account.begins_anew else cut(follower, account.offset)
    kept = after.log.batches[-1].end_offset if after.log.batches else after.log.start_offset
    held = ReconciledCut(
        broker=follower.id,
        leader=leader,
        epoch=follower.heard.epoch if follower.heard else cluster.in_force.epoch,
        rule=account.rule,
        exchanges=account.exchanges,
        from_offset=before,
        to_offset=account.offset,
        kept_log_end_offset=Offset(min(kept, account.offset)),
        removed=removed,
        because=account.because,
    )
    written = Reconciled(
        broker=follower.id,
        leader=leader if leader is not None or follower.heard is None else follower.heard.leader,
        rule=account.rule,
        exchanges=account.exchanges,
        out_of_range=out_of_range,
        from_offset=before,
        to_offset=account.offset,
        high_watermark=follower.high_watermark,
    )
    cluster = replace(put(note(cluster, written), replace(after, stage="fetching")), cuts=(*cluster.cuts, held))
    return say(cluster, *_account(held))


def _account(held: ReconciledCut) -> tuple[str, ...]:
    asked = tuple(_exchange(held.broker, exchange) for exchange in held.exchanges)
    if not held.removed:
        return (*asked, f"broker {held.broker} cuts nothing ({held.rule}: {held.because})")
    hole = held.kept_log_end_offset < held.to_offset
    words = f"broker {held.broker} cuts to {held.to_offset}, drops {ranges(held.removed)} ({held.rule}: {held.because})"
    torn = f"nothing is left of [{held.kept_log_end_offset}, {held.to_offset}): a hole"
    return (*asked, words, torn) if hole else (*asked, words)


def _exchange(broker: BrokerId, exchange: Exchange) -> str:
    question = f"epoch {exchange.asked_epoch}"
    if exchange.asked_offset is not None:
        question += f" at {exchange.asked_offset}"
    return f"broker {broker} asked {question}, answered ({exchange.answered_epoch}, {exchange.answered_offset})"
