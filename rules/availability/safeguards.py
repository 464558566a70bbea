"""The settings that keep records and leaders, as they were in force: what each allowed here, and what it would not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rules.availability.account import Safeguard, StateRow
from rules.evidence import Moment, PartitionEvidence, Setting
from rules.history.moments import succeeded
from rules.history.statements import Produced
from rules.loss.incurred import Loss
from rules.settings import FACTOR, LAG_TIME, MIN_IN_SYNC, UNCLEAN
from rules.words import counted, numbered, quoted

ACKS: Final = "acks"
FOR_ALL: Final = -1


def safeguards(
    evidence: PartitionEvidence, rows: Sequence[StateRow], losses: Sequence[Loss]
) -> tuple[Safeguard, ...]:
    """Each setting once, told or not."""
    return (
        _unclean(evidence, rows),
        _min_in_sync(evidence, rows),
        _factor(rows, losses),
        _acks(evidence, losses),
        _by_setting(evidence, LAG_TIME, _last_leader(rows)),
    )


def _by_setting(
    evidence: PartitionEvidence,
    name: str,
    broker: int | None,
    at: Moment | None = None,
    allowed: str = "",
    instead: str = "",
) -> Safeguard:
    setting = evidence.setting(broker, name, at)
    return Safeguard(
        name=name,
        value=None if setting is None else setting.value,
        whose="" if setting is None else _whose(setting),
        certain=setting is not None and evidence.settings.is_certain(setting),
        allowed=allowed,
        instead=instead,
        set_at=None if setting is None else setting.span,
    )


def _whose(setting: Setting) -> str:
    if setting.topic is not None:
        return f"topic {quoted(setting.topic)}"
    return "all brokers" if setting.broker is None else f"broker {setting.broker}"


def _last_leader(rows: Sequence[StateRow]) -> int | None:
    return next((row.leader for row in reversed(rows) if row.leader is not None), None)


def _unclean(evidence: PartitionEvidence, rows: Sequence[StateRow]) -> Safeguard:
    unclean = [change for change in evidence.chronicle.elections if change.unclean] if rows else []
    for change in unclean:
        setting = evidence.setting(change.leader, UNCLEAN, change.moment)
        if setting is not None and setting.value == "true":
            allowed = f"Broker {change.leader} was elected for epoch {change.epoch} from outside the in-sync replicas."
            instead = "With false, nobody would have led until an in-sync or eligible replica came back."
            return _by_setting(evidence, UNCLEAN, change.leader, change.moment, allowed, instead)
    open_ = [change for change in unclean if evidence.setting(change.leader, UNCLEAN, change.moment) is None]
    then = (f"Not told: whether it was so when broker {c.leader} was elected for epoch {c.epoch}." for c in open_)
    return _by_setting(evidence, UNCLEAN, _last_leader(rows), allowed=next(then, ""))


def _min_in_sync(evidence: PartitionEvidence, rows: Sequence[StateRow]) -> Safeguard:
    alone = [row for row in rows if "one-copy" in row.conditions and len(row.assigned or ()) > 1]
    allowing = [row for row in alone if row.min_in_sync == 1]
    if not allowing:
        return _by_setting(evidence, MIN_IN_SYNC, _last_leader(rows))
    brokers = numbered("broker", sorted({row.leader for row in allowing if row.leader is not None}))
    allowed = f"One in-sync copy was enough for acks=all in {counted(len(allowing), 'state')}, led by {brokers}."
    instead = "With 2, writes with acks=all would have been refused while one replica alone was in sync."
    setting = _at(evidence, allowing[0])
    return Safeguard(
        name=MIN_IN_SYNC,
        value="1",
        whose="" if setting is None else _whose(setting),
        certain=all(row.min_in_sync_sure for row in allowing),
        allowed=allowed,
        instead=instead,
        set_at=None if setting is None else setting.span,
    )


def _at(evidence: PartitionEvidence, row: StateRow) -> Setting | None:
    """The value that was in force in a state."""
    known = next((m for m in evidence.moments if m.span == row.span), None)
    return evidence.setting(row.leader, MIN_IN_SYNC, known)


def _factor(rows: Sequence[StateRow], losses: Sequence[Loss]) -> Safeguard:
    row = next((row for row in reversed(rows) if row.assigned), None)
    assigned = () if row is None else row.assigned or ()
    single = bool(assigned) and all(r.assigned is None or len(r.assigned) == 1 for r in rows)
    suffered = any(loss.matters for loss in losses) or any("no-leader" in r.conditions for r in rows)
    return Safeguard(
        name=FACTOR,
        value=str(len(assigned)) if assigned else None,
        whose=f"assignment to {numbered('broker', sorted(assigned))}" if assigned else "",
        certain=bool(assigned),
        allowed=f"Nobody but broker {assigned[0]} could have a copy." if single and suffered else "",
        instead="With 2 or more, another broker would have been assigned a copy." if single and suffered else "",
        set_at=None if row is None else row.span,
    )


def _acks(evidence: PartitionEvidence, losses: Sequence[Loss]) -> Safeguard:
    answers = [m for m in evidence.moments if m.kind == "produced" and m.error in (None, 0) and m.acks is not None]
    given = Counter[int]()
    for m in answers:
        given[m.acks or 0] += m.count
    some = any(log.gaps for log in evidence.request_logs.values()) or any(m.left_out for m in answers)
    least = "at least " if some else ""
    lost = [m for m in answers if m.acks != FOR_ALL and succeeded(m) and any(_cost(m, loss) for loss in losses)]
    first = min(lost or answers, key=lambda m: (m.time or 0, m.span.source, m.span.start), default=None)
    shown = [f"{'all' if acks == FOR_ALL else acks}: {least}{counted(given[acks], 'answer')}" for acks in sorted(given)]
    many = counted(sum(m.count for m in lost), "answer")
    return Safeguard(
        name=ACKS,
        value=", ".join(shown) or None,
        whose="the producers that were answered" if given else "",
        certain=bool(given),
        allowed=f"{many} with acks=1 {'is' if many == '1 answer' else 'are'} for records that were left out."
        if lost
        else "",
        instead="With all, a producer is answered when every in-sync replica has its records." if lost else "",
        set_at=None if first is None else first.span,
    )


def _cost(answer: Produced, loss: Loss) -> bool:
    known = answer.term == loss.epoch == loss.newest and answer.latest_term is None
    return known and loss.start_offset <= (answer.offset or 0) < loss.end_offset


