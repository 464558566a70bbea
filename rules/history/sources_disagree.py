"""Logs of one broker that cannot be of one clock: they tell one role at times that are not both true.

A broker takes a role while it serves the order to take it. It answers nobody in an epoch before it leads in it, and
takes no request of an older epoch when it has left that one. Nor does it when it has loaded a log and has no role yet.
It takes a role with the log that it has loaded, unless it tells of a cut. It knows each state before it makes the next.
A process that has loaded a log takes its first role of it after that, and serves nobody until then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate

from rules.history.falling_times import LEAST_MS
from rules.history.moments import DISTURBED, ROLE_KINDS, Moment, accepted, agreed, gives_role, ordered
from rules.history.rotated import FileOrder, log_of
from rules.history.statements import Fetched, LogEvent, PartitionState, Role, RoleTaken


def sources_disagree(own: Sequence[Moment]) -> bool:
    """Whether statements of one clock contradict each other, by more than its threads may have waited for a line."""
    return any(map(_disagree, _between_deletions(own)))


def _between_deletions(own: Sequence[Moment]) -> Iterator[Sequence[Moment]]:
    """What is told up to each time at which the log was deleted, and since: epochs may begin again in the next one."""
    since: list[Moment] = []
    for m in ordered(own):
        since.append(m)
        if m.kind == "log-deleted":
            yield since
            since = []
    yield since


def _disagree(own: Sequence[Moment]) -> bool:
    roles = newly_taken(own)
    found = (*_against_orders(own, roles), *_against_requests(own, roles), *_without_role(own), *_states_fall(own))
    found = (*found, *_watermark_falls(own))
    amid = _loaded_amid_a_life(own) is not None
    return _shorter_than_loaded(own) or amid or any(late > LEAST_MS for late in found)


def loading_told_amiss(own: Sequence[Moment]) -> str:
    """In words which loading of the log does not fit which role, by the times of both; empty where all of them fit."""
    amiss = next(filter(None, map(_loaded_amid_a_life, _between_deletions(own))), None)
    if amiss is None:
        return ""
    load, role = amiss
    if role.former is not None:
        did = f"it went on from epoch {role.former} to epoch {role.epoch}, as if it had not started again"
    else:
        did = f"it took its first role after a start, in epoch {role.epoch}. A broker loads a log before that"
    return f"{_at(load)} that it loaded the log of this partition. It says {_at(role)} that {did}"


def _at(moment: Moment) -> str:
    return f"at {datetime.fromtimestamp((moment.time or 0) / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


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


def _against_orders(own: Sequence[Moment], roles: Sequence[RoleTaken]) -> Iterator[int]:
    """By how much a role was taken before its order came, or after it was answered."""
    orders = order_times(own)
    for role in roles:
        if role.epoch in orders and role.time is not None:
            came, answered = orders[role.epoch]
            yield max(came - role.time, role.time - answered)


def _against_requests(own: Sequence[Moment], roles: Sequence[RoleTaken]) -> Iterator[int]:
    """By how much a fetch that names an epoch was answered before its role, or came in after the next one."""
    began = {role.epoch: role.time for role in roles if role.kind == "leader-starts" and role.time is not None}
    # Who opens an epoch that another leads is EPOCH008's, and no contradiction of clocks.
    following = ordered(m for m in own if m.kind in ROLE_KINDS and m.kind != "leader-starts")
    for m in own:
        # A partition that a session leaves out is served whatever its epoch (KAFKA-9338).
        if not isinstance(m, Fetched) or m.implied or m.doubtful or m.epoch is None:
            continue
        if not accepted(m) or m.error is None:
            continue
        if m.epoch in began and m.time is not None:
            yield began[m.epoch] - m.time
        left = next((role.time for role in following if role.epoch is not None and role.epoch > m.epoch), None)
        came = m.arrived if m.taken_in is None else m.taken_in
        if left is not None and came is not None:
            yield came - left


def _without_role(own: Sequence[Moment]) -> Iterator[int]:
    """By how much a request was taken in after its broker had loaded the log and before it had a role since.

    It had none where it had one before and takes no other, or where the next one is the first of its process.
    """
    has_role, loaded, served = False, None, None
    for m in ordered(own):
        if gives_role(m):
            if served is not None and m.time is not None and isinstance(m, RoleTaken) and m.fresh:
                yield m.time - served
            has_role, loaded, served = True, None, None
        elif m.kind == "log-loaded" or (m.kind == "log-created" and not has_role):
            loaded, served = m.time, None
        elif loaded is not None and isinstance(m, Fetched) and agreed(m):
            came = m.arrived if m.taken_in is None else m.taken_in
            if came is not None and came > loaded:
                served = came if served is None else served
                yield came - loaded if has_role else 0


def _states_fall(own: Sequence[Moment]) -> Iterator[int]:
    """By how much one log tells a state later than another log a newer one: each state that its log tells first."""
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
    earliest = None
    for state in sorted(since, reverse=True):
        if earliest is not None:
            yield since[state] - earliest
        earliest = since[state] if earliest is None else min(earliest, since[state])


def _watermark_falls(own: Sequence[Moment]) -> Iterator[int]:
    """By how much a leader answered later with less, or earlier with more, than a line of its tells in one epoch."""
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
        yield from (taken - line.time for taken in latest[line.epoch][:less][-1:])
        yield from (line.time - at for at in first[line.epoch][more : more + 1])


def _shorter_than_loaded(own: Sequence[Moment]) -> bool:
    """Whether a role is taken in one log with less than another says was loaded, or left by a cut since."""
    end, log = None, ""
    for m in ordered(own):
        if isinstance(m, LogEvent) and m.kind == "log-loaded":
            end, log = m.end_offset, log_of(m.span.source)
        elif m.kind == "truncated" and end is not None and m.offset is not None:
            end = min(end, m.offset)
        elif m.kind in DISTURBED or m.kind == "log-deleted":
            end = None
        elif isinstance(m, RoleTaken) and end is not None and m.offset is not None and not m.doubtful:
            if m.offset < end and log_of(m.span.source) != log:
                return True
            end = None
    return False


def _loaded_amid_a_life(own: Sequence[Moment]) -> tuple[LogEvent, RoleTaken] | None:
    """The log that a process with a role loads, or loads after it took its first one; and that role.

    A log that is made beside the loading is another one, on another disk. Releases up to 2.5 do not log that a broker
    follows: it may have followed since it loaded the log, and known an epoch by that.
    """
    made = [m.time for m in own if m.kind == "log-created" and m.time is not None]
    had_role, loaded, unloaded = False, None, None
    for m in ordered(own):
        if isinstance(m, RoleTaken) and not m.doubtful:
            if loaded and had_role and m.former is not None and m.among_all_roles:
                return loaded, m
            unloaded = unloaded or (m if had_role and m.fresh and not loaded else None)
            had_role, loaded = True, None
        elif gives_role(m):
            loaded = None
        elif isinstance(m, LogEvent) and m.kind == "log-loaded" and m.time is not None:
            loaded = None if any(abs(m.time - time) <= LEAST_MS for time in made) else m
    return (loaded, unloaded) if loaded and unloaded else None
