"""Folders that hold another partition's log: they changed places on one broker, or one was copied over another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Literal

from msgspec import Struct

from rules.replicas.held_folder import EndOf, HeldFolder, Partition, TailOf

Teller = Literal["its ends", "the others' ends", "a third broker", "nothing"]


class Exchanged(Struct, frozen=True, kw_only=True):
    """A broker's folder of one partition that holds, or may hold, the log of another."""

    topic: str
    partition: int
    broker: int
    path: str
    holds: Partition
    holders: tuple[int, ...]
    """Brokers whose folders of that partition begin with the same batch; none where log ends alone show it."""
    told_by: Teller
    """What tells that this folder is the wrong one; else those of the holders may be, or logs parted."""
    empty: bool = False
    """Whether it holds nothing, as that partition does on the others."""
    both_ways: bool = True
    """Whether two folders changed places; else one was copied over the other."""

    @property
    def sure(self) -> bool:
        """Whether anything tells it."""
        return self.told_by != "nothing"


def exchanged(folders: Sequence[HeldFolder], end_of: EndOf, tail_of: TailOf) -> tuple[Exchanged, ...]:
    """Every folder that holds, or may hold, another partition's log, each told once."""
    by_place: dict[Partition, list[HeldFolder]] = {}
    for folder in folders:
        by_place.setdefault(folder.of, []).append(folder)
    found: dict[tuple[Partition, int], Exchanged] = {}
    for each in (*_crossed(by_place, end_of), *_by_their_ends(folders, by_place)):
        found.setdefault(((each.topic, each.partition), each.broker), each)
    aside = frozenset(found)
    for each in _copied_over(folders, by_place, (end_of, tail_of), aside):
        found.setdefault(((each.topic, each.partition), each.broker), each)
    return tuple(found.values())


# --- two folders that changed places, by their first batches ----------------------------------------------------------


class _Pair(Struct, frozen=True):
    """One broker's folders of two partitions."""

    one: HeldFolder
    other: HeldFolder

    def crosses(self, peer: _Pair) -> bool:
        """Whether each of them begins as the peer's folder of the other partition, and not as that of its own."""
        across = (self.one, peer.other), (self.other, peer.one)
        alike = all(a.alike(b) or (a.empty and b.empty) for a, b in across)
        return alike and not (self.one.alike(peer.one) or self.other.alike(peer.other))

    def told_apart(self, peer: _Pair) -> bool:
        """Whether topic ids moved with the folders, and tell of each whose it is."""
        ids = {self.one.topic_id, self.other.topic_id}
        moved = self.one.topic_id == peer.other.topic_id and self.other.topic_id == peer.one.topic_id
        return moved and len(ids) == len((self.one, self.other)) and None not in ids

    def witness(self, end_of: EndOf) -> Literal["in place", "changed", "untold"]:
        """What the ends tell that the broker wrote down of both logs."""
        ends = end_of(self.one), end_of(self.other)
        if ends[0] is None or ends[1] is None:
            return "untold"
        told_ends = self.one.told_end, self.other.told_end
        straight = self.one.fits(ends[0], told_ends[0]) and self.other.fits(ends[1], told_ends[1])
        across = self.one.fits(ends[0], told_ends[1]) and self.other.fits(ends[1], told_ends[0])
        if straight == across:
            return "untold"
        return "in place" if straight else "changed"


def _crossed(by_place: Mapping[Partition, Sequence[HeldFolder]], end_of: EndOf) -> Iterator[Exchanged]:
    """Folders that changed places on some brokers, beside those of which they did not."""
    for one, other in sorted(_suspected(by_place)):
        here = {folder.broker: folder for folder in by_place[other]}
        pairs = [_Pair(folder, here[folder.broker]) for folder in by_place[one] if folder.broker in here]
        for first, second in combinations(pairs, 2):
            if first.crosses(second):
                sides = tuple([pair for pair in pairs if pair.crosses(against)] for against in (second, first))
                both = {pair.one.broker for pair in pairs}
                alone = [folder for place in (one, other) for folder in by_place[place] if folder.broker not in both]
                yield from _wrong_sides(sides, alone, end_of)
                break


def _suspected(by_place: Mapping[Partition, Sequence[HeldFolder]]) -> set[tuple[Partition, Partition]]:
    """Pairs of partitions of which some folder of one begins as one of the other, and not as its own partition does."""
    by_head: dict[tuple[int, bytes], set[Partition]] = {}
    for place, folders in by_place.items():
        for base, head in ((base, head) for folder in folders for base, head in folder.heads.items()):
            by_head.setdefault((base, head.fingerprint), set()).add(place)
    found: set[tuple[Partition, Partition]] = set()
    for place, folders in by_place.items():
        strange = {f for pair in combinations(folders, 2) if not pair[0].alike(pair[1]) for f in pair}
        for base, head in ((base, head) for folder in strange for base, head in folder.heads.items()):
            others = by_head[base, head.fingerprint] - {place}
            found |= {(min(place, other), max(place, other)) for other in others}
    return found


def _wrong_sides(sides: Sequence[Sequence[_Pair]], alone: Sequence[HeldFolder], end_of: EndOf) -> Iterator[Exchanged]:
    """Of two sides whose folders changed places against each other those that are wrong; of both, if nothing tells."""
    tellers = [_told_wrong(own, against, alone, end_of) for own, against in (sides, sides[::-1])]
    if "nothing" not in tellers:
        tellers = ["nothing", "nothing"]
    if tellers == ["nothing", "nothing"] and any(own.told_apart(other) for own, other in product(*sides)):
        return
    for own, against, by, of_others in zip(sides, sides[::-1], tellers, tellers[::-1], strict=True):
        if by == of_others or by != "nothing":
            holders = tuple(pair.one.broker for pair in against)
            for pair in own:
                yield _holding(pair.one, pair.other.of, holders, by)
                yield _holding(pair.other, pair.one.of, holders, by)


def _told_wrong(own: Sequence[_Pair], against: Sequence[_Pair], alone: Sequence[HeldFolder], end_of: EndOf) -> Teller:
    """What tells that one side's folders are the wrong ones.

    Its brokers told the ends that the logs have the other way round, or the others' told those that they have. Or a
    broker that has only one of the two partitions, so that it cannot have exchanged them, agrees with the others.
    """
    if any(pair.witness(end_of) == "changed" for pair in own):
        return "its ends"
    if any(pair.witness(end_of) == "in place" for pair in against):
        return "the others' ends"
    held = [folder for pair in against for folder in (pair.one, pair.other)]
    agrees = any(third.alike(folder) for third in alone for folder in held if folder.of == third.of)
    return "a third broker" if agrees else "nothing"


def _holding(
    folder: HeldFolder, holds: Partition, holders: tuple[int, ...], told_by: Teller, *, both_ways: bool = True
) -> Exchanged:
    return Exchanged(
        topic=folder.topic, partition=folder.partition, broker=folder.broker, path=folder.path, holds=holds,
        holders=holders, told_by=told_by, empty=folder.empty, both_ways=both_ways,
    )  # fmt: skip


# --- two folders that changed places, by the ends that their broker told ----------------------------------------------


def _by_their_ends(
    folders: Sequence[HeldFolder], by_place: Mapping[Partition, Sequence[HeldFolder]]
) -> Iterator[Exchanged]:
    """Two folders of one broker of which each ends where it told that the other does.

    A log that only lost its end leaves no other one with the end that it had.
    """
    strange: dict[tuple[int, int, int], list[HeldFolder]] = {}
    for folder in folders:
        end, told_end = folder.end, folder.told_end
        if end is not None and told_end is not None and end != told_end:
            strange.setdefault((folder.broker, end, told_end), []).append(folder)
    crossed: dict[HeldFolder, HeldFolder] = {}
    for (broker, end, told_end), here in strange.items():
        there = strange.get((broker, told_end, end), [])
        if len(here) == len(there) == 1:
            crossed[here[0]] = there[0]
    for folder, other in crossed.items():
        # A peer that begins alike is in its place, unless its ends tell that it changed places just so.
        beside = ((own, peer) for own in (folder, other) for peer in by_place[own.of] if peer is not own)
        if not any(own.alike(peer) and peer not in crossed for own, peer in beside):
            yield _holding(folder, other.of, (), "its ends")


def _in_its_place(folder: HeldFolder, peers: Sequence[HeldFolder]) -> bool:
    """Whether another folder of its partition begins as it does, or none cannot."""
    return any(folder.alike(peer) for peer in peers) or not any(folder.apart(peer) for peer in peers)


# --- one folder that was copied over another --------------------------------------------------------------------------


def _copied_over(
    folders: Sequence[HeldFolder],
    by_place: Mapping[Partition, Sequence[HeldFolder]],
    read: tuple[EndOf, TailOf],
    aside: frozenset[tuple[Partition, int]],
) -> Iterator[Exchanged]:
    """Folders that begin as another partition does, where that one's folders agree, and as none of their own does."""
    end_of, _ = read
    by_head = _by_head(folders)
    for folder in folders:
        own = [p for p in by_place[folder.of] if p is not folder and folder.may_be_a_peer(p)]
        peers = [p for p in own if (p.of, p.broker) not in aside]
        if (folder.of, folder.broker) in aside or any(folder.alike(peer) for peer in peers):
            continue
        others = [f for f in _alike_to(folder, by_head) if f.of != folder.of and (f.of, f.broker) not in aside]
        if not peers:
            twins = (f for f in others if folder.twin_of(f, by_place, *read))
            yield from _one_of_two(folder, next(twins, None), end_of)
            continue
        if not any(folder.apart(p) for p in peers):
            # A cleaner may have made beginnings differ. Partitions that were written alike are so on the others too.
            alike_elsewhere = {f.of for p in peers for f in _alike_to(p, by_head)}
            others = [f for f in others if f.of not in alike_elsewhere and folder.doubles(f, end_of)]
        settled = [f for f in others if _in_its_place(f, [p for p in by_place[f.of] if p is not f])]
        if settled:
            told_by: Teller = "its ends" if _ends_wrong(folder, end_of) else "nothing"
            holders = tuple(sorted({f.broker for f in settled if f.of == settled[0].of}))
            yield _holding(folder, settled[0].of, holders, told_by, both_ways=False)


ByHead = Mapping[tuple[int, bytes], Sequence[HeldFolder]]
"""Which folders hold a batch that may be the first of a log: by where it begins and what it holds."""


def _by_head(folders: Sequence[HeldFolder]) -> ByHead:
    found: dict[tuple[int, bytes], list[HeldFolder]] = {}
    for folder in folders:
        for base, head in folder.heads.items():
            found.setdefault((base, head.fingerprint), []).append(folder)
    return found


def _alike_to(folder: HeldFolder, by_head: ByHead) -> Iterator[HeldFolder]:
    """Folders that begin as it does, and itself; each once."""
    heads = ((base, head.fingerprint) for base, head in folder.heads.items())
    return iter({id(f): f for head in heads for f in by_head[head]}.values())


def _ends_wrong(folder: HeldFolder, end_of: EndOf) -> bool:
    """Whether its log does not end as its broker told of its partition."""
    end = end_of(folder)
    return end is not None and not folder.fits(end, folder.told_end)


def _one_of_two(folder: HeldFolder, twin: HeldFolder | None, end_of: EndOf) -> Iterator[Exchanged]:
    """A folder of which no other is here, and of whose log its broker has the same in another one: of both, if need be.

    Where one of them does not end as its broker told of its partition, that is the copy.
    """
    if twin is None:
        return
    wrong = _ends_wrong(folder, end_of)
    if wrong or twin.fits(end_of(folder) or 0, twin.told_end):
        told_by: Teller = "its ends" if wrong else "nothing"
        yield _holding(folder, twin.of, (twin.broker,), told_by, both_ways=False)
