"""LEAD001: a leader opened its epoch without records that were committed."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Description, Fetch, Produce
from rules.evidence import PartitionEvidence
from rules.evidence.lacked_records import lacked_records, records_lost, whoever_opened
from rules.evidence.perhaps_below import PerhapsBelow, openings_behind_holes, unknown_openings
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation, sentences
from rules.rule import rule
from rules.words import any_of


@rule(
    id="LEAD001",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Fetch, Produce, Description),
    law="LeaderCompleteness",
    message="{who:^} became leader in epoch {epoch} {instead}. That leader lacked {lacked}. {because:.}",
    implied_by=("LEAD002", "LEO001"),
    bearing=Bearing(change="opening below committed records", records=RecordsMeant(newest="the epoch before")),
)
def leader_started_below_committed(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A leader opened its epoch without records that were committed.

    Proves
    ------
    Records that were committed, and may have been read, are not in the log that everyone must follow from now on. What
    leaders before had deleted is no part of them.

    Undecided when
    --------------
    Nothing tells at which offset an epoch opened, or what was committed before it. In two cases disks alone make it
    likely. The log that would lead shows an epoch's first batch, and a replica without that epoch has the high
    watermark. Or only the leader's epoch file tells where the epoch opened, and the log beside it agrees. Where no
    disk here knows the epoch, that high watermark alone decides nothing. Its log must have been long enough and have
    held an older epoch's records. That shows only while its own disk still holds them. Or a broker's log of roles lacks
    a stretch: what it tells next was committed in the epoch before, or in a later one. Or a tool printed a log end
    that no log reaches, at a moment that nobody wrote down. The status of the metadata quorum alone names the epoch of
    its high watermark.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 leads 2 epoch 1 at 4 hw 4

    Violated
    --------
    broker 1 00|11
    broker 2 00|11
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 leads 2 epoch 1 at 2 hw 2
    """
    for lost in evidence.lost_terms:
        likely = lost.inferred or lost.committed.moment.kind == "described"
        yield Violation(
            brokers=() if lost.leader is None or lost.perhaps_before else (lost.leader,),
            start_offset=lost.start_offset,
            end_offset=lost.committed.end_offset,
            confidence="likely" if likely else "certain",
            facts={
                "who": whoever_opened(lost, evidence),
                "leader": lost.leader, "epoch": lost.epoch,
                **records_lost(lost, likely=likely),
                "committed_in_epoch": lost.committed.term,
                "instead": f"with log end offset {lost.opening.offset}",
                "clock": lost.opening.clock, "time": lost.opening.time,
            },
            exhibits=(
                Exhibit(span=lost.opening.span, role="the leader opens its epoch"),
                Exhibit(span=lost.committed.moment.span, role="the proof of what was committed"),
            ),
        )
    yield from _kept_older(evidence)
    yield from (_undecided(perhaps) for perhaps in _perhaps(evidence))
    yield from _printed_beyond(evidence)


def _perhaps(evidence: PartitionEvidence) -> Iterator[PerhapsBelow]:
    """Openings of which no disk here shows what they left out, or behind a hole in the proof's log of roles."""
    yield from unknown_openings(evidence)
    if not evidence.lost_terms and not evidence.kept_older:
        yield from openings_behind_holes(evidence)


def _undecided(perhaps: PerhapsBelow) -> Undecided:
    lost, proof = perhaps.lost, perhaps.lost.committed
    who = f"the leader of epoch {lost.epoch}" if lost.leader is None else f"broker {lost.leader}"
    return Undecided(
        reason=f"it is not known whether {who} lacked committed records when it became leader in epoch {lost.epoch} with log end "
        f"offset {lost.opening.offset}. {sentences(proof.because)} {perhaps.doubt}",
        missing=perhaps.would_tell,
        brokers=perhaps.brokers,
        start_offset=lost.start_offset,
        end_offset=proof.end_offset,
        exhibits=(
            Exhibit(span=lost.opening.span, role="the leader opens its epoch"),
            Exhibit(span=proof.moment.span, role=perhaps.shown_by),
        ),
    )


def _kept_older(evidence: PartitionEvidence) -> Iterator[Violation]:
    """Leaders whose logs were long enough, and held older records where committed ones belonged."""
    for kept in evidence.kept_older:
        before = f". Perhaps the leader of {any_of('epoch', kept.perhaps_before)} did so first" if kept.perhaps_before else ""
        yield Violation(
            brokers=() if before else (kept.leader,),
            start_offset=kept.start_offset,
            end_offset=kept.end_offset,
            facts={
                "who": f"broker {kept.leader}",
                "leader": kept.leader,
                "epoch": kept.epoch,
                **lacked_records(kept.committed, kept.start_offset, kept.end_offset),
                "committed_in_epoch": kept.committed.term,
                "held_epoch": kept.held_epoch,
                "instead": f"with epoch {kept.held_epoch}'s records from offset {kept.start_offset} on, not those of"
                f" epoch {kept.committed.term}{before}",
                "clock": kept.opening.clock, "time": kept.opening.time,
            },
            exhibits=(
                Exhibit(span=kept.opening.span, role="the leader opens its epoch"),
                Exhibit(span=kept.held, role="what its log holds there"),
                Exhibit(span=kept.committed.moment.span, role="the proof of what was committed"),
            ),
        )


def _printed_beyond(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """A log end that `kafka-consumer-groups` printed and no log reaches: it was a high watermark, nobody knows when."""
    commits = [commit for commit in evidence.group_offsets if commit.end_offset is not None and commit.told_by != "log"]
    furthest = max(commits, key=lambda commit: commit.end_offset or 0, default=None)
    ends = [replica.log_end_offset for replica in evidence.current]
    whole = ends and all(replica.end_known for replica in evidence.current)
    if furthest is not None and whole and (furthest.end_offset or 0) > max(ends):
        yield Undecided(
            reason=f"a tool printed log end offset {furthest.end_offset}, beyond every log here. When it did is not known",
            missing="the time at which it was printed: if the disks were copied later, committed records are missing",
            start_offset=max(ends),
            end_offset=furthest.end_offset,
            blocking=False,
            exhibits=(Exhibit(span=furthest.span, role="what the tool printed"),),
        )
