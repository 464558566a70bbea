"""Advice as values: stretches of records, cuts that are owed, candidates with their costs, gates before an action."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from rules.chronicle.extents import Extents
from rules.finding import offsets_told
from rules.loss.survivors import Survivor
from rules.loss.unbilled import Unbilled
from rules.replicas.unread_copies import UnreadCopy
from rules.words import listed, of_epoch

Going = Literal["go", "no-go", "unknown"]
DELETE: Final = "delete "
"""How the action of a gate begins that is about a folder."""


class Stretch(Struct, frozen=True, kw_only=True):
    """Records of one epoch on one replica, and what somebody was told of them."""

    epoch: int
    start_offset: int
    end_offset: int
    committed_end: int
    """Offsets from the start up to here were certainly committed."""
    acknowledged_end: int
    """Offsets up to here were answered to producers, or may have been: those of batches of unknown ends as well."""
    counted_end: int = 0
    """Offsets up to here lie below their broker's high watermark, which may have risen for others' records there."""
    acknowledged: tuple[tuple[int, int], ...] = ()
    """Ranges, first and past the last offset, of which somebody was surely told that they are written."""
    perhaps_answered: bool = False
    """Whether a producer may have been answered for it although no answer is told."""
    perhaps_older: bool = False
    """Whether it may be of an earlier life of the topic."""

    @property
    def perhaps_told_of(self) -> bool:
        """Whether nothing tells that somebody was told, and that may have been all the same."""
        return not self.told_of and (self.perhaps_answered or self.perhaps_older)

    @property
    def told_of(self) -> bool:
        """Whether anybody was told that something of it was written, or may have been."""
        return max(self.committed_end, self.acknowledged_end, self.counted_end) > self.start_offset

    @property
    def all_told_of(self) -> bool:
        """Whether somebody was surely told so of every record of it."""
        return self.acknowledged == ((self.start_offset, self.end_offset),)


def worth_of(stretches: Sequence[Stretch]) -> str:
    """What somebody was told of the records of some stretches."""
    if all(stretch.committed_end >= stretch.end_offset for stretch in stretches):
        return "committed records"
    if all(stretch.all_told_of for stretch in stretches):
        return "acknowledged records"
    if any(stretch.committed_end > stretch.start_offset for stretch in stretches):
        return "records, some of them committed"
    if any(stretch.acknowledged for stretch in stretches):
        return "records, some of them acknowledged"
    return "records that may have been acknowledged"


class OwedCut(Struct, frozen=True, kw_only=True):
    """What a replica does to its log when it follows another one, by the protocol that it runs."""

    follower: int
    leader: int
    rule: str
    """The generation of the protocol that decides."""
    in_force: bool
    """Whether the follower's versions say so; else the newest generation was taken."""
    log_end_offset: int
    cut_to: int
    gone: tuple[Stretch, ...]
    """What the follower loses and the leader does not hold."""
    then: str
    """What becomes of the two logs: agrees, diverges, hole, stuck."""
    because: str
    leader_wrote: bool = False
    """Whether the leader wrote what it has not here, and its files were or may have been copied before."""
    untold: str = ""
    """Which files were not copied by which it may cut further, or keep what differs; empty where the cut is known."""

    @property
    def in_doubt(self) -> bool:
        """Whether nothing goes if the files were only copied at other times."""
        return self.leader_wrote and bool(self.gone)


class Candidate(Struct, frozen=True, kw_only=True):
    """A replica that could lead."""

    broker: int
    path: str
    last_epoch: int
    log_end_offset: int
    end_known: bool
    """Whether its segments are here to tell its end; else the log may go on there."""
    damage: tuple[str, ...]
    """Known or likely damage of its log; empty for a sound one."""
    doubts: tuple[str, ...]
    """What may be wrong with it, and no evidence decides."""
    had_reached: int | None
    """Where its log had ended once, if that is beyond its end now; null where nothing tells so."""
    shut_down_cleanly: bool
    """Whether its broker left a clean-shutdown marker; without one the tail is recovered, or was copied live."""
    lacks: tuple[Stretch, ...]
    """Committed or acknowledged records on other replicas that are cut, or that nobody is served, when it leads."""
    cuts: tuple[OwedCut, ...]
    lacked_from: tuple[str, ...] = ()
    """Who has each stretch that it lacks, in words."""

    @property
    def sound(self) -> bool:
        """Whether its lead costs nothing, and all others come out equal to it."""
        return not (self.barred or self.doubts)

    @property
    def barred(self) -> bool:
        """Whether something speaks against its election."""
        return bool(self.lacks or self.damage) or any(cut.then != "agrees" for cut in self.cuts)


class Nowhere(Struct, frozen=True, kw_only=True):
    """Records that no copy here holds readable: no election loses them, and none brings them back."""

    start_offset: int
    end_offset: int
    doubt: str
    """What else may explain it; empty where they are lost."""
    missing: str
    """What would tell."""


class Doomed(Struct, frozen=True, kw_only=True):
    """Records that the return of a broker destroys, and where else they stand."""

    broker: int
    path: str
    stretch: Stretch
    spans: tuple[Survivor, ...]
    """The copy itself, with its bytes."""
    others: tuple[Survivor, ...]
    """Other copies; none makes this the last one."""
    because: str
    all_cut: bool = False
    """Whether whoever else has it cuts it as well when it follows the same leader."""


class Gate(Struct, frozen=True, kw_only=True):
    """Whether an action may be taken, and what comes first."""

    action: str
    going: Going
    because: str
    first: str = ""
    after_lead_of: tuple[int, ...] = ()
    """Brokers of which one has to lead before."""


class Advice(Struct, frozen=True, kw_only=True):
    """The advice on one incarnation of a partition."""

    topic_id: str | None
    assignment: tuple[int, ...]
    """The brokers that the partition is assigned to, as far as the evidence tells."""
    absent: tuple[int, ...]
    """Assigned brokers whose disks are not in the dump; they may hold more than all that are."""
    unread: tuple[UnreadCopy, ...]
    """Folders here that are or may be replicas of it, and that were not read."""
    leading: int | None
    """Who led last, where a broker or the controller tells; null where only the disks do, or others may have since."""
    leaders: tuple[int, ...]
    """Whom the epoch protocol would let the others follow; several where the disks cannot tell."""
    candidates: tuple[Candidate, ...]
    """Best first."""
    release: tuple[int, ...]
    """The lowest Kafka release among its brokers, whose tools are to be used; empty where no log tells."""
    doomed: tuple[Doomed, ...]
    nowhere: tuple[Nowhere, ...]
    unbilled: tuple[Unbilled, ...]
    """What findings tell is gone, of which no bill can be made: no election loses it, and none brings it back."""
    gates: tuple[Gate, ...]

    @property
    def settled(self) -> bool:
        """Whether who led last is the best choice, lacks nothing, and no return destroys anything: nothing to do."""
        best = next(iter(self.candidates), None)
        if best is None or self.nowhere or any(gate.action.startswith(DELETE) for gate in self.gates):
            return False
        return best.broker == self.leading and self._all_judged and best.sound

    @property
    def may_be_elected(self) -> bool:
        """Whether people elect its leader; the voters of the metadata log do that among themselves."""
        return any(gate.action.startswith("elect ") for gate in self.gates)

    @property
    def sound(self) -> bool:
        """Whether nobody's lead costs anything, and no disk is missing that may hold more."""
        return self._all_judged and all(candidate.sound for candidate in self.candidates)

    @property
    def _all_judged(self) -> bool:
        return not (self.absent or self.unread or self.doomed)


def named(stretches: Iterable[Stretch | Survivor]) -> str:
    """Stretches in words, each offset of an epoch once; those that touch, as of several files, are one."""
    by_epoch: dict[int, list[tuple[int, int]]] = {}
    for s in stretches:
        by_epoch.setdefault(s.epoch, []).append((s.start_offset, s.end_offset))
    joined = ((epoch, part) for epoch, own in by_epoch.items() for part in Extents.of(own).parts)
    return listed([f"{offsets_told(*part)}{of_epoch(epoch)}" for epoch, part in joined] or [""])
