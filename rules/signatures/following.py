"""Known defects that keep a follower from following: it asks in a circle, stops, or takes its broker down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rules.evidence import Moment, PartitionEvidence, gives_role
from rules.finding import Exhibit, Severity
from rules.history.statements import Inquiry, LogCut
from rules.signatures.signature import Hit, Signature

FENCED: Final = 74
ROUNDS: Final = 3
"""So many times the same answer to the same question are no retry after an error."""


def _asks_in_a_circle(evidence: PartitionEvidence) -> Iterator[Hit]:
    rounds: dict[tuple[str, int | None], list[Inquiry | LogCut]] = {}
    busy: set[tuple[str, int | None]] = set()
    for m in evidence.moments:
        place = (m.clock, m.broker)
        if m.kind == "fetched":
            # Fetches that are left out may lie between two questions.
            busy = busy | {place} if m.left_out else busy - {place}
        if gives_role(m) or m.kind == "log-loaded":
            rounds = {other: asked for other, asked in rounds.items() if other[0] != m.clock}
        elif m.kind in ("fetched", "truncated"):
            rounds.pop(place, None)
        elif place in busy:
            continue
        elif m.kind == "epoch-round" or (m.kind == "epoch-asked" and m.error == 0 and m.answer_offset != -1):
            before = rounds.get(place, [])
            again = bool(before) and _question(before[0]) == _question(m)
            rounds[place] = [*before, m] if again else [m]
            if len(rounds[place]) == ROUNDS:
                yield Hit(
                    broker=m.broker,
                    at=m,
                    says=f"broker {m.broker} asked {ROUNDS} times in a row where its last epoch ends, got the same"
                    f" answer{_of(m)} and neither cut its log nor fetched",
                    exhibits=(
                        Exhibit(span=rounds[place][0].span, role="the first time"),
                        Exhibit(span=m.span, role="the same again"),
                    ),
                    start_offset=m.offset if m.kind == "epoch-round" else m.answer_offset,
                )


def _of(m: Inquiry | LogCut) -> str:
    return f", by which it is to cut to {m.offset}," if m.kind == "epoch-round" else f", {m.answer_offset},"


def _question(m: Inquiry | LogCut) -> tuple[object, ...]:
    asked = m.asked_epoch if isinstance(m, Inquiry) else None
    return m.kind, m.epoch, asked, m.answered_epoch, m.answer_offset, m.offset


def _stopped_when_fenced(evidence: PartitionEvidence) -> Iterator[Hit]:
    fenced: dict[tuple[str, int | None], Moment] = {}
    for m in evidence.moments:
        if gives_role(m):
            fenced = {place: asked for place, asked in fenced.items() if place[0] != m.clock}
        elif m.kind == "epoch-asked" and m.error == FENCED:
            fenced[m.clock, m.broker] = m
        elif m.kind in ("fetched", "epoch-asked"):
            fenced.pop((m.clock, m.broker), None)
        for broker in sorted(_dropped(m)):
            asked = fenced.pop((m.clock, broker), None)
            if asked is not None:
                yield Hit(
                    broker=broker,
                    at=asked,
                    says=f"broker {broker} was fenced when it asked where its epoch ends, and did not fetch again until"
                    f" broker {m.witness} dropped it from the ISR",
                    exhibits=(
                        Exhibit(span=asked.span, role="the fenced question"),
                        Exhibit(span=m.span, role="the smaller ISR"),
                    ),
                )


def _dropped(m: Moment) -> set[int]:
    return set(m.previous_isr or ()) - set(m.isr or ()) if m.kind == "isr-shrinking" else set()


def _never_began_to_fetch(evidence: PartitionEvidence) -> Iterator[Hit]:
    holed = {broker for broker, log in evidence.request_logs.items() if log.gaps}
    whole = {m.witness for m in evidence.moments if m.kind == "fetched"} - holed
    said = _said_in_each_role(evidence)
    for order, following in _orders_without_restart(evidence):
        if order.leader not in whole:
            continue
        for m in said.get((f"broker {order.leader}", order.epoch), ()):
            if m.kind == "fetched" and m.broker == order.witness:
                break
            if order.witness in _dropped(m) and not _unheard_until(evidence, order, m):
                yield Hit(
                    broker=order.witness,
                    at=order,
                    says=f"broker {order.witness} was told to follow broker {order.leader} in epoch {order.epoch}, and"
                    f" never fetched in it, although it ran on until epoch {following.epoch}",
                    exhibits=(
                        Exhibit(span=order.span, role="the order to follow"),
                        Exhibit(span=m.span, role="the smaller ISR"),
                        Exhibit(span=following.span, role="its next role"),
                    ),
                )
                break


def _unheard_until(evidence: PartitionEvidence, order: Moment, dropped: Moment) -> bool:
    """Whether the leader's request log is silent at a time between its opening and when it dropped the follower."""
    opening = None if order.epoch is None else evidence.openings.get(order.epoch)
    since = opening.time if opening is not None and opening.clock == dropped.clock else None
    log = evidence.request_log(-1 if order.leader is None else order.leader)
    return log.here and any(log.unheard(since, dropped.time))


def _said_in_each_role(evidence: PartitionEvidence) -> Mapping[tuple[str, int | None], Sequence[Moment]]:
    """First fetches and smaller ISRs that each broker told while it had a role in an epoch."""
    epoch: dict[str, int | None] = {}
    said: dict[tuple[str, int | None], list[Moment]] = {}
    fetching: set[tuple[str, int | None, int | None]] = set()
    for m in evidence.moments:
        if gives_role(m):
            epoch[m.clock] = m.epoch
        if m.clock not in epoch or m.kind not in ("fetched", "isr-shrinking"):
            continue
        asker = (m.clock, epoch[m.clock], m.broker)
        if m.kind == "isr-shrinking" or asker not in fetching:
            said.setdefault((m.clock, epoch[m.clock]), []).append(m)
        if m.kind == "fetched":
            fetching.add(asker)
    return said


def _orders_without_restart(evidence: PartitionEvidence) -> Iterator[tuple[Moment, Moment]]:
    """Every order to follow a leader anew, and the next one of a later epoch that the same process was given.

    Whoever goes on following the same leader goes on in its fetch session, which need not name the partition again.
    """
    order: dict[str, Moment] = {}
    followed: dict[str, int | None] = {}
    for m in evidence.moments:
        if m.kind in ("log-loaded", "marked-as-failed"):
            order.pop(m.clock, None)
            followed.pop(m.clock, None)
        elif gives_role(m) and m.epoch is not None:
            before = order.get(m.clock)
            if before is not None and m.epoch > (before.epoch or 0):
                yield before, m
            order.pop(m.clock, None)
            follows = m.kind != "leader-starts" and m.leader not in (None, -1, m.witness)
            if follows and followed.get(m.clock) != m.leader:
                order[m.clock] = m
            followed[m.clock] = m.leader if follows else None


def _stopped_rather_than_cut(evidence: PartitionEvidence) -> Iterator[Hit]:
    for m in evidence.moments:
        if m.kind == "cut-refused":
            yield Hit(
                broker=m.broker,
                at=m,
                says=f"broker {m.broker} stopped rather than cut its log to the shorter one of its leader",
                exhibits=(Exhibit(span=m.span, role="its last word"),),
            )


def _failed_while_leading(evidence: PartitionEvidence) -> Iterator[Hit]:
    """A leader fetches only for a replica of its own that moves to another log dir."""
    moving = {replica.broker for replica in evidence.replicas if replica.state == "future"}
    role: dict[str, Moment] = {}
    for m in evidence.moments:
        if gives_role(m):
            role[m.clock] = m
        opened = role.get(m.clock)
        leads = opened is not None and opened.kind == "leader-starts" and (m.time or 0) > (opened.time or 0)
        if m.kind == "marked-as-failed" and leads and opened is not None and m.broker in moving:
            yield Hit(
                broker=m.broker,
                at=m,
                says=f"broker {m.broker} gave up moving its replica to another log dir after it had opened epoch"
                f" {opened.epoch}",
                exhibits=(Exhibit(span=opened.span, role="the epoch"), Exhibit(span=m.span, role="the failed move")),
            )


FOLLOWING: Final = (
    Signature(
        defect="KAFKA-10706",
        title="a follower's cut never ends",
        costs="the replica stays out of sync until a record is written or the leader changes",
        releases=(((2, 0, 1), (2, 6, 1)),),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=_asks_in_a_circle,
        drawing="""
            kafka 2 2.6.0
            broker 1 002|
            broker 2 00| ; epochs 0@0 1@2
            t1 asks 2 of 1 epoch 1 answer 0:2
            t2 asks 2 of 1 epoch 1 answer 0:2
            t3 asks 2 of 1 epoch 1 answer 0:2
        """,
    ),
    Signature(
        defect="KAFKA-7786",
        title="a fenced answer that comes late stops a follower",
        costs="the replica stays out of sync until the next election",
        releases=(((2, 1), (2, 1, 1)),),
        severity=Severity.MEDIUM,
        confidence="likely",
        find=_stopped_when_fenced,
        drawing="""
            kafka 2 2.1.0
            broker 1 0000|
            broker 2 0000|
            t1 leads 1 epoch 2 at 4 hw 4
            t2 asks 2 of 1 epoch 1 answer -1 error 74
            t30000 shrinks 1 from 1,2 to 1 at 4
        """,
    ),
    Signature(
        defect="KAFKA-9769",
        title="a follower that loses ZooKeeper believes that it follows",
        costs="in that time the replica fetched nothing",
        releases=(((0, 11), (2, 7)),),
        severity=Severity.LOW,
        confidence="possible",
        find=_never_began_to_fetch,
        drawing="""
            kafka 2 2.6.2
            broker 1 0000|
            broker 2 0000|
            broker 3 0000|
            t1 leads 1 epoch 1 at 4 hw 4
            t1 leader 1 epoch 1 isr 1,2,3 told 2
            t2 fetch 3@4 from 1 hw=4
            t30000 shrinks 1 from 1,2,3 to 1,3 at 4
            t60000 leader 3 epoch 2 isr 1,3 told 2
        """,
    ),
    Signature(
        defect="KAFKA-7414",
        title="a broker stops where its log is longer than its leader's",
        costs="one partition takes down a broker with all that it leads",
        releases=(((0, 11), (2, 0, 1)),),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=_stopped_rather_than_cut,
        drawing="""
            kafka 2 1.1.1
            broker 1 00|
            broker 2 0000|
            t1 exits 2
        """,
    ),
    Signature(
        defect="KAFKA-9654",
        title="a new leader epoch ends a move between log dirs",
        costs="the move does not go on until the broker is started again",
        releases=(((2, 1), (2, 5)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_failed_while_leading,
        drawing="""
            kafka 1 2.4.1
            broker 1 0000|
            broker 1 00| ; future, log-dir d2
            broker 2 0000|
            t1 leads 1 epoch 1 at 4 hw 4
            t2 fails 1
        """,
    ),
)
