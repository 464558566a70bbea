"""Weigh the replicas of a partition against each other: candidates, what each return destroys, and the gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from rules.advice.copied_earlier import perhaps_behind
from rules.advice.cuts import merged, owed_cuts, stretches_of
from rules.advice.damage import damage, doubts
from rules.advice.gates import AlreadyLost, gates
from rules.advice.lacking import Held, cut_untold, holders, perhaps_lacked, perhaps_short
from rules.advice.unjudged_logs import unjudged_copies
from rules.advice.weighed import Advice, Candidate, Doomed, Nowhere, OwedCut, Stretch
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.electable import vacancy
from rules.finding import capital
from rules.history.turns import last_assignment
from rules.loss.held_by_none import held_by_none
from rules.loss.incurred import Loss
from rules.loss.survivors import FADING, Survivor, copies, held_alike, survivors
from rules.loss.unbilled import Unbilled
from rules.loss.written_up_to import perhaps_copied_before, words
from rules.protocol.offsets import without
from rules.protocol.versions import parse_kafka_version

Cuts = Mapping[tuple[str, str], OwedCut]


def advise(
    evidence: PartitionEvidence, losses: Sequence[Loss] = (), nameless: Sequence[Unbilled] = ()
) -> tuple[Advice, ...]:
    """Advice on every incarnation of the partition that has a replica in use, or on one of which no disk is here."""
    return tuple(_on(replicas, evidence, losses, nameless) for replicas in evidence.incarnations or ((),))


def _on(
    replicas: tuple[Replica, ...],
    evidence: PartitionEvidence,
    losses: Sequence[Loss],
    nameless: Sequence[Unbilled],
) -> Advice:
    leaders = tuple(replica for replica in replicas if replica in evidence.presumed_leaders)
    seen = tuple(replica for replica in replicas if replica.end_known)
    cuts = owed_cuts(seen, evidence)
    held = {replica.path: tuple(_held_by_others(replica, cuts, evidence)) for replica in replicas}
    assignment, leading = _assignment(evidence, replicas), _leading(evidence, replicas)
    candidates = _best_first(
        [_candidate(replica, cuts, held[replica.path], evidence) for replica in replicas],
        whole={replica.path for replica in replicas if not replica.unopened},
        keepers={s.broker for loss in losses if loss.matters for s in loss.survivors if s.kind in FADING},
        preferred=assignment,
        leading=leading,
    )
    followed = _perhaps_followed(leaders, seen, candidates, evidence)
    doomed = tuple(_doomed(seen, followed, cuts, evidence))
    unjudged = tuple(broker for broker in assignment if broker not in {replica.broker for replica in replicas})
    unread, nowhere = unjudged_copies(evidence), tuple(_nowhere(evidence))
    return Advice(
        topic_id=next((replica.topic_id for replica in replicas if replica.topic_id is not None), None),
        assignment=assignment,
        absent=tuple(broker for broker in unjudged if broker not in {copy.broker for copy in unread}),
        unread=unread,
        leading=leading,
        leaders=tuple(leader.broker for leader in leaders),
        candidates=candidates,
        release=_release(evidence, replicas),
        doomed=doomed,
        nowhere=nowhere,
        unbilled=tuple(nameless),
        gates=tuple(
            gates(
                evidence,
                replicas,
                [(candidate, held[candidate.path]) for candidate in candidates],
                (doomed, _deepest(seen, followed, cuts)),
                unjudged,
                AlreadyLost(losses=losses, nowhere=nowhere, unbilled=nameless),
            )
        ),
    )


def _best_first(
    candidates: Sequence[Candidate],
    *,
    whole: AbstractSet[str],
    keepers: AbstractSet[int],
    preferred: Sequence[int],
    leading: int | None,
) -> tuple[Candidate, ...]:
    """Whose election nothing bars comes first, then whose own log does not bar it.

    Of equal ones rather one whose start destroys nothing; then who leads already, then who is preferred.
    """

    def place(c: Candidate) -> tuple[object, ...]:
        bars = c.path not in whole, c.barred, bool(c.lacks or c.damage)
        in_assignment = preferred.index(c.broker) if c.broker in preferred else len(preferred)
        stands = c.broker in keepers, c.broker != leading, not c.shut_down_cleanly
        return (*bars, *_rank(c), *stands, in_assignment, c.broker)

    return tuple(sorted(candidates, key=place))


def _perhaps_followed(
    leaders: Sequence[Replica], seen: Sequence[Replica], candidates: Sequence[Candidate], evidence: PartitionEvidence
) -> tuple[Replica, ...]:
    """Whom others may follow: who leads by its log, who led last by word, and who is elected as soon as it runs.

    Who led last by word may lead still, whatever a longer log of an older epoch holds.
    """
    vacant = vacancy(evidence)
    elected = {c.broker for c in candidates if c.broker in vacant.electable and c.lacks}
    lacking = (replica for replica in vacant.at_rest if replica.broker in elected)
    last = (replica for replica in seen if replica.broker == evidence.chronicle.last_leader[1])
    return tuple(replica for replica in dict.fromkeys((*leaders, *last, *lacking)) if replica in seen)


def _release(evidence: PartitionEvidence, replicas: Sequence[Replica]) -> tuple[int, ...]:
    brokers = {replica.broker for replica in replicas}
    named = (version.binary for version in evidence.versions if version.broker in brokers)
    known = [parsed for binary in named if binary is not None and (parsed := parse_kafka_version(binary)) is not None]
    return tuple(min(known).release) if known else ()


def _candidate(replica: Replica, owed: Cuts, held: Sequence[Held], evidence: PartitionEvidence) -> Candidate:
    lacks, cuts = merged(stretch for _, stretch in held if stretch.told_of), _cuts_under(replica, owed)
    behind = tuple(perhaps_behind(cut) for cut in cuts if cut.in_doubt)
    if lacks and not behind and perhaps_copied_before(evidence, replica):
        lacks, behind = (), (perhaps_short(lacks),)
    return Candidate(
        broker=replica.broker,
        path=replica.path,
        last_epoch=replica.last_known_epoch,
        log_end_offset=replica.log_end_offset,
        end_known=replica.end_known,
        damage=tuple(damage(replica, evidence)),
        doubts=(*doubts(replica, evidence), *perhaps_lacked(held), *behind[-1:], *cut_untold(cuts)),
        had_reached=_had_reached(replica, evidence),
        shut_down_cleanly=replica.clean_shutdown is not None,
        lacks=lacks,
        lacked_from=tuple(holders(stretch, held) for stretch in lacks),
        cuts=cuts,
    )


def _nowhere(evidence: PartitionEvidence) -> Iterator[Nowhere]:
    for found in held_by_none(evidence):
        yield Nowhere(
            start_offset=found.start_offset, end_offset=found.end_offset, doubt=found.doubt, missing=found.missing
        )


def _had_reached(replica: Replica, evidence: PartitionEvidence) -> int | None:
    """How far its log went, by its files and by the replay, where that is further than it goes now."""
    own = (word.end_offset for word in words(evidence) if word.sure and word.broker == replica.broker)
    furthest = max(own, default=0)
    return furthest if replica.end_known and furthest > replica.log_end_offset else None


def _cuts_under(leader: Replica, owed: Cuts) -> tuple[OwedCut, ...]:
    return tuple(cut for (_, path), cut in owed.items() if path == leader.path)


def _held_by_others(leader: Replica, owed: Cuts, evidence: PartitionEvidence) -> Iterator[Held]:
    """What others hold that is cut, or that nobody is served, when a replica leads."""
    cuts = _cuts_under(leader, owed)
    yield from ((cut.follower, stretch) for cut in cuts for stretch in cut.gone if not cut.in_doubt)
    yield from _unserved(leader, cuts, evidence)


def _unserved(leader: Replica, cuts: Sequence[OwedCut], evidence: PartitionEvidence) -> Iterator[Held]:
    """What a follower keeps although the leader holds other records there, or none: nobody reads it from the leader."""
    kept = {cut.follower: cut.cut_to for cut in cuts}
    for difference in evidence.differences:
        for other in (difference.left, difference.right):
            end = min(difference.end_offset, kept.get(other.broker, 0))
            if leader in (difference.left, difference.right) and other is not leader:
                yield from _within(other, difference.start_offset, end, evidence)
    for step in () if evidence.compacted else leader.log.gaps:
        for other in evidence.followers_of(leader):
            own = [(gap.expected, gap.found) for gap in other.log.gaps]
            for low, high in without(step.expected, min(step.found, kept.get(other.broker, 0)), own):
                yield from _within(other, low, high, evidence)


def _within(replica: Replica, start: int, end: int, evidence: PartitionEvidence) -> Iterator[Held]:
    for run in replica.log.epochs:
        low, high = max(run.start_offset, start), min(run.end_offset, end)
        if low < high:
            yield from ((replica.broker, own) for own in stretches_of(replica, run.epoch, low, high, evidence))


def _rank(candidate: Candidate) -> tuple[int, int, int, int]:
    """The newest epoch, the longest log, the least damage: in this order, as the protocol ranks.

    Whose files may only have been copied earlier wrote all that its followers have. Of those who have it for sure one
    comes before it: it may have lost that in a crash.
    """
    wrote = max((cut.log_end_offset for cut in candidate.cuts if cut.leader_wrote), default=0)
    reach = max(wrote, candidate.log_end_offset)
    return -candidate.last_epoch, -reach, len(candidate.damage), len(candidate.doubts)


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
            for stretch in cut.gone if not cut.in_doubt else ():
                if (follower.broker, stretch) not in seen:
                    seen.add((follower.broker, stretch))
                    yield _doom(follower, (cut, leader, cuts), stretch, evidence)


def _doom(
    follower: Replica, owed: tuple[OwedCut, Replica, Cuts], stretch: Stretch, evidence: PartitionEvidence
) -> Doomed:
    (cut, leader, cuts), start, end = owed, stretch.start_offset, stretch.end_offset
    others = tuple(_elsewhere(follower, stretch, evidence))
    too = [cuts.get((other.path, leader.path)) for other in others]
    own = tuple(c for c in copies(follower, stretch.epoch, start, end) if c.path == follower.path)
    return Doomed(
        broker=follower.broker,
        path=follower.path,
        stretch=stretch,
        spans=own,
        others=others,
        all_cut=bool(others) and all(each is not None and each.cut_to < end for each in too),
        because=f"when it follows broker {cut.leader}, it truncates its log from offset {cut.log_end_offset}"
        f" to {cut.cut_to}. {capital(cut.because)}",
    )


def _deepest(replicas: Sequence[Replica], leaders: Sequence[Replica], cuts: Cuts) -> dict[str, OwedCut]:
    """The furthest cut that each replica makes under anybody who may lead, by its path; none where it keeps its log."""
    owed = [(f.path, cuts[f.path, leader.path]) for leader in leaders for f in replicas if f is not leader]
    real = [(path, cut) for path, cut in owed if cut.untold or cut.cut_to < cut.log_end_offset]
    deepest = {path: min(map(_depth, (cut for other, cut in real if other == path))) for path, _ in real}
    return {path: cut for path, cut in reversed(real) if _depth(cut) == deepest[path]}


def _depth(cut: OwedCut) -> tuple[bool, int]:
    """By which cuts are ordered; one that is not known may go further than all others."""
    return not cut.untold, cut.cut_to


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


def _leading(evidence: PartitionEvidence, replicas: Sequence[Replica]) -> int | None:
    """Who led last by somebody's word, where no disk knows a newer epoch and nobody may have led since."""
    epoch, leader = evidence.chronicle.last_leader
    if any(replica in evidence.perhaps_led_since for replica in replicas):
        return None
    known = max((replica.last_known_epoch for replica in replicas), default=-1)
    here = not replicas or any(replica.broker == leader for replica in replicas)
    return leader if epoch >= known and here and leader >= 0 else None


def _assignment(evidence: PartitionEvidence, replicas: Sequence[Replica]) -> tuple[int, ...]:
    """The newest assignment that anything tells; else whoever has a replica or a folder here, or is told to."""
    held = {replica.broker for replica in replicas}
    held |= {copy.broker for copy in unjudged_copies(evidence) if copy.broker is not None}
    return last_assignment(evidence.moments) or tuple(sorted(held | evidence.chronicle.taking_part))
