"""What surely came before what, told by two clocks: the only knowledge of how far these stand apart.

Each is a cause and its effect. A controller decides before a broker acts on it. A follower takes a role before it
fetches in it. A leader leads before it answers, or has an ISR written. How long an effect took is never assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from rules.history.falling_times import BROKERS
from rules.history.moments import Moment, gives_role, is_metadata, ordered
from rules.history.rotated import FileOrder, log_of
from rules.history.statements import Fetched, Inquiry, LogCut, PartitionState, Role, RoleTaken
from rules.history.turns import roles_fall_back

ANSWERED: Final = ("cut-by-epoch-answer", "epoch-answer-kept", "epoch-round")
"""What a follower says when its leader has told it where an epoch ended."""
First = Mapping[tuple[str, int], RoleTaken]
"""By clock and epoch the line in which its broker took its role, where it had surely not taken it before."""


class Link(Struct, frozen=True, kw_only=True):
    """Two events of which one leads to the other, each in words that follow whoever did it; `{}` is an epoch."""

    did: str
    """The cause; its "it" is the effect."""
    then: str


_ROLE: Final = Link(did="gave it that role", then="logged its role in epoch {}")
_ISR: Final = Link(did="recorded that ISR", then="logged an ISR of epoch {}")
_PROPOSED: Final = Link(did="asked for it", then="recorded an ISR of epoch {}")
_KNEW: Final = Link(did="logged the state before it", then=_PROPOSED.then)
_JOINED: Final = Link(did="took its role in that epoch", then="recorded a larger ISR of epoch {}")
_ASKED: Final = Link(did="took its role in that epoch", then="got a follower's request of epoch {}")
_ANSWERED: Final = Link(did="began to lead in that epoch", then="logged a leader's answer of epoch {}")


class Precedence(Struct, frozen=True, kw_only=True):
    """A cause on one clock and its effect on another."""

    cause: str
    earlier: int
    """When the cause came about, or before that."""
    effect: str
    later: int
    """When the effect came about, or after that."""
    link: Link | None = None
    epoch: int | None = None


def precedences(moments: Sequence[Moment]) -> Iterator[Precedence]:
    """Every one between two clocks; none where epochs are used twice, and so name no cause."""
    if roles_fall_back(moments) or len({m.topic_id for m in moments} - {None}) > 1:
        return
    # How long a clock stood still when it was set back is not told: its times since are of no other clock.
    set_back = {moment.clock for moment in moments if moment.set_back != 0}
    dated = [m for m in moments if m.time is not None and m.clock not in set_back]
    decided = _Decided(m for m in moments if is_metadata(m) and m.clock not in set_back)
    first = _first_roles(dated, decided)
    sure = [m for m in dated if not m.doubtful]
    for found in (decided.before(sure), decided.behind(sure), decided.joined(first), _asked(sure, first)):
        yield from (each for each in found if each.cause != each.effect)
    yield from (each for each in _answered(sure, first) if each.cause != each.effect)


class _Decided:
    """What the controllers recorded of the partition; lives only inside `precedences`."""

    def __init__(self, records: Iterable[PartitionState]) -> None:
        self.records: dict[int, PartitionState] = {}
        for record in records:
            if record.partition_epoch is not None and record.epoch is not None:
                self.records.setdefault(record.partition_epoch, record)
        self.opening = {
            record.epoch: record for state, record in self.records.items() if self._opens(state, record.epoch)
        }

    def _opens(self, state: int, epoch: int | None) -> bool:
        """Whether the state is the first of its epoch: it is the partition's first, or the one before is known."""
        before = self.records.get(state - 1)
        return state == 0 or (before is not None and before.epoch != epoch)

    def takes_once(self, line: RoleTaken) -> bool:
        """Whether its broker was in sync in the first state of the epoch: a restart makes another state."""
        opening = self.opening.get(line.epoch)
        of_it = opening is not None and opening.partition_epoch == line.partition_epoch
        return of_it and opening is not None and line.broker in (opening.isr or ())

    def before(self, moments: Iterable[Moment]) -> Iterator[Precedence]:
        """A state is recorded before a broker tells that it knows it, or its epoch."""
        for m in moments:
            if m.clock.startswith(BROKERS) and isinstance(m, Role) and (gives_role(m) or m.kind == "isr"):
                record = self._of(m.epoch, m.partition_epoch)
                arrived = m.arrived if isinstance(m, PartitionState) and m.kind == "leadership" else None
                # By when a snapshot's state was so, and not since when, is told.
                if record is not None and record.time is not None and not record.standing:
                    yield _precedes(record, m, _ROLE if gives_role(m) else _ISR, arrived)

    def _of(self, epoch: int | None, state: int | None) -> PartitionState | None:
        record = None if state is None else self.records.get(state)
        known = record is not None and epoch in (None, record.epoch)
        return record if known or epoch is None else self.opening.get(epoch)

    def behind(self, moments: Iterable[Moment]) -> Iterator[Precedence]:
        """A leader knows the state before, and makes its proposal, before the ISR that it proposed is recorded."""
        known: dict[str, list[Role]] = {}
        for m in ordered(m for m in moments if isinstance(m, Role) and m.clock.startswith(BROKERS)):
            if not isinstance(m, Role) or not (_learnt(m) or m.kind in ("isr-shrinking", "leader-starts")):
                continue
            own = known.setdefault(m.clock, [])
            record = self.records.get(m.partition_epoch or 0) if _learnt(m) else None
            if record is not None and record.leader == m.witness:
                for cause in _proposing(own, record):
                    link = _PROPOSED if cause.kind == "isr-shrinking" else _KNEW
                    yield from _recorded(cause, record, link)
            own.append(m)

    def joined(self, first: First) -> Iterator[Precedence]:
        """Whoever joins an ISR within an epoch has taken its role in it before, and so has the leader that lets it."""
        for state, record in self.records.items():
            former = self.records.get(state - 1)
            if former is None or former.epoch != record.epoch or record.epoch is None:
                continue
            joined = set(record.isr or ()) - set(former.isr or ())
            for broker in {*joined, record.leader} if joined else ():
                role = first.get((f"{BROKERS}{broker}", record.epoch))
                if role is not None:
                    yield from _recorded(role, record, _JOINED)


def _recorded(cause: Moment, record: PartitionState, link: Link) -> Iterator[Precedence]:
    """A record comes after its cause: not after the time that its batch bears, but before it was surely written."""
    if record.written is not None:
        yield _precedes(cause, record, link, record.written)


def _learnt(moment: Role) -> bool:
    """Whether a leader tells that an ISR is in force which it had proposed: such a line alone names no epoch."""
    of_itself = moment.witness is not None and moment.broker == moment.witness
    return moment.kind == "isr" and of_itself and moment.epoch is None and moment.partition_epoch is not None


def _proposing(own: Sequence[Role], record: PartitionState) -> Iterator[Role]:
    """What the leader wrote before its proposal was recorded: the proposal, and the newest state that it knew."""
    for role in reversed(own):
        if role.kind != "isr-shrinking":
            yield role
            return
        if role.isr == record.isr:
            yield role


def _first_roles(moments: Iterable[Moment], decided: _Decided) -> First:
    """The lines in which brokers took roles that they had surely not taken before: a restart takes a role again.

    The line tells the older epoch in which its broker was until then. Or the line's file shows an older role before it:
    between two files one may be missing. Or the controllers' record shows that the broker was in sync when the epoch
    began: it takes its role of that state once, since a restart makes another state.
    """
    logs: dict[tuple[str, str], list[RoleTaken]] = {}
    for m in moments:
        if isinstance(m, RoleTaken):
            logs.setdefault((m.clock, log_of(m.span.source)), []).append(m)
    found: dict[tuple[str, int], RoleTaken] = {}
    for lines in logs.values():
        before, files = None, FileOrder((m.span.source, m.time) for m in lines)
        for line in sorted(lines, key=lambda m: (files.place(m.span.source), m.span.start)):
            if line.epoch is None or line.doubtful:
                before = None
                continue
            if decided.takes_once(line) or _follows_an_older(line, before):
                found.setdefault((line.clock, line.epoch), line)
            before = line
    return found


def _follows_an_older(line: RoleTaken, before: RoleTaken | None) -> bool:
    """Whether a broker was in an older epoch until it took a role, by the line or by the one before it in its file."""
    if line.former is not None:
        return line.former < (line.epoch or 0)
    return before is not None and before.span.source == line.span.source and (before.epoch or 0) < (line.epoch or 0)


def _asked(moments: Iterable[Moment], first: First) -> Iterator[Precedence]:
    """A follower takes its role before it fetches, or asks where an epoch ended, by the name of the role's epoch."""
    seen: dict[tuple[str, str, int], tuple[int, Moment]] = {}
    for m in moments:
        if not isinstance(m, Fetched | Inquiry) or m.broker is None or m.epoch is None or m.time is None:
            continue
        came = m.arrived if isinstance(m, Fetched) and m.arrived is not None else m.time
        key = m.clock, f"{BROKERS}{m.broker}", m.epoch
        if key not in seen or came < seen[key][0]:
            seen[key] = came, m
    for (_, follower, epoch), (came, asked) in seen.items():
        role = first.get((follower, epoch))
        if role is not None:
            yield _precedes(role, asked, _ASKED, came)


def _answered(moments: Sequence[Moment], first: First) -> Iterator[Precedence]:
    """A leader takes its role before it answers a follower that asks by the name of the role's epoch."""
    named = {(m.broker, m.epoch) for m in moments if isinstance(m, Fetched | Inquiry)}
    for m in moments:
        if isinstance(m, LogCut) and m.kind in ANSWERED and m.leader is not None and m.term is not None:
            role = first.get((f"{BROKERS}{m.leader}", m.term))
            if role is not None and role.kind == "leader-starts" and (m.broker, m.term) in named:
                yield _precedes(role, m, _ANSWERED)


def _precedes(cause: Moment, effect: Moment, link: Link, later: int | None = None) -> Precedence:
    at = effect.time if later is None else later
    epoch = cause.epoch if effect.epoch is None else effect.epoch
    return Precedence(
        cause=cause.clock, earlier=cause.time or 0, effect=effect.clock, later=at or 0, link=link, epoch=epoch
    )
