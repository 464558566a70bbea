"""What is known about one partition of one cluster. Rules see `PartitionEvidence` and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Literal

from msgspec import Struct, field

from rules.chronicle.chronicle import NOTHING_TOLD, Chronicle
from rules.chronicle.request_logs import LoggedRequests, RequestLogs, log_of
from rules.evidence.clocks_told import clocks_told
from rules.facts.surviving_copies import NOTHING_READ, Aftermath
from rules.history.falling_times import Falls
from rules.history.moments import Committed, Moment
from rules.history.statements import RoleTaken
from rules.history.turns import last_assignment, reopenings
from rules.protocol.topics import METADATA_TOPIC
from rules.protocol.versions import KafkaVersion, parse_kafka_version
from rules.replay import Clocks, Replay, StableLogs, committed_alone, release_at, replay
from rules.replay.closing import Closing, Unclosed, closings
from rules.replicas.alone import credible
from rules.replicas.batch_ends import BatchEnds, boundaries
from rules.replicas.commits_of_groups import GroupCommit
from rules.replicas.committed_by_proof import committed_by_proof
from rules.replicas.compacting import is_compacted
from rules.replicas.coordinators import NO_COORDINATORS, Coordinators
from rules.replicas.deleted import Deleted
from rules.replicas.disagreement import Difference, Uncompared
from rules.replicas.epoch_ends import EpochEnds, EpochReach, epoch_ends
from rules.replicas.epoch_order import epochs_used_twice, presumed_leaders
from rules.replicas.foreign import NONE_FOREIGN, Foreign
from rules.replicas.inferred import InferredCut, inferred_cuts
from rules.replicas.kept_older import KeptOlder, openings_on_older_records
from rules.replicas.keys_apart import KeysApart, KeysUncompared
from rules.replicas.lacked_roles import LackedRoles, lacked_roles
from rules.replicas.led_last import first_alike, leads_by_word, perhaps_led_since, surely_before
from rules.replicas.lineage import LostTerm, committed_on_disk, openings_below_committed, parted
from rules.replicas.lives import comparable_pairs, incarnations
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.openings import first_openings
from rules.replicas.placing import NOT_PLACED, Placing
from rules.replicas.remote import RemoteCopy
from rules.replicas.replica import Replica, same_topic
from rules.replicas.sides import Sides, sides
from rules.replicas.unread_copies import UnreadCopy
from rules.settings import KAFKA_VERSION, NO_SETTINGS, BrokerVersion, Setting, Settings
from rules.thresholds import DEFAULTS, Thresholds
from rules.unwritten.reconstruction import Reconstruction

Level = Literal["quick", "full", "deep"]


class PartitionEvidence(Struct, frozen=True, kw_only=True, dict=True):
    """Everything known about one partition of one cluster."""

    cluster_id: str | None
    topic: str
    partition: int
    replicas: tuple[Replica, ...]
    level: Level = "full"
    versions: tuple[BrokerVersion, ...] = ()
    foreign: Foreign = NONE_FOREIGN  # folders that bear its name and hold another log
    told_ids: frozenset[str] = frozenset()  # that logs, traces and metadata give to this topic
    copied_live: bool = False  # no broker shut down cleanly: files of one broker may be moments apart
    copied: str = ""  # by word: live, stopped, crashed
    brokers_in_dump: int = 1  # that hold logs: with one no other replica could have been seen
    thresholds: Thresholds = DEFAULTS  # of rules, as whoever audits chose them
    settings: Settings = NO_SETTINGS  # of the whole cluster; `setting` asks for this partition's
    request_logs: RequestLogs = field(default_factory=dict)  # `request_log` asks for a broker's
    falls: Falls = field(default_factory=dict)  # of times in brokers' logs
    steady: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)  # when lines follow closely
    chronicle: Chronicle = NOTHING_TOLD  # what logs, traces and metadata say of it, and what is asked of that
    elections_told: bool = True  # by controllers, who alone tell of all
    group_offsets: tuple[GroupCommit, ...] = ()  # of it, as `__consumer_offsets` and the outputs of tools tell
    placing: Placing = NOT_PLACED
    coordinators: Coordinators = NO_COORDINATORS  # of the cluster's transactions
    remote_copies: tuple[RemoteCopy, ...] = ()
    metadata_snapshots: tuple[SnapshotSeen, ...] = ()
    differences: tuple[Difference, ...] = ()  # at one offset, as `rules.zoom.differences` found them
    uncompared: tuple[Uncompared, ...] = ()
    keys_apart: tuple[KeysApart, ...] = ()
    keys_uncompared: tuple[KeysUncompared, ...] = ()
    keyless_from: Mapping[str, int] | None = None  # of logs with records without keys, by path; null where unread
    aftermath: Aftermath = NOTHING_READ  # read because records are missed
    unread_copies: tuple[UnreadCopy, ...] = ()

    @property
    def moments(self) -> tuple[Moment, ...]:
        """What logs, traces and metadata say of the partition, each statement in the term in which it was learnt."""
        return self.chronicle.moments

    def request_log(self, broker: int) -> LoggedRequests:
        """What is here of a broker's log of requests, and when it does not speak."""
        return log_of(self.request_logs, broker)

    @cached_property
    def current(self) -> tuple[Replica, ...]:
        """The replicas that serve (or served) the partition; not future, deleted, stray or foreign copies."""
        return tuple(replica for replica in self.replicas if replica.state == "current")

    @cached_property
    def assignment(self) -> tuple[int, ...]:
        """Brokers of the newest assignment that anything tells, of the topic ids that are here."""
        return last_assignment(self.moments, frozenset(r.topic_id for r in self.current if r.topic_id is not None))

    @cached_property
    def own_logs(self) -> tuple[Replica, ...]:
        """The copies but for foreign ones and those of another topic id than most replicas have."""
        largest, own = max(self.incarnations, key=len, default=()), (r for r in self.replicas if r.state != "foreign")
        return tuple(replica for replica in own if all(same_topic(replica, other) for other in largest))

    @cached_property
    def epochs_used_twice(self) -> bool:
        """Whether leader epochs began anew while the logs went on, so that a number may stand for two epochs."""
        return epochs_used_twice(self.moments, self.current, fall_back=self.order_open)

    @cached_property
    def order_open(self) -> bool:
        """Whether brokers' roles fall back, or a clock was set so that they may: then no order of them is certain."""
        return self.chronicle.roles_fall_back or bool(self.clocks.contradicted)

    @cached_property
    def openings(self) -> Mapping[int, RoleTaken]:
        """Where each epoch began, by its leader's own word or by the logs."""
        return first_openings(self.moments, credible(self.own_logs))

    @cached_property
    def reopenings(self) -> Mapping[int, Sequence[RoleTaken]]:
        """By epoch, where its leader opened it once more with a shorter log than at first."""
        return reopenings(self.moments, self.openings)

    @cached_property
    def deleted(self) -> Deleted:
        """Where every leader had its log begin."""
        return Deleted(self.moments, self.openings, self.own_logs)

    @cached_property
    def lost_terms(self) -> tuple[LostTerm, ...]:
        """Every epoch that was opened below what was committed before it."""
        known = self.presumed_leaders, self.current
        return tuple(term for term in self.opened_below if not term.checkpointed or parted(term, *known))

    @cached_property
    def opened_below(self) -> tuple[LostTerm, ...]:
        """The same, with those below a checkpoint that no log bears out."""
        return tuple(openings_below_committed(self.chronicle, self.openings, self.committed_batches, self.deleted))

    @cached_property
    def inferred_cuts(self) -> tuple[InferredCut, ...]:
        """Cuts that no log tells of; a compacted log's missing records are the cleaner's work."""
        return () if self.compacted else inferred_cuts(self.current, self.chronicle)

    @cached_property
    def kept_older(self) -> tuple[KeptOlder, ...]:
        """Every epoch that was opened on records of an older epoch than those that were committed there."""
        known = self.lost_terms, self.deleted, self.batch_ends
        return tuple(openings_on_older_records(self.chronicle, credible(self.current), *known))

    @cached_property
    def epoch_ends(self) -> Mapping[int, EpochReach]:
        """How far each epoch had been written, where anything tells."""
        return self._epoch_ends.of_each

    @property
    def ends_of_some_epoch(self) -> Sequence[tuple[int, EpochReach]]:
        """How far an epoch had been written of which only the oldest and the newest that it may be is known."""
        return self._epoch_ends.of_some

    @cached_property
    def _epoch_ends(self) -> EpochEnds:
        own = tuple(r for r in self.replicas if all(same_topic(r, o) for o in self.current))
        return epoch_ends(self.chronicle, self.openings, self.batch_end, own)

    @cached_property
    def committed_batches(self) -> tuple[Committed, ...]:
        """Every proof of committed records, in whole batches."""
        proofs = *self.chronicle.proofs, *committed_alone(self.replayed.courses)
        whole = *map(self.batch_ends.whole, proofs), *committed_on_disk(credible(self.own_logs))
        return tuple(surely_before(whole, self.perhaps_led_since, self.chronicle))

    def committed_by_proof(self, replica: Replica) -> int:
        """How far a replica's records are committed by what was told; 0 where nothing tells it, or no order."""
        return committed_by_proof(*self.unwritten.tellers(replica), self.committed_batches)

    @cached_property
    def lacked_roles(self) -> LackedRoles:
        """Roles that brokers had and their own logs lack; nothing tells them where epochs have no order."""
        brokers, again = sorted({replica.broker for replica in self.current}), len(self.told_ids) > 1
        return {} if self.epochs_used_twice else lacked_roles(self.chronicle, brokers, created_again=again)

    @cached_property
    def batch_ends(self) -> BatchEnds:
        """How far the batches reach that were answered for."""
        known = boundaries(self.chronicle, self.own_logs, self.request_logs)
        return BatchEnds(known, credible(self.own_logs), self.openings)

    def batch_end(self, base_offset: int, epoch: int | None) -> int:
        """Where the batch ended whose first record an answer to a producer names."""
        return self.batch_ends.boundaries.end_of(base_offset, -1 if epoch is None else epoch)

    @cached_property
    def replayed(self) -> Replay:
        """What every replica must have held over time; the metadata log has no leader."""
        binaries = {version.broker: version.binary for version in self.versions}
        moments = () if self.topic == METADATA_TOPIC or self.epochs_used_twice else self.moments
        known = self._certain_setting, self.request_logs, self.clocks
        over_time = partial(self.settings.over_time, self.topic)
        return replay(moments, self.current, binaries, *known, over_time=over_time, states=self.settings.states)

    @cached_property
    def clocks(self) -> Clocks:
        """How the clocks of those who tell of it stand to each other."""
        return clocks_told(self.moments, self.settings, self.steady)

    @cached_property
    def unwritten(self) -> Reconstruction:
        """The epochs that their record format did not carry, from who led when and from where logs ended."""
        known = self.chronicle, self.current, (self.versions, self.settings), self.request_logs
        return Reconstruction(*known, (self.differences, self.uncompared), ordered=not self.epochs_used_twice)

    @cached_property
    def closings(self) -> tuple[Closing | Unclosed, ...]:
        """What every replica must have held when its broker shut down cleanly, or what the replay lacks to say it."""
        known = self.replayed, self.chronicle, self.current, self.settings.states, self.copied
        return () if self.topic == METADATA_TOPIC else tuple(closings(*known))

    @cached_property
    def stable(self) -> StableLogs:
        """What the disks tell of every leader's transactions, and so of its last stable offset."""
        return StableLogs(self.replayed.courses, self.current)

    def _certain_setting(self, broker: int, name: str, at: Moment | None, clocks: Clocks) -> str | None:
        setting = self.settings.in_force(self.topic, broker, name, at, clocks)
        if setting is None or (name == KAFKA_VERSION and broker in self._given):
            return None
        return setting.value if self.settings.is_certain(setting) else None

    @cached_property
    def _given(self) -> frozenset[int]:
        """Brokers whose release somebody gave, against what their logs printed last."""
        last = ((v, self.settings.in_force(None, v.broker, KAFKA_VERSION)) for v in self.versions)
        return frozenset(v.broker for v, own in last if own and own.value != v.binary)

    def release_of(self, broker: int, at: Moment | None = None) -> KafkaVersion | None:
        """What a broker ran last, or at a moment, where that is known."""
        last = next((version.binary for version in self.versions if version.broker == broker), None)
        return parse_kafka_version(release_at(broker, at, self._certain_setting, self.clocks, last) or "")

    def setting(self, broker: int | None, name: str, at: Moment | None = None) -> Setting | None:
        """That in force on a broker at a moment, or at the end, by the topic's own name; None where several may be."""
        return self.settings.in_force(self.topic, broker, name, at, self.clocks)

    @cached_property
    def compacted(self) -> bool:
        """Whether any replica or setting shows that it is compacted; copies of a cleaned log have its holes too."""
        return is_compacted(self.topic, self.current, self.settings)

    @cached_property
    def pairs(self) -> tuple[tuple[Replica, Replica], ...]:
        """Every two replicas whose contents may be compared."""
        return comparable_pairs(self.current)

    @cached_property
    def incarnations(self) -> tuple[tuple[Replica, ...], ...]:
        """The current replicas by topic id; where only one id is known, those without an id are taken for its."""
        return incarnations(self.current)

    @cached_property
    def presumed_leaders(self) -> tuple[Replica, ...]:
        """The replicas that the epoch protocol would let the others of their incarnation follow."""
        return presumed_leaders(self.current)

    @cached_property
    def leader_at_the_end(self) -> Replica | None:
        """The first of `leaders_at_the_end`; nobody where their logs differ, for then it is not known whose counts."""
        return first_alike(self.leaders_at_the_end, self.differences)

    @cached_property
    def leaders_at_the_end(self) -> tuple[Replica, ...]:
        """Who led last, by word or by the disks; nobody where that is not known, or its log is not here whole."""
        if self.epochs_used_twice or self.perhaps_led_since:
            return ()
        return leads_by_word(self.current, self.chronicle.last_leader, self.presumed_leaders)

    @cached_property
    def perhaps_led_since(self) -> tuple[Replica, ...]:
        """Those whose brokers may have led after the last leader that is told, and whose logs differ from that log."""
        known = self.current, self.differences, self.chronicle, self.settings
        return () if self.elections_told else tuple(perhaps_led_since(*known, lambda: self.clocks))

    def sides(self, start: int, end: int, disputed: Sequence[Difference]) -> Sides:
        """Who is at odds with whom over a range, and who with the last leader."""
        known = self.current, self.differences, (start, end), disputed, self.leader_at_the_end
        return sides(*known, epochs_used_twice=self.epochs_used_twice)

    def followers_of(self, leader: Replica) -> tuple[Replica, ...]:
        """The other replicas of its incarnation of the topic."""
        return tuple(r for r in self.current if r is not leader and same_topic(r, leader))
