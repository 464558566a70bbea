"""Answers to producers after which nothing tells where a later epoch opened, and what of them who led last has not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rules.evidence import PartitionEvidence, gives_role
from rules.history.moments import succeeded
from rules.history.statements import Produced
from rules.replicas.later import stands_no_more


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """What one broker answered, and the offsets of it that are not in the log that leads."""

    broker: int
    gone: tuple[int, ...]
    of_known_epochs: bool
    """Whether it is told in which epochs it answered, and only not where the next ones opened."""
    successor: int
    """Who led last."""


def unplaced(evidence: PartitionEvidence) -> Iterator[Unplaced]:
    """Brokers of whose answers no opening tells what became."""
    telling, sure = {m.clock for m in evidence.moments if m.kind == "leader-starts"}, evidence.chronicle.sure_terms
    ordered, newest = evidence.chronicle.given_terms, max(evidence.openings, default=-1)
    placed = max((epoch for epoch, opening in evidence.openings.items() if opening.offset is not None), default=-1)
    answers: dict[tuple[bool, int], list[Produced]] = {}
    for m in evidence.moments:
        if succeeded(m) and m.witness is not None:
            known = m.clock in telling or (m.clock, m.term) in sure
            sure_of = (m.clock, m.term) in ordered and m.latest_term is None
            judged = (m.term or 0) < placed if known else sure_of and (m.term or 0) < newest
            if not judged:
                answers.setdefault((known, m.witness), []).append(m)
    if not answers:
        return
    leaders = evidence.chronicle.leaders
    last = leaders.get(max(leaders, default=-1), -1)
    rewritten, taken = _rewritten(evidence, last), _may_have_led(evidence, last, max(leaders, default=-1))
    for (known, broker), own in sorted(answers.items()):
        shown = taken or not known
        gone = tuple(m.offset or 0 for m in own if _is_gone(evidence, m, leaders, rewritten, known=known, shown=shown))
        if gone or not known:
            yield Unplaced(broker=broker, gone=gone, of_known_epochs=known, successor=last)


def _is_gone(
    evidence: PartitionEvidence,
    answer: Produced,
    leaders: Mapping[int, int],
    rewritten: Sequence[tuple[int, int]],
    *,
    known: bool,
    shown: bool,
) -> bool:
    """Whether who led last shows, by its log or by its own answers, that it has not the record."""
    newest, latest = max(leaders, default=-1), max(answer.term or 0, answer.latest_term or 0)
    led_on = newest > latest and leaders[newest] != answer.witness
    if led_on and any(epoch > latest and offset <= (answer.offset or 0) for epoch, offset in rewritten):
        return True
    return shown and (led_on or not known) and stands_no_more(answer, evidence.leader_at_the_end, leaders)


def _may_have_led(evidence: PartitionEvidence, leader: int, newest: int) -> bool:
    """Whether an elected broker took its role for all that is known: its own words reach so far, or none are here."""
    own = [m.epoch or 0 for m in evidence.moments if m.clock == f"broker {leader}" and gives_role(m)]
    return not own or max(own) >= newest


def _rewritten(evidence: PartitionEvidence, leader: int) -> list[tuple[int, int]]:
    """Epochs and offsets of a leader's own answers, where its log ended when it gave them.

    Only where no batch carries an epoch: since batches do, what is sent again is answered as it was the first time.
    """
    runs = [epoch for replica in evidence.current for epoch in replica.runs_by_epoch]
    if not runs or max(runs) >= 0:
        return []
    lowest: dict[int, int] = {}
    for m in evidence.moments:
        if succeeded(m) and m.witness == leader and m.term is not None:
            lowest[m.term] = min(m.offset or 0, lowest.get(m.term, m.offset or 0))
    return sorted(lowest.items())
