"""Whose records a log goes on from: what a new leader already held at the offsets that it did not have to write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.facts.stretch import EpochRun
from rules.history.moments import Committed
from rules.history.statements import RoleTaken
from rules.replicas.batch_ends import BatchEnds
from rules.replicas.deleted import Deleted
from rules.replicas.lineage import LostTerm, told_in_its_term
from rules.replicas.replica import Replica


class KeptOlder(Struct, frozen=True, kw_only=True):
    """A leader opened its epoch on records of an older epoch, where committed ones of a newer epoch belonged."""

    epoch: int
    leader: int
    start_offset: int
    end_offset: int
    held_epoch: int
    held: Span
    committed: Committed
    opening: RoleTaken
    perhaps_before: tuple[int, ...] = ()
    """Epochs in between that others led, of whose openings or logs nothing is here: one may have begun so before."""


def openings_on_older_records(
    chronicle: Chronicle, replicas: Sequence[Replica], voided: Collection[LostTerm], deleted: Deleted, ends: BatchEnds
) -> Iterator[KeptOlder]:
    """Every epoch whose leader had not the committed records of the epochs before it, though its log was long enough.

    The offset at which it opened does not show it: only its log does, as long as it holds what it held then. What was
    committed before a voided epoch, which opened below it, is lost already to those that come after that one. What had
    been deleted is not missed.
    """
    starts, sure = chronicle.opened, chronicle.sure_terms
    best: dict[int, Committed] = {}
    for told_of in chronicle.proofs:
        proof = ends.whole(told_of)
        if told_in_its_term(proof, sure) and (proof.term not in best or proof.end_offset > best[proof.term].end_offset):
            best[proof.term] = proof
    taken: set[int] = set()
    for epoch in sorted(starts):
        leader = next((replica for replica in replicas if replica.broker == starts[epoch].broker), None)
        if leader is None:
            continue
        void_below = max((lost.epoch for lost in voided if lost.epoch < epoch), default=-1)
        for term in sorted(term for term in best if void_below <= term < epoch and term not in taken):
            begun = deleted.lost_later(chronicle.leaders.get(term), term, best[term].end_offset, epoch)
            found = _kept(leader, starts[epoch], starts.get(term), best[term], begun)
            if found and not cut_since(found.leader, found.epoch, found.end_offset, chronicle):
                taken.add(term)
                yield replace(found, perhaps_before=tuple(_unshown(chronicle, replicas, found)))


def _unshown(chronicle: Chronicle, replicas: Sequence[Replica], found: KeptOlder) -> Iterator[int]:
    """Epochs between what was committed and an opening that somebody else led, and of which nothing shows what it held.

    Nobody tells where they opened, or no log of their leader is here.
    """
    for epoch, led in sorted(chronicle.leaders.items()):
        between = found.committed.term < epoch < found.epoch
        if not between or led == found.leader or epoch in chronicle.led_by_nobody:
            continue
        if epoch not in chronicle.opened or not any(replica.broker == led for replica in replicas):
            yield epoch


def _kept(
    leader: Replica, opening: RoleTaken, former: RoleTaken | None, proof: Committed, begun: int
) -> KeptOlder | None:
    if former is None or former.offset is None or opening.offset is None or opening.epoch is None or leader.cleaned:
        return None
    older = older_run(leader, proof.term, max(former.offset, begun), min(proof.end_offset, opening.offset))
    if older is None:
        return None
    run, start, end = older
    return KeptOlder(
        epoch=opening.epoch,
        leader=leader.broker,
        start_offset=start,
        end_offset=end,
        held_epoch=run.epoch,
        held=run.first,
        committed=proof,
        opening=opening,
    )


def older_run(leader: Replica, epoch: int, first: int, last: int) -> tuple[EpochRun, int, int] | None:
    """The first records between two offsets that are of an older epoch in a log, and which of the offsets they are."""
    for run in leader.runs_within(first, last):
        start, end = max(first, run.start_offset), min(last, run.end_offset)
        if 0 <= run.epoch < epoch and start < end and leader.holds(start, end):
            return run, start, end
    return None


def cut_since(leader: int, epoch: int, end_offset: int, chronicle: Chronicle) -> bool:
    """Whether the leader cut its log there after it opened, so that what it holds may be of later."""
    return any(
        cut.broker == leader and cut.offset < end_offset and (cut.epoch is None or cut.epoch > epoch)
        for cut in chronicle.cuts
    )
