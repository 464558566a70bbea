"""Who led when: the epochs that one broker led without a break, and what was written on its clock meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.leaders import leaders_by_epoch
from rules.chronicle.request_logs import LoggedRequests, Unheard, Why, log_of
from rules.history.moments import ROLE_KINDS, Moment, agreed, succeeded
from rules.history.statements import Fetched, RoleTaken
from rules.replay.leads.by_clock_and_epoch import Served, Statements
from rules.replicas.led_last import ends_stopped

NO_EPOCH: Final = -1
OF_ANOTHER_TIME: Final[tuple[Why, ...]] = ("not here", "begins later", "silent")
_AT_FIRST: Final[tuple[Why, ...]] = ("begins later", "unplaced", "a session")


class ServedLead(Struct, frozen=True, kw_only=True):
    """Consecutive leader epochs of one broker, between which it neither stopped nor followed, with what it served.

    A reign is one epoch, known by its leader's own log and by no number. A leader counts on from reign to reign, so the
    replay walks leads. They are found by number, and others' words may be all that tells of one.
    """

    leader: int
    epochs: tuple[int, ...]
    opening: RoleTaken | None
    """Its own word for the beginning; null where only others tell of it."""
    start_offset: int | None
    start_because: str
    rows: tuple[Served, ...]
    """Answers to fetches and produces, in the order in which the leader logged them."""
    end_offset: int | None
    """Its log end when the lead was over, as it told it itself when it took its next role."""
    end_because: str
    ended: int | None = None
    """When its leader told of its next role, or of another beginning of its process."""
    untold: range = range(0)
    """Epochs before it of which nobody tells who led them: what was answered then is unknown."""
    unheard: Mapping[Why, Unheard]
    """Why answers of its leader, while it led, may not be among the rows."""
    roles_told: bool = False
    """Whether its leader's own log tells of any role, be it of other epochs."""
    follower_ends: Mapping[int, int]
    """Where the logs of others ended when they took their next role after it, if they did not restart before."""

    @property
    def begun_unseen(self) -> bool:
        """Whether its request log begins later than the lead, or may: what was asked before that is unknown."""
        return any(why in self.unheard for why in _AT_FIRST)

    @property
    def unplaced(self) -> bool:
        """Whether answers of its leader may be of this lead or of another: what it said of its ISR may be too."""
        return "unplaced" in self.unheard

    @property
    def holed(self) -> bool:
        """Whether answers may be missing among, or before, the rows."""
        return "a hole" in self.unheard

    @property
    def ends_unseen(self) -> bool:
        """Whether its leader gave answers at its end, or after the last row, that its log does not tell."""
        return "ends early" in self.unheard

    @property
    def logged(self) -> bool:
        """Whether its leader's request log is here of that time, whatever it tells of."""
        return not any(why in self.unheard for why in OF_ANOTHER_TIME)

    @property
    def answers(self) -> bool:
        """Whether any answer of its leader is told."""
        return any(row.kind != "log-start-moved" for row in self.rows)

    @property
    def unseen(self) -> bool:
        """Whether answers may have been given that no row tells of."""
        return self.begun_unseen or self.holed or self.ends_unseen or not self.answers

    def parted(self) -> tuple[ServedLead, ServedLead]:
        """What it answered before its first answer that may be of another lead, and all after it."""
        gap = self.unheard["unplaced"]
        first = [row for row in self.rows if gap.since is not None and _logged(row) < gap.since]
        rest = [row for row in self.rows if gap.since is None or _logged(row) >= gap.since]
        others = {why: each for why, each in self.unheard.items() if why != gap.why}
        cut_short = {"ends early": replace(gap, why="ends early"), **others}
        return replace(self, rows=tuple(first), unheard=cut_short), replace(self, rows=tuple(rest))

    def covers(self, epoch: int) -> bool:
        """Whether an epoch is one of its own: they follow each other without a gap."""
        return self.epochs[0] <= epoch <= self.epochs[-1]

    @property
    def clock(self) -> str:
        """The leader's clock."""
        return f"broker {self.leader}"


def served_leads(statements: Statements) -> tuple[ServedLead, ...]:
    """Every lead that the statements tell of, by leader epoch."""
    leaders = leaders_by_epoch(statements.moments)
    named = sorted(leaders.keys() | {epoch for epoch in statements.roles.found if epoch is not None})
    grouped: list[list[int]] = []
    for epoch in sorted(leaders):
        before = grouped[-1][-1] if grouped else None
        if before is not None and before == epoch - 1 and _goes_on(statements, leaders, before, epoch):
            grouped[-1].append(epoch)
        else:
            grouped.append([epoch])
    befores = [_untold(one[-1], other[0], named) for one, other in pairwise([[NO_EPOCH], *grouped])]
    return tuple(
        replace(_lead(leaders[epochs[0]], tuple(epochs), statements), untold=before)
        for epochs, before in zip(grouped, befores, strict=False)
    )


def _untold(before: int, epoch: int, named: Sequence[int]) -> range:
    """The epochs between two, if nobody tells of one of them who led it, or that nobody did."""
    between = range(before + 1, epoch)
    count = bisect_left(named, epoch) - bisect_right(named, before)
    return between if count < len(between) else range(0)


def _goes_on(statements: Statements, leaders: Mapping[int, int], before: int, epoch: int) -> bool:
    leader = leaders[epoch]
    return leaders[before] == leader and statements.story_of(f"broker {leader}").unbroken(before, epoch)


def _lead(leader: int, epochs: tuple[int, ...], statements: Statements) -> ServedLead:
    clock = f"broker {leader}"
    story = statements.story_of(clock)
    answered = statements.answers.placed((clock, epoch) for epoch in epochs)
    # What it said after it was started again in the same epoch may be of another log.
    restarted = story.loaded_after(epochs, _first_served(leader, answered))
    opening = story.opened_before(epochs[0], restarted)
    start, why = _start(opening, epochs[0], statements)
    end, end_why = (None, "") if opening is None else _end(leader, epochs[-1], statements)
    given = [m for place, m in answered if m.witness == leader and (restarted is None or place < restarted)]
    # Behind a hole in its log of roles an answer may be of a later term, in which it led again.
    placed = [m for m in given if m.latest_term is None or m.latest_term <= epochs[-1]]
    # Before a restart, and without the line that opened the epoch, an answer that names none may be of an older one.
    unsure = opening is None and restarted is not None
    rows = tuple(m for m in placed if not unsure or m.epoch in epochs)
    doubt = None if unsure else _first_beyond(given, epochs[-1])
    following = story.following(epochs[-1])
    if following is None and end is not None and _reached(rows) > end:
        end, end_why = None, ""  # the disk tells of another time
    ended = _ended(following)
    log = log_of(statements.request_logs, leader)
    unheard = *_unheard(log, (opening, start), rows, ended), *_unknown(leader, rows, given, doubt)
    return ServedLead(
        leader=leader,
        epochs=epochs,
        opening=opening,
        start_offset=start,
        start_because=why,
        roles_told=any(m.kind in ROLE_KINDS for _, m in story.turns),
        rows=rows,
        end_offset=end,
        end_because=end_why,
        ended=ended,
        unheard={each.why: each for each in unheard},
        follower_ends=_follower_ends(epochs, statements),
    )


def _reached(rows: Iterable[Served]) -> int:
    """How far a leader's log went at least, by what it answered for and by what followers had of it."""
    written = ((row.offset or 0) + 1 for row in rows if succeeded(row))
    copied = (row.offset or 0 for row in rows if row.kind == "fetched" and agreed(row))
    return max([0, *written, *copied])


def _logged(row: Served) -> float:
    return inf if row.time is None else row.last_time or row.time


def _answers(rows: Iterable[Served]) -> int:
    return sum(row.kind != "log-start-moved" for row in rows)


def _first_served(leader: int, answered: Sequence[tuple[int, Served]]) -> int | None:
    """The first place at which a leader surely led: before its replica is there it answers with an error."""
    served = (p for p, m in answered if m.witness == leader and m.kind != "log-start-moved" and m.error in (None, 0))
    return next(served, None)


def _unheard(
    log: LoggedRequests, began: tuple[RoleTaken | None, int | None], rows: Sequence[Served], ended: int | None
) -> Iterator[Unheard]:
    """Why answers of a lead may not be in its leader's log of requests, as that log and its rows tell."""
    opened = None if began[0] is None else began[0].time
    for each in log.unheard(opened, ended):
        # For a while nobody may have asked; a log without any line of the whole time tells nothing of it.
        if each.why in ("a pause", "ends", "ends early") and (each.since, each.until) == (opened, ended):
            yield replace(each, why="silent")
        if each.why not in ("a pause", "ends", "a hole") or (each.why == "a hole" and log.holed_before(rows)):
            yield each
    if _written_before(log, opened, began[1], rows):
        yield Unheard(broker=log.broker, why="begins later", since=opened, until=log.begun)


def _written_before(log: LoggedRequests, opened: int | None, start: int | None, rows: Sequence[Served]) -> bool:
    """Whether a log that begins soon after the lead lacks its first writes: the first that is told goes beyond."""
    if log.begun is None or opened is None or start is None or log.begun <= opened:
        return False
    asked = (m for m in rows if m.kind == "produced" or (m.kind == "fetched" and m.broker is not None))
    first = min(asked, key=lambda m: m.taken_in or m.time or 0, default=None)
    return first is not None and first.offset is not None and first.offset > start


def _first_beyond(given: Iterable[Served], epoch: int) -> int | None:
    """When the first answer was logged that may be of a later term."""
    times = [m.time for m in given if m.latest_term is not None and m.latest_term > epoch]
    return None if None in times else min((time for time in times if time is not None), default=None)


def _unknown(leader: int, rows: Sequence[Served], given: Sequence[Served], doubt: int | None) -> Iterator[Unheard]:
    """Why answers that are told may be of another lead, from when on, or of another offset than its rows say."""
    if _answers(rows) < _answers(given):
        yield Unheard(broker=leader, why="unplaced", since=doubt)
    if any(map(_position_unknown, rows)):
        yield Unheard(broker=leader, why="a session")


def _position_unknown(row: Served) -> bool:
    """A follower's fetch in a session whose beginning is not in the trace: it may have asked for any offset."""
    return row.kind == "fetched" and row.broker is not None and row.offset is None and not row.error


def _follower_ends(epochs: tuple[int, ...], statements: Statements) -> dict[int, int]:
    ends: dict[int, int] = {}
    disturbed: set[int] = set()
    for m in statements.befallen.of(epochs):
        if m.broker is None:
            continue
        if m.kind not in ROLE_KINDS:
            disturbed.add(m.broker)
        elif m.epoch is not None and m.epoch > epochs[-1]:
            # Of a role between the two its log may have lost the line, and with it what was cut then.
            if m.offset is None or m.epoch > epochs[-1] + 1 or not statements.disturbances_told(m, epochs[0]):
                disturbed.add(m.broker)
            else:
                ends.setdefault(m.broker, m.offset)
    return {broker: end for broker, end in ends.items() if broker not in disturbed}


def _start(opening: RoleTaken | None, epoch: int, statements: Statements) -> tuple[int | None, str]:
    if opening is not None and opening.offset is not None:
        return opening.offset, f"broker {opening.broker} opened epoch {epoch} at offset {opening.offset}"
    if epoch in statements.chain_starts:
        broker, start = statements.chain_starts[epoch]
        return start, f"broker {broker}'s epoch file has epoch {epoch} at {start}"
    return None, "no log or epoch file tells where the epoch began"


def _end(leader: int, epoch: int, statements: Statements) -> tuple[int | None, str]:
    """The log end that the lead left, where nothing can have been lost before it was told."""
    story = statements.story_of(f"broker {leader}")
    if epoch not in story.opened:
        return None, ""
    following = story.following(epoch)
    # Of a role between the two its log may have lost the line, and with it what was cut then.
    next_role = following is not None and following.kind in ROLE_KINDS and following.epoch == epoch + 1
    if following is not None and next_role and following.offset is not None:
        return following.offset, f"broker {leader} took its next role at log end {following.offset}"
    states = statements.states(leader)
    last = following is None and statements.last_epoch <= epoch and (not states or ends_stopped(states))
    current = [r for r in statements.replicas if r.broker == leader and r.state == "current"] if last else []
    held = [r for r in current if r.clean_shutdown is not None]
    if len(held) == 1 and held[0].end_kept:
        return held[0].log_end_offset, f"broker {leader} shut down cleanly with log end {held[0].log_end_offset}"
    return None, ""


def _ended(following: Moment | None) -> int | None:
    return None if following is None else following.time


def follower_runs(lead: ServedLead) -> dict[int, tuple[Fetched, ...]]:
    """Each follower's fetches in the order in which the leader logged their answers."""
    runs: dict[int, list[Fetched]] = {}
    for row in lead.rows:
        if row.kind == "fetched" and row.broker is not None and row.offset is not None:
            runs.setdefault(row.broker, []).append(row)
    return {broker: tuple(found) for broker, found in runs.items()}
