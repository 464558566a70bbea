"""Where batches begin and end of which no log may hold a byte any more, as answers, roles and disks tell it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, product
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import RequestLogs
from rules.history.moments import Committed, Moment, agreed, held_up_to
from rules.history.statements import Produced, RoleTaken
from rules.replicas.last_batches import last_batches
from rules.replicas.replica import Replica


class BatchEnds:
    """How far the batches reach whose first records the answers to producers name."""

    def __init__(
        self, boundaries: Boundaries, replicas: Sequence[Replica], openings: Mapping[int, RoleTaken]
    ) -> None:
        self.boundaries = boundaries
        # What only an epoch file tells neither ends a batch nor says who had it.
        self._openings = sorted((epoch, openings[epoch]) for epoch in openings if not openings[epoch].doubtful)
        self._replicas = replicas

    def whole(self, proof: Committed) -> Committed:
        """An answer to a producer names the first record of a batch that is committed as a whole.

        One that waited until its leader opened another epoch may be of a batch of the epoch before.
        """
        moment = proof.moment
        if moment.kind != "produced" or moment.offset is None:
            return proof
        since = proof.term if moment.term is None else moment.term
        epochs = [epoch for epoch in self.boundaries.bounding if since <= epoch <= proof.term] or [proof.term]
        end = min(self.boundaries.end_of(moment.offset, epoch) for epoch in epochs)
        return replace(proof, end_offset=min([end, *self._opened_behind(moment.offset, proof.term)]))

    def _opened_behind(self, offset: int, epoch: int) -> Iterator[int]:
        """Where later leaders opened that had the batch at an offset: their own logs had a batch's end there.

        Who opened at or below it, or shows another epoch's record there, had it not, nor had who led after that.
        """
        for _, opening in self._openings[bisect_right(self._openings, epoch, key=lambda entry: entry[0]) :]:
            if opening.offset is None or opening.offset <= offset or self._shows_another(opening, offset, epoch):
                return
            yield opening.offset

    def _shows_another(self, opening: RoleTaken, offset: int, epoch: int) -> bool:
        """Of an older epoch, or of one between the two below what its leader wrote then: else it may be newer there."""
        if opening.epoch is None or opening.offset is None:
            return False
        for replica in self._replicas:
            if replica.broker == opening.broker and not replica.cleaned:
                own = any(r.start_offset == opening.offset for r in replica.runs_by_epoch.get(opening.epoch, ()))
                shown = {run.epoch for run in replica.runs_within(offset, offset + 1)}
                if any(0 <= held < epoch or (own and epoch < held < opening.epoch) for held in shown):
                    return True
        return False


def next_boundary(base_offset: int, known: Sequence[int]) -> int:
    """Where a batch ends whose first record an answer names: the first boundary after it, else the next offset."""
    place = bisect_right(known, base_offset)
    return known[place] if place < len(known) else base_offset + 1


class Boundaries(Struct, frozen=True, kw_only=True):
    """Offsets at which batches of each epoch begin or end, in order."""

    stated: Mapping[int, Sequence[int]]
    bounding: Mapping[int, Sequence[int]]
    """With those that keep a batch from being taken for longer than it may have been."""
    cut_short: Mapping[int, Mapping[int, int]]
    """Those after which more answers may be missing, by epoch and first record: where each ends at least."""

    def told_beyond(self, epoch: int, offset: int) -> bool:
        """Whether anything tells of a boundary between batches of the epoch at the offset or beyond."""
        known = self.bounding.get(epoch, ())
        if any(base < offset <= next_boundary(base, known) for base in self.cut_short.get(epoch, ())):
            return False
        return any(last >= offset for last in self.stated.get(epoch, ())[-1:])

    def end_of(self, base_offset: int, epoch: int) -> int:
        """Where the batch ended whose first record an answer to a producer names."""
        end = next_boundary(base_offset, self.bounding.get(epoch, ()))
        return min(end, self.cut_short.get(epoch, {}).get(base_offset, end))


def boundaries(chronicle: Chronicle, replicas: Sequence[Replica], logs: RequestLogs) -> Boundaries:
    """What statements and logs tell of them."""
    known = _known_offsets(chronicle, replicas)
    stated = {epoch: sorted(offsets) for epoch, offsets in known.items()}
    for moment in chronicle.moments:
        for epoch, end in product(*_least_ends(moment, stated)):
            if end < stated[epoch][-1]:
                known[epoch].add(end)
    bounding = {epoch: sorted(offsets) for epoch, offsets in known.items()}
    return Boundaries(stated=stated, bounding=bounding, cut_short=last_batches(chronicle, logs))


def _known_offsets(chronicle: Chronicle, replicas: Sequence[Replica]) -> dict[int, set[int]]:
    known: dict[int, set[int]] = {}
    moments = chronicle.moments
    led = {(m.epoch, m.broker) for m in moments if m.kind == "leader-starts"}
    for m in moments:
        offset = _boundary(m)
        if (m.term, m.broker) in led and _lacks_a_role_before(m):
            continue  # its log may have grown since
        # A broker that goes on without a word of its new role saves what it has of the next epoch too.
        word = m.kind in OF_ITS_LOG and offset is not None and m.term is not None
        if word and (m.clock, m.term) not in chronicle.given_terms and chronicle.leaders.get(m.term or 0) != m.broker:
            continue  # it tells no role in that epoch: what its log ends with may be its own, of an older one
        later = word and later_ones_reach(chronicle, replicas, m, (m.term or 0, offset or 0))
        if m.term is not None and offset is not None and not later:
            known.setdefault(m.term, set()).add(offset)
        if m.kind == "leader-starts" and m.epoch is not None and m.offset is not None:
            # A record below it that is sent again is answered once more, as it was the first time.
            known.setdefault(m.epoch, set()).add(m.offset)
    for replica in replicas:
        for run in replica.log.epochs:
            known.setdefault(run.epoch, set()).add(run.end_offset)
    return known


def _least_ends(moment: Moment, known: Iterable[int]) -> tuple[list[int], list[int]]:
    """The known epochs that an answer may be of; where the batch before it has ended, and where its own ends at least.

    The same leader went on, so batches end there in whichever of these epochs they are.
    """
    if not isinstance(moment, Produced) or moment.error != 0 or moment.doubtful or moment.term is None:
        return [], []
    newest = moment.newest_term(moment.term)
    ends = [end for end in (moment.offset, moment.end_offset) if end is not None]
    return [epoch for epoch in known if (moment.term or 0) <= epoch <= newest], ends


OF_ITS_LOG: Final = ("log-loaded", "producer-state-saved")
"""What a broker tells of where its log ends."""


def later_ones_reach(
    chronicle: Chronicle, replicas: Sequence[Replica], word: Moment, written: tuple[int, int]
) -> bool:
    """Whether a broker's word of its log end may be of a later epoch, whose records reach as far or are deleted."""
    epoch, end = written
    if _stands(chronicle, replicas, word, written):
        return True
    latest = word.newest_term(epoch)
    if latest <= epoch or not end:
        return False
    runs = (run for replica in replicas for run in replica.log.epochs if epoch < run.epoch <= latest)
    deleted = any(replica.log_start_offset >= end for replica in replicas)
    return deleted or any(run.end_offset >= end for run in runs)


def _stands(chronicle: Chronicle, replicas: Sequence[Replica], word: Moment, written: tuple[int, int]) -> bool:
    """Whether its log still holds what it told of, and that is of a later epoch: it led on with it, or stopped with it.

    Its folder may have been replaced while it was away.
    """
    epoch, end = written
    own = [r for r in replicas if r.broker == word.broker and r.state == "current" and word.kind in OF_ITS_LOG]
    own = [r for r in own if any(run.epoch > epoch for run in r.runs_within(end - 1, end))]
    since = dropwhile(lambda moment: moment is not word, chronicle.told_by(word.broker or 0) if own else ())
    ends = [moment for moment in since if moment is not word and held_up_to(moment) is not None]
    following = next((m for m in ends if m.kind != "log-loaded" or held_up_to(m) != end), None)
    if following is not None:
        return following.kind == "leader-starts" and held_up_to(following) == end
    return not ends and any(r.clean_shutdown is not None and r.log_end_offset == end for r in own)


def _lacks_a_role_before(moment: Moment) -> bool:
    """Whether a broker followed after a role that it does not tell, without another start in between."""
    follows = moment.kind == "follower-starts" and not moment.fresh
    return follows and moment.latest_term not in (None, moment.term)


def _boundary(moment: Moment) -> int | None:
    """The offset that a statement names where a batch surely begins or ends."""
    if moment.kind in ("fetched", "produced"):
        # One that may be of a later epoch ends no batch of this one.
        sure = moment.error == 0 and not moment.doubtful and moment.latest_term in (None, moment.term)
        # A follower whose log differs asks from an end that the leader's never had.
        return moment.offset if sure and (moment.kind == "produced" or agreed(moment)) else None
    if moment.kind in ("follower-starts", "log-loaded", "producer-state-saved"):
        return moment.end_offset if moment.offset is None else moment.offset
    return None
