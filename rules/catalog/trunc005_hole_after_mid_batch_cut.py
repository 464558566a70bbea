"""TRUNC005: a cut that fell inside a batch left a hole, and the log went on behind it."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, BrokerEvent, EpochEntry
from rules.evidence import Cut, EpochClaim, OffsetStep, PartitionEvidence, Replica
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="TRUNC005",
    severity=Severity.HIGH,
    needs=(BatchHeader, EpochEntry, BrokerEvent),
    law="TruncationJustified",
    message="Broker {broker} truncated its log to offset {end_offset}, inside a batch that began at {start_offset}. The batch "
    "was removed as a whole, and the log went on at {end_offset}. So broker {broker} lacks {offsets}. {because:.} "
    "{holders:+Broker holds} {offsets}.",
    implied_by=("TRUNC002", "TRUNC003", "LEAD001"),
)
def hole_after_mid_batch_cut(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A cut inside a batch left a hole in the offsets of a log.

    A truncation removes whole batches and yet sets the log end to the offset it was asked for. By the epoch
    protocol since KIP-279 that is always the border of a batch. An answer without an epoch (KIP-101), a high
    watermark or the latest offset of an out-of-range leader need not be. What the follower fetches next stands
    behind the hole.

    Proves
    ------
    This replica does not hold the offsets of the hole and never asks for them again. If it leads, readers skip them.

    Undecided when
    --------------
    The log is compacted, where holes are lawful. Or neither the epoch file nor a logged cut tells a cut from other
    losses, as between two segments, where a file may be missing. Then SEG005 speaks of the hole.

    Upheld
    ------
    broker 1 1x21 3x10|
    broker 2 1x21 3x10|

    Violated
    --------
    broker 1 1x21 3x10|
    broker 2 1x11 .x10 3x10| ; epochs 1@0 2@11 3@21
    """
    if evidence.compacted:
        return
    logged = evidence.chronicle.cuts
    for replica in evidence.current:
        for step in replica.log.gaps:
            if step.found <= replica.log_start_offset or replica.unseen(step.expected, step.found):
                continue
            cut = next((c for c in logged if c.broker == replica.broker and c.offset == step.found), None)
            claim = _vanished(replica, step)
            if cut is not None or claim is not None:
                yield _violation(evidence, replica, step, cut, claim)


def _vanished(replica: Replica, step: OffsetStep) -> EpochClaim | None:
    """An epoch that the file places inside the hole and of which no batch is left: the batch that stood there.

    Between two segments a whole file may be missing instead.
    """
    held = {run.epoch for run in replica.log.epochs}
    entries = replica.epoch_file.entries if step.before.source == step.after.source else ()
    return next(
        (
            entry
            for entry in entries
            if step.expected <= entry.start_offset < step.found
            and step.epoch_before < entry.epoch < step.epoch_after
            and entry.epoch not in held
        ),
        None,
    )


def _answer(evidence: PartitionEvidence, replica: Replica, claim: EpochClaim, end: int) -> Replica | None:
    """A peer that never knew the epoch and whose first newer one begins where the hole ends: it answered so."""
    for peer in evidence.followers_of(replica):
        chain = peer.file_chain or peer.log_chain
        newer = next((entry for entry in chain if entry.epoch >= claim.epoch), None)
        if newer is not None and newer.epoch > claim.epoch and newer.start_offset == end:
            return peer
    return None


def _violation(
    evidence: PartitionEvidence, replica: Replica, step: OffsetStep, cut: Cut | None, claim: EpochClaim | None
) -> Violation:
    peer = _answer(evidence, replica, claim, step.found) if claim else None
    because, confidence = _weigh(cut, claim, peer)
    peers = evidence.followers_of(replica)
    return Violation(
        brokers=(replica.broker,),
        start_offset=step.expected,
        end_offset=step.found,
        confidence=confidence,
        facts={
            "broker": replica.broker,
            "because": because,
            "cut_epoch": claim.epoch if claim else None,
            "holders": tuple(peer.broker for peer in peers if peer.holds(step.expected, step.found)),
        },
        exhibits=(
            *((Exhibit(span=cut.moment.span, role="the cut"),) if cut else ()),
            *((Exhibit(span=claim.span, role="the epoch whose batch is gone"),) if claim else ()),
            Exhibit(span=step.before, role="the last batch before the hole"),
            Exhibit(span=step.after, role="the first batch behind it"),
        ),
    )


def _weigh(cut: Cut | None, claim: EpochClaim | None, peer: Replica | None) -> tuple[str, Confidence]:
    if cut is not None:
        return f"broker {cut.broker}'s server.log tells that it truncated to {cut.offset}", "certain"
    words = (
        ""
        if claim is None
        else f"its epoch file has epoch {claim.epoch} at {claim.start_offset}, of which no batch is left"
    )
    if peer is None:
        return words, "likely"
    return f"{words}; broker {peer.broker} never knew it and answers with the start of a newer epoch", "certain"
