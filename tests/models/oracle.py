"""A model of Kafka replication by itself: written after the published TLA+ models, importing nothing of the project.

State and actions bear the models' names: a quorum state, the requests that carry its past values, one replica state
a broker, one log a broker. Where the models let a leader look into its followers' logs, this one refines them: a
leader knows what a fetch told it. Eligible leader replicas, registrations and the gate of min.insync.replicas follow
the model of KIP-966. Batches hold one record; a log keeps what lies below its start, which nobody can read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Truncation = Literal["high watermark", "kip-101", "kip-279", "on fetch"]
NEVER: Final = 0
UNKNOWN: Final = -1


Ids = frozenset[int]
NOBODY: Final[Ids] = frozenset()


class Record(NamedTuple):
    """What a leader wrote: an id of its own, and the epoch it was written in."""

    id: int
    epoch: int


LOST: Final = Record(UNKNOWN, UNKNOWN)
"""What stands below a log start where the log began anew."""


class LeaderAndIsr(NamedTuple):
    """One value of the quorum state."""

    leader: int | None
    leader_epoch: int
    isr: Ids
    version: int
    elr: Ids = frozenset()
    last_known_leader: int | None = None
    unclean: bool = False
    replicas: tuple[int, ...] = ()
    """The assignment: while a reassignment goes on, the target first, then who is on the way out."""
    adding: Ids = frozenset()
    removing: Ids = frozenset()

    @property
    def target(self) -> tuple[int, ...]:
        """Who is to hold the partition in the end."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)

    def arrived(self) -> bool:
        """Whether a reassignment goes on and everyone new has joined."""
        return bool(self.adding | self.removing) and self.adding <= self.isr


@dataclass(frozen=True, kw_only=True)
class Version:
    """What sets one generation apart."""

    name: str
    truncation: Truncation
    binary: tuple[int, ...]
    fenced: bool = True
    lag: int
    controller_owns_isr: bool = False
    kraft: bool = False
    keeps_eligible: bool = False

    def since(self, *release: int) -> bool:
        return self.binary >= release

    @property
    def takes_diverging_high_watermark(self) -> bool:
        """KAFKA-14704: a follower takes the leader's high watermark before it has cut all that diverges."""
        return self.truncation == "on fetch" and not self.since(3, 4, 1)

    @property
    def remembers_epochs(self) -> bool:
        return self.truncation != "high watermark"


HW: Final = "high watermark"
VERSIONS: Final = (
    Version(name="0.10.2.2", truncation=HW, binary=(0, 10, 2, 2), fenced=False, lag=10_000),
    Version(name="0.11.0.3", truncation="kip-101", binary=(0, 11, 0, 3), fenced=False, lag=10_000),
    Version(name="1.1.1", truncation="kip-101", binary=(1, 1, 1), fenced=False, lag=10_000),
    Version(name="2.0.1", truncation="kip-279", binary=(2, 0, 1), fenced=False, lag=10_000),
    Version(name="2.6.3", truncation="kip-279", binary=(2, 6, 3), lag=30_000),
    Version(name="2.7.2", truncation="kip-279", binary=(2, 7, 2), lag=30_000, controller_owns_isr=True),
    Version(name="3.2.0", truncation="on fetch", binary=(3, 2, 0), lag=30_000, controller_owns_isr=True),
    Version(name="3.9.1", truncation="on fetch", binary=(3, 9, 1), lag=30_000, controller_owns_isr=True, kraft=True),
    Version(name="4.0.0", truncation="on fetch", binary=(4, 0, 0), lag=30_000, controller_owns_isr=True, kraft=True),
    Version(
        name="4.3.0", truncation="on fetch", binary=(4, 3, 0), lag=30_000, controller_owns_isr=True, kraft=True,
        keeps_eligible=True,
    ),
)  # fmt: skip


@dataclass
class Follower:
    """What a leader remembers of one follower."""

    end: int = UNKNOWN
    fetched_at: int = NEVER
    leader_end_then: int = UNKNOWN
    caught_up_at: int = NEVER
    life: int = UNKNOWN
    """In which life of its process it fetched last."""


@dataclass
class Answer:
    """A fetch that a leader took, and what it will be answered."""

    kind: Literal["records", "waiting", "diverging", "out of range"]
    leader: int
    epoch: int
    hw: int
    start: int
    records: list[Record] = field(default_factory=list)
    end: tuple[int, int] = (UNKNOWN, UNKNOWN)


@dataclass
class ReplicaState:
    """One broker: its log on disk, and what it believes."""

    log: list[Record] = field(default_factory=list)
    start: int = 0
    """The log start offset; nothing below it can be read."""
    base: int = 0
    """Where its files begin."""
    start_on_disk: int = 0
    starts: list[tuple[int, int]] = field(default_factory=list)
    hw: int = 0
    hw_on_disk: int | None = None
    alive: bool = True
    exists: bool = False
    """Whether the broker holds a replica at all."""
    life: int = 1
    state: LeaderAndIsr | None = None
    presumes: bool = False
    isr: frozenset[int] = frozenset()
    proposed: frozenset[int] | None = None
    proposed_lives: dict[int, int] = field(default_factory=dict)
    followers: dict[int, Follower] = field(default_factory=dict)
    epoch_start: int = 0
    leads_since: int = 0
    """The epoch in which it became leader, having been none before."""
    must_truncate: bool = False
    awaits: Answer | None = None
    started_in: int = 0
    """The quorum's epoch when its process began: it is never told anything older."""

    @property
    def end(self) -> int:
        return len(self.log)

    @property
    def whole(self) -> bool:
        """Whether nothing was ever deleted: after a crash a log start may fall back, the memory of epochs does not."""
        return self.start == 0 and all(start == 0 for _, start in self.starts[:1])


class Model:
    """The whole of it; every action changes it in place, one that is not enabled does nothing."""

    def __init__(self, version: Version, replicas: int, *, min_isr: int = 1, others: int = 0) -> None:
        self.version = version
        self.min_isr = min(min_isr, replicas)
        self.answers: list[str] = []
        """What each producer was told, in the order in which they sent."""
        self.sent: list[tuple[Record, int] | None] = []
        """What became of each producer's record: the record and its offset, or nothing where it was turned away."""
        self.waiting: dict[int, list[tuple[int, int]]] = {}
        """Of each leader the producers that wait, and how far it must have committed for each."""
        self.now = 1_000_000_000
        self.cut_elsewhere = False
        """Whether a cut ever went elsewhere than to the first offset, from the tail, that does not match."""
        self.forgot_epochs = False
        """Whether a log start that was not on disk ever fell back below what its broker remembers of epochs."""
        self.next_id = 0
        self.gone: set[int] = set()
        self.over_quota: set[int] = set()
        """Followers that are sent nothing while they are out of sync."""
        members = tuple(range(1, replicas + 1))
        self.replicas = {broker: ReplicaState() for broker in range(1, replicas + others + 1)}
        for broker in members:
            self.replicas[broker].exists = True
        self.requests = [LeaderAndIsr(1, 0, frozenset(members), 0, replicas=members)]
        self.send(self.quorum)
        for replica in self.replicas.values():
            replica.must_truncate = False

    @property
    def quorum(self) -> LeaderAndIsr:
        return self.requests[-1]

    def is_true_leader(self, leader: int) -> bool:
        told = self.replicas[leader].state
        return (
            self.replicas[leader].presumes
            and told is not None
            and (self.quorum.leader, self.quorum.leader_epoch) == (leader, told.leader_epoch)
        )

    # --- the controller

    def controller_elect_leader(self, leader: int) -> None:
        """A living member of the ISR leads a new epoch; the dead leave the ISR. Nobody has heard of it yet.

        Where nobody of the ISR lives, an eligible leader replica may lead.
        """
        if leader not in self.quorum.replicas:
            return
        if leader in self.quorum.isr & self.alive:
            self._controller_update(leader, self.quorum.isr & self.alive)
        elif leader in self.quorum.elr & self.alive and not self.quorum.isr & self.alive:
            self._controller_update(leader, frozenset({leader}))

    def controller_elect_unclean(self, leader: int) -> None:
        """Whoever lives may lead, and its log is the truth then."""
        able = self.quorum.isr | (frozenset() if self.quorum.isr & self.alive else self.quorum.elr)
        if leader in able & self.alive:
            self.controller_elect_leader(leader)
        elif leader in self.alive & frozenset(self.quorum.replicas):
            self._controller_update(leader, frozenset({leader}), unclean=True)

    @property
    def alive(self) -> Ids:
        return frozenset(broker for broker, replica in self.replicas.items() if replica.alive)

    def controller_shrink_isr(self, broker: int) -> None:
        """The controller learns that a broker is gone."""
        self.gone.add(broker)
        quorum = self.quorum
        if quorum.leader == broker:
            self._elect_any()
        elif broker in quorum.isr and quorum.isr != {broker}:
            isr = quorum.isr - {broker}
            if self.version.kraft:
                self._apply_partition_change(quorum.leader, quorum.leader_epoch, isr)
            else:
                self._controller_update(quorum.leader, isr)

    def _elect_any(self) -> None:
        """The first that lives: of the ISR, else of the ELR, else the last leader known, else nobody."""
        quorum, alive = self.quorum, self.alive
        if alive & quorum.isr:
            self._controller_update(self._first(alive & quorum.isr), alive & quorum.isr)
        elif self.version.keeps_eligible and alive & quorum.elr:
            chosen = self._first(alive & quorum.elr)
            self._controller_update(chosen, frozenset({chosen}))
        elif self.version.keeps_eligible and not quorum.isr | quorum.elr and quorum.last_known_leader in alive:
            self._controller_update(quorum.last_known_leader, frozenset({quorum.last_known_leader}), unclean=True)
        elif quorum.leader is not None:
            self._controller_update(None, frozenset() if self.version.keeps_eligible else quorum.isr)

    def _first(self, able: Ids) -> int:
        """The first of the assignment that is able to lead; the smallest id where nobody is assigned."""
        return next(broker for broker in (*self.quorum.replicas, *sorted(able)) if broker in able)

    def _controller_update(
        self, leader: int | None, isr: Ids, *, unclean: bool = False, lost: Ids = frozenset()
    ) -> None:
        self._apply_partition_change(leader, self.quorum.leader_epoch + 1, isr, unclean=unclean, lost=lost)

    def _apply_partition_change(
        self, leader: int | None, epoch: int, isr: Ids, *, unclean: bool = False, lost: Ids = frozenset()
    ) -> None:
        """ApplyPartitionChange: the next quorum state, with UpdateElr; `lost` are brokers that shut down uncleanly."""
        before, elr, known = self.quorum, frozenset[int](), None
        assigned = (before.replicas, before.adding, before.removing)
        staying = isr - before.removing
        if self.version.kraft and staying and before._replace(isr=isr).arrived():
            gone, isr, assigned = before.removing, staying, (before.target, frozenset(), frozenset())
            if leader in gone:
                leader = next((broker for broker in before.target if broker in isr & self.alive), None)
            if gone:
                epoch = before.leader_epoch + 1
        if self.version.keeps_eligible:
            if len(isr) < min(self.min_isr, len(assigned[0])) and not unclean:
                elr = ((before.elr | before.isr) - isr - lost) & frozenset(assigned[0])
            if leader is None:
                known = before.last_known_leader if before.leader is None else before.leader
        self.requests.append(LeaderAndIsr(leader, epoch, isr, before.version + 1, elr, known, unclean, *assigned))

    def send(self, request: LeaderAndIsr) -> None:
        """Everyone alive hears of a request, its leader first."""
        for broker in sorted(self.replicas, key=lambda broker: (broker != request.leader, broker)):
            replica = self.replicas[broker]
            if replica.alive and (replica.exists or broker in request.replicas):
                self.observe(broker, request)

    def observe(self, broker: int, request: LeaderAndIsr) -> None:
        """BecomeLeader or BecomeFollower, by what a request says; old news is ignored."""
        replica = self.replicas[broker]
        known = replica.state
        if not replica.alive or (known is not None and request.leader_epoch < known.leader_epoch):
            return
        if broker not in request.replicas:
            self._stop_replica(broker, request)
            return
        replica.exists = True
        if known is not None and request.leader_epoch == known.leader_epoch:
            if request.version > known.version:
                replica.state = request
                if replica.presumes:
                    others = [other for other in request.replicas if other != broker]
                    replica.followers = {other: replica.followers.get(other, Follower()) for other in others}
                    replica.isr, replica.proposed = request.isr, None
                    self.leader_inc_high_watermark(broker)
        elif request.leader == broker:
            self._become_leader(broker, request)
        else:
            self._become_follower(broker, request)

    def _stop_replica(self, broker: int, request: LeaderAndIsr) -> None:
        """It holds the partition no more; once it is out of the ISR its log is deleted."""
        replica = self.replicas[broker]
        self._dismiss(broker, "failed")
        if broker in request.isr or not replica.exists:
            replica.state, replica.presumes, replica.followers = request, False, {}
            replica.awaits, replica.must_truncate = None, False
        else:
            life, started_in = replica.life, replica.started_in
            self.replicas[broker] = ReplicaState(state=request, life=life, started_in=started_in)

    def controller_reassign(self, target: tuple[int, ...]) -> None:
        """AlterPartitionReassignments, or the znode before it; one that goes on is neither replaced nor cancelled."""
        quorum, wanted = self.quorum, frozenset(target)
        if quorum.adding | quorum.removing or target == quorum.replicas:
            return
        leaving = frozenset(quorum.replicas) - wanted
        both = (*target, *(broker for broker in quorum.replicas if broker in leaving))
        goal = quorum._replace(replicas=both, adding=wanted - frozenset(quorum.replicas), removing=leaving)
        if self.version.kraft:
            self.requests[-1] = goal
            self._apply_partition_change(quorum.leader, quorum.leader_epoch, quorum.isr)
            self.requests[-2] = quorum
        elif wanted <= quorum.isr:
            self.requests[-1] = goal
            self._on_isr_change()
        else:
            self._step(goal)

    def _on_isr_change(self) -> None:
        """ZooKeeper's controller, once all of the target are in sync: the target alone, then an ISR of it alone."""
        quorum = self.quorum
        if not quorum.adding | quorum.removing or not frozenset(quorum.target) <= quorum.isr:
            return
        leader, isr = quorum.leader, quorum.isr
        if leader not in quorum.target or leader not in self.alive:
            able = [broker for broker in quorum.target if broker in isr & self.alive]
            if not able:
                return
            leader, isr = able[0], isr & self.alive
        gone = sorted(quorum.removing & isr)
        self._step(quorum._replace(leader=leader, isr=isr, replicas=quorum.target, adding=NOBODY, removing=NOBODY))
        for broker in gone:
            self._step(self.quorum._replace(isr=self.quorum.isr - {broker}))

    def _step(self, request: LeaderAndIsr) -> None:
        epoch, version = self.quorum.leader_epoch + 1, self.quorum.version + 1
        self.requests.append(request._replace(leader_epoch=epoch, version=version, unclean=False))

    def _become_leader(self, broker: int, request: LeaderAndIsr) -> None:
        replica = self.replicas[broker]
        known, replica.followers = replica.followers, {}
        for other in request.replicas:
            if other == broker:
                continue
            caught_up = self.now if other in request.isr else NEVER
            if replica.presumes and other in known:
                before = known[other]
                replica.followers[other] = Follower(before.end, caught_up, replica.end, caught_up, before.life)
            else:
                replica.followers[other] = Follower(caught_up_at=caught_up)
        if not replica.presumes:
            replica.leads_since = request.leader_epoch
        replica.state, replica.presumes = request, True
        replica.isr, replica.proposed = request.isr, None
        replica.epoch_start, replica.awaits, replica.must_truncate = replica.end, None, False
        if self.version.remembers_epochs and self.version.since(2, 0, 1):
            self._note_epoch(replica, request.leader_epoch, replica.end)
        if replica.hw > replica.end:
            replica.hw = replica.start
        self.leader_inc_high_watermark(broker)

    def _become_follower(self, broker: int, request: LeaderAndIsr) -> None:
        replica = self.replicas[broker]
        before, led = replica.state, replica.presumes
        replica.state, replica.presumes, replica.followers = request, False, {}
        if led:
            self._dismiss(broker, "failed")
        if request.leader is None:
            replica.awaits, replica.must_truncate = None, False
            return
        epochs_passed = request.leader_epoch - (before.leader_epoch if before else 0)
        other_leader = before is None or led or before.leader != request.leader
        if self.version.since(2, 1) or other_leader or (self.version.since(2, 0, 1) and epochs_passed > 1):
            replica.awaits = None
            if self.version.truncation == "high watermark":
                self.truncate_to(replica, replica.hw)
            else:
                replica.must_truncate = self.version.truncation != "on fetch" or not replica.starts

    def configure_min_isr(self, value: int) -> None:
        """Everyone alive goes by another min.insync.replicas; nobody stays eligible by the former one."""
        self.min_isr = value
        if self.quorum.elr:
            quorum = self.quorum
            self._apply_partition_change(quorum.leader, quorum.leader_epoch, quorum.isr)
            self.requests[-1] = self.quorum._replace(elr=NOBODY)

    # --- the leader

    def leader_write(self, leader: int, *, acks: str = "1") -> None:
        """A producer's record; with acks=all it is turned away where the ISR is too small."""
        replica = self.replicas[leader]
        if not replica.alive or not replica.presumes or replica.state is None:
            self.answers.append("failed" if replica.alive else "untold")
            self.sent.append(None)
            return
        if acks == "all" and len(replica.isr) < self.min_isr:
            self.answers.append("refused")
            self.sent.append(None)
            return
        record = Record(self.next_id, replica.state.leader_epoch)
        self.sent.append((record, replica.end))
        self._append(replica, record)
        self.next_id += 1
        if acks == "all":
            self.waiting.setdefault(leader, []).append((len(self.answers), replica.end))
        self.answers.append("waiting" if acks == "all" else "acknowledged")
        self.leader_inc_high_watermark(leader)

    def _answer_producers(self, leader: int) -> None:
        """SendAcksFor: whoever waits for what is committed now; min.insync.replicas is asked a second time."""
        replica = self.replicas[leader]
        for place, required in list(self.waiting.get(leader, ())):
            if replica.hw >= required:
                enough = len(replica.isr) >= self.min_isr
                self.answers[place] = "acknowledged" if enough else "refused-after-append"
                self.waiting[leader].remove((place, required))

    def _dismiss(self, leader: int, told: str) -> None:
        for place, _ in self.waiting.pop(leader, ()):
            self.answers[place] = told

    def leader_delete_records(self, leader: int, offset: int) -> None:
        """DeleteRecords, since 0.11: the log start moves, at most to the high watermark; files stay as they are."""
        replica = self.replicas[leader]
        if self.version.since(0, 11) and replica.alive and replica.presumes and offset <= replica.hw:
            self._move_start(replica, offset)

    def delete_segments(self, broker: int, offset: int) -> None:
        """Retention: files that end at or below the high watermark go, and the log start with them."""
        replica = self.replicas[broker]
        if replica.alive and replica.base < offset <= min(replica.hw, replica.end):
            replica.base = offset
            self._move_start(replica, offset)

    def _move_start(self, replica: ReplicaState, offset: int) -> None:
        if offset > replica.start:
            replica.start = offset
            self._clip_epochs(replica)

    def _clip_epochs(self, replica: ReplicaState) -> None:
        below = [entry for entry in replica.starts if entry[1] <= replica.start]
        later = [entry for entry in replica.starts if entry[1] > replica.start]
        replica.starts = [*((epoch, replica.start) for epoch, _ in below[-1:]), *later]

    def _append(self, replica: ReplicaState, record: Record) -> None:
        if self.version.remembers_epochs:
            self._note_epoch(replica, record.epoch, replica.end)
        replica.log.append(record)

    def _note_epoch(self, replica: ReplicaState, epoch: int, offset: int) -> None:
        last_epoch, last_start = replica.starts[-1] if replica.starts else (UNKNOWN, UNKNOWN)
        if not self.version.since(2, 0, 1):
            if epoch > last_epoch and offset >= last_start:
                replica.starts.append((epoch, offset))
        elif not (epoch == last_epoch and offset >= last_start):
            replica.starts = [entry for entry in replica.starts if entry[0] < epoch and entry[1] < offset]
            replica.starts.append((epoch, offset))

    def leader_inc_high_watermark(self, leader: int) -> None:
        """The smallest log end of those that count, where that is more than before; since 3.7 at min ISR only."""
        replica = self.replicas[leader]
        assigned = len(replica.state.replicas) if replica.state else 0
        if not self.version.since(3, 7) or len(replica.isr) >= min(self.min_isr, assigned):
            counted = self.counted(leader) & replica.followers.keys()  # nobody else is of the assignment that it knows
            ends = [replica.end, *(replica.followers[other].end for other in counted)]
            replica.hw = max(replica.hw, min(ends))
        self._answer_producers(leader)

    def counted(self, leader: int) -> set[int]:
        """Whom a leader waits for: its ISR, proposals, and who was caught up lately."""
        replica, version = self.replicas[leader], self.version
        members = replica.isr if replica.proposed is None else replica.isr | replica.proposed
        counted = set(members) - {leader}
        for other, known in replica.followers.items():
            recent = self.now - known.caught_up_at <= version.lag
            level = version.since(3, 3) and known.end == replica.end
            if (recent or level) and (not version.since(3, 6) or self.may_join(other, known.life)):
                counted.add(other)
        return counted

    def may_join(self, broker: int, life: int) -> bool:
        """Whether a broker is one that the controller takes for living, in KRaft since 3.5 in the life that fetched."""
        guarded = self.version.since(3, 3) if self.version.kraft else self.version.since(3, 4)
        if self.version.kraft and self.version.since(3, 5) and life not in (UNKNOWN, self.replicas[broker].life):
            return False
        return not guarded or broker not in self.gone

    def leader_shrink_isr(self, leader: int, member: int, *, answered: bool = True) -> None:
        replica = self.replicas[leader]
        if replica.alive and replica.presumes and member in replica.isr - {leader}:
            self._quorum_update(leader, replica.isr - {member}, answered=answered)

    def leader_expand_isr(self, leader: int, member: int, *, answered: bool = True) -> None:
        """A follower enters that has reached the high watermark, and since 2.0.1 the start of the leader's epoch."""
        replica = self.replicas[leader]
        known = replica.followers.get(member)
        if not replica.alive or not replica.presumes or known is None or member in replica.isr:
            return
        least = max(replica.hw, replica.epoch_start if self.version.since(2, 0, 1) else 0)
        busy = self.version.since(2, 7) and replica.proposed is not None
        if known.end >= least and not busy and (not self.version.since(3, 3) or self.may_join(member, known.life)):
            self._quorum_update(leader, replica.isr | {member}, answered=answered)

    def _quorum_update(self, leader: int, isr: frozenset[int], *, answered: bool) -> None:
        replica = self.replicas[leader]
        if replica.proposed is not None:
            return
        if not self.version.controller_owns_isr:
            self._commit(leader, isr)
            return
        replica.proposed = isr
        replica.proposed_lives = {other: replica.followers[other].life for other in isr - replica.isr - {leader}}
        self.leader_inc_high_watermark(leader)
        if answered:
            self.controller_answers(leader)

    def controller_answers(self, leader: int) -> None:
        """A proposal is committed if it comes from the true leader, and falls if not."""
        replica = self.replicas[leader]
        if not replica.alive or not replica.presumes or replica.proposed is None or not self.is_true_leader(leader):
            return  # a leader that was deposed awaits what it will be told
        proposed, replica.proposed = replica.proposed, None
        ineligible = self.version.kraft and any(
            not self.may_join(other, life) for other, life in replica.proposed_lives.items()
        )
        if not ineligible:
            self._commit(leader, proposed)

    def _commit(self, leader: int, isr: frozenset[int]) -> None:
        replica = self.replicas[leader]
        if replica.state is None or not self.is_true_leader(leader):
            return
        epoch = self.quorum.leader_epoch
        self._apply_partition_change(leader, epoch, isr)
        if self.quorum.leader_epoch != epoch:  # this ended a reassignment
            replica.proposed = isr
            return
        replica.state, replica.isr = self.quorum, isr
        if not self.version.controller_owns_isr or self.version.since(3, 1):
            self.leader_inc_high_watermark(leader)
        if not self.version.kraft:
            self._on_isr_change()

    # --- the follower

    def _leader_of(self, follower: int) -> int | None:
        """The broker that takes a follower's request, if any does."""
        replica = self.replicas[follower]
        if not replica.alive or replica.presumes or replica.state is None or replica.state.leader is None:
            return None
        leader = self.replicas[replica.state.leader]
        if not leader.alive or not leader.presumes or leader.state is None:
            return None
        if self.version.fenced and leader.state.leader_epoch != replica.state.leader_epoch:
            return None
        return replica.state.leader

    def follower_replicate(self, follower: int) -> None:
        """A fetch and its answer in one: at most one record."""
        replica = self.replicas[follower]
        if replica.must_truncate:
            self.become_follower_truncate(follower)
        if not replica.must_truncate:
            self.fetch_arrives(follower)
            if replica.awaits is not None:
                self.answer_arrives(follower)

    def fetch_arrives(self, follower: int) -> None:
        replica = self.replicas[follower]
        if replica.must_truncate:
            self.become_follower_truncate(follower)
            return
        leader_id = self._leader_of(follower)
        if leader_id is None:
            return
        leader = self.replicas[leader_id]
        assigned = follower in leader.followers
        if not assigned and self.version.since(3, 3):
            return
        answer = self._read(leader_id, leader, replica)
        if answer.kind == "records":
            answer.records = self._next_record(leader, follower) if assigned else []
            answer.kind = "records" if answer.records else "waiting"
            if assigned:
                self._acknowledge(leader_id, follower)
        replica.awaits = answer

    def _read(self, leader_id: int, leader: ReplicaState, replica: ReplicaState) -> Answer:
        """Whether a fetch is in range and, where fetches reconcile, of the same lineage."""
        epoch = leader.state.leader_epoch if leader.state else UNKNOWN
        answer = Answer("records", leader_id, epoch, leader.hw, leader.start)
        if replica.end < leader.start:
            answer.kind = "out of range"
        elif self.version.truncation == "on fetch" and replica.starts:
            asked = replica.starts[-1][0]
            end = self.end_offset_for(leader, asked)
            if end is None:
                answer.kind = "out of range"
            elif end[0] < asked or end[1] < replica.end:
                answer.kind, answer.end = "diverging", end
        if answer.kind == "records" and replica.end > leader.end:
            answer.kind = "out of range"
        return answer

    def _next_record(self, leader: ReplicaState, follower: int) -> list[Record]:
        """What a fetch is answered with: KIP-73 holds back who is over its quota, unless it is in sync."""
        if follower in self.over_quota and follower not in leader.isr:
            return []
        end = self.replicas[follower].end
        return leader.log[end : end + 1]

    def _acknowledge(self, leader_id: int, follower: int) -> None:
        leader, offset = self.replicas[leader_id], self.replicas[follower].end
        known = leader.followers[follower]
        if offset >= leader.end:
            known.caught_up_at = max(known.caught_up_at, self.now)
        elif offset >= known.leader_end_then:
            known.caught_up_at = max(known.caught_up_at, known.fetched_at)
        moved = known.end != offset
        known.end, known.fetched_at, known.life = offset, self.now, self.replicas[follower].life
        known.leader_end_then = max(known.leader_end_then, leader.end)
        if moved or not self.version.since(2, 5):
            self.leader_inc_high_watermark(leader_id)

    def answer_arrives(self, follower: int) -> None:
        replica = self.replicas[follower]
        answer, replica.awaits = replica.awaits, None
        if answer is None or not replica.alive:
            return
        leader = self.replicas[answer.leader]
        if answer.kind == "diverging":
            if self.version.takes_diverging_high_watermark:
                replica.hw = max(replica.start, min(answer.hw, replica.end))
            offset, _done = self.truncation_point(replica, answer.end)
            self.truncate_to(replica, offset)
        elif answer.kind == "out of range":
            if leader.alive and leader.presumes:
                self._reset(follower, leader)
        elif answer.kind == "waiting":
            if self._still_serves(leader, answer.epoch):
                self._take(replica, self._next_record(leader, follower), leader.hw, leader.start)
        else:
            self._take(replica, answer.records, answer.hw, answer.start)

    def _still_serves(self, leader: ReplicaState, epoch: int) -> bool:
        """A fetch that waits ends with its leader's term; where fetches name no epoch, with its leadership."""
        if not leader.alive or not leader.presumes or leader.state is None:
            return False
        return leader.state.leader_epoch == epoch if self.version.fenced else leader.leads_since <= epoch

    def _reset(self, follower: int, leader: ReplicaState) -> None:
        """Out of range: cut to a shorter leader, or begin anew where a leader's log starts beyond the own end."""
        replica = self.replicas[follower]
        if leader.end < replica.end:
            if self.version.since(2, 1):
                self.truncate_to(replica, leader.end)
            else:  # with unclean leader election off a broker would rather stop
                self.crash(follower)
        elif leader.start > replica.end:
            replica.log = leader.log[: leader.start]
            replica.starts, replica.hw = [], leader.start
            replica.start = replica.base = leader.start

    def _take(self, replica: ReplicaState, records: list[Record], hw: int, start: int) -> None:
        for record in records:
            self._append(replica, record)
        replica.hw = max(replica.start, min(hw, replica.end))
        if self.version.since(0, 11) and start <= replica.hw:
            self._move_start(replica, start)

    # --- truncation

    def follower_reconcile(self, follower: int) -> None:
        """The step before a fetch by itself; where fetches reconcile, a fetch."""
        if self.version.truncation == "on fetch" and not self.replicas[follower].must_truncate:
            self.follower_replicate(follower)
        else:
            self.become_follower_truncate(follower)

    def become_follower_truncate(self, follower: int) -> None:
        """What a follower does before it fetches: by its version, KIP-101 or KIP-279, asking its leader."""
        replica = self.replicas[follower]
        if not replica.must_truncate:
            return
        if self.version.truncation == "on fetch":
            self.truncate_to(replica, replica.hw)
            replica.must_truncate = False
            return
        leader_id = self._leader_of(follower)
        if leader_id is None:
            return
        leader = self.replicas[leader_id]
        if self.version.truncation == "kip-101":
            self.truncate_to(replica, self.lookup_offset_for_epoch(leader, replica))
        else:
            wanted = self.first_non_matching_offset_from_tail(leader_id, follower)
            whole = leader.whole and replica.whole
            self._truncate_kip_279(leader, replica)
            self.cut_elsewhere = self.cut_elsewhere or (whole and replica.end != wanted)
        replica.must_truncate = False

    def lookup_offset_for_epoch(self, leader: ReplicaState, follower: ReplicaState) -> int:
        """KIP-101: where the leader says that the follower's last epoch ended; its high watermark for want of that."""
        end = self.end_offset_for(leader, follower.starts[-1][0]) if follower.starts else None
        return follower.hw if end is None else end[1]

    def _truncate_kip_279(self, leader: ReplicaState, follower: ReplicaState) -> None:
        first_hw, done = follower.hw, False
        while not done:
            end = self.end_offset_for(leader, follower.starts[-1][0]) if follower.starts else None
            if end is None:
                self.truncate_to(follower, first_hw)
                return
            before = (follower.end, len(follower.starts))
            offset, done = self.truncation_point(follower, end)
            self.truncate_to(follower, offset)
            done = done or (follower.end, len(follower.starts)) == before

    def truncation_point(self, follower: ReplicaState, end: tuple[int, int]) -> tuple[int, bool]:
        """What a follower makes of (epoch, end): the lesser end if it knows the epoch, else its own last one below."""
        own = self.end_offset_for(follower, end[0])
        if own is None:
            return min(end[1], follower.end), True
        if own[0] != end[0]:
            return min(own[1], follower.end), False
        return min(own[1], end[1], follower.end), True

    def end_offset_for(self, replica: ReplicaState, epoch: int) -> tuple[int, int] | None:
        """Where an epoch ends by a replica's own memory: (largest epoch up to it, first offset of a later one)."""
        if replica.starts and replica.starts[-1][0] == epoch:
            return epoch, replica.end
        later = [start for known, start in replica.starts if known > epoch]
        upto = [known for known, _ in replica.starts if known <= epoch]
        if not later or (not upto and not self.version.since(2, 0, 1)):
            return None
        return (upto[-1] if upto else epoch), later[0]

    def truncate_to(self, replica: ReplicaState, offset: int) -> None:
        offset = min(offset, replica.end)
        del replica.log[offset:]
        replica.start, replica.base = min(replica.start, offset), min(replica.base, offset)
        replica.starts = [entry for entry in replica.starts if entry[1] < offset]
        if self.version.since(2, 4):
            replica.hw = min(replica.hw, offset)

    def first_non_matching_offset_from_tail(self, leader: int, follower: int) -> int:
        """The models' truncation offset: one more than the last offset at which both hold the same record."""
        pairs = list(zip(self.replicas[leader].log, self.replicas[follower].log, strict=False))
        return max((offset + 1 for offset, (one, other) in enumerate(pairs) if one == other), default=0)

    # --- processes, which the models leave out

    def crash(self, broker: int) -> None:
        replica = self.replicas[broker]
        if not replica.alive:
            return
        self._dismiss(broker, "untold")
        replica.alive, replica.presumes, replica.must_truncate = False, False, False
        replica.state, replica.awaits, replica.followers = None, None, {}
        replica.proposed = None

    def restart(self, broker: int) -> None:
        replica = self.replicas[broker]
        if replica.alive:
            return
        if self.version.keeps_eligible:
            self._exclude_after_unclean_shutdown(broker)
        replica.alive, replica.started_in, replica.life = True, self.quorum.leader_epoch, replica.life + 1
        self.gone.discard(broker)
        self._load(replica)
        if self.quorum.leader == broker:
            self._controller_update(broker, self.quorum.isr)
            self.send(self.quorum)
        elif self.version.keeps_eligible and self.quorum.leader is None:
            before = self.quorum
            self._elect_any()
            if self.quorum is not before:
                self.send(self.quorum)

    def _load(self, replica: ReplicaState) -> None:
        replica.start = max(replica.base, replica.start_on_disk)
        if replica.end < replica.start:
            replica.log += [LOST] * (replica.start - replica.end)
            replica.base = replica.start
        replica.starts = [entry for entry in replica.starts if entry[1] < replica.end]
        self._clip_epochs(replica)
        replica.hw = max(replica.start, min(replica.hw_on_disk or 0, replica.end))
        remembered = replica.starts[0][1] if replica.starts else replica.end
        self.forgot_epochs = self.forgot_epochs or (self.version.remembers_epochs and remembered > replica.start)

    def _exclude_after_unclean_shutdown(self, broker: int) -> None:
        """It registers for another life while it is fenced still: out of the ISR and of the ELR with it."""
        quorum, lost = self.quorum, frozenset({broker})
        if broker not in quorum.isr | quorum.elr:
            return
        isr = quorum.isr - lost
        if quorum.leader != broker:
            self._apply_partition_change(quorum.leader, quorum.leader_epoch, isr, lost=lost)
        elif isr & self.alive:
            self._controller_update(self._first(isr & self.alive), isr & self.alive, lost=lost)
        elif (quorum.elr - lost) & self.alive:
            chosen = self._first((quorum.elr - lost) & self.alive)
            self._controller_update(chosen, frozenset({chosen}), lost=lost)
        else:
            self._controller_update(None, frozenset(), lost=lost)
        self.send(self.quorum)

    def lose_pages(self, broker: int, offset: int) -> None:
        """The machine lost power: what had not reached the disk of a stopped broker is gone."""
        replica = self.replicas[broker]
        if not replica.alive:
            del replica.log[max(offset, replica.base) :]
            replica.starts = [entry for entry in replica.starts if entry[1] < replica.end]

    def checkpoint(self, broker: int) -> None:
        """High watermark and log start go to disk."""
        replica = self.replicas[broker]
        if replica.alive and replica.exists:
            replica.hw_on_disk, replica.start_on_disk = replica.hw, replica.start
