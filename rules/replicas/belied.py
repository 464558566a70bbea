"""Folders whose logs their own brokers' words belie: another log was led, written and closed than the one in there.

One leader opens an epoch, at one offset, in a partition's life. A log in which the epoch begins elsewhere is not the
one that was led, whatever was lost of it. A loss would belie the other words too. They count where another folder of
the broker has all that was told, and nobody vouches that it is in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.history.moments import DISTURBED, Moment, held_up_to, own_log_end, succeeded, taken_again
from rules.history.statements import RoleTaken
from rules.protocol.epochs import EpochChain, epoch_at
from rules.protocol.offsets import Offset
from rules.replicas.alone import shares_a_batch
from rules.replicas.epoch_order import epochs_used_twice
from rules.replicas.held_folder import Partition
from rules.replicas.replica import Replica


class LooseFolder(Struct, frozen=True, kw_only=True):
    """A folder that begins as no other one of its partition does: nobody vouches that it is in its place."""

    of: Partition
    broker: int
    path: str
    end: int | None
    """Where its log ends, as far as that is seen without reading much of it."""
    told_end: int | None
    """Up to where its broker told that this partition's log is flushed."""


EpochsOf = Callable[[str], EpochChain]
"""The leader-epoch-checkpoint of a folder."""


class Belied(Struct, frozen=True, kw_only=True):
    """A broker's folder of the partition that holds, or may hold, another log than the one of which its broker told."""

    broker: int
    path: str
    because: str
    """What belies it, in sentences."""
    span: Span
    lies_in: LooseFolder | None = None
    """The only folder of the broker that has all that was told."""
    explained: bool = False
    """Whether a loss would explain it as well."""
    copy_of: int | None = None
    """The broker whose folder is belied, where this one holds the same log and nothing else belies it."""

    @property
    def sure(self) -> bool:
        """Whether nothing but folders in wrong places explains it."""
        return self.lies_in is not None and not self.explained


class _Word(Struct, frozen=True):
    """What a broker told of its log: where an epoch opened, of which epoch an offset is, or where the log ended.

    A log with which its broker follows in an epoch has no record of a newer one.
    """

    kind: Literal["opened", "answered", "followed", "closed"]
    moment: Moment
    offset: int
    epoch: int = -1
    kept: bool = False
    """Whether it is the word of the log's own broker, which tells of no cut there since."""

    def fits(self, chain: EpochChain, end: int | None) -> bool:
        """Whether a log of these epochs and of this end has it so."""
        if self.kind == "opened":
            return any((each.epoch, each.start_offset) == (self.epoch, self.offset) for each in chain)
        if self.kind == "closed":
            return end == self.offset
        if self.kind == "followed":
            before = epoch_at(chain, Offset(self.offset - 1))
            return before is not None and before <= self.epoch and (end is None or end >= self.offset)
        return epoch_at(chain, Offset(self.offset)) == self.epoch and (end is None or end > self.offset)

    def denied_by(self, chain: EpochChain) -> bool:
        """Whether the epoch begins elsewhere by these epochs, of which the first one moves with the log start."""
        opened = self.kind == "opened"
        return opened and any(each.epoch == self.epoch and each.start_offset != self.offset for each in chain[1:])


def belied(
    replicas: Sequence[Replica],
    chronicle: Chronicle,
    loose: Sequence[LooseFolder],
    epochs_of: EpochsOf,
    *,
    compacted: bool = False,
) -> tuple[Belied, ...]:
    """The folders of a partition that hold, or may hold, another log, by what their own brokers told of it.

    Who copies a compacted log anew finds that epochs begin later than they were opened, and tells of its new log.
    """
    current = [replica for replica in replicas if replica.state == "current"]
    at_large = {folder.path for folder in loose}
    openings = _openings(chronicle)
    judged = [_Judged(r, _words(r, chronicle, openings if r.path in at_large else ()), compacted) for r in current]
    if not any(own.against for own in judged) or _begun_anew(chronicle, current):
        return ()
    borne_out = [own.replica for own in judged if own.bears_out([*own.words, *openings])]
    found: list[Belied] = []
    for own in judged:
        in_place = own.replica.path not in at_large and bool(borne_out)
        vouched = in_place or any(shares_a_batch(own.replica, other) for other in borne_out)
        if own.against and not vouched and (own.replica.path in at_large or not own.explained):
            found.extend(_found(own, loose, epochs_of))
    return (*found, *_copies(judged, borne_out, found))


def _copies(judged: Sequence[_Judged], borne_out: Sequence[Replica], found: Sequence[Belied]) -> Iterator[Belied]:
    """Folders that hold the same log as one that is belied for sure, and that nothing else belies."""
    strange = {each.path: each for each in found if not each.explained}
    named = {each.path for each in found}
    beside = [own.replica for own in judged if own.replica.path not in named and own.replica not in borne_out]
    for first in (own.replica for own in judged if own.replica.path in strange):
        copies = [replica for replica in beside if shares_a_batch(replica, first)]
        yield from (_copy(replica, strange[first.path]) for replica in copies)
        beside = [replica for replica in beside if replica not in copies]


def _begun_anew(chronicle: Chronicle, current: Sequence[Replica]) -> bool:
    """Whether leader epochs began anew: then a number tells nothing of a log."""
    fall_back = chronicle.roles_fall_back or chronicle.epochs_begin_anew
    return epochs_used_twice(chronicle.moments, current, fall_back=fall_back)


class _Judged(Struct, frozen=True, dict=True):
    """A replica with what was told of its log, and with what of that the log in its folder belies."""

    replica: Replica
    words: Sequence[_Word]
    compacted: bool

    @cached_property
    def against(self) -> Sequence[_Word]:
        """What the log in its folder belies."""
        return [word for word in self.words if self.belies(word)]

    def bears_out(self, words: Sequence[_Word]) -> bool:
        """Whether the log has an epoch open where its broker or that leader told, and nothing else than was told."""
        opened = (word for word in words if word.kind == "opened" and word.offset)
        return not any(map(self.belies, words)) and any(self.starts.get(word.epoch) == word.offset for word in opened)

    @property
    def explained(self) -> bool:
        """Whether a loss, or a damaged header beside a sound epoch file, may make the log look so."""
        opened = [word for word in self.against if word.kind == "opened"]
        return not opened or (len(opened) == 1 and opened[0].fits(self.replica.file_chain, None))

    @cached_property
    def starts(self) -> Mapping[int, int]:
        """Where epochs begin in the log, if nothing before them may be missing; else by the epoch file.

        A cleaner takes first batches, and logs of older formats have no epochs.
        """
        replica, log = self.replica, self.replica.log
        found: dict[int, int] = {}
        behind = {step.after for step in log.gaps}
        for before, run in pairwise(() if replica.cleaned or replica.strays else log.epochs):
            met = before.end_offset == run.start_offset > replica.log_start_offset
            if met and 0 <= before.epoch < run.epoch and run.first not in behind:
                found.setdefault(run.epoch, run.start_offset)
        return {each.epoch: each.start_offset for each in replica.file_chain[1:]} | found

    def belies(self, word: _Word) -> bool:
        """Whether the log cannot be the one of which it was told, unless it lost something since."""
        if word.kind == "opened":
            start = self.starts.get(word.epoch, word.offset)
            return start < word.offset or (start > word.offset and (word.kept or not self.compacted))
        if word.kind == "closed":
            return self.replica.end_known and self.replica.log_end_offset < word.offset
        held = self.held(word)
        return bool(held) and (min(held) > word.epoch if word.kind == "followed" else word.epoch not in held)

    def held(self, word: _Word) -> list[int]:
        """The epochs of the record of which a broker told, or of the last one before it."""
        replica, offset = self.replica, word.offset - (word.kind == "followed")
        known = not replica.log.unread_count and replica.log_start_offset <= offset < replica.log_end_offset
        return [run.epoch for run in replica.runs_within(offset, offset + 1)] if known else []

    def contradiction(self, word: _Word) -> str:
        """What was told, and what the log has instead."""
        who = f"broker {word.moment.witness}"
        if word.kind == "opened":
            here = f"In this log it begins at offset {self.starts.get(word.epoch)}"
            return f"{who} opened epoch {word.epoch} at offset {word.offset}. {here}"
        if word.kind == "closed":
            end = self.replica.log_end_offset
            return f"{who} told its log end {word.offset} when it stopped. This log ends at {end}"
        held = min(self.held(word), default=-1)
        if word.kind == "followed":
            where = f"with its log end at {word.offset}. In this log the record before is of epoch {held}"
            return f"{who} followed in epoch {word.epoch} {where}"
        return f"{who} wrote offset {word.offset} in epoch {word.epoch}. In this log it is of epoch {held}"


def _openings(chronicle: Chronicle) -> Sequence[_Word]:
    """Where each leader opened its epochs."""
    leaders = sorted({opening.broker for opening in chronicle.opened.values() if opening.broker is not None})
    words = (word for each in leaders for word in _roles(chronicle.told_by(each), chronicle.first_states))
    return [word for word in words if word.kind == "opened"]


def _words(replica: Replica, chronicle: Chronicle, openings: Sequence[_Word]) -> Sequence[_Word]:
    """What was told of a log; of one that begins as no other replica's does the openings of all leaders count."""
    moments = chronicle.told_by(replica.broker)
    words = [*_roles(moments, chronicle.first_states), *_answers(moments)]
    own = {word.epoch for word in words if word.kind == "opened"}
    words += [replace(word, kept=False) for word in openings if word.epoch not in own]
    ends = [moment for moment in moments if moment.kind == "producer-state-saved" or own_log_end(moment) is not None]
    if replica.clean_shutdown is not None and ends and ends[-1].kind == "producer-state-saved":
        words.append(_Word("closed", ends[-1], ends[-1].offset or 0))
    return words


def _answers(moments: Sequence[Moment]) -> Iterator[_Word]:
    """The lowest and the highest offset that a broker told producers in each epoch of which that is sure."""
    answers: dict[int, list[tuple[int, int]]] = {}
    for place, moment in enumerate(moments):
        if succeeded(moment) and moment.term is not None and moment.latest_term is None and not moment.doubtful:
            answers.setdefault(moment.term, []).append((moment.offset or 0, place))
    for term, own in answers.items():
        yield from (_Word("answered", moments[place], offset, term) for offset, place in (min(own), max(own)))


def _roles(moments: Sequence[Moment], first: Mapping[int, int]) -> Iterator[_Word]:
    """Where its log ended when a broker took its roles, but for those of which it told again or cut something since.

    Who took a role again, by the first states of epochs, opened nothing.
    """
    openings: dict[int, dict[int, _Word]] = {}
    cut: int | None = None
    for moment in reversed(moments):
        if moment.kind in DISTURBED:
            end = held_up_to(moment) or 0
            cut = end if cut is None else min(cut, end)
        if not isinstance(moment, RoleTaken) or moment.epoch is None or moment.offset is None or moment.doubtful:
            continue
        if moment.kind == "leader-starts" and taken_again(moment, first):
            continue
        if moment.kind == "leader-starts":
            kept = cut is None or cut > moment.offset
            opened = _Word("opened", moment, moment.offset, moment.epoch, kept)
            openings.setdefault(moment.epoch, {})[moment.offset] = opened
        elif moment.offset > 0 and (cut is None or cut >= moment.offset):
            yield _Word("followed", moment, moment.offset, moment.epoch)
    for own in openings.values():
        yield from own.values() if len(own) == 1 else ()


def _found(own: _Judged, loose: Iterable[LooseFolder], epochs_of: EpochsOf) -> Iterator[Belied]:
    fitting = [folder for folder in loose if _fits(folder, own, epochs_of)]
    if fitting or not own.explained:
        first = min(own.against, key=lambda word: (word.kind != "opened", word.offset))
        yield Belied(
            broker=own.replica.broker,
            path=own.replica.path,
            because=own.contradiction(first),
            span=first.moment.span,
            lies_in=fitting[0] if len(fitting) == 1 else None,
            explained=own.explained,
        )


def _fits(folder: LooseFolder, own: _Judged, epochs_of: EpochsOf) -> bool:
    """Whether another folder of the broker has all that the log in this one belies, and belies nothing of the rest."""
    in_place = folder.end is not None and folder.end == folder.told_end != own.replica.log_end_offset
    if in_place or folder.broker != own.replica.broker or folder.path == own.replica.path:
        return False
    chain = epochs_of(folder.path)
    return all(word.fits(chain, folder.end) for word in own.against) and not any(w.denied_by(chain) for w in own.words)


def _copy(replica: Replica, first: Belied) -> Belied:
    """A replica that holds the same log, of which its own broker told nothing that would bear it out."""
    because, span = first.because, first.span
    return Belied(broker=replica.broker, path=replica.path, because=because, span=span, copy_of=first.broker)
