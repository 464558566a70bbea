"""TRUNC003: a follower cut or kept by its high watermark what the leader's epochs would have let it keep, or cut."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, BrokerEvent, EpochEntry
from rules.evidence import AskedFollower, LogCut, PartitionEvidence, RuleAnswer, differ
from rules.evidence.due_cut import CutByHighWatermark, cuts_by_high_watermark
from rules.evidence.written_in import written_in
from rules.finding import Exhibit, Severity, Undecided, Violation, offsets_told
from rules.protocol.truncation import Exchange, Truncation
from rules.rule import rule


@rule(
    id="TRUNC003",
    severity=Severity.HIGH,
    needs=(BrokerEvent, BatchHeader, EpochEntry),
    law="TruncationJustified",
    message="When broker {broker} began to follow broker {leader}, it truncated by its own high watermark. So "
    "it {did} its {offsets}{written}.{consequence} {instead:.}",
    implied_by=("CONF001",),
)
def truncated_by_high_watermark(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """By its high watermark a follower cut or kept what epochs would not.

    A high watermark lags behind what is committed by one round of fetching. A cut that removed nothing, and the first
    contact of an empty log (`due to local high watermark 0`), are lawful. What lies below the leader's log start was
    deleted there too. Where the record format carries no epochs, they are reconstructed.

    Proves
    ------
    Cut: records that the leader held too were removed from this replica. If it leads without them, they are lost. Kept: this replica went on with records that its leader did not hold.

    Undecided when
    --------------
    The log does not tell where it ended before the cut, or the epochs of both logs at that time cannot be told.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 loads 2 at 4
    t3 follows 2 epoch 0 at 4 hw 4 from 1
    t4 cuts 2 to 4 by hw
    t5 keeps 2 at 4

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 loads 2 at 4
    t3 follows 2 epoch 0 at 4 hw 3 from 1
    t4 cuts 2 to 3 by hw
    t5 truncates 2 to 3
    """
    if evidence.unwritten.applies:
        found = [said for done in evidence.unwritten.reconciled for said in _reconstructed(evidence, done)]
        yield from (said for said in found if isinstance(said, Violation))
        yield from {said.missing: said for said in found if isinstance(said, Undecided)}.values()
    else:
        yield from _written(evidence)


def _reconstructed(evidence: PartitionEvidence, done: AskedFollower) -> Iterator[Violation | Undecided]:
    """Judged by the epochs that the logs would have carried."""
    answer = done.asked.answers.get("kip-279")
    deleted = max((r.log_start_offset for r in evidence.current if r.broker == done.leader), default=0)
    if answer is not None and max(done.offset, deleted) < answer.least:
        yield _by_reconstruction(evidence, done, answer, (max(done.offset, deleted), answer.least))
    elif answer is not None and max(answer.most, deleted) < done.offset:
        yield _by_reconstruction(evidence, done, answer, (max(answer.most, deleted), done.offset))
    elif done.asked.open is not None and not done.of_an_empty_log and (answer is None or not answer.decided):
        reason = f"broker {done.broker} truncated to its high watermark. Whether the epoch protocol would have truncated at another offset is not known"
        yield Undecided(reason=reason, missing=done.asked.open.missing, brokers=(done.broker,), blocking=False)


def _by_reconstruction(
    evidence: PartitionEvidence, done: AskedFollower, answer: RuleAnswer, offsets: tuple[int, int]
) -> Violation:
    cut, exchanges = answer.least > done.offset, answer.truncation.exchanges
    apart = differ(evidence.differences, {done.broker, done.leader}, offsets)
    parted = f" Broker {done.leader} holds different records there." * apart
    last = exchanges[-1] if exchanges and answer.exact and not cut else None
    own = last if last and answer.least == answer.most == offsets[0] < last.answered_offset else None
    return Violation(
        brokers=(done.broker,), start_offset=offsets[0], end_offset=offsets[1],
        confidence="certain" if done.epoch_told else "likely",
        severity=None if cut or apart else Severity.LOW,
        facts={
            "broker": done.broker, "leader": done.leader, "epoch": done.epoch,
            "did": "removed" if cut else "kept",
            "written": f" of epoch {last.asked_epoch}" if last and last.asked_epoch == last.answered_epoch else "",
            "consequence": _gone(evidence, done.broker, offsets[0]) if cut else parted, "answered": answer.words,
            "asked_epoch": exchanges[0].asked_epoch if exchanges else None,
            "instead": f"{_instead((done.broker, done.leader), answer.words if exchanges else '', offsets, own, cut=cut)}. "
            "The records here carry no leader epochs, so the audit derived them from who led when",
        },
        exhibits=_shown(Exhibit(span=done.moment.span, role="the cut" if cut else "the log that was not cut"), done.decision),
    )


def _shown(done: Exhibit, decision: LogCut | None) -> tuple[Exhibit, ...]:
    return (done, Exhibit(span=decision.span, role="what decided it")) if decision else (done,)


def _gone(evidence: PartitionEvidence, broker: int, start: int) -> str:
    """Whether to this day its log has nothing from there on."""
    held = [r for r in evidence.current if r.broker == broker]
    return f" Broker {broker} lacks them now." if held and all(r.end_known and r.log_end_offset <= start for r in held) else ""


def _instead(brokers: tuple[int, int], answered: str, offsets: tuple[int, int], own: Exchange | None = None, *, cut: bool) -> str:
    """What leader epochs would have made of these records, by which answer, and why by less where the log's own epoch ends."""
    (follower, leader), done = brokers, "kept" if cut else "removed"
    asked = f"about epoch {own.asked_epoch}" if own else "so"
    asks = f"ask the leader where the follower's last epoch ends in the leader's log. Asked {asked}, broker {leader} would have"
    how = f"{asks} answered that {answered}" if answered else "truncate by leader epoch"
    ends = f"In broker {follower}'s log, epoch {own.answered_epoch} ends at {offsets[0]}, so" if own else "In that case,"
    return f"newer releases {how}. {ends} broker {follower} would have {done} {offsets_told(*offsets)}"


def _written(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Judged by the epochs that the logs carry."""
    for done in cuts_by_high_watermark(evidence):
        cut, leader, due = done.cut, done.leader, done.due
        if leader is None:
            missing = f"broker {cut.broker}'s server.log with its log end offset before the cut, its whole log, and its leader's"
            yield Undecided(reason=f"broker {cut.broker} truncated to its high watermark. Whether the epoch protocol would have truncated at another offset is not known", missing=missing, brokers=(cut.broker,), blocking=False)
        elif due is not None and due.offset > (first := max(cut.offset, leader.log_start_offset)):
            yield _violation(evidence, done, leader.broker, due, first)


def _violation(
    evidence: PartitionEvidence, done: CutByHighWatermark, leader: int, due: Truncation, first: int
) -> Violation:
    cut, exchange = done.cut, due.exchanges[-1] if due.exchanges else None
    answered = f"epoch {exchange.answered_epoch} ends at {exchange.answered_offset}" if exchange else ""
    return Violation(
        brokers=(cut.broker,), start_offset=first, end_offset=due.offset, facts={
            "broker": cut.broker, "leader": leader, "high_watermark": cut.high_watermark, "did": "removed",
            "written": written_in(done.leader, first, due.offset) if done.leader else "",
            "consequence": _gone(evidence, cut.broker, first), "asked_epoch": exchange.asked_epoch if exchange else None, "answered": answered or "nothing",
            "instead": _instead((cut.broker, leader), answered, (first, due.offset), cut=True), "answered_offset": exchange.answered_offset if exchange else None,
        },
        exhibits=_shown(Exhibit(span=cut.moment.span, role="the cut"), done.decision),
    )
