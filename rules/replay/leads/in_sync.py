"""Which ISR a leader had in force when, on its own clock: what it told itself, and what the controller wrote."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.history.clocks import Clocks
from rules.history.if_set import FAR
from rules.history.moments import assigned
from rules.history.rotated import log_of
from rules.history.statements import Role
from rules.history.translation import translated
from rules.replay.leads.by_clock_and_epoch import LED, Statements
from rules.replay.leads.isr_in_force import InForce
from rules.replay.leads.served_leads import ServedLead

BEFORE_ALL: Final = -(1 << 62)


class IsrHistory(Struct, frozen=True, kw_only=True):
    """A lead's ISRs in their order; without any, everything is possible and nobody is surely a member."""

    statements: tuple[InForce, ...]
    estimated: bool = False
    """Whether a change of the ISR is placed by another clock, within the slack of an estimate."""
    unassigned: frozenset[int] = frozenset()
    """Whom a state of these terms leaves out of the assignment: no leader counts such a one, though the ISR name it."""
    joined_up: range = range(0)
    """The statements behind which no change can be untold: partition epochs before and after leave room for none."""

    def joined(self) -> Iterator[frozenset[int]]:
        """Of every statement the members that an earlier one, surely in force, left out."""
        held: dict[int, int] = {}
        sure = 0
        for statement in self.statements:
            yield frozenset(broker for broker in statement.isr if held.get(broker, 0) < sure)
            if statement.latest is not None:
                sure += 1
                for broker in statement.isr:
                    held[broker] = held.get(broker, 0) + 1


def middle_of(statement: InForce) -> int | None:
    """When a statement came into force by the best estimate of times, which proves nothing."""
    own = statement.moment.broker is not None and statement.moment.kind in ("isr", "leader-starts")
    if own and statement.latest is not None:
        return statement.latest  # the leader's own word needs no estimate
    if statement.earliest is not None and statement.latest is not None:
        return (statement.earliest + statement.latest) // 2
    return _time(statement)


def isr_history(lead: ServedLead, statements: Statements, clocks: Clocks) -> IsrHistory:
    """The ISRs of a lead in the order of partition epochs, or of the leader's clock where it tells none."""
    if not _changes_told(lead, statements) or not _followed(lead, statements):
        return IsrHistory(statements=())
    in_force = [*_own(lead, statements), *_controllers(lead, statements, clocks)]
    merged = _merged(in_force)
    if any(s.partition_epoch is None for s in merged) and any(_time(s) is None for s in merged):
        return IsrHistory(statements=())
    if all(s.partition_epoch is not None for s in merged):
        merged.sort(key=lambda s: s.partition_epoch or 0)
    else:
        merged.sort(key=lambda s: (_time(s) or 0, s.partition_epoch or 0))
    if _lost(merged, statements.first_states.get(lead.epochs[-1] + 1)):
        return IsrHistory(statements=())
    merged = _confirmed(merged)
    if merged and _opens(merged[0], lead, statements):
        merged[0] = replace(merged[0], earliest=None, latest=BEFORE_ALL)
        estimated = len(merged) > 1 and any(s.moment.clock != lead.clock for s in in_force)
        return IsrHistory(
            statements=tuple(merged),
            estimated=estimated,
            unassigned=_unassigned(merged, lead, statements),
            joined_up=_joined_up(merged, statements.first_states.get(lead.epochs[-1] + 1)),
        )
    return IsrHistory(statements=())


def _unassigned(in_force: Sequence[InForce], lead: ServedLead, statements: Statements) -> frozenset[int]:
    """The members that at least one state of the lead's terms leaves out of its replicas."""
    members = frozenset().union(*(statement.isr for statement in in_force))
    states = [named for m in statements.roles.of(lead.epochs) if (named := assigned(m))]
    return frozenset(b for b in members if any(b not in replicas for replicas in states))


def _changes_told(lead: ServedLead, statements: Statements) -> bool:
    """Whether every change of the ISR in the lead's terms would have been told.

    Under KRaft the controller changes an ISR within a term as well, when it fences a broker, and tells of it in the
    metadata log alone. Its leaders name a partition epoch where they start, as ZooKeeper's do that are given orders.
    """
    own = list(statements.roles.of(lead.epochs))
    ordered = any(m.kind == "leadership" for m in own)
    return ordered or not any(m.clock == lead.clock and m.partition_epoch is not None for m in own)


def _followed(lead: ServedLead, statements: Statements) -> bool:
    """Whether every change of the ISR would have been told: by the controller, or by the leader's own log.

    A dump with the leader's request log alone tells of none of them, nor does one with its log of roles alone.
    """
    if "not here" in lead.unheard and lead.answers:
        return True  # a trace that somebody wrote of everything at once
    return lead.clock in statements.own_logs or any(epoch in statements.controlled for epoch in lead.epochs)


def _opens(first: InForce, lead: ServedLead, statements: Statements) -> bool:
    """Whether the first ISR known is the one that the lead began with.

    It is not where another state of the epoch is told that came before. An order that is refused, since its broker
    leads already, tells of a change.
    """
    moment, begun = first.moment, statements.first_states.get(lead.epochs[0])
    if moment.epoch != lead.epochs[0] or moment.kind not in LED or moment.error not in (None, 0):
        return False
    return first.partition_epoch is None or begun is None or first.partition_epoch <= begun


def _time(statement: InForce) -> int | None:
    return statement.latest if statement.latest is not None else statement.earliest


def _own(lead: ServedLead, statements: Statements) -> Iterator[InForce]:
    # An epoch that is opened again after a restart has begun long since, and its ISR may be another.
    opened = statements.story_of(lead.clock)
    known = lead.epochs if lead.opening is not None else ()
    starts = {epoch: opening.time for epoch in known if (opening := opened.opening(epoch)) is not None}
    for m in statements.isrs.of((lead.clock, epoch) for epoch in lead.epochs):
        if m.kind in LED:
            if m.kind == "leadership" and m.leader != lead.leader:
                continue
            # A new epoch takes hold when the leader says so; its order's answer is logged a moment later.
            first = m.partition_epoch == statements.first_states.get(m.epoch)
            same = first and (m.kind == "leadership" or m.partition_epoch is not None)
            if m.epoch is not None and m.epoch in starts and (same or m is opened.opening(m.epoch)):
                yield _statement(m, starts[m.epoch], starts[m.epoch])
            else:
                yield _statement(m, None, m.time)
        elif m.latest_term is not None and m.latest_term > lead.epochs[-1]:
            continue  # it may be of a later lead
        elif m.kind == "isr":
            # Up to 2.7 an expansion is announced before it is written, and the writing can fail.
            announced = m.previous_isr is not None
            yield _statement(m, m.time if announced else None, None if announced else m.time)
        else:
            yield _statement(m, m.time, None)


def _statement(moment: Role, earliest: int | None, latest: int | None) -> InForce:
    return InForce(
        isr=frozenset(moment.isr or ()),
        earliest=earliest,
        latest=latest,
        partition_epoch=moment.partition_epoch if moment.kind != "isr-shrinking" else None,
        moment=moment,
    )


def _controllers(lead: ServedLead, statements: Statements, clocks: Clocks) -> Iterator[InForce]:
    for m in statements.answered_isrs.of(lead.epochs):
        # The controller's broker answers a leader's proposal in its own request log, on its own clock.
        answer = m.kind == "isr" and m.witness != lead.leader
        if not (m.clock == "controller" or answer) or m.leader != lead.leader:
            continue
        earliest, latest = translated(m.time, m.clock, lead.clock, clocks) or (-FAR, FAR)
        yield _statement(m, None if earliest < 0 else earliest, None if latest >= FAR else latest)


def _merged(in_force: Sequence[InForce]) -> list[InForce]:
    """Statements of one partition epoch as one: the tightest times of all that tell of it."""
    by_epoch: dict[int, InForce] = {}
    others: list[InForce] = []
    for statement in in_force:
        key = statement.partition_epoch
        if key is None:
            others.append(statement)
            continue
        before = by_epoch.get(key)
        by_epoch[key] = statement if before is None else _tightest(before, statement)
    written = _Written(by_epoch[epoch] for epoch in sorted(by_epoch))
    open_ended = []
    for statement in others:
        key = written.by(statement)
        if key is None:
            open_ended.append(statement)
            continue
        known = by_epoch[key]
        if known.earliest is None or (statement.earliest is not None and statement.earliest < known.earliest):
            # It may have been written at once, and the same ISR again with the next epoch.
            by_epoch[key] = replace(known, earliest=statement.earliest)
    return [*by_epoch.values(), *open_ended]


class _Written:
    """What was written of every ISR, as it is told; lives only while statements are merged."""

    def __init__(self, in_force: Iterable[InForce]) -> None:
        self.by_isr: dict[frozenset[int], tuple[list[float], list[int]]] = {}
        for statement in in_force:
            latest, epochs = self.by_isr.setdefault(statement.isr, ([], []))
            until = inf if statement.latest is None else statement.latest
            latest.append(max(latest[-1], until) if latest else until)
            epochs.append(statement.partition_epoch or 0)

    def by(self, proposal: InForce) -> int | None:
        """The first partition epoch that a proposed smaller ISR may have become: no one that held before it."""
        if proposal.moment.kind != "isr-shrinking":
            return None
        latest, epochs = self.by_isr.get(proposal.isr, ((), ()))
        place = bisect_left(latest, -inf if proposal.earliest is None else proposal.earliest)
        return epochs[place] if place < len(epochs) else None


def _tightest(left: InForce, right: InForce) -> InForce:
    earliest = [t for t in (left.earliest, right.earliest) if t is not None]
    return InForce(
        isr=left.isr,
        earliest=max(earliest, default=None),
        latest=_surely_since(left, right),
        partition_epoch=left.partition_epoch,
        moment=left.moment,
    )


def _surely_since(left: InForce, right: InForce) -> int | None:
    """From when on what two tell is surely in force; of a leader's own words no estimate of its clock takes anything.

    Where two of its logs tell it, each in lines of its own, it is sure by the later line: one may bear wrong times.
    """
    latest = [t for t in (left.latest, right.latest) if t is not None]
    one, other = left.moment, right.moment
    if one.clock != other.clock:
        return next(iter(latest), None)
    twice = one.kind == other.kind == "isr" and log_of(one.span.source) != log_of(other.span.source)
    return (max if twice else min)(latest, default=None)


def _lost(in_force: Sequence[InForce], following: int | None) -> bool:
    """Whether partition epochs leave room for a change that nobody tells of: every change takes one."""
    before: int | None = None
    proposed = 0
    for statement in in_force:
        epoch = statement.partition_epoch
        if epoch is None:
            proposed += statement.moment.kind not in LED
            continue
        if before is not None and epoch - before > 1 + proposed:
            return True
        before, proposed = epoch, 0
    return before is not None and following is not None and following - before > 1 + proposed


def _joined_up(in_force: Sequence[InForce], following: int | None) -> range:
    """The statements that stand between two states whose partition epochs leave no room for another."""
    known = [place for place, statement in enumerate(in_force) if statement.partition_epoch is not None]
    if not known:
        return range(0)
    return range(known[0], len(in_force) if following is not None else known[-1])


def _confirmed(statements: list[InForce]) -> list[InForce]:
    """Announcements that the partition epochs around them prove to have been written, each exactly one step."""
    confirmed = list(statements)
    known = [i for i, s in enumerate(statements) if s.partition_epoch is not None]
    for left, right in pairwise(known):
        steps = (statements[right].partition_epoch or 0) - (statements[left].partition_epoch or 0)
        if steps == right - left:
            for index in range(left + 1, right):
                confirmed[index] = replace(statements[index], latest=_time(statements[index]))
    return confirmed
