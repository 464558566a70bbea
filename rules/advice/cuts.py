"""What following costs: the cut by the protocol in force, and which of the cut records nobody else is told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rules.advice.copied_earlier import copied_earlier
from rules.advice.weighed import OwedCut, Stretch
from rules.chronicle.extents import Extents
from rules.counterfactual import run_by
from rules.evidence import PartitionEvidence, Replica, epoch_held
from rules.evidence.deleted_records import deleted_records
from rules.evidence.follower_rule import rule_run_by
from rules.loss.accounts import accounts
from rules.loss.incurred import by_worth, losses
from rules.loss.perhaps_answered import untold_answers
from rules.loss.survivors import held_alike
from rules.protocol import replica_log as protocol
from rules.protocol.epochs import assign
from rules.protocol.offsets import UNDEFINED_EPOCH, Epoch, without
from rules.protocol.truncation import (
    RULES,
    Consequence,
    RuleName,
    after_first_fetch,
    consequence,
    truncate_on_fetch,
)
from rules.words import listed, numbered

NEWEST: Final = "truncate-on-fetch"
EPOCHS: Final = "leader-epoch-checkpoint"
WATERMARKS: Final = "replication-offset-checkpoint"
Starts = Sequence[protocol.ReplicaLog]
"""A replica at its broker's next start, in every way that is open."""


def owed_cuts(replicas: Sequence[Replica], evidence: PartitionEvidence) -> dict[tuple[str, str], OwedCut]:
    """What each replica would cut under each other one as leader, by the paths of follower and leader."""
    versions = {version.broker: version for version in evidence.versions}
    states = {r.path: [run_by(versions.get(r.broker), start) for start in r.next_starts()] for r in replicas}
    elected = {path: [_elected(start, evidence) for start in starts] for path, starts in states.items()}
    return {
        (follower.path, leader.path): _owed_cut(
            (follower, states[follower.path]),
            (leader, elected[leader.path]),
            rule_run_by(versions.get(follower.broker)),
            evidence,
        )
        for follower in replicas
        for leader in replicas
        if follower is not leader
    }


class _Played(Struct, frozen=True, kw_only=True):
    """One exchange between two replicas, played to its end."""

    rule: str
    cut_to: int
    then: Consequence
    because: str


def _owed_cut(
    ours: tuple[Replica, Starts], theirs: tuple[Replica, Starts], name: RuleName | None, evidence: PartitionEvidence
) -> OwedCut:
    """The exchange between the two as they stand on their disks; of several that may be, what holds of each."""
    (follower, asking), (leader, answering) = ours, theirs
    earlier = copied_earlier(leader, follower, evidence)
    kept = follower.log_end_offset if earlier and evidence.copied else 0
    ways = [_played((follower, a), (leader, b), (name, kept), evidence) for a in asking for b in answering]
    least = max(ways, key=lambda way: way.cut_to)
    alike = all(way.then == least.then for way in ways)
    return OwedCut(
        follower=follower.broker,
        leader=leader.broker,
        rule=least.rule,
        in_force=name is not None,
        log_end_offset=follower.log_end_offset,
        cut_to=least.cut_to,
        gone=tuple(_gone(follower, leader, least.cut_to, evidence)),
        then=least.then if alike else "agrees",
        because=least.because,
        leader_wrote=earlier,
        untold="" if alike and all(way.cut_to == least.cut_to for way in ways) else _not_here(follower, leader),
    )


def _played(
    ours: tuple[Replica, protocol.ReplicaLog],
    theirs: tuple[Replica, protocol.ReplicaLog],
    by: tuple[RuleName | None, int],
    evidence: PartitionEvidence,
) -> _Played:
    """How far the follower cuts by a rule, with what it keeps in any case, and what comes of the two logs."""
    (follower, asking), (leader, answering), (name, kept) = ours, theirs, by
    truncation = truncate_on_fetch(asking, answering) if name is None else RULES[name](asking, answering)
    validated = truncation.rule == NEWEST and truncation.exchanges  # a fetch that names no epoch is not
    reset = None if validated else after_first_fetch(asking, answering, truncation)
    end = min(each.kept_log_end_offset for each in (truncation, reset) if each)
    cut_to = max(kept, min(end, follower.log_end_offset))
    return _Played(
        rule=truncation.rule,
        cut_to=cut_to,
        then=_parted(follower, leader, cut_to, evidence)
        or _borne_out(consequence(asking, answering, truncation), follower, leader, cut_to, evidence),
        because=reset.because if reset else truncation.because,
    )


def _not_here(follower: Replica, leader: Replica) -> str:
    """Which files of the two were not copied, by which the follower cuts its log."""
    epochs = sorted(replica.broker for replica in (follower, leader) if replica.epochs_untold)
    files = [f"the {EPOCHS} of {numbered('broker', epochs)}"] if epochs else []
    files += [f"the {WATERMARKS} of broker {follower.broker}"] if follower.watermark_untold else []
    return f"{listed(files)} {'is' if len(files) == 1 else 'are'} not here"


def _elected(leader: protocol.ReplicaLog, evidence: PartitionEvidence) -> protocol.ReplicaLog:
    """The leader after its election: a new epoch opens at its log end; where it keeps no epochs, it is as it was."""
    if not leader.epochs:
        return leader
    epoch = Epoch(max(replica.last_known_epoch for replica in evidence.current) + 1)
    return replace(leader, epochs=assign(leader.epochs, epoch, leader.log_end_offset))


def _parted(
    follower: Replica, leader: Replica, cut_to: int, evidence: PartitionEvidence
) -> Literal["diverges"] | None:
    """Whether records that differ stay below the cut: epochs alone do not show what they share."""
    pair = {id(follower), id(leader)}
    apart = (d for d in evidence.differences if {id(d.left), id(d.right)} == pair)
    return "diverges" if any(difference.start_offset < cut_to for difference in apart) else None


def _borne_out(
    by_epochs: Consequence, follower: Replica, leader: Replica, cut_to: int, evidence: PartitionEvidence
) -> Consequence:
    """What epoch files say of two logs, unless they part only where no record bears it out.

    The log cleaner takes records and leaves the entries of a leader-epoch-checkpoint as they are. Of records without
    epochs only those who led have entries, each of its own leads: there the records decide, if they were compared.
    """
    bare = _without_epochs(follower) or _without_epochs(leader)
    pair = {id(follower), id(leader)}
    compared = not any({id(each.left), id(each.right)} == pair for each in evidence.uncompared)
    if by_epochs != "diverges" or not (follower.cleaned or leader.cleaned or (bare and compared)):
        return by_epochs
    parted = any(
        ours.epoch != theirs.epoch
        and max(ours.start_offset, theirs.start_offset) < min(ours.end_offset, theirs.end_offset, cut_to)
        for ours in follower.log.epochs
        for theirs in leader.log.epochs
    )
    return "diverges" if parted else "agrees"


def _without_epochs(replica: Replica) -> bool:
    return any(run.epoch == UNDEFINED_EPOCH for run in replica.log.epochs)


def _gone(follower: Replica, leader: Replica, cut_to: int, evidence: PartitionEvidence) -> Iterator[Stretch]:
    """What is cut and does not come back from the leader."""
    for run in follower.log.epochs:
        start = max(run.start_offset, cut_to)
        for low, high in without(start, run.end_offset, held_alike(leader, follower, run.epoch, evidence)):
            yield from stretches_of(follower, run.epoch, low, high, evidence)


def stretches_of(replica: Replica, epoch: int, start: int, end: int, evidence: PartitionEvidence) -> Iterator[Stretch]:
    """What is of the topic as it is now, or may be, and not deleted: of what may be older nobody surely was told."""
    own, perhaps = Extents.of([(start, end)]) - replica.earlier.sure, replica.earlier.possible
    own -= deleted_records(evidence, replica)
    yield from (stretch_of(replica, epoch, low, high, evidence) for low, high in (own - perhaps).parts)
    for low, high in (own & perhaps).parts:
        yield Stretch(
            epoch=epoch, start_offset=low, end_offset=high, committed_end=low, acknowledged_end=low, perhaps_older=True
        )


def stretch_of(replica: Replica, epoch: int, start: int, end: int, evidence: PartitionEvidence) -> Stretch:
    """A stretch with what anybody was told of it: of its epoch's records, or by the replica's own high watermark."""
    account, written_in = accounts(evidence), _written_in(replica, epoch, start, end, evidence)
    mark = start if replica.high_watermark is None else max(start, min(end, replica.high_watermark.offset))
    own = mark if _of_its_own_records(replica, epoch, start, mark, evidence) else start
    bills = (b for b in losses(evidence) if written_in in b.among and b.start_offset <= start < b.end_offset)
    billed = max((min(end, loss.committed_end) for loss in bills), default=start)
    committed_end = max(account.committed_end(written_in, start, end), own, billed)
    answers = account.answers(written_in, start, end)
    portions = by_worth(evidence, written_in, (start, end, committed_end), answers)
    sure = Extents.of((p.start_offset, p.end_offset) for p in portions if p.surely_told)
    leader = evidence.chronicle.leaders.get(written_in)
    untold = untold_answers(evidence, (written_in, written_in + 1), leader, (start, end))
    return Stretch(
        epoch=epoch,
        start_offset=start,
        end_offset=end,
        committed_end=committed_end,
        acknowledged_end=max((p.end_offset for p in portions if p.worth != "never committed"), default=start),
        counted_end=mark,
        acknowledged=tuple(sure.parts),
        perhaps_answered=untold is not None,
    )


def _written_in(replica: Replica, epoch: int, start: int, end: int, evidence: PartitionEvidence) -> int:
    """The epoch of records on a replica; where they carry none, that of the bill which names this copy of them."""
    if epoch != UNDEFINED_EPOCH:
        return epoch
    billed = (
        loss.epoch
        for loss in losses(evidence)
        for copy in loss.survivors
        if copy.path == replica.path and copy.epoch == epoch and copy.start_offset < end and start < copy.end_offset
    )
    return next(billed, epoch)


def _of_its_own_records(replica: Replica, epoch: int, start: int, mark: int, evidence: PartitionEvidence) -> bool:
    """Whether a high watermark on disk tells of records below it: one that rose in a later epoch is of that leader's.

    That leader did not have them where a bill says so, or where another log holds others there and may be the leader's.
    """
    claim = replica.high_watermark
    learnt = None if claim is None or mark <= start else epoch_held(replica, claim.offset - 1)
    if learnt is None or learnt <= epoch:
        return True
    billed = (loss for loss in losses(evidence) if loss.epoch == loss.newest == epoch and not loss.restored)
    if any(loss.start_offset < mark and start < loss.end_offset for loss in billed):
        return False
    if replica is evidence.leader_at_the_end:
        return True
    apart = (d for d in evidence.differences if replica in (d.left, d.right))
    return not any(d.start_offset < mark and start < d.end_offset for d in apart)


def merged(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Stretches that several replicas hold, each offset of an epoch once."""
    found: list[Stretch] = []
    for stretch in sorted(stretches, key=lambda s: (s.epoch, s.start_offset)):
        before = found[-1] if found else None
        if before is None or before.epoch != stretch.epoch or stretch.start_offset > before.end_offset:
            found.append(stretch)
            continue
        found[-1] = Stretch(
            epoch=before.epoch,
            start_offset=before.start_offset,
            end_offset=max(before.end_offset, stretch.end_offset),
            committed_end=max(before.committed_end, stretch.committed_end if stretch.told_of else 0),
            acknowledged_end=max(before.acknowledged_end, stretch.acknowledged_end if stretch.told_of else 0),
            counted_end=max(before.counted_end, stretch.counted_end if stretch.told_of else 0),
            acknowledged=tuple(Extents.of([*before.acknowledged, *stretch.acknowledged]).parts),
        )
    return tuple(found)
