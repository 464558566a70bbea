"""The epochs of a partition whose record format carries none: of every log, of every cut, and what is open of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from typing import Final

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.extents import Extents
from rules.chronicle.request_logs import RequestLogs
from rules.history.moments import Moment
from rules.history.statements import LogCut
from rules.protocol.versions import parse_kafka_version
from rules.replicas.disagreement import Difference, Uncompared
from rules.replicas.replica import Replica, same_topic
from rules.settings import BrokerVersion, Settings
from rules.unwritten.asking import Asked, Pair, ask, pairs_of
from rules.unwritten.epoch_log import PossibleLog
from rules.unwritten.log_turns import OwnLead, Turn, turns_of
from rules.unwritten.places import Growth, Point
from rules.unwritten.served_copies import Traces
from rules.unwritten.ways import ROLES, SERVER_LOG, Open, Ways
from rules.unwritten.written_logs import NOBODY, WrittenLogs


class AskedFollower(Struct, frozen=True, kw_only=True):
    """A follower that cut its log at its high watermark, or found nothing to cut, asked over reconstructed epochs."""

    broker: int
    leader: int
    epoch: int
    epoch_told: bool
    """Whether a role of its broker names the epoch; else it is the one that is left between others."""
    offset: int
    """The log end that it took on."""
    log_end_offset: int
    end_known: bool
    """Whether its log ended there, or there at least."""
    asked: Asked
    moment: Moment
    decision: LogCut | None

    @property
    def of_an_empty_log(self) -> bool:
        """Whether its own line tells that the log was empty: nothing in it could be cut or kept."""
        return isinstance(self.moment, LogCut) and self.moment.end_offset == 0


_SILENT: Final = Open(
    "brokers before 1.0 do not tell where their logs ended when they took a role, and where they were not cut",
    "their disks as they were before the cut",
)


def carries_none(replica: Replica) -> bool:
    """Whether a log holds records of which none bears an epoch, and no file tells of any."""
    holds = replica.log_end_offset > replica.log_start_offset or bool(replica.log.epochs)
    return holds and replica.last_epoch < 0 and not replica.loaded_chain and not replica.epoch_file.entries


class Reconstruction(Struct, frozen=True, dict=True):
    """What is known of epochs that nobody wrote down."""

    chronicle: Chronicle
    replicas: tuple[Replica, ...]
    ran: tuple[tuple[BrokerVersion, ...], Settings]
    """What each broker ran last, and what is told of its releases before."""
    request_logs: RequestLogs
    compared: tuple[tuple[Difference, ...], tuple[Uncompared, ...]]
    """Where replicas hold different records, and where that could not be told."""
    ordered: bool = True
    """Whether a number of an epoch stands for one epoch."""

    @cached_property
    def applies(self) -> bool:
        """Whether the logs carry no epochs: there are records, and none bears one."""
        holding = [r for r in self.replicas if r.log_end_offset > r.log_start_offset or r.log.epochs]
        return bool(holding) and all(carries_none(replica) for replica in holding)

    @cached_property
    def open(self) -> Open | None:
        """Why nothing at all can be reconstructed; null where something may be."""
        if not self.ordered:
            return Open("leader epochs began again, so that their numbers tell nothing apart", "logs of one life alone")
        differences, uncompared = self.compared
        return contradicted(self._fold, self.replicas, differences, uncompared)

    @cached_property
    def reconciled(self) -> tuple[AskedFollower, ...]:
        """Every time that a follower brought its log into line by its high watermark, in the order of its log."""
        return tuple(self._reconciled()) if self.applies else ()

    def tellers(self, replica: Replica) -> tuple[Sequence[tuple[int, int, int]], Mapping[int, int] | None]:
        """A log's records by their epochs, and the leaders whose word alone is of them; null where anybody's is."""
        return self.stretches(replica), self.chronicle.leaders if self.applies else None

    def stretches(self, replica: Replica) -> Sequence[tuple[int, int, int]]:
        """A log's records by their epochs, as batches carry them; else as every way has it in which it was written.

        There are none where the number of an epoch tells nothing apart.
        """
        if not self.ordered:
            return ()
        if not self.applies:
            return [(run.epoch, run.start_offset, run.end_offset) for run in replica.log.epochs]
        ways: Ways = self.open or self._fold.log_of(replica.broker)
        if isinstance(ways, Open):
            return ()
        edges = sorted({edge for way in ways for _, *ends in way.stretches for edge in ends})
        found = [({way.epoch_at(start) for way in ways}, start, end) for start, end in pairwise(edges)]
        return [(epoch, start, end) for (epoch, *other), start, end in found if epoch is not None and not other]

    def meeting(self, follower: Replica, leader: Replica, end_offset: int, high_watermark: int) -> Asked:
        """What the rules make of two logs as they are, the follower's up to an offset."""
        asking, answering = self._fold.log_of(follower.broker), self._fold.log_of(leader.broker)
        if self.open is not None:
            return ask(self.open, high_watermark)
        if isinstance(asking, Open):
            return ask(asking, high_watermark)
        if isinstance(answering, Open):
            return ask(answering, high_watermark)
        return ask([(held.cut(end_offset), leads) for held in asking for leads in answering], high_watermark)

    @cached_property
    def _turns(self) -> Mapping[int, Sequence[Turn]]:
        own_words = (m for m in self.chronicle.moments if m.clock == f"broker {m.witness}")
        brokers = {moment.witness for moment in own_words if moment.witness is not None}
        held = {replica.broker: replica for replica in self.replicas}
        found: dict[int, Sequence[Turn]] = {}
        for broker in sorted(brokers):
            own = turns_of(self.chronicle.told_by(broker))
            replica = held.get(broker)
            if replica is not None and replica.end_kept:
                start = replica.log_start_offset
                own = (*own, Turn(kind="ends", log_end_offset=replica.log_end_offset, offset=start))
            found[broker] = own
        return found

    @cached_property
    def _fold(self) -> WrittenLogs:
        known = self._turns, self.chronicle.leaders, self._silent, Traces(self.chronicle, self.request_logs)
        without: frozenset[tuple[int, int]] = frozenset()
        fold = WrittenLogs(*known, without)
        for _ in range(sum(map(len, self._turns.values()))):
            more = without | doubted(fold)
            if more == without:
                break
            without = more
            fold = WrittenLogs(*known, without)
        return fold

    @cached_property
    def _silent(self) -> Mapping[int, Open]:
        """Brokers whose releases do not tell of each cut, or of each that cut nothing."""
        return {broker: _SILENT for broker in self._turns if not self._ran_since(broker, 1)}

    def _ran_since(self, broker: int, *release: int) -> bool:
        """Whether all that a broker is told to have run is of a release or later."""
        versions, settings = self.ran
        last = [version.binary or "" for version in versions if version.broker == broker]
        ran = [parse_kafka_version(each) for each in (*settings.releases_told(broker), *last)]
        return bool(last) and all(version is not None and version.at_least(*release) for version in ran)

    def _reconciled(self) -> Iterator[AskedFollower]:
        for point in self._fold.points:
            # Up to 0.10.2 no line tells what decided a cut: nothing else did, as long as its leader's log went so far.
            undecided = point.turn.decision is None and not self._ran_since(point.broker, 0, 11)
            if point.turn.by_watermark or undecided:
                leader = NOBODY if point.leader is None else point.leader
                epochs = self._fold.epochs_of(point.broker, point.place, leader)
                asked = ask(self.open, 0) if self.open else self._asked(point, leader, epochs)
                sure = self._fold.role_told(point.broker, point.place)
                yield _asked_follower(point, leader, max(epochs, default=-1), asked, epoch_told=sure)

    def _asked(self, point: Point, leader: int, epochs: Sequence[int]) -> Asked:
        if isinstance(point.before, Open):
            return ask(point.before, 0)
        pairs: list[Pair] = []
        for epoch in epochs:
            lead = self._fold.lead_with(leader, epoch)
            if lead is None:
                reason = f"nothing tells how broker {leader} opened epoch {epoch}"
                return ask(Open(reason, f"broker {leader}'s server.log"), 0)
            found = pairs_of(point.before, lead, self._fold.copying.led[lead.broker, lead.first], epoch)
            if isinstance(found, Open):
                return ask(found, 0)
            pairs += found
        untold = Open(f"no role tells in which epoch broker {point.broker} followed broker {leader}", ROLES)
        return ask(pairs if epochs else untold, point.turn.offset)


def _asked_follower(point: Point, leader: int, epoch: int, asked: Asked, *, epoch_told: bool) -> AskedFollower:
    least = point.turn.offset + (point.turn.kind == "cuts")
    return AskedFollower(
        broker=point.broker,
        leader=leader,
        epoch=epoch,
        epoch_told=epoch_told,
        offset=point.turn.offset,
        log_end_offset=asked.asking.log_end_offset if asked.asking is not None else least,
        end_known=point.end_known and asked.asking is not None,
        asked=asked,
        moment=point.moment,
        decision=point.turn.decision,
    )


def doubted(fold: WrittenLogs) -> frozenset[tuple[int, int]]:
    """The growths that may be of another lead in which other epochs stood there; by broker and turn."""
    return frozenset((growth.broker, growth.place) for growth in fold.copying.growths if _in_doubt(growth, fold))


def _in_doubt(growth: Growth, fold: WrittenLogs) -> bool:
    others = [lead for lead in fold.leads[growth.leads[0].broker] if lead not in growth.leads] if growth.leads else []
    for lead in others:
        served = fold.copying.traces.served(growth.broker, lead, growth.start, growth.end)
        if served is not False and not _agrees(growth, lead, fold):
            return True
    return False


def _agrees(growth: Growth, other: OwnLead, fold: WrittenLogs) -> bool:
    """Whether another lead's log holds the same epochs where the follower's grew, as far as it reaches."""
    theirs = fold.copying.as_source(other)
    for lead in growth.leads:
        ours = fold.copying.as_source(lead)
        if ours is None or isinstance(ours, Open) or theirs is None or isinstance(theirs, Open):
            return False
        if not all(_same(mine, log, growth) for mine in ours for log in theirs):
            return False
    return True


def _same(mine: PossibleLog, other: PossibleLog, growth: Growth) -> bool:
    """Whether both would have sent the same; what reaches no farther than the follower's log has sent nothing."""
    end = min(growth.end, other.log_end_offset)
    edges = {growth.start, *(run.start_offset for run in (*mine.runs, *other.runs))}
    return all(mine.epoch_at(at) == other.epoch_at(at) for at in edges if growth.start <= at < end)


def contradicted(
    fold: WrittenLogs, replicas: Sequence[Replica], differences: Sequence[Difference], uncompared: Sequence[Uncompared]
) -> Open | None:
    """Why nothing is said: records differ where one was copied from the other, or are the same where none was."""
    for left, right in combinations(replicas, 2):
        ours, theirs = fold.log_of(left.broker), fold.log_of(right.broker)
        if not same_topic(left, right) or isinstance(ours, Open) or isinstance(theirs, Open):
            continue
        pair = {left.broker, right.broker}
        differ = Extents.of((d.start_offset, d.end_offset) for d in differences if _brokers(d) == pair)
        unknown = Extents.of((u.start_offset, u.end_offset) for u in uncompared if _brokers(u) == pair)
        apart = [Extents.of(_apart(mine, other)) for mine in ours for other in theirs]
        start, end = max(left.log_start_offset, right.log_start_offset), min(left.log_end_offset, right.log_end_offset)
        shared = Extents.of([(start, end)]) - unknown
        if not any((where & shared) == (differ & shared) for where in apart):
            whose = f"the logs of brokers {left.broker} and {right.broker}"
            return Open(f"{whose} are not as what is told would have made them", SERVER_LOG)
    return None


def _brokers(of: Difference | Uncompared) -> set[int]:
    return {of.left.broker, of.right.broker}


def _apart(left: PossibleLog, right: PossibleLog) -> Iterator[tuple[int, int]]:
    """Where two logs hold records of different epochs."""
    edges = sorted({0, *(end for held in (left, right) for _, start, stop in held.stretches for end in (start, stop))})
    for start, end in pairwise(edges):
        if left.epoch_at(start) != right.epoch_at(start):
            yield start, end
