"""What each replica must have held when its broker shut down cleanly, by the replay, against what its disk shows.

A checkpoint that is written at a clean shutdown says what the replica held then. The replay says it too, from what
brokers asked, appended and counted, and from no checkpoint: where both reach the stop, the one audits the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.history.moments import DISTURBED, Moment, accepted, gives_role, own_log_end
from rules.history.statements import Fetched
from rules.history.translation import estimated
from rules.protocol.watermarks import Bound, ExpectedHighWatermark
from rules.replay import Replay, RoleEnd, translated
from rules.replay.ends import NOBODY, last_roles
from rules.replay.followers import capped, either, ranging
from rules.replay.leading.bounds import at_least, at_most
from rules.replicas.claims import OffsetClaim
from rules.replicas.replica import Replica
from rules.settings import STOPPED, STOPPING, Setting

States = Callable[[int], Sequence[Setting]]
"""What a broker told of its starts and stops, in their order."""
SAVED: Final = "producer-state-saved"
"""At a clean shutdown too: a snapshot of producers is named after the log's end."""
CRASHED: Final = ("stopped", "crashed")
"""Copied so, by word: each file of a log is as its broker left it."""


class Closing(Struct, frozen=True, kw_only=True):
    """One replica at its broker's clean shutdown."""

    broker: int
    leader: int
    epoch: int
    high_watermark: ExpectedHighWatermark
    log_end: ExpectedHighWatermark
    """How far its log must have gone at least, and can have gone at most."""
    proof: Moment | None
    """The statement that tells how far at least; null where a leader's answers do."""
    stopped: Setting
    estimated: bool
    """Whether clocks of several witnesses, and so an estimate, say who was in sync when."""


class Unclosed(Struct, frozen=True, kw_only=True):
    """A replica that shut down cleanly, and why the replay does not reach that stop."""

    broker: int
    missing: str
    """In the same words for every broker, with `{whose}` for those that it is of."""


class Raised(Struct, frozen=True, kw_only=True):
    """A high watermark on disk beyond what the replica can have held when its broker shut down cleanly."""

    closing: Closing
    claim: OffsetClaim
    bound: Bound


def closings(
    replay: Replay, chronicle: Chronicle, replicas: Sequence[Replica], states: States, copied: str = ""
) -> Iterator[Closing | Unclosed]:
    """Every current replica whose broker shut down cleanly, as far as logs reach to that stop.

    Where all files are as brokers left them, by somebody's word, their logs' word for the stop is enough.
    """
    known = _LastRoles(replay, chronicle, replicas)
    for replica in replicas:
        if replica.clean_shutdown is None and copied not in CRASHED:
            continue
        missing = known.missing(replica, states(replica.broker))
        if missing is not None and replica.clean_shutdown is None:
            continue
        if missing is not None:
            yield Unclosed(broker=replica.broker, missing=missing)
            continue
        end, stopped = replay.ends[replica.broker], states(replica.broker)[-1]
        low, proof = known.log_end(replica.broker, end)
        yield Closing(
            broker=replica.broker,
            leader=end.lead.leader,
            epoch=end.epoch,
            high_watermark=known.high_watermark(replica.broker, end, low, stopped.since or 0),
            log_end=ranging(low, _followed_to(low, replica.broker, end)),
            proof=proof,
            stopped=stopped,
            estimated=end.estimated,
        )


def _followed_to(low: Bound | None, broker: int, end: RoleEnd) -> Bound | None:
    """A follower that fetched under its last leader went no further than that one."""
    lead = end.lead
    followed = any(m.broker == broker and m.kind == "fetched" and accepted(m) for m in lead.rows)
    if broker == lead.leader or lead.end_offset is None or not followed:
        return None
    return at_most(max(lead.end_offset, low.offset if low else 0), lead.end_because)


def raised_since(closings: Sequence[Closing | Unclosed], current: Sequence[Replica]) -> Iterator[Raised]:
    """Checkpoints that tell more than their replicas can have held at the stop; beyond the log it is another matter."""
    replicas = {replica.broker: replica for replica in current}
    for closing in closings:
        replica = replicas[closing.broker]
        if isinstance(closing, Unclosed) or replica.high_watermark is None:
            continue
        bound = closing.high_watermark.high
        if bound is not None and bound.offset < replica.high_watermark.offset <= replica.log_end_offset:
            yield Raised(closing=closing, claim=replica.high_watermark, bound=bound)


class _LastRoles:
    """What the statements tell of brokers' last roles; lives only inside `closings`."""

    def __init__(self, replay: Replay, chronicle: Chronicle, replicas: Sequence[Replica]) -> None:
        moments = chronicle.moments
        self.ends, self.moments, self.replicas = replay.ends, moments, replicas
        self.clocks = replay.clocks
        self.telling = chronicle.telling_every_role
        self.last_roles = last_roles(moments)
        self.leaders = chronicle.leaders
        self.begun: dict[int, list[Moment]] = {}
        for moment in moments:
            if (gives_role(moment) or moment.kind == "leadership") and moment.epoch is not None:
                self.begun.setdefault(moment.epoch, []).append(moment)

    def missing(self, replica: Replica, states: Sequence[Setting]) -> str | None:
        """What would have to be told of a replica; None where its last role and its stop are told."""
        broker, clock = replica.broker, f"broker {replica.broker}"
        spoke = max((m.last_time or m.time or 0 for m in self.moments if m.clock == clock), default=0)
        stopped = states[-1].since if states and states[-1].value == STOPPED else None
        if stopped is None or spoke > stopped:
            return "server.log of {whose} up to the shutdown"
        end = self.ends.get(broker)
        if end is None or clock not in self.telling:
            sent = "Add that leader's request log too, which tells the high watermarks that it sent"
            return f"state-change.log of {{whose}} up to the shutdown, which tells who led last. {sent}"
        if sum(other.broker == broker for other in self.replicas) > 1:
            return "one directory of the partition a broker, not two"
        began = next((s.since for s in reversed(states) if s.value == STOPPING), stopped) or 0
        newer = (epoch for epoch in self._newer(end) if epoch > self.last_roles[broker])
        if replica.last_known_epoch > end.epoch or any(self._heard(broker, epoch, began) for epoch in newer):
            open_role = "A later leader epoch began, and the logs here do not tell whether {whose} took a role in it"
            return f"server.log and state-change.log of {{whose}}, complete up to the shutdown. {open_role}"
        return None

    def high_watermark(self, broker: int, end: RoleEnd, low: Bound | None, stopped: int) -> ExpectedHighWatermark:
        """What the replica held; a follower may have been given answers of which its leader's log does not tell."""
        if broker == end.lead.leader or self._answers_told(broker, end, stopped):
            return end.high_watermark
        own = (m for m in self.moments if m.clock == f"broker {broker}" and m.kind in DISTURBED)
        if any(m.term is None or m.term >= end.epoch for m in own):
            return either(end.high_watermark, ranging(end.start.low, end.high_watermark.high))
        # No answer tells less than the leader held when it began, and of that a follower takes what its log holds.
        reached = capped(ranging(end.start.low, None), low.offset if low else 0, low.because if low else "")
        return ranging(either(end.before, reached).low, either(end.before, end.high_watermark).high)

    def _answers_told(self, broker: int, end: RoleEnd, stopped: int) -> bool:
        if end.lead.holed or end.lead.begun_unseen or end.lead.ends_unseen:
            return False
        window = translated(stopped, f"broker {broker}", end.lead.clock, self.clocks)
        asked = any(m.broker == broker and m.kind == "fetched" and accepted(m) for m in end.lead.rows)
        return asked or (window is not None and any((m.last_time or m.time or 0) > window[1] for m in end.lead.rows))

    def _newer(self, end: RoleEnd) -> frozenset[int]:
        on_disk = {entry.epoch for replica in self.replicas for entry in replica.file_chain or replica.log_chain}
        return frozenset(epoch for epoch in on_disk | self.begun.keys() if epoch > end.epoch)

    def _heard(self, broker: int, epoch: int, stopping: int) -> bool:
        """Whether the broker may have taken a role in an epoch of which its own log says nothing."""
        moments = self.begun.get(epoch, ())
        nobody = any(moment.kind == "leadership" and moment.leader == NOBODY for moment in moments)
        if self.leaders.get(epoch, NOBODY if nobody else broker) == broker:
            return True
        estimates = (estimated(m.time, m.clock, f"broker {broker}", self.clocks) for m in moments)
        return min((time for time in estimates if time is not None), default=stopping - 1) < stopping

    def log_end(self, broker: int, end: RoleEnd) -> tuple[Bound | None, Moment | None]:
        """How far the log went at least: by the broker's own word, by its fetches, by what it appended as a leader."""
        own = [m for m in self.moments if m.clock == f"broker {broker}" and m.broker == broker]
        proof = _last_word(own)
        bound = None if proof is None else _its_word(proof)
        if end.appended is not None and (bound is None or end.appended.offset > bound.offset):
            return end.appended, None
        asked = self._furthest_fetch(own, broker, end)
        if asked is None or (bound is not None and (asked.offset or 0) <= bound.offset):
            return bound, proof
        because = f"broker {broker} asked broker {asked.witness} for offset {asked.offset}"
        return at_least(asked.offset or 0, because), asked

    def _furthest_fetch(self, own: Sequence[Moment], broker: int, end: RoleEnd) -> Fetched | None:
        """The follower's furthest fetch in its last role, after whatever befell its log in it."""
        late = (m for m in own if m.kind in DISTURBED and (m.term or 0) >= end.epoch)
        windows = [translated(m.time, m.clock, end.lead.clock, self.clocks) for m in late]
        if None in windows:
            return None
        since = max((window[1] for window in windows if window is not None), default=0)
        asked = (
            m for m in end.lead.rows
            if m.kind == "fetched" and m.broker == broker and accepted(m) and not m.doubtful and m.term == end.epoch
            # Of several that ask the same, the last one may alone have come after it.
            and (m.last_time or m.time or 0) > since
        )  # fmt: skip
        return max(asked, key=lambda m: m.offset or 0, default=None)


def _last_word(own: Sequence[Moment]) -> Moment | None:
    """What the broker told last of its log's end; of two statements of one instant the lower one."""
    ends = ((m, None if m.doubtful else m.end_offset if m.kind == SAVED else own_log_end(m)) for m in own)
    telling = [(m, end) for m, end in ends if m.kind in DISTURBED or end is not None]
    last = [(m, end) for m, end in telling if m.time == telling[-1][0].time]
    if any(end is None for _, end in last):
        return None
    return min(last, key=lambda word: word[1] or 0, default=(None, None))[0]


_TOLD_WHEN: Final = {
    "leader-starts": "when it began to lead",
    "follower-starts": "when it began to follow",
    "truncated": "after a cut",
    "truncation-kept": "when it cut nothing",
    "log-loaded": "when it loaded its log",
    SAVED: "when it saved a producer snapshot",
}


def _its_word(moment: Moment) -> Bound:
    offset = (moment.end_offset if moment.kind == SAVED else own_log_end(moment)) or 0
    return at_least(offset, f"broker {moment.broker} told its log end {offset} itself {_TOLD_WHEN[moment.kind]}")
