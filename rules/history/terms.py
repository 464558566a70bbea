"""In which leader epoch each statement's values were learnt: the logical clock that all witnesses share.

A request may name its epoch. All else is of the role in which its writer was, by the roles that it wrote down.
Somebody else may show a role of which the writer's own log has no word. Then that log has a hole, and what it says
around the hole may be of the untold term.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from rules.history.moments import ROLE_KINDS, STARTING, Moment, gives_role, leads, ordered
from rules.history.repetitions import first_of, last_of
from rules.history.statements import Answered, RoleTaken
from rules.history.unnamed_epochs import FirstRole, first_roles, newest_named, possible_epochs
from rules.history.untold_roles import EarlierRoles, UntoldRoles, is_served


def in_terms(moments: Sequence[Moment]) -> tuple[Moment, ...]:
    """Every statement with the leader epoch in which its values were learnt, or the highest one that it can be.

    A request that names the epoch is of that epoch; an older one that a leader still answers, after it went on into a
    newer epoch, may be of either. One that names none is of the term of its broker when it handled it.
    What a broker says of itself when it takes a new role was learnt in its former term. Before the first role that its
    log shows it was learnt in some epoch below that one, or in that one before a restart. Of a broker that tells no
    role an answer is of an epoch that it led by the controllers' record.
    """
    in_order = tuple(_with_first_roles(ordered(_split_at_roles([*_without_untaken(moments)]))))
    first = first_roles(in_order)
    terms = {clock: role.epoch - 1 for clock, role in first.items()}
    placed: list[Moment] = []
    roles: dict[str, Moment] = {}
    known, named_before = possible_epochs(in_order, first), newest_named(in_order)
    before = _before_orders(in_order, terms)
    for place, moment in enumerate(in_order):
        former = before.get(place, terms.get(moment.clock))
        latest = None if moment.clock in roles else _before_any(moment, first.get(moment.clock))
        if gives_role(moment) and moment.epoch is not None:
            terms[moment.clock] = max(moment.epoch, terms.get(moment.clock, -1))
            roles[moment.clock] = moment
        named = moment.epoch if isinstance(moment, Answered) else None
        term = named if named is not None and named >= 0 else former
        role = roles.get(moment.clock)
        if term is not None and former is not None and term < former and role is not None and leads(role):
            latest = former
        if place in known:
            term, last = known[place]
            latest = last if last > term else None
        if place in named_before and term is not None:
            least, newest = named_before[place]
            term = max(term, least)
            newest = newest if latest is None else max(latest, newest)
            latest = newest if newest > term else None
        same = (moment.term, moment.latest_term) == (term, latest)
        placed.append(moment if same else replace(moment, term=term, latest_term=latest))
    return _with_latest_terms(placed)


def _before_any(moment: Moment, first: FirstRole | None) -> int | None:
    """The newest epoch that a statement before any role of its writer can be of, if it is not older than that role."""
    if first is None:
        return None
    if moment.kind in _OWN_WORD:
        return first.epoch
    return first.epoch if _as_leader(moment) and first.newest_before == first.epoch else None


def _with_first_roles(in_order: Sequence[Moment]) -> Iterator[Moment]:
    """The statements, with each role that a broker took when it had only just taken up the replica told as its first.

    Some releases print the new epoch where a first role would show that there was none before.
    """
    taken_up: set[str] = set()
    for moment in in_order:
        if moment.kind == "taken-up":
            taken_up.add(moment.clock)
            continue
        first = moment.kind in ROLE_KINDS and moment.clock in taken_up
        if first:
            taken_up.discard(moment.clock)
        yield replace(moment, fresh=True) if first else moment


def _without_untaken(moments: Sequence[Moment]) -> Iterator[Moment]:
    """The statements, with each order that a broker answered and could not take told as one that gave no role."""
    unseen: dict[tuple[str, int | None], list[int]] = {}
    for moment in moments:
        if moment.kind == "leader-not-seen" and moment.time is not None:
            unseen.setdefault((moment.clock, moment.leader), []).append(moment.time)
    for moment in moments:
        if moment.kind == "leadership" and moment.time is not None:
            since = moment.time if moment.arrived is None else moment.arrived - 1
            if any(since <= time <= moment.time for time in unseen.get((moment.clock, moment.leader), ())):
                yield replace(moment, taken=False)
                continue
        yield moment


def _before_orders(in_order: Sequence[Moment], first: Mapping[str, int]) -> Mapping[int, int]:
    """By the place of each role whose order was answered in the same millisecond, the term before that order.

    A broker takes a role, and then answers.
    """
    terms, found = dict(first), dict[int, int]()
    orders: dict[str, tuple[Moment, int]] = {}
    for place, moment in enumerate(in_order):
        if not gives_role(moment) or moment.epoch is None:
            continue
        former = terms.get(moment.clock, -1)
        order, before = orders.get(moment.clock, (moment, former))
        if moment.kind == "leadership":
            orders[moment.clock] = moment, former
        elif (order.epoch, order.time) == (moment.epoch, moment.time) and before < former:
            found[place] = before
        terms[moment.clock] = max(moment.epoch, former)
    return found


def _split_at_roles(moments: Sequence[Moment]) -> Iterator[Moment]:
    """A run of equal fetches that name no epoch, and go on after their leader took another role, is two statements.

    One that names its epoch is of that epoch, wherever it begins. Of a role between the two no answer is told any more.
    A leader of an idle partition would have to lead three times, and requests to bear no epoch, as before 2.1.
    """
    roles: dict[str, list[int]] = {}
    for moment in moments:
        if gives_role(moment) and moment.time is not None:
            roles.setdefault(moment.clock, []).append(moment.time)
    in_order = {clock: sorted(times) for clock, times in roles.items()}
    for moment in moments:
        first, last = moment.time, moment.last_time
        unnamed = moment.count > 1 and not _names_its_epoch(moment) and first is not None and last is not None
        times = in_order.get(moment.clock, ()) if unnamed else ()
        if bisect_right(times, first or 0) < bisect_right(times, last or 0):
            yield first_of(moment)
            yield last_of(moment)
        else:
            yield moment


def _names_its_epoch(moment: Moment) -> bool:
    return moment.epoch is not None and moment.epoch >= 0


_OWN_WORD: Final = (*ROLE_KINDS, "high-watermark-loaded")
_OF_ITS_ROLE: Final = (*_OWN_WORD, "log-loaded", "producer-state-saved", "log-start-moved")
_LEADERS_WORD: Final = ("produced", "fetched", "consumed", "isr-shrinking")
_OF_A_START: Final = ("log-loaded", "high-watermark-loaded")
_ANY_TERM: Final = (1 << 31) - 1


def _with_latest_terms(placed: Sequence[Moment]) -> tuple[Moment, ...]:
    """What is of no named epoch may be of any term up to the writer's next role, if roles in between may be untold."""
    clocks, later, silent = telling_every_role(placed), _Later(placed), _said_without_role(placed)
    following: dict[str, int] = {}
    bounded: list[Moment] = []
    for moment in reversed(placed):
        latest = moment.latest_term
        if latest is None and (id(moment) in silent or (moment.kind in _OWN_WORD and moment.clock not in clocks)):
            before = None if moment.epoch is None else moment.epoch - 1
            latest = before if gives_role(moment) else following.get(moment.clock, _ANY_TERM)
        elif latest is None and moment.term is not None:
            until = moment.epoch if gives_role(moment) else following.get(moment.clock)
            latest = later.last(moment, until)
        bounded.append(moment if latest in (None, moment.latest_term) else replace(moment, latest_term=latest))
        later.pass_over(moment)
        if gives_role(moment) and moment.epoch is not None:
            following[moment.clock] = moment.epoch
    return tuple(reversed(bounded))


def _said_without_role(placed: Sequence[Moment]) -> set[int]:
    """By identity what brokers told of logs they loaded, where they took them up and no role in them is told."""
    starts: dict[str, list[Moment]] = {}
    found: set[int] = set()
    for moment in placed:
        if moment.kind == "log-loaded":
            found |= _taken_up(starts.pop(moment.clock, ()))
        if moment.kind in _OF_A_START or gives_role(moment):
            starts.setdefault(moment.clock, []).append(moment)
    return found.union(*map(_taken_up, starts.values()))


def _taken_up(start: Sequence[Moment]) -> set[int]:
    """The words of a start in which a broker took a role, as its high watermark shows, and told none."""
    taken = start[:1] and start[0].kind == "log-loaded" and any(m.kind == "high-watermark-loaded" for m in start)
    return {id(m) for m in start} if taken and not any(map(gives_role, start)) else set()


class _Later:
    """What a broker tells behind the place that is looked at, going back; lives only inside `_with_latest_terms`."""

    def __init__(self, moments: Sequence[Moment]) -> None:
        self.untold, self.earlier = UntoldRoles(moments), EarlierRoles(moments)
        self.restarted: set[str] = set()
        """Clocks of brokers that were started again, behind the place that is looked at, before their next role."""
        self.named: dict[str, int] = {}
        """The lowest epoch that a fetch names which the broker served behind that place: what is before is no newer."""

    def pass_over(self, moment: Moment) -> None:
        """Go back beyond a statement."""
        if moment.kind in STARTING or (isinstance(moment, RoleTaken) and moment.fresh):
            self.restarted.add(moment.clock)
        elif gives_role(moment):
            self.restarted.discard(moment.clock)
        if is_served(moment) and moment.epoch is not None and moment.epoch >= 0:
            self.named[moment.clock] = min(moment.epoch, self.named.get(moment.clock, moment.epoch))
        self.earlier.pass_over(moment)

    def last(self, moment: Moment, until: int | None) -> int | None:
        """The latest untold role that a statement can be of, before the next one that is told."""
        if moment.kind not in _OF_ITS_ROLE and not _as_leader(moment):
            return None
        led, again = _as_leader(moment), moment.clock in self.restarted
        term = -1 if moment.term is None else moment.term
        newest = self.named.get(moment.clock)
        if newest is not None and (until is None or newest < until):
            until = newest + 1
        shown = self.untold.shown(moment.clock, as_leader=led, restarted=again)
        latest = [e for epochs in shown for e in _between(epochs, term, until)]
        if led and self.untold.gone(moment.clock, restarted=again):
            elected = _between(self.untold.elected.get(moment.clock, ()), term, until)
            latest.extend(epoch for epoch in elected if self.earlier.had_begun(epoch, moment))
        # Requests would show who led in between; a broker may have learnt what it says of itself in any role.
        others = [self.untold.unled(moment.clock, term, until, restarted=again and led)]
        if not led:
            others.append(self.earlier.last(moment))
        return max([*latest, *(epoch for epoch in others if epoch is not None)], default=None)


def _as_leader(moment: Moment) -> bool:
    """Whether only a leader says this, of the epoch in which it leads, and does not name it."""
    return moment.kind in _LEADERS_WORD and not _names_its_epoch(moment)


def _between(epochs: Sequence[int], term: int, until: int | None) -> Sequence[int]:
    """Those of some epochs after a term, and before another where one follows."""
    return epochs[bisect_right(epochs, term) : len(epochs) if until is None else bisect_left(epochs, until)]


def telling_every_role(moments: Sequence[Moment]) -> frozenset[str]:
    """Clocks of brokers that log when they follow, or whose logs of requests hold every order of which another tells.

    Releases before 2.0 log no role but that of a leader, as they are set up by default. Since 2.6 they log every role,
    and a leader its ISR with it.
    """
    following = {m.clock for m in moments if isinstance(m, RoleTaken) and m.among_all_roles}
    led = {(m.clock, m.epoch) for m in moments if m.kind == "leader-starts"}
    ordered_to = {(m.clock, m.epoch) for m in moments if m.kind == "leadership" and m.witness is not None}
    unordered = {clock for clock, _ in led - ordered_to}
    return frozenset(following | ({clock for clock, _ in led} - unordered))
