"""All facts about one partition in, its verdict out: what both engines run for every partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from auditor.engines.epoch_files import epochs_in
from auditor.engines.keyless_records import with_keyless
from auditor.engines.leftovers import read_leftovers
from auditor.engines.read_survivors import read_aftermath
from auditor.engines.second_look import look_again
from parsers.provenance import Span
from rules.catalog import RULES
from rules.facts.read_again import UnreadFile
from rules.judging.giving_up import place_of
from rules.judging.judge import judge
from rules.narrow.assemble import assemble, owned
from rules.narrow.facts import Fact, Surroundings
from rules.verdict import PartitionVerdict

JUDGED: Final = "evidence that can be judged; please report this dump's shape"


def settle(
    claimed: Sequence[Fact], surroundings: Mapping[str | None, Surroundings], dump: str
) -> Iterator[PartitionVerdict]:
    """The verdict on the partition that the facts are about, if any of them is somebody's."""
    facts = owned(claimed, surroundings[claimed[0].cluster_id])
    if not facts:
        return
    try:
        yield _settled(facts, surroundings, dump)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the other partitions can be judged
        yield _left_open(facts, error)


def _left_open(facts: Sequence[Fact], error: Exception) -> PartitionVerdict:
    """Of a partition that could not be judged: where its replicas lie, what of them was read, and where it ended."""
    first = facts[0]
    paths = sorted({fact.path for fact in facts if fact.path is not None}) or [first.log_dir]
    found = place_of(error)
    return PartitionVerdict(
        cluster_id=first.cluster_id,
        topic=first.topic,
        partition=first.partition,
        refusals=tuple(
            UnreadFile(kind="unreadable", expected=JUDGED, found=found, span=Span(source=path, start=0, end=0))
            for path in paths
        ),
        claimed_only=_claimed_only(facts),
    )


def _settled(
    facts: Sequence[Fact], surroundings: Mapping[str | None, Surroundings], dump: str
) -> PartitionVerdict:
    """Facts without a partition give refusals only."""
    first = facts[0]
    if first.topic is None or first.partition is None:
        refusals = tuple(refusal for fact in facts if fact.root for refusal in fact.root.refusals)
        return PartitionVerdict(cluster_id=first.cluster_id, topic=None, partition=None, refusals=refusals)
    if all(fact.path is None and not fact.moments for fact in facts):
        return PartitionVerdict(
            cluster_id=first.cluster_id,
            topic=first.topic,
            partition=first.partition,
            claimed_only=_claimed_only(facts),
        )
    evidence = assemble(facts, surroundings[first.cluster_id], partial(epochs_in, dump))
    evidence = with_keyless(look_again(evidence, dump), dump)
    read = read_aftermath(read_leftovers(evidence, dump), dump)
    return replace(judge(read, RULES), claimed_only=_claimed_only(facts))


def _claimed_only(facts: Sequence[Fact]) -> tuple[int, ...]:
    """Brokers whose checkpoints name the partition and that have no directory of it."""
    claiming = {fact.broker for fact in facts if fact.root is not None}
    return tuple(sorted(claiming - {fact.broker for fact in facts if fact.path is not None}))
