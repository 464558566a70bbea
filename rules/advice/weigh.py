"""Weigh the replicas of a partition against each other: candidates, what each return destroys, and the gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rules.advice.cuts import held_alike, merged, owed_cuts
from rules.advice.gates import gates
from rules.advice.model import Advice, Candidate, Doomed, OwedCut, Stretch
from rules.evidence import PartitionEvidence, Replica
from rules.loss import Loss
from rules.protocol.offsets import without
from rules.survivors import Survivor, copies, survivors

Cuts = Mapping[tuple[str, str], OwedCut]


def advise(evidence: PartitionEvidence, losses: Sequence[Loss] = ()) -> tuple[Advice, ...]:
    """Advice on every incarnation of the partition that has a replica in use."""
    return tuple(_on(replicas, evidence, losses) for replicas in evidence.incarnations)


def _on(replicas: tuple[Replica, ...], evidence: PartitionEvidence, losses: Sequence[Loss]) -> Advice:
    leaders = tuple(replica for replica in replicas if replica in evidence.presumed_leaders)
    cuts = owed_cuts(replicas, evidence)
    candidates = tuple(sorted((_candidate(replica, cuts) for replica in replicas), key=_rank))
    doomed = tuple(_doomed(replicas, leaders, cuts, evidence))
    assignment = _assignment(evidence, replicas)
    absent = tuple(broker for broker in assignment if broker not in {replica.broker for replica in replicas})
    return Advice(
        topic_id=next((replica.topic_id for replica in replicas if replica.topic_id is not None), None),
        assignment=assignment,
        absent=absent,
        leaders=tuple(leader.broker for leader in leaders),
        candidates=candidates,
        doomed=doomed,
        gates=tuple(gates(evidence, replicas, candidates, doomed, absent, losses)),
    )


def _candidate(replica: Replica, owed: Cuts) -> Candidate:
    cuts = tuple(cut for (_, leader), cut in owed.items() if leader == replica.path)
    return Candidate(
        broker=replica.broker,
        path=replica.path,
        last_epoch=replica.last_known_epoch,
        log_end_offset=replica.log_end_offset,
        damage=tuple(_damage(replica)),
        stopped_in_order=replica.clean_shutdown is not None,
        lacks=merged(stretch for cut in cuts for stretch in cut.gone if stretch.told_of),
        cuts=cuts,
    )


def _rank(candidate: Candidate) -> tuple[int, int, int, bool, int]:
    """The newest epoch, the longest log, the least damage, an orderly stop: in this order, as the protocol ranks."""
    return (
        -candidate.last_epoch,
        -candidate.log_end_offset,
        len(candidate.damage),
        not candidate.stopped_in_order,
        candidate.broker,
    )


def _damage(replica: Replica) -> Iterator[str]:
    log = replica.log
    if log.checksum_fault_count:
        yield f"{log.checksum_fault_count} batches fail their checksum"
    holes = sum(unread.kind not in ("zero_tail", "torn_tail") for unread in log.unread)
    if holes:
        yield f"{holes} stretches cannot be read"
    if log.header_fault_count:
        yield f"{log.header_fault_count} batch headers contradict themselves"
    if log.overlap_count:
        yield f"offsets overlap in {log.overlap_count} places"
    if log.gap_count and not replica.cleaned:
        yield f"{log.gap_offsets} offsets are missing"
    if log.undecodable_count:
        yield f"{log.undecodable_count} batches cannot be decoded"


def _doomed(
    replicas: Sequence[Replica], leaders: Sequence[Replica], cuts: Cuts, evidence: PartitionEvidence
) -> Iterator[Doomed]:
    """What goes when a broker returns and follows; where several could lead, under each of them."""
    seen: set[tuple[int, Stretch]] = set()
    for leader in leaders:
        for follower in replicas:
            if follower is leader:
                continue
            cut = cuts[follower.path, leader.path]
            for stretch in cut.gone:
                if (follower.broker, stretch) not in seen:
                    seen.add((follower.broker, stretch))
                    yield _doom(follower, cut, stretch, evidence)


def _doom(follower: Replica, cut: OwedCut, stretch: Stretch, evidence: PartitionEvidence) -> Doomed:
    start, end = stretch.start_offset, stretch.end_offset
    own = tuple(c for c in copies(follower, stretch.epoch, start, end) if c.path == follower.path)
    return Doomed(
        broker=follower.broker,
        path=follower.path,
        stretch=stretch,
        spans=own,
        others=tuple(_elsewhere(follower, stretch, evidence)),
        because=f"following broker {cut.leader} cuts its log from {cut.log_end_offset} to {cut.cut_to} ({cut.because})",
    )


def _elsewhere(follower: Replica, stretch: Stretch, evidence: PartitionEvidence) -> Iterator[Survivor]:
    """Copies that hold all of the stretch; of a format without epochs only those that do not differ."""
    start, end = stretch.start_offset, stretch.end_offset
    same = {
        other.path
        for other in evidence.replicas
        if other is not follower and not [*without(start, end, held_alike(other, follower, stretch.epoch, evidence))]
    }
    for copy in survivors(evidence, stretch.epoch, start, end):
        whole = copy.start_offset <= start and end <= copy.end_offset
        if whole and (copy.path in same or copy.kind == "deleted file"):
            yield copy


def _assignment(evidence: PartitionEvidence, replicas: Sequence[Replica]) -> tuple[int, ...]:
    """The newest assignment that anything tells; else whoever has a replica."""
    told = [m for m in evidence.moments if m.replicas]
    newest = max(told, key=lambda m: (m.epoch or -1, m.partition_epoch or -1), default=None)
    own = tuple(sorted(replica.broker for replica in replicas))
    return newest.replicas if newest is not None and newest.replicas else own
