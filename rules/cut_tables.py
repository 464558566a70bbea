"""What every generation of the protocol would have made of a reconciliation that a broker's log tells of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs
from msgspec.structs import replace

from rules.counterfactual import Counterfactual, as_run, origin_of, outcome, reconstructed_outcomes
from rules.evidence import (
    BrokerVersion,
    Cut,
    InferredCut,
    Moment,
    PartitionEvidence,
    Replica,
    same_topic,
)
from rules.evidence.follower_rule import rule_run_by
from rules.history.log_cuts import BY_HIGH_WATERMARK, cuts, decided_by
from rules.history.moments import ROLE_KINDS
from rules.history.statements import LogCut
from rules.protocol import replica_log as protocol
from rules.protocol.epochs import assign
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.truncation import RULES
from rules.unwritten.reconstruction import AskedFollower


class Reconciliation(Struct, frozen=True, kw_only=True):
    """A follower that compared its log with its leader's: it cut to an offset, or found nothing to cut."""

    cut: Cut
    leader: int | None
    epoch: int | None
    """The leader epoch in which it was done."""
    log_end_offset: int


def reconciliations(evidence: PartitionEvidence) -> Iterator[Reconciliation]:
    """Every one that removed something, or could have, in the order of each broker's log."""
    moments = [_as_cut(moment) for moment in evidence.moments]
    by_clock: dict[str, list[Moment]] = {}
    places: dict[int, int] = {}
    for moment in moments:
        own = by_clock.setdefault(moment.clock, [])
        places[id(moment)] = len(own)
        own.append(moment)
    leaders = evidence.chronicle.leaders
    for cut in cuts(moments, evidence.chronicle.earlier):
        if cut.log_end_offset:
            own, place = by_clock[cut.moment.clock], places[id(cut.moment)]
            decision = decided_by(own, place)
            named = cut.leader if cut.leader is not None else (decision.leader if decision else None)
            leader = leaders.get(-1 if cut.moment.term is None else cut.moment.term) if named is None else named
            epoch = cut.moment.term
            if leader == cut.broker:
                leader, epoch = _role_told_next(own, place, cut)
            known = replace(cut, high_watermark=_watermark(cut, decision))
            yield Reconciliation(cut=known, leader=leader, epoch=epoch, log_end_offset=cut.log_end_offset)


def _role_told_next(own: Sequence[Moment], place: int, cut: Cut) -> tuple[int | None, int | None]:
    """Whom a broker followed that led the last epoch which it knew: its order was read after the cut."""
    following = (own[later] for later in range(place + 1, len(own)))
    order = next((m for m in following if m.kind in (*ROLE_KINDS, "leadership")), None)
    if order is None or order.leader is None or order.leader in (-1, cut.broker):
        return None, cut.moment.term
    return order.leader, order.epoch


def _as_cut(moment: Moment) -> Moment:
    """A cut that cut nothing, told as a cut to the log end."""
    if moment.kind != "truncation-kept":
        return moment
    return structs.replace(moment, kind="truncated", offset=moment.end_offset)


def _watermark(cut: Cut, decision: LogCut | None) -> int | None:
    """The high watermark that the follower went by: a decision for it names it."""
    by_it = decision is not None and decision.kind in BY_HIGH_WATERMARK
    return decision.offset if by_it and decision is not None and decision.offset is not None else cut.high_watermark


def cut_tables(evidence: PartitionEvidence) -> tuple[Counterfactual, ...]:
    """The table of every reconciliation that removed records, and of every cut of which the disk alone tells."""
    tables: list[Counterfactual | None]
    if evidence.unwritten.applies:
        tables = [*_reconstructed_tables(evidence)]
    else:
        logged = [r for r in reconciliations(evidence) if r.cut.offset < r.log_end_offset]
        tables = [table_of(evidence, r) for r in logged]
    tables += [_inferred(evidence, cut) for cut in evidence.inferred_cuts if cut.broker is not None]
    return tuple(table for table in tables if table is not None)


def _reconstructed_tables(evidence: PartitionEvidence) -> Iterator[Counterfactual]:
    """Of logs that carry no epochs: every cut by the high watermark, and every log that epochs would have cut."""
    for done in evidence.unwritten.reconciled:
        otherwise = any(answer.most < done.offset for answer in done.asked.answers.values())
        if done.leader >= 0 and (done.offset < done.log_end_offset or otherwise):
            yield _reconstructed_table(done)


def _did(done: AskedFollower, end: str) -> str:
    if done.offset >= done.log_end_offset:
        return f"kept its log up to log end {end}"
    return f"cut its log from log end {end} to {done.offset}"


def _reconstructed_table(done: AskedFollower) -> Counterfactual:
    asking = done.asked.asking or protocol.ReplicaLog(
        epochs=(), log_end_offset=Offset(done.log_end_offset), high_watermark=Offset(done.offset)
    )
    end = f"{done.log_end_offset}" if done.end_known else f"{done.log_end_offset} or later"
    return Counterfactual(
        follower=done.broker,
        leader=done.leader,
        start_offset=min(outcome.cut_to for outcome in reconstructed_outcomes(done.asked, asking)),
        end_offset=done.log_end_offset,
        outcomes=reconstructed_outcomes(done.asked, asking),
        because=f"broker {done.broker} {_did(done, end)} in {_epoch_of(done)}, as its log tells."
        f" {origin_of(done.asked)}",
        reconstructed=True,
    )


def _epoch_of(done: AskedFollower) -> str:
    if done.epoch < 0:
        return "an epoch that nothing tells"
    return f"epoch {done.epoch}" if done.epoch_told else f"epoch {done.epoch} by all that is told of roles"


def _inferred(evidence: PartitionEvidence, cut: InferredCut) -> Counterfactual | None:
    """The table of an inferred cut, as if its replica met the one that the others follow now."""
    follower = next(replica for replica in evidence.current if replica.broker == cut.broker)
    leader = next((r for r in evidence.presumed_leaders if r.broker != cut.broker and same_topic(r, follower)), None)
    if leader is None or leader.log_start_offset > cut.offset or not (follower.end_known and leader.end_kept):
        return None
    versions = {version.broker: version for version in evidence.versions}
    asking = as_run(follower, versions.get(follower.broker), cut.offset)
    chain = asking.epochs
    for gone in cut.runs:
        chain = assign(chain, Epoch(gone.epoch), Offset(gone.start_offset)) if gone.epoch >= 0 else chain
    watermark = follower.high_watermark.offset if follower.high_watermark else asking.high_watermark
    held = min(watermark, cut.log_end_offset)
    asking = structs.replace(
        asking, epochs=chain, log_end_offset=Offset(cut.log_end_offset), high_watermark=Offset(max(held, 0))
    )
    answering = as_run(leader, versions.get(leader.broker), leader.log_end_offset)
    run = rule_run_by(versions.get(follower.broker))
    # Where the log has grown again, its high watermark on disk is not the one that a cut would have gone by.
    rules = {name: rule for name, rule in RULES.items() if name != "hw-truncation" or not cut.regrown}
    left = ""
    if evidence.unwritten.applies:
        rules = {name: rule for name, rule in rules.items() if name == "hw-truncation"}
        left = ". No record carries an epoch, and no log tells of the cut: what rules by epochs would have done is open"
    return Counterfactual(
        follower=follower.broker,
        leader=leader.broker,
        start_offset=cut.offset,
        end_offset=cut.log_end_offset,
        outcomes=tuple(outcome(rule(asking, answering), asking, in_force=name == run) for name, rule in rules.items()),
        because=f"broker {follower.broker} cut its log, which had reached {cut.log_end_offset}, at {cut.offset} or"
        f" below, after {cut.after} and before {cut.before}: {cut.because}{left}",
        reconstructed=evidence.unwritten.applies,
    )


def table_of(evidence: PartitionEvidence, done: Reconciliation) -> Counterfactual | None:
    """The table of one reconciliation; None where one of the two logs is not in the dump whole, or not as far back.

    None too where the follower came with a log of an earlier life of the topic: what its leader answered by the epochs
    of this life depends on how far that one's log went then, and no disk tells it.
    """
    held = {replica.broker: replica for replica in evidence.current}
    follower, leader = held.get(done.cut.broker), held.get(-1 if done.leader is None else done.leader)
    # What a leader has deleted since would change its answers.
    if follower is None or leader is None or leader.log_start_offset > done.cut.offset:
        return None
    if not (follower.end_kept and leader.end_kept) or done.cut.earlier_end:
        return None
    versions = {version.broker: version for version in evidence.versions}
    asking = _before(follower, versions.get(follower.broker), done)
    answering = _as_it_stood(leader, versions.get(leader.broker), done)
    run = rule_run_by(versions.get(follower.broker))
    outcomes = (outcome(rule(asking, answering), asking, in_force=name == run) for name, rule in RULES.items())
    return Counterfactual(
        follower=follower.broker,
        leader=leader.broker,
        start_offset=done.cut.offset,
        end_offset=done.log_end_offset,
        outcomes=tuple(outcomes),
        because=f"broker {follower.broker} cut its log from log end {done.log_end_offset} to {done.cut.offset} in epoch"
        f" {done.epoch}, as its log tells",
    )


def _before(follower: Replica, version: BrokerVersion | None, done: Reconciliation) -> protocol.ReplicaLog:
    """The follower before it cut: what is left, and the records that went, of the epoch of its former role."""
    kept = as_run(follower, version, done.cut.offset)
    former, chain = done.cut.former_epoch, kept.epochs
    gone = done.cut.offset < done.log_end_offset
    if gone and former is not None and former >= 0 and (not chain or former > chain[-1].epoch):
        chain = assign(chain, Epoch(former), Offset(done.cut.offset))
    watermark = done.cut.high_watermark if done.cut.high_watermark is not None else kept.high_watermark
    return structs.replace(
        kept,
        epochs=chain,
        log_end_offset=Offset(done.log_end_offset),
        high_watermark=Offset(min(watermark, done.log_end_offset)),
    )


def _as_it_stood(leader: Replica, version: BrokerVersion | None, done: Reconciliation) -> protocol.ReplicaLog:
    """The leader without what came after the epoch in which it was asked."""
    state = as_run(leader, version, leader.log_end_offset)
    later = [entry for entry in state.epochs if done.epoch is not None and entry.epoch > done.epoch]
    return as_run(leader, version, later[0].start_offset) if later else state
