"""What a bill leaves open, and what would tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rules.chronicle.silence import roles_of
from rules.evidence import PartitionEvidence
from rules.finding import Bearings, Finding, Severity
from rules.loss.incurred import Loss
from rules.loss.lost_stretch import LeftOut
from rules.loss.perhaps_sent_again import perhaps_sent_again
from rules.loss.unbilled import Unbilled, as_question
from rules.protocol.offsets import without
from rules.verdict import RuleCoverage
from rules.words import it_or_them, numbered


def open_points(
    evidence: PartitionEvidence, billed: Sequence[Loss], nameless: Sequence[Unbilled]
) -> Iterator[RuleCoverage]:
    """What of a bill a deeper audit would tell, or the logs of a broker."""
    if evidence.level == "quick" and any(loss.matters and not loss.groups_known for loss in billed):
        reason, missing = "what consumer groups committed was not read", "the logs of __consumer_offsets, decoded"
        yield RuleCoverage(rule="groups in the bill", reason=reason, missing=missing, asked_at_level="full")
    yield from (_perhaps_held(loss) for loss in billed if loss.matters and loss.unread)
    named = () if evidence.epochs_used_twice else nameless
    asked = sorted((cut.start_offset, cut.end_offset) for cut in named)
    yield from (_perhaps_alike(p) for p in perhaps_sent_again(evidence) if [*without(p.start, p.end, asked)])
    for cut in named:
        yield RuleCoverage(rule="the bill", reason=as_question(cut), missing=cut.missing)


def is_proved(loss: Loss, findings: Sequence[Finding], bearings: Bearings) -> bool:
    """Whether a finding of weight says that records of the loss are gone; of what nobody was told, no finding speaks.

    What only informs tells what logs hold, and not that anybody was told of it.
    """
    return not loss.matters or any(
        bearings[finding.rule].records is not None
        and finding.verdict == "violated"
        and finding.severity >= Severity.MEDIUM
        and (finding.start_offset or 0) < loss.end_offset
        and (finding.end_offset is None or loss.start_offset < finding.end_offset)
        for finding in findings
    )


def unproved(losses: Sequence[Loss]) -> Iterator[RuleCoverage]:
    """What may have been left out, where too little is told for any rule to say so.

    What its leader lacked when it opened its epoch once more is known: whether it stands again is asked of its answers.
    """
    for loss in (loss for loss in losses if not loss.reopened):
        what = f"[{loss.start_offset}, {loss.end_offset}) of {loss.epochs}"
        leader = "not known which" if loss.next_leader is None else f"broker {loss.next_leader}"
        who = "a later leader" if loss.next_epoch is None else f"the leader of epoch {loss.next_epoch} ({leader})"
        reason = f"it is not known whether {who} had records {what} when it began to lead"
        brokers = sorted({broker for broker in (loss.leader, loss.next_leader) if broker is not None})
        missing = roles_of(numbered("broker", brokers)) if brokers else "a log that tells who led these epochs"
        yield RuleCoverage(rule="the bill", reason=reason, missing=missing, perhaps_lost=not loss.restored)


def _perhaps_held(loss: Loss) -> RuleCoverage:
    what = f"[{loss.start_offset}, {loss.end_offset}) of {loss.epochs}"
    whose = numbered("broker", loss.unread)
    reason = f"{whose} led after the loss of records {what}, and may still have had {it_or_them(loss.offsets)}"
    missing = f"broker {loss.leader}'s whole server.log" if loss.reopened else f"{whose}'s disk or whole server.log"
    return RuleCoverage(rule="the bill", reason=reason, missing=missing)


def _perhaps_alike(part: LeftOut) -> RuleCoverage:
    what = f"[{part.start}, {part.end}) of epoch {part.epoch}"
    there = "Records of an older epoch are there now. Producers may have sent those to the later leader again"
    reason = f"it is not known whether committed records {what} are lost. {there}"
    missing = "the logs of the producers"
    return RuleCoverage(rule="the bill", reason=reason, missing=missing, perhaps_lost=True)
