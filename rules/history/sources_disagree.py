"""Logs of one broker that cannot be of one clock: they tell one role at times that are not both true.

A broker takes a role while it serves the order to take it. It answers nobody in an epoch before it leads in it, and
takes no request of an older epoch when it has left that one. Nor does it when it has loaded a log and has no role yet.
It takes a role with the log that it has loaded, unless it tells of a cut. It knows each state before it makes the next.
A process that has loaded a log takes its first role of it after that, and serves nobody until then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

from msgspec import Struct

from rules.history.falling_times import LEAST_MS
from rules.history.moments import DISTURBED, ROLE_KINDS, Moment, accepted, agreed, gives_role, ordered
from rules.history.rotated import FileOrder, log_of
from rules.history.statements import Fetched, LogEvent, PartitionState, Role, RoleTaken

_LOADS: Final = "loaded the partition's log"
_ORDERED: Final = "A broker takes a role while it serves the order to take it"
_LEADS: Final = "A broker answers no fetch of an epoch before it leads in it"
_LEFT: Final = "A broker takes in no fetch of an epoch that it has left"
_NO_ROLE: Final = "A broker that has loaded a log takes in no fetch of it before it takes a role"
_STATES: Final = "A broker learns partition epochs in rising order"
_RISES: Final = "A leader's high watermark never falls within an epoch"
_SHORTER: Final = "No line between them says that the log became shorter"
_LOADED: Final = "A broker loads a log when it starts, and then has no earlier epoch to go on from"
_UNLOADED: Final = "A broker loads a log before it takes its first role"


class ToldApart(Struct, frozen=True, kw_only=True):
    """Two things that one broker says it did, at times that cannot both be true."""

    first: int
    """When it did the one, by its logs."""
    did: str
    """In words that follow the broker's name."""
    then: int
    also: str
    law: str
    """Why it cannot be so, as a sentence without its stop."""

    @property
    def late(self) -> bool:
        """Whether the times are farther apart than threads that write at once put them."""
        return self.then - self.first > LEAST_MS


def sources_disagree(own: Sequence[Moment]) -> bool:
    """Whether statements of one clock contradict each other, by more than its threads may have waited for a line."""
    return contradiction(own) is not None


def contradiction(own: Sequence[Moment]) -> ToldApart | None:
    """Two lines of one clock that show that its statements contradict each other; null where none do."""
    return next(chain.from_iterable(map(_contradictions, _between_deletions(own))), None)


def _between_deletions(own: Sequence[Moment]) -> Iterator[Sequence[Moment]]:
    """What is told up to each time at which the log was deleted, and since: epochs may begin again in the next one."""
    since: list[Moment] = []
    for m in ordered(own):
        since.append(m)
        if m.kind == "log-deleted":
            yield since
            since = []
    yield since


def _contradictions(own: Sequence[Moment]) -> Iterator[ToldApart]:
    """Of statements in the order of their times."""
    yield from _loaded_amid_a_life(own)
    yield from _shorter_than_loaded(own)
    roles = newly_taken(own)
    found = (_against_orders(own, roles), _against_requests(own, roles), _without_role(own), _states_fall(own))
    yield from (each for each in chain(*found, _watermark_falls(own)) if each.late)


def _as_written(own: Iterable[Moment]) -> list[Moment]:
    """The lines of each log in their order, whatever files it is cut into."""
    moments = [*own]
    files = FileOrder((m.span.source, m.time) for m in moments)
    return sorted(moments, key=lambda m: (files.place(m.span.source), m.span.start))


def newly_taken(own: Sequence[Moment]) -> Sequence[RoleTaken]:
    """Roles, in the order of their lines, that were surely not taken before: they or their log show an older one."""
    newest: dict[str, int] = {}
    found: list[RoleTaken] = []
    for line in _as_written(own):
        if not isinstance(line, RoleTaken):
            continue
        log, epoch = log_of(line.span.source), -1 if line.epoch is None else line.epoch
        older = epoch if line.former is None else line.former
        if not line.doubtful and epoch > min(older, newest.get(log, epoch)):
            found.append(line)
        newest[log] = max(epoch, newest.get(log, -1))
    return found


def taken_again(own: Iterable[Moment]) -> dict[int | None, int]:
    """By epoch when a process took a role in it as its first one, at last.

    A broker that is stopped logs no order that it could not answer. Started again, it gets the same role once more.
    """
    fresh = (m for m in own if isinstance(m, RoleTaken) and m.fresh and m.time is not None)
    return {m.epoch: m.time or 0 for m in ordered(fresh)}


def order_times(own: Iterable[Moment]) -> dict[int, tuple[int, int]]:
    """By epoch when the first order to take a role in it came, and when the last one was answered."""
    orders: dict[int, tuple[int, int]] = {}
    for m in own:
        if isinstance(m, PartitionState) and m.kind == "leadership" and m.error in (None, 0) and m.epoch is not None:
            came, answered = m.time if m.arrived is None else m.arrived, m.time
            if came is not None and answered is not None:
                least, most = orders.get(m.epoch, (came, answered))
                orders[m.epoch] = min(came, least), max(answered, most)
    return orders


def _against_orders(own: Sequence[Moment], roles: Sequence[RoleTaken]) -> Iterator[ToldApart]:
    """Roles that were taken before their order came, or after it was answered."""
    orders, again = order_times(own), taken_again(own)
    for role in roles:
        if role.epoch not in orders or role.time is None:
            continue
        (came, answered), took = orders[role.epoch], f"took its role in epoch {role.epoch}"
        order = f"the order to take its role in epoch {role.epoch}"
        at_last = max(role.time, again.get(role.epoch, role.time))
        yield ToldApart(first=at_last, did=took, then=came, also=f"got {order}", law=_ORDERED)
        yield ToldApart(first=answered, did=f"answered {order}", then=role.time, also=took, law=_ORDERED)


def _against_requests(own: Sequence[Moment], roles: Sequence[RoleTaken]) -> Iterator[ToldApart]:
    """Fetches that name an epoch and were answered before its role, or came in after the next one."""
    began = {role.epoch: role.time for role in roles if role.kind == "leader-starts" and role.time is not None}
    # Who opens an epoch that another leads is EPOCH008's, and no contradiction of clocks.
    following = [m for m in own if m.kind in ROLE_KINDS and m.kind != "leader-starts"]
    for m in own:
        # A partition that a session leaves out is served whatever its epoch (KAFKA-9338).
        if not isinstance(m, Fetched) or m.implied or m.doubtful or m.epoch is None:
            continue
        if not accepted(m) or m.error is None:
            continue
        fetch = f"a fetch of epoch {m.epoch}"
        if m.epoch in began and m.time is not None:
            leads = f"began to lead in epoch {m.epoch}"
            yield ToldApart(first=m.time, did=f"answered {fetch}", then=began[m.epoch], also=leads, law=_LEADS)
        left = next((role for role in following if role.epoch is not None and role.epoch > m.epoch), None)
        came = m.arrived if m.taken_in is None else m.taken_in
        if left is not None and left.time is not None and came is not None:
            follows = f"became a follower in epoch {left.epoch}"
            yield ToldApart(first=left.time, did=follows, then=came, also=f"took in {fetch}", law=_LEFT)


def _without_role(own: Sequence[Moment]) -> Iterator[ToldApart]:
    """Requests that were taken in after their broker had loaded the log and before it had a role since.

    It had none where it had one before and takes no other, or where the next one is the first of its process.
    """
    has_role, loaded, served, fetch = False, None, None, "took in a fetch of the partition"
    for m in own:
        if gives_role(m):
            if served is not None and m.time is not None and isinstance(m, RoleTaken) and m.fresh:
                role = f"took its first role after a start, in epoch {m.epoch}"
                yield ToldApart(first=served, did=fetch, then=m.time, also=role, law=_NO_ROLE)
            has_role, loaded, served = True, None, None
        elif m.kind == "log-loaded" or (m.kind == "log-created" and not has_role):
            loaded, served = m.time, None
        elif loaded is not None and isinstance(m, Fetched) and agreed(m):
            came = m.arrived if m.taken_in is None else m.taken_in
            if came is not None and came > loaded:
                served = came if served is None else served
                if has_role:
                    unserved = f"had no role yet and {fetch}"
                    yield ToldApart(first=loaded, did=_LOADS, then=came, also=unserved, law=_NO_ROLE)


def _states_fall(own: Sequence[Moment]) -> Iterator[ToldApart]:
    """Each state that its log tells first, where that is later than another log tells a newer one."""
    newest: dict[str, int] = {}
    states: list[tuple[int, int]] = []
    for m in _as_written(own):
        state, log = m.partition_epoch if isinstance(m, Role) else None, log_of(m.span.source)
        if state is None or m.broker != m.witness or m.time is None or m.kind == "leadership":
            continue
        if state > newest.get(log, state):
            states.append((m.time, state))
        newest[log] = max(state, newest.get(log, state))
    since: dict[int, int] = {}
    for at, state in sorted(states):
        since.setdefault(state, at)
    earliest: tuple[int, int] | None = None
    for state in sorted(since, reverse=True):
        if earliest is not None:
            knew, learnt = f"knew partition epoch {earliest[1]}", f"learnt partition epoch {state}"
            yield ToldApart(first=earliest[0], did=knew, then=since[state], also=learnt, law=_STATES)
        earliest = min(filter(None, (earliest, (since[state], state))))


def _watermark_falls(own: Sequence[Moment]) -> Iterator[ToldApart]:
    """Answers of a leader later with less, or earlier with more, than a line of its tells in one epoch."""
    led = [m.epoch for m in own if m.kind == "leader-starts"]
    answers: dict[int, list[tuple[int, int, int]]] = {}
    for m in own:
        if not isinstance(m, Fetched) or not agreed(m) or m.epoch is None or m.high_watermark is None:
            continue
        if m.time is not None and m.taken_in is not None:
            answers.setdefault(m.epoch, []).append((m.high_watermark, m.taken_in, m.time))
    ranked = {epoch: sorted(rows) for epoch, rows in answers.items()}
    latest = {epoch: [*accumulate((taken for _, taken, _ in rows), max)] for epoch, rows in ranked.items()}
    first = {epoch: [*accumulate((at for _, _, at in reversed(rows)), min)][::-1] for epoch, rows in ranked.items()}
    for line in own:
        if not isinstance(line, Role) or line.high_watermark is None or line.time is None or line.doubtful:
            continue
        # Who starts again and leads on in its epoch begins from its checkpoint.
        if line.epoch not in ranked or led.count(line.epoch) != 1 or line.kind not in ("isr", "leader-starts"):
            continue
        less = bisect_left(ranked[line.epoch], line.high_watermark, key=lambda row: row[0])
        more = bisect_right(ranked[line.epoch], line.high_watermark, key=lambda row: row[0])
        had, answer = f"had high watermark {line.high_watermark} in epoch {line.epoch}", "a fetch of that epoch with a"
        for at in latest[line.epoch][:less][-1:]:
            lower = f"took in and answered {answer} lower one"
            yield ToldApart(first=line.time, did=had, then=at, also=lower, law=_RISES)
        for at in first[line.epoch][more : more + 1]:
            higher = f"had answered {answer} higher high watermark"
            yield ToldApart(first=at, did=higher, then=line.time, also=had, law=_RISES)


def _shorter_than_loaded(own: Sequence[Moment]) -> Iterator[ToldApart]:
    """Whether a role is taken in one log with less than another says was loaded, or left by a cut since."""
    end, since, log = None, 0, ""
    for m in own:
        if isinstance(m, LogEvent) and m.kind == "log-loaded":
            end, since, log = m.end_offset, m.time or 0, log_of(m.span.source)
        elif m.kind == "truncated" and end is not None and m.offset is not None:
            end, since = min(end, m.offset), m.time or since
        elif m.kind in DISTURBED or m.kind == "log-deleted":
            end = None
        elif isinstance(m, RoleTaken) and end is not None and m.offset is not None and not m.doubtful:
            if m.offset < end and log_of(m.span.source) != log:
                had, less = f"had log end offset {end}", f"took a role with log end offset {m.offset}"
                yield ToldApart(first=since, did=had, then=m.time or since, also=less, law=_SHORTER)
            end = None


def _loaded_amid_a_life(own: Sequence[Moment]) -> Iterator[ToldApart]:
    """The log that a process with a role loads, or loads after it took its first one; and that role.

    A log that is made beside the loading is another one, on another disk. Releases up to 2.5 do not log that a broker
    follows: it may have followed since it loaded the log, and known an epoch by that.
    """
    made = [m.time for m in own if m.kind == "log-created" and m.time is not None]
    had_role, loaded, unloaded = False, None, None
    for m in own:
        if isinstance(m, RoleTaken) and not m.doubtful:
            if loaded is not None and had_role and m.former is not None and m.among_all_roles:
                went_on = f"went on from epoch {m.former} to epoch {m.epoch}"
                yield ToldApart(first=loaded, did=_LOADS, then=m.time or 0, also=went_on, law=_LOADED)
            unloaded = unloaded or (m if had_role and m.fresh and loaded is None else None)
            had_role, loaded = True, None
        elif gives_role(m):
            loaded = None
        elif m.kind == "log-loaded" and m.time is not None:
            loaded = None if any(abs(m.time - time) <= LEAST_MS for time in made) else m.time
    if loaded is not None and unloaded is not None:
        began = f"took its first role after a start, in epoch {unloaded.epoch}"
        yield ToldApart(first=unloaded.time or 0, did=began, then=loaded, also=_LOADS, law=_UNLOADED)
