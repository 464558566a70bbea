"""Which ISR a leader had in force when, on its own clock: what it told itself, and what the controller wrote.

A statement has an earliest time from which it may have been in force, and a latest from which it surely was. Between
the two, both it and the one before it are possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from rules.history import Moment
from rules.replay.clocks import ClockOffset, translated
from rules.replay.reigns import Reign

BEFORE_ALL: Final = -(1 << 62)
OWN_LOG_KINDS: Final = ("log-loaded", "high-watermark-loaded", "isr", "isr-shrinking")
"""What a leader writes into the log in which it tells of its ISR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """One ISR; null times are open: possible since ever, or sure only once a later statement is."""

    isr: frozenset[int]
    earliest: int | None
    latest: int | None
    partition_epoch: int | None
    moment: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrHistory:
    """A reign's ISRs in their order; without any, everything is possible and nobody is surely a member."""

    statements: tuple[InForce, ...]
    estimated: bool = False
    """Whether a change of the ISR is placed by another clock, within the slack of an estimate."""

    def possible(self, time: int | None) -> tuple[InForce, ...]:
        """Every ISR that may have been in force at a time of the leader's clock."""
        if time is None:
            return self.statements
        first = 0
        for index, statement in enumerate(self.statements):
            if statement.latest is not None and statement.latest < time:
                first = index
        sure, later = self.statements[first : first + 1], self.statements[first + 1 :]
        return (*sure, *(s for s in later if s.earliest is None or s.earliest <= time))

    def possible_since(self, since: int | None, time: int | None) -> tuple[InForce, ...]:
        """Every ISR that may have been in force at some time between two."""
        until = self.possible(time)
        if since is None:
            return self.statements[: self.statements.index(until[-1]) + 1] if until else ()
        return tuple(dict.fromkeys((*self.possible(since), *until)))

    def absent_before(self, statement: InForce) -> frozenset[int]:
        """The members of a statement that were left out by one before it: they have joined by reaching its leader.

        A proposal that nothing shows to have come into force leaves nobody out.
        """
        earlier = [s for s in self.statements[: self.statements.index(statement)] if s.latest is not None]
        return frozenset(b for b in statement.isr if any(b not in s.isr for s in earlier))

    def settled_since(self, since: int, time: int) -> bool:
        """Whether an ISR surely came into force between two times: what was in flight before it is so no more."""
        return any(
            s.earliest is not None and s.latest is not None and since < s.earliest and s.latest <= time
            for s in self.statements
        )

    def likely(self, time: int | None) -> frozenset[int] | None:
        """The ISR in force by the best estimate of times, which proves nothing."""
        if time is None:
            return None
        begun = [s for s in self.statements if (middle := _middle(s)) is not None and middle <= time]
        return begun[-1].isr if begun else None


def _middle(statement: InForce) -> int | None:
    own = statement.moment.broker is not None and statement.moment.kind in ("isr", "leader-starts")
    if own and statement.latest is not None:
        return statement.latest  # the leader's own word needs no estimate
    if statement.earliest is not None and statement.latest is not None:
        return (statement.earliest + statement.latest) // 2
    return _time(statement)


def isr_history(reign: Reign, moments: Sequence[Moment], offsets: Mapping[str, ClockOffset]) -> IsrHistory:
    """The ISRs of a reign in the order of partition epochs, or of the leader's clock where it tells none."""
    if not _changes_told(reign, moments):
        return IsrHistory(statements=())
    told = [*_own(reign, moments), *_controllers(reign, moments, offsets)]
    if not _followed(reign, moments):
        return IsrHistory(statements=())
    merged = _merged(told)
    if any(s.partition_epoch is None for s in merged) and any(_time(s) is None for s in merged):
        return IsrHistory(statements=())
    if all(s.partition_epoch is not None for s in merged):
        merged.sort(key=lambda s: s.partition_epoch or 0)
    else:
        merged.sort(key=lambda s: (_time(s) or 0, s.partition_epoch or 0))
    merged = _confirmed(merged)
    if merged and _opens(merged[0], reign):
        merged[0] = replace(merged[0], earliest=None, latest=BEFORE_ALL)
        estimated = len(merged) > 1 and any(s.moment.clock != reign.clock for s in told)
        return IsrHistory(statements=tuple(merged), estimated=estimated)
    return IsrHistory(statements=())


def _changes_told(reign: Reign, moments: Sequence[Moment]) -> bool:
    """Whether every change of the ISR in the reign's terms would have been told.

    Under KRaft the controller changes an ISR within a term as well, when it fences a broker, and tells of it in the
    metadata log alone. Its leaders name a partition epoch where they start, as ZooKeeper's do that are given orders.
    """
    own = [m for m in moments if m.epoch in reign.epochs and m.kind in ("leader-starts", "leadership")]
    ordered = any(m.kind == "leadership" for m in own)
    return ordered or not any(m.clock == reign.clock and m.partition_epoch is not None for m in own)


def _followed(reign: Reign, moments: Sequence[Moment]) -> bool:
    """Whether every change of the ISR would have been told: by the controller, or by the leader's own log.

    A dump with the leader's request log alone tells of none of them, nor does one with its log of roles alone.
    """
    traced = any(m.kind == "trace-begins" and m.clock == reign.clock for m in moments)
    if not traced and reign.answers:
        return True  # a trace that somebody wrote of everything at once
    return any(
        (m.clock == "controller" and m.epoch in reign.epochs)
        # Orders to other leaders and their answers stand in a controller's trace; its own log names the broker itself.
        or (m.clock == reign.clock and m.broker == reign.leader and m.kind in OWN_LOG_KINDS and not m.doubtful)
        # Since 2.6 a leader tells its beginning, with its ISR, in a log of its own.
        or (m.clock == reign.clock and m.kind == "leader-starts" and m.isr is None)
        for m in moments
    )


def _opens(first: InForce, reign: Reign) -> bool:
    """Whether the first ISR known is the one that the reign began with."""
    told = first.moment
    return told.epoch == reign.epochs[0] and told.kind in ("leader-starts", "leadership")


def _time(statement: InForce) -> int | None:
    return statement.latest if statement.latest is not None else statement.earliest


def _own(reign: Reign, moments: Sequence[Moment]) -> Iterator[InForce]:
    own = [m for m in moments if m.clock == reign.clock]
    # Of an epoch that was opened again after a restart the first time counts.
    opened = (m for m in reversed(own) if m.kind == "leader-starts" and m.epoch in reign.epochs)
    starts = {m.epoch: m.time for m in opened}
    first: dict[int | None, int | None] = {}
    for m in moments:
        if m.kind == "leadership" and m.partition_epoch is not None:
            told = first.get(m.epoch)
            first[m.epoch] = m.partition_epoch if told is None else min(told, m.partition_epoch)
    for m in own:
        if m.isr is None or m.doubtful:
            continue
        if m.kind in ("leader-starts", "leadership") and m.epoch in reign.epochs:
            if m.kind == "leadership" and m.leader != reign.leader:
                continue
            # A new epoch takes hold when the leader says so; its order's answer is logged a moment later.
            if m.kind == "leader-starts" or (m.partition_epoch == first.get(m.epoch) and m.epoch in starts):
                yield _statement(m, starts[m.epoch], starts[m.epoch])
            else:
                yield _statement(m, None, m.time)
        elif m.kind == "isr" and m.term in reign.epochs:
            # Up to 2.7 an expansion is announced before it is written, and the writing can fail.
            announced = m.previous_isr is not None
            yield _statement(m, m.time if announced else None, None if announced else m.time)
        elif m.kind == "isr-shrinking" and m.term in reign.epochs:
            yield _statement(m, m.time, None)


def _statement(moment: Moment, earliest: int | None, latest: int | None) -> InForce:
    return InForce(
        isr=frozenset(moment.isr or ()),
        earliest=earliest,
        latest=latest,
        partition_epoch=moment.partition_epoch if moment.kind != "isr-shrinking" else None,
        moment=moment,
    )


def _controllers(reign: Reign, moments: Sequence[Moment], offsets: Mapping[str, ClockOffset]) -> Iterator[InForce]:
    for m in moments:
        # The controller's broker answers a leader's proposal in its own request log, on its own clock.
        answer = m.kind == "isr" and m.witness != reign.leader
        if not (m.clock == "controller" or answer) or m.isr is None:
            continue
        if m.epoch not in reign.epochs or m.leader != reign.leader:
            continue
        window = translated(m.time, m.clock, reign.clock, offsets)
        yield _statement(m, window[0] if window else None, window[1] if window else None)


def _merged(told: Sequence[InForce]) -> list[InForce]:
    """Statements of one partition epoch as one: the tightest times of all that tell of it."""
    by_epoch: dict[int, InForce] = {}
    others: list[InForce] = []
    for statement in told:
        key = statement.partition_epoch
        if key is None:
            others.append(statement)
            continue
        before = by_epoch.get(key)
        by_epoch[key] = statement if before is None else _tightest(before, statement)
    open_ended = []
    for statement in others:
        writing = [s for s in by_epoch.values() if _writes(statement, s)]
        written = min(writing, key=lambda s: s.partition_epoch or 0, default=None)
        if written is None or written.partition_epoch is None:
            open_ended.append(statement)
        elif written.earliest is None or (statement.earliest is not None and statement.earliest < written.earliest):
            # It may have been written at once, and the same ISR again with the next epoch.
            by_epoch[written.partition_epoch] = replace(written, earliest=statement.earliest)
    return [*by_epoch.values(), *open_ended]


def _writes(proposal: InForce, written: InForce) -> bool:
    """Whether a proposed smaller ISR is the one that came into force, and not one that had been in force before."""
    before = None not in (proposal.earliest, written.latest) and (written.latest or 0) < (proposal.earliest or 0)
    return proposal.moment.kind == "isr-shrinking" and proposal.isr == written.isr and not before


def _tightest(left: InForce, right: InForce) -> InForce:
    earliest = [t for t in (left.earliest, right.earliest) if t is not None]
    latest = [t for t in (left.latest, right.latest) if t is not None]
    return InForce(
        isr=left.isr,
        earliest=max(earliest, default=None),
        latest=min(latest, default=None),
        partition_epoch=left.partition_epoch,
        moment=left.moment,
    )


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
