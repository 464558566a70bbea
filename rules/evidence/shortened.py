"""Which logs of a partition hold less than they had when they were loaded, or on disk since their brokers stopped."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rules.chronicle.extents import Possible
from rules.evidence import METADATA_TOPIC, PartitionEvidence, Replica
from rules.evidence.asked_once import asked_once
from rules.evidence.shorter import Shorter, shorter_on_disk, shorter_when_loaded
from rules.replay.closing import closings
from rules.settings import STOPPED


def shortened_when_loaded(evidence: PartitionEvidence) -> Iterator[Shorter]:
    """What was gone when a log was loaded, each record once.

    A process that dies before it takes a role leaves its log to be loaded once more, as short as it was.
    """
    ended: dict[int, int] = {}
    for found in shorter_when_loaded(evidence):
        known = ended.get(id(found.proof), found.had)
        if found.ends < known:
            ended[id(found.proof)] = found.ends
            yield replace(found, gone=found.gone - Possible.known((known, found.had)))


@asked_once
def shortened_on_disk(evidence: PartitionEvidence) -> tuple[Shorter, ...]:
    """Every such log."""
    return tuple(shorter_on_disk(evidence, evidence.closings, evidence.current))


def stopped_by_its_log(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether the last that its broker's log tells of the broker is a clean shutdown."""
    return any(state.value == STOPPED for state in evidence.settings.states(replica.broker)[-1:])


def perhaps_shortened(evidence: PartitionEvidence) -> tuple[Shorter, ...]:
    """The same where a broker's log tells of a stop that no marker on disk confirms, and nobody says how it was copied.

    The disk may have been copied before the stop. Or the marker was left out: names that begin with a dot often are.
    """
    if evidence.copied or evidence.topic == METADATA_TOPIC:
        return ()
    states = evidence.settings.states
    unmarked = (replica for replica in evidence.current if replica.clean_shutdown is None)
    stopped = [replica for replica in unmarked if stopped_by_its_log(evidence, replica)]
    closed = closings(evidence.replayed, evidence.chronicle, stopped, states, "stopped") if stopped else ()
    return tuple(shorter_on_disk(evidence, closed, stopped))
