"""LEAD004: a broker went on writing as leader after another had taken its place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from parsers.tables import BatchHeader, BrokerEvent, Produce
from rules.chronicle.acknowledged import last_untold
from rules.evidence import Chronicle, Moment, PartitionEvidence, Replica, translated
from rules.facts.stretch import EpochRun
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule

SLACK_MS: Final = 5000
"""How long an answer may lie before it is logged as sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deposed:
    """A broker that took a follower's role straight after it had led."""

    broker: int
    led: int
    role: Moment
    until: Moment | None
    """Its next role, loading or cut."""


@rule(
    id="LEAD004",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Produce, BatchHeader),
    law="NeverTwoLeadersInSameEpoch",
    message="Broker {broker} wrote {offsets} as leader of epoch {led}, although epoch {epoch} had begun without it. "
    "{because:.}",
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
    Leader epochs begin anew and no topic id tells one life of the topic from the next. Or nothing tells who led
    some newer epoch. Or the deposed leader's log does not tell whether it had restarted. Or no clock relates the
    two. What rests on an estimate of the clocks is only likely. A log that its own leader-epoch-checkpoint
    contradicts (EPOCH002) is no witness.

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
        reason = "leader epochs begin anew, so whoever led before may have led another life of the topic"
        yield Undecided(reason=reason, missing="topic ids in the logs", blocking=False)
        return
    told: set[int] = set()
    index = _Told(evidence)
    for deposed in _deposed(evidence.chronicle):
        found = _written_as_follower(index, deposed) or _stands_in_a_log(index, deposed)
        if found is not None and deposed.broker not in told:
            told.add(deposed.broker)
            yield found
    for found in _acknowledged_late(evidence, index):
        if found.brokers[0] not in told:
            told.add(found.brokers[0])
            yield found


class _Told:
    """What is asked again for every term."""

    def __init__(self, evidence: PartitionEvidence) -> None:
        self.chronicle = evidence.chronicle
        self.runs: dict[int, list[tuple[Replica, EpochRun]]] = {}
        for replica in evidence.current:
            for run in replica.log.epochs:
                self.runs.setdefault(run.epoch, []).append((replica, run))
        newest = max(self.chronicle.leaders.keys() | self.runs.keys() | {-1})
        self._untold = last_untold(evidence.moments, self.chronicle.leaders, newest)

    def may_lead_again(self, broker: int, epoch: int) -> bool:
        """Whether it may have led in a newer epoch of whose beginning its log does not tell: its answers may be of that."""
        return self._untold.get(broker, -1) > epoch


def _deposed(chronicle: Chronicle) -> Iterator[_Deposed]:
    for clock in sorted(chronicle.stories):
        for led, role, until in chronicle.stories[clock].deposed():
            known = role.offset is not None and not role.doubtful and not led.doubtful
            if known and role.broker is not None and led.epoch is not None:
                yield _Deposed(broker=role.broker, led=led.epoch, role=role, until=until)


def _written_as_follower(index: _Told, deposed: _Deposed) -> Violation | None:
    """Records that it appended, by its own answers, beyond its log end when it became a follower."""
    role, until = deposed.role, deposed.until
    if role.time is None or index.may_lead_again(deposed.broker, role.epoch or 0):
        return None
    said = index.chronicle.acknowledged.between(role.clock, role.time, None if until is None else until.time)
    answers = [m for m in said if (m.offset or 0) >= (role.offset or 0)]
    if not answers:
        return None
    why = f"it answered producers after it had become a follower at log end {role.offset}"
    offsets = [m.offset for m in answers if m.offset is not None]
    return _violation(
        deposed, min(offsets), max(offsets) + 1, why, "certain", Exhibit(span=answers[0].span, role="its answer")
    )


def _denied(replica: Replica, run: EpochRun) -> bool:
    """Whether the replica's own epoch file gives some of the run to a newer epoch: the log may be another's then."""
    return any(e.epoch > run.epoch and e.start_offset < run.end_offset for e in replica.epoch_file.entries)


def _stands_in_a_log(index: _Told, deposed: _Deposed) -> Violation | None:
    """Batches of the epoch that it led, beyond its log end when it became a follower.

    Whoever lost its tail in a restart would look the same: its log must go back to where that life began.
    """
    loaded = index.chronicle.loaded_first.get(deposed.role.clock)
    if loaded is None or deposed.role.time is None or loaded > deposed.role.time:
        return None
    end = deposed.role.offset or 0
    for replica, run in index.runs.get(deposed.led, ()):
        sound = replica.cleaned or replica.holds(max(end, run.start_offset), run.end_offset)
        if run.end_offset > end and sound and not _denied(replica, run):
            why = f"broker {replica.broker} holds them, and its log had ended at {end} when it became a follower"
            shown = Exhibit(span=run.last, role="a batch of the epoch beyond its end")
            return _violation(deposed, max(end, run.start_offset), run.end_offset, why, "certain", shown)
    return None


def _acknowledged_late(evidence: PartitionEvidence, index: _Told) -> Iterator[Violation]:
    """Records acknowledged for all replicas when, by the clocks, another broker had opened a newer epoch below them."""
    offsets = {clock.clock: clock for clock in evidence.replayed.clocks}
    openings = evidence.chronicle.opened
    epochs = sorted(openings)
    lowest = _lowest_from_each(openings, epochs)
    for m in evidence.moments:
        if m.kind != "produced" or m.acks != -1 or m.error != 0 or m.term is None or m.offset is None or m.time is None:
            continue
        newer = bisect_right(epochs, m.term)
        if m.witness is None or newer == len(epochs) or lowest[newer] > m.offset:
            continue
        if index.may_lead_again(m.witness, m.term):
            continue
        for epoch, opening in openings.items():
            below = opening.offset is not None and opening.offset <= m.offset
            if epoch <= m.term or opening.broker == m.witness or not below:
                continue
            window = translated(opening.time, opening.clock, m.clock, offsets)
            if window is not None and m.time > window[1] + SLACK_MS:
                role = _Deposed(broker=m.witness, led=m.term, role=opening, until=None)
                why = f"by the estimated clocks broker {opening.broker} had opened it at {opening.offset} when it acknowledged them"
                yield _violation(
                    role, m.offset, m.offset + 1, why, "likely", Exhibit(span=m.span, role="its acknowledgement")
                )
                break


def _lowest_from_each(openings: Mapping[int, Moment], epochs: Sequence[int]) -> list[int]:
    """The lowest offset at which each epoch or any newer one opened."""
    return list(accumulate((openings[epoch].offset or 0 for epoch in reversed(epochs)), min))[::-1]


def _violation(
    deposed: _Deposed, start: int, end: int, because: str, confidence: Confidence, shown: Exhibit
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
        exhibits=(
            Exhibit(span=deposed.role.span, role="the role that ended its leadership"),
            shown,
        ),
    )
