"""Who led when: the epochs that one broker led without a break, and what was written on its clock meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from rules.history import DISTURBED, ROLE_KINDS, Moment
from rules.replica import Replica

ANSWERED: Final = ("fetched", "consumed", "produced", "log-start-moved")
"""What a leader writes of its log as it stands: its answers, and where the log now starts."""
FIRST_FETCH_MS: Final = 1000
"""A request log of which the first line is that much younger than a reign did not see it begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reign:
    """Consecutive leader epochs of one broker, between which it neither stopped nor followed."""

    leader: int
    epochs: tuple[int, ...]
    opening: Moment | None
    """Its own word for the beginning; null where only others tell of it."""
    start_offset: int | None
    start_because: str
    begun_unseen: bool
    """Whether its request log begins later than the reign, or may: what was asked before that is unknown."""
    rows: tuple[Moment, ...]
    """Answers to fetches and produces, in the order in which the leader logged them."""
    end_offset: int | None
    """Its log end when the reign was over, as it told it itself when it took its next role."""
    end_because: str
    untold: range = range(0)
    """Epochs before it of which nobody tells who led them: what was answered then is unknown."""
    holed: bool = False
    """Whether answers may be missing among, or before, the rows."""
    follower_ends: Mapping[int, int]
    """Where the logs of others ended when they took their next role after it, if they did not restart before."""

    @property
    def answers(self) -> bool:
        """Whether any answer of its leader is told."""
        return any(row.kind != "log-start-moved" for row in self.rows)

    @property
    def unseen(self) -> bool:
        """Whether answers may have been given that no row tells of."""
        return self.begun_unseen or self.holed or not self.answers

    @property
    def clock(self) -> str:
        """The leader's clock."""
        return f"broker {self.leader}"


def reigns(moments: Sequence[Moment], replicas: Sequence[Replica]) -> tuple[Reign, ...]:
    """Every reign that the statements tell of, by leader epoch."""
    leaders = leaders_by_epoch(moments)
    grouped: list[list[int]] = []
    for epoch in sorted(leaders):
        before = grouped[-1][-1] if grouped else None
        if before is not None and before == epoch - 1 and _goes_on(moments, leaders, before, epoch):
            grouped[-1].append(epoch)
        else:
            grouped.append([epoch])
    named = leaders.keys() | {m.epoch for m in moments if m.kind == "leadership" and m.epoch is not None}
    befores = [range(0), *(_untold(one[-1], other[0], named) for one, other in pairwise(grouped))]
    return tuple(
        replace(_reign(leaders[epochs[0]], tuple(epochs), moments, replicas), untold=before)
        for epochs, before in zip(grouped, befores, strict=False)
    )


def _untold(before: int, epoch: int, named: Collection[int]) -> range:
    """The epochs between two, if nobody tells of one of them who led it, or that nobody did."""
    between = range(before + 1, epoch)
    return between if sum(before < told < epoch for told in named) < len(between) else range(0)


def leaders_by_epoch(moments: Sequence[Moment]) -> dict[int, int]:
    """Who led each epoch: by the leader's own word, else the controller's, else by whoever answered fetches in it."""
    told: dict[int, int] = {}
    for rank in (_own_word, _order, _answer):
        for moment in moments:
            found = rank(moment)
            if found is not None and found[1] >= 0:
                told.setdefault(*found)
    return told


def _own_word(moment: Moment) -> tuple[int, int] | None:
    if moment.kind != "leader-starts" or moment.epoch is None or moment.broker is None:
        return None
    return moment.epoch, moment.broker


def _order(moment: Moment) -> tuple[int, int] | None:
    if moment.kind not in ("leadership", "unclean-election") or moment.epoch is None or moment.leader is None:
        return None
    return moment.epoch, moment.leader


def _answer(moment: Moment) -> tuple[int, int] | None:
    served = moment.kind == "fetched" and moment.error == 0 and moment.witness is not None
    return (moment.epoch, moment.witness or 0) if served and moment.epoch is not None and moment.epoch >= 0 else None


def _goes_on(moments: Sequence[Moment], leaders: dict[int, int], before: int, epoch: int) -> bool:
    leader = leaders[epoch]
    if leaders[before] != leader:
        return False
    own = [m for m in moments if m.clock == f"broker {leader}" and m.kind in (*ROLE_KINDS, "log-loaded", "log-created")]
    opened: dict[int | None, int] = {}
    for index, m in enumerate(own):
        if m.kind == "leader-starts":
            # After a restart a broker may open the epoch again that it led before: what counts is the first time.
            opened.setdefault(m.epoch, index)
    if before not in opened or epoch not in opened:
        return False
    return all(m.kind == "leader-starts" for m in own[opened[before] : opened[epoch]])


def _reign(leader: int, epochs: tuple[int, ...], moments: Sequence[Moment], replicas: Sequence[Replica]) -> Reign:
    own = [m for m in moments if m.clock == f"broker {leader}"]
    opening = next((m for m in own if m.kind == "leader-starts" and m.epoch == epochs[0]), None)
    start, why = _start(opening, epochs[0], replicas)
    end, end_why = _end(leader, epochs[-1], own, moments, replicas)
    led = _until_restart(own, epochs)
    rows = tuple(m for m in led if m.kind in ANSWERED and m.witness == leader and m.term in epochs)
    return Reign(
        leader=leader,
        epochs=epochs,
        opening=opening,
        start_offset=start,
        start_because=why,
        begun_unseen=_begun_unseen(opening, own) or any(map(_position_unknown, rows)),
        rows=rows,
        end_offset=end,
        end_because=end_why,
        follower_ends=_follower_ends(epochs, moments),
    )


def _until_restart(own: Sequence[Moment], epochs: tuple[int, ...]) -> Sequence[Moment]:
    """What the leader said before it was started again in the same epoch: its log may be another after that."""
    opened = next((i for i, m in enumerate(own) if m.kind == "leader-starts" and m.epoch in epochs), len(own))
    loaded = next((i for i in range(opened, len(own)) if own[i].kind == "log-loaded"), len(own))
    return own[:loaded]


def _begun_unseen(opening: Moment | None, own: Sequence[Moment]) -> bool:
    traces = [m.time for m in own if m.kind == "trace-begins" and m.time is not None]
    if not traces:
        return False
    return opening is None or opening.time is None or min(traces) - opening.time > FIRST_FETCH_MS


def _position_unknown(row: Moment) -> bool:
    """A follower's fetch in a session whose beginning is not in the trace: it may have asked for any offset."""
    return row.kind == "fetched" and row.broker is not None and row.offset is None and not row.error


def _follower_ends(epochs: tuple[int, ...], moments: Sequence[Moment]) -> dict[int, int]:
    ends: dict[int, int] = {}
    disturbed: set[int] = set()
    for m in moments:
        if m.broker is None or m.clock != f"broker {m.broker}" or m.term is None or m.term > epochs[-1]:
            continue
        if m.kind in DISTURBED and m.term in epochs:
            disturbed.add(m.broker)
        takes_next = m.kind in ROLE_KINDS and m.term in epochs and m.epoch is not None and m.epoch > epochs[-1]
        if takes_next and m.offset is not None:
            ends.setdefault(m.broker, m.offset)
    return {broker: end for broker, end in ends.items() if broker not in disturbed}


def _start(opening: Moment | None, epoch: int, replicas: Sequence[Replica]) -> tuple[int | None, str]:
    if opening is not None and opening.offset is not None:
        return opening.offset, f"broker {opening.broker} opened epoch {epoch} at offset {opening.offset}"
    for replica in replicas:
        chain = replica.file_chain
        # The first entry moves with the log start: only from offset 0 is it still the epoch's own beginning.
        for index, entry in enumerate(chain):
            if entry.epoch == epoch and (index > 0 or entry.start_offset == 0):
                why = f"broker {replica.broker}'s epoch file has epoch {epoch} at {entry.start_offset}"
                return entry.start_offset, why
    return None, "no log or epoch file tells where the epoch began"


def _end(
    leader: int, epoch: int, own: Sequence[Moment], moments: Sequence[Moment], replicas: Sequence[Replica]
) -> tuple[int | None, str]:
    """The log end that the reign left, where nothing can have been lost before it was told."""
    after = [m for m in own if m.kind in (*ROLE_KINDS, *DISTURBED)]
    opened = next((i for i, m in enumerate(after) if m.kind == "leader-starts" and m.epoch == epoch), None)
    if opened is None:
        return None, ""
    following = next(iter(after[opened + 1 :]), None)
    if following is not None and following.kind in ROLE_KINDS and following.offset is not None:
        return following.offset, f"broker {leader} took its next role at log end {following.offset}"
    last = following is None and all(m.epoch is None or m.epoch <= epoch for m in moments if m.kind in ROLE_KINDS)
    held = [r for r in replicas if r.broker == leader and r.state == "current" and r.clean_shutdown is not None]
    if last and len(held) == 1 and held[0].end_kept:
        return held[0].log_end_offset, f"broker {leader} stopped in order with log end {held[0].log_end_offset}"
    return None, ""


def follower_runs(reign: Reign) -> dict[int, tuple[Moment, ...]]:
    """Each follower's fetches in the order in which the leader logged their answers."""
    runs: dict[int, list[Moment]] = {}
    for row in reign.rows:
        if row.kind == "fetched" and row.broker is not None and row.offset is not None:
            runs.setdefault(row.broker, []).append(row)
    return {broker: tuple(found) for broker, found in runs.items()}
