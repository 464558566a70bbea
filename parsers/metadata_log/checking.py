"""Snapshots held against the log that they replace: what is in one must be what the log's records add up to.

Directories, tokens, quotas and who may do what are left out: upgrades write the first anew, the others are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from msgspec import Struct

from parsers.metadata_log.image import MetadataImage
from parsers.metadata_log.records import MetadataInput, Partition

Standing = Literal["alike", "differs", "torn", "open"]
"""Open is one that could not be compared: the log does not reach it, or does not tell all that was before it."""
KEEP: Final = 8
"""Differences that are kept; the rest is counted."""
COUNTED: Final = 1 << 20
_TOPIC: Final = 2


class SnapshotToCheck(Struct, frozen=True, kw_only=True):
    """A snapshot by its name, and how to come by its records."""

    end_offset: int
    epoch: int
    source: str
    inputs: Callable[[], Sequence[MetadataInput]]


class SnapshotCheck(Struct, frozen=True, kw_only=True):
    """What came of it."""

    end_offset: int
    epoch: int
    source: str
    standing: Standing
    log_epoch: int | None = None
    """The epoch of the last record that it replaces, as the log has it."""
    differences: tuple[str, ...] = ()
    count: int = 0


class LogState(Struct, frozen=True, kw_only=True):
    """The log up to an offset: what it adds up to, and whether that is all."""

    image: MetadataImage
    next_offset: int
    epoch: int | None
    whole: bool


class SnapshotChecks:
    """The snapshots ahead, and what came of those behind."""

    def __init__(
        self,
        snapshots: Sequence[SnapshotToCheck],
        read: Callable[[SnapshotToCheck, Sequence[MetadataInput]], MetadataImage | None],
    ) -> None:
        """`read` gives what the records of a snapshot add up to, or nothing of one that is torn."""
        self._ahead = sorted(snapshots, key=lambda each: (each.end_offset, each.source), reverse=True)
        self._read = read
        self.found: list[SnapshotCheck] = []

    def reached(self, offset: int, state: Callable[[], LogState]) -> None:
        """The log's next record is at this offset."""
        while self._ahead and self._ahead[-1].end_offset <= offset:
            self.found.append(self._checked(self._ahead.pop(), state()))

    def left(self) -> None:
        """The log ends: what lies ahead cannot be compared."""
        self.found.extend(_check(each, "open", None) for each in reversed(self._ahead))
        self._ahead.clear()

    def _checked(self, snapshot: SnapshotToCheck, log: LogState) -> SnapshotCheck:
        if not log.whole or log.next_offset != snapshot.end_offset:
            return _check(snapshot, "open", None)
        held = self._read(snapshot, snapshot.inputs())
        if held is None:
            return _check(snapshot, "torn", log.epoch)
        every = list(islice(differences(log.image, held), COUNTED))
        return _check(snapshot, "differs" if every else "alike", log.epoch, tuple(every[:KEEP]), len(every))


def _check(
    snapshot: SnapshotToCheck, standing: Standing, epoch: int | None, kept: tuple[str, ...] = (), count: int = 0
) -> SnapshotCheck:
    return SnapshotCheck(
        end_offset=snapshot.end_offset,
        epoch=snapshot.epoch,
        source=snapshot.source,
        standing=standing,
        log_epoch=epoch,
        differences=kept,
        count=count,
    )


def differences(log: MetadataImage, snapshot: MetadataImage) -> Iterator[str]:
    """What the log adds up to and the snapshot does not say, in words; values of settings stay hidden."""
    for topic_id in sorted(log.topics.keys() | snapshot.topics.keys()):
        if log.topics.get(topic_id) != snapshot.topics.get(topic_id):
            yield _called(topic_id, log.topics.get(topic_id), snapshot.topics.get(topic_id))
    for topic_id in sorted(log.topics.keys() & snapshot.topics.keys()):
        ours, theirs = log.partitions.get(topic_id, {}), snapshot.partitions.get(topic_id, {})
        yield from _partitions(log.topics[topic_id], ours, theirs)
    for broker in sorted(log.brokers.keys() | snapshot.brokers.keys()):
        mine, other = log.brokers.get(broker), snapshot.brokers.get(broker)
        if mine is None or other is None or mine.broker_epoch != other.broker_epoch:
            yield f"broker {broker}'s registration in the log is not that in the snapshot"
    for name in sorted(log.features.keys() & snapshot.features.keys()):
        if log.features[name] != snapshot.features[name]:
            yield f"feature {name} is {log.features[name]} in the log, and {snapshot.features[name]} in the snapshot"
    yield from _configs(log, snapshot)


def _called(topic_id: str, ours: str | None, theirs: str | None) -> str:
    if ours is not None and theirs is not None:
        return f"topic id {topic_id} is topic '{ours}' in the log, and topic '{theirs}' in the snapshot"
    held, lacks = ("the snapshot", "the log") if ours is None else ("the log", "the snapshot")
    return f"topic '{theirs if ours is None else ours}' (id {topic_id}) is in {held}, but not in {lacks}"


def _partitions(topic: str, ours: dict[int, Partition], theirs: dict[int, Partition]) -> Iterator[str]:
    for number in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(number), theirs.get(number)
        if mine is None or other is None:
            yield f"partition {topic}-{number} is missing in {'the log' if mine is None else 'the snapshot'}"
        elif _core(mine) != _core(other):
            yield (
                f"partition {topic}-{number} has leader {mine.leader} of epoch {mine.leader_epoch} and ISR"
                f" {_ids(mine.isr)} in the log, leader {other.leader} of epoch {other.leader_epoch} and ISR"
                f" {_ids(other.isr)} in the snapshot"
            )


def _core(state: Partition) -> tuple[object, ...]:
    """What decides who leads and who follows; the epoch of the partition also counts what releases do otherwise."""
    placed = state.replicas, state.adding_replicas, state.removing_replicas
    return *placed, state.isr, state.leader, state.leader_epoch, state.leader_recovery_state


def _ids(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers)) or "nobody"


def _configs(log: MetadataImage, snapshot: MetadataImage) -> Iterator[str]:
    """Settings of topics that are gone count nowhere; a null value is none."""
    for key in sorted(log.configs.keys() | snapshot.configs.keys()):
        kind, resource, name = key
        lasting = kind != _TOPIC or (resource in log.ids and resource in snapshot.ids)
        if lasting and log.configs.get(key) != snapshot.configs.get(key):
            yield f"setting {name} of {resource or 'all brokers'} in the log is not that in the snapshot"
