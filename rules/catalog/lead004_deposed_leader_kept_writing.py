"""LEAD004: a broker went on writing as leader after another had taken its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parsers.tables import BatchHeader, BrokerEvent, Produce
from rules.chronicle.acknowledged import last_untold
from rules.chronicle.deposed import AnsweredAfter, Deposed, answered_after
from rules.evidence import Chronicle, EpochRun, PartitionEvidence, Replica, stands_alone
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LEAD004",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Produce, BatchHeader),
    law="NeverTwoLeadersInSameEpoch",
    message="Broker {broker} wrote {offsets} as leader of epoch {led} after epoch {epoch} had begun. {because:.}",
    order="of roles",
)
def deposed_leader_kept_writing(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A deposed leader appended, or committed, after it was deposed.

    A leader that has not heard of its successor lawfully takes records with acks=1 for a moment, and cuts them later.
    It can commit nothing, since its followers have gone; and once it follows it refuses producers.

    Proves
    ------
    Fencing failed: two brokers wrote the same offsets. Whatever the deposed one acknowledged is lost with its next cut.

    Undecided when
    --------------
    Leader epochs begin again and no topic id tells one life of the topic from the next. Or nothing tells who led
    some newer epoch. Or the deposed leader's log does not tell whether it had restarted. Or no clock relates the
    two. What rests on an estimate of the clocks is only likely. A log that its own leader-epoch-checkpoint
    contradicts (EPOCH002) is no witness, nor is one that has no batch of any other replica's.

    Upheld
    ------
    broker 1 0011|
    broker 2 0011|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 1 acks=1
    t3 follows 1 epoch 1 at 2 hw 2 from 2
    t3 leads 2 epoch 1 at 2 hw 2
    t4 acks 2 at 3 acks=all

    Violated
    --------
    broker 1 0000|
    broker 2 0011|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 follows 1 epoch 1 at 2 hw 2 from 2
    t3 leads 2 epoch 1 at 2 hw 2
    t4 acks 1 at 2 acks=1
    """
    if evidence.chronicle.epochs_begin_anew:
        reason = "leader epochs begin again, so whoever led before may have led another life of the topic"
        yield Undecided(reason=reason, missing="topic ids in the logs", blocking=False)
        return
    brokers: set[int] = set()
    runs = {run.epoch for replica in evidence.current for run in replica.log.epochs}
    leaders = evidence.chronicle.leaders
    untold = last_untold(evidence.moments, leaders, max(leaders.keys() | runs | {-1}))
    for deposed in evidence.chronicle.deposed:
        found = _written_as_follower(evidence.chronicle, untold, deposed) or _stands_in_a_log(evidence, deposed)
        if found is not None and deposed.broker not in brokers:
            brokers.add(deposed.broker)
            yield found
    for late in answered_after(evidence.moments, evidence.chronicle.opened, evidence.clocks, untold):
        if late.broker not in brokers:
            brokers.add(late.broker)
            yield _acknowledged_late(late)


def _written_as_follower(chronicle: Chronicle, untold: Mapping[int, int], deposed: Deposed) -> Violation | None:
    """Records that it appended, by its own answers, beyond its log end when it became a follower."""
    role, until = deposed.role, deposed.until
    if role.time is None or untold.get(deposed.broker, -1) > (role.epoch or 0):
        return None
    said = chronicle.acknowledged.between(role.clock, role.time, None if until is None else until.time)
    answers = [m for m in said if (m.offset or 0) >= (role.offset or 0)]
    if not answers:
        return None
    why = f"it answered producers after it had become a follower with log end offset {role.offset}"
    offsets = [m.offset for m in answers if m.offset is not None]
    shown = Exhibit(span=answers[0].span, role="its answer")
    return _violation(deposed, min(offsets), max(offsets) + 1, why, "certain", shown)


def _denied(replica: Replica, run: EpochRun) -> bool:
    """Whether the replica's own epoch file gives some of the run to a newer epoch: the log may be another's then."""
    return any(e.epoch > run.epoch and e.start_offset < run.end_offset for e in replica.epoch_file.entries)


def _stands_in_a_log(evidence: PartitionEvidence, deposed: Deposed) -> Violation | None:
    """Batches of the epoch that it led, beyond its log end when it became a follower.

    Whoever lost its tail in a restart would look the same: its log must go back to where that life began. Where it
    opened the epoch more than once, the batches may be of an earlier life. Below the newer epoch they were before it.
    """
    opening = evidence.openings.get(-1 if deposed.role.epoch is None else deposed.role.epoch)
    loaded = evidence.chronicle.loaded_first.get(deposed.role.clock)
    lives = [r for r in evidence.chronicle.reigns if (r.broker, r.epoch) == (deposed.broker, deposed.led)]
    if loaded is None or deposed.role.time is None or loaded > deposed.role.time or len(lives) > 1:
        return None
    if opening is None or opening.offset is None:
        return None
    end = deposed.role.offset or 0
    for replica, run in ((r, run) for r in evidence.current for run in r.runs_by_epoch.get(deposed.led, ())):
        start = max(end, opening.offset, run.start_offset)
        sound = replica.cleaned or replica.holds(start, run.end_offset)
        own = not (_denied(replica, run) or stands_alone(replica, evidence.current))
        if run.end_offset > start and sound and own:
            why = f"broker {replica.broker} holds them, and its log end offset was {end} when it became a follower"
            shown = Exhibit(span=run.last, role="a batch of the epoch beyond its end")
            return _violation(deposed, start, run.end_offset, why, "certain", shown)
    return None


def _acknowledged_late(late: AnsweredAfter) -> Violation:
    """Records acknowledged for all replicas when, by the clocks, another broker had opened a newer epoch below them."""
    opening, deposed = late.opening, Deposed(broker=late.broker, led=late.led, role=late.opening, until=None)
    why = f"by the estimated clocks broker {opening.broker} had opened it at {opening.offset} when it acknowledged them"
    shown = Exhibit(span=late.answer.span, role="its acknowledgement")
    return _violation(deposed, late.offset, late.offset + 1, why, "likely", shown)


def _violation(
    deposed: Deposed, start: int, end: int, because: str, confidence: Confidence, shown: Exhibit
) -> Violation:
    return Violation(
        brokers=(deposed.broker,),
        start_offset=start,
        end_offset=end,
        confidence=confidence,
        facts={
            "broker": deposed.broker,
            "led": deposed.led,
            "epoch": deposed.role.epoch,
            "because": because,
            "subject": str(deposed.led),
        },
        exhibits=(Exhibit(span=deposed.role.span, role="the role that ended its leadership"), shown),
    )
