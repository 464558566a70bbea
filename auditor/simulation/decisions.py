"""The controller's decisions of a simulated run as a KRaft metadata log."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from auditor.simulation.journal_rows import FIRST_TIMESTAMP, Recorder
from auditor.simulation.writing_place import TOPIC, TOPIC_ID
from parsers.tables.metadata import NO_LEADER, MetadataChange, replica_ids
from parsers.writers.checkpoints import epoch_lines, write_partition_metadata, write_static_quorum_state
from parsers.writers.metadata_log import (
    RECOVERING,
    feature_level_value,
    partition_change_value,
    partition_value,
    topic_config_value,
    topic_value,
)
from parsers.writers.segments import Record, batch_bytes, write_segment
from rules.protocol.eligible import SUPPORTED, keeps_eligible_replicas
from rules.protocol.versions import metadata_level
from rules.simulator.generation import Generation
from rules.simulator.state import TopicSettings

CONTROLLER_EPOCH: Final = 1
METADATA_TOPIC_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"


def write_metadata_log(
    recorder: Recorder, log_dir: Path, generation: Generation, settings: TopicSettings
) -> None:
    """Writes the directory of the metadata log, one record a batch."""
    folder = log_dir / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    changes, configured = recorder.metadata, recorder.configured
    later = [*_changed(changes, generation), *((at, topic_config_value(TOPIC, *said)) for at, said in configured)]
    # Each record is written at a time of its own, but for those that a busy controller writes at once.
    later.sort(key=lambda pair: pair[0] or 0)
    values = [*_created(changes[0], generation, settings), *later]
    batches = (
        batch_bytes(
            base_offset=offset,
            leader_epoch=CONTROLLER_EPOCH,
            records=(Record(value=value),),
            base_timestamp=FIRST_TIMESTAMP if time is None else time,
        )
        for offset, (time, value) in enumerate(values)
    )
    write_segment(folder / f"{0:020d}.log", batches)
    (folder / "partition.metadata").write_bytes(write_partition_metadata(METADATA_TOPIC_ID))
    (folder / "leader-epoch-checkpoint").write_bytes(epoch_lines([(CONTROLLER_EPOCH, 0)]))
    quorum = write_static_quorum_state(
        leader_id=changes[0].broker or 0, leader_epoch=CONTROLLER_EPOCH, current_voters=(changes[0].broker or 0,)
    )
    (folder / "quorum-state").write_bytes(quorum)


def _created(
    first: MetadataChange, generation: Generation, settings: TopicSettings
) -> Iterator[tuple[int | None, bytes]]:
    level = metadata_level(generation.spoken)
    if level is not None:
        yield first.time, feature_level_value("metadata.version", level)
    if keeps_eligible_replicas(generation.spoken, settings.eligible_leader_replicas):
        yield first.time, feature_level_value("eligible.leader.replicas.version", 1)
    yield first.time, topic_value(TOPIC, TOPIC_ID)
    yield first.time, topic_config_value(TOPIC, "min.insync.replicas", str(settings.min_insync_replicas))
    if settings.unclean_leader_election is not None:
        allowed = str(settings.unclean_leader_election).lower()
        yield first.time, topic_config_value(TOPIC, "unclean.leader.election.enable", allowed)
    replicas = replica_ids(first.replicas)
    known = [directory_id(broker, generation) for broker in replicas]
    yield (
        first.time,
        partition_value(
            TOPIC_ID,
            0,
            replicas=replicas,
            isr=replica_ids(first.isr),
            leader=NO_LEADER if first.leader is None else first.leader,
            leader_epoch=first.leader_epoch or 0,
            directories=[found for found in known if found is not None],
        ),
    )


def _changed(changes: Sequence[MetadataChange], generation: Generation) -> Iterator[tuple[int | None, bytes]]:
    """A leader is named where the epoch rises; sets are named where they change."""
    recovering = False
    for before, after in pairwise(changes):
        elects = after.leader_epoch != before.leader_epoch
        state = RECOVERING if after.unclean and not recovering else 0 if elects and recovering else None
        recovering = (recovering or state == RECOVERING) and state != 0
        yield (
            after.time,
            partition_change_value(
                TOPIC_ID,
                0,
                isr=replica_ids(after.isr) if after.isr != before.isr else None,
                leader=after.leader if elects else None,
                replicas=replica_ids(after.replicas) if after.replicas != before.replicas else None,
                removing=_ids_if_new(before.removing_replicas, after.removing_replicas),
                adding=_ids_if_new(before.adding_replicas, after.adding_replicas),
                leader_recovery_state=state,
                elr=replica_ids(after.elr) if after.elr != before.elr else None,
                last_known_elr=replica_ids(after.last_known_elr)
                if after.last_known_elr != before.last_known_elr
                else None,
                version=_change_version(generation),
            ),
        )


def _ids_if_new(before: str | None, after: str | None) -> tuple[int, ...] | None:
    return None if after == before else replica_ids(after)


def _change_version(generation: Generation) -> int:
    return 2 if generation.spoken >= SUPPORTED else 1 if directory_id(0, generation) is not None else 0


def directory_id(node: int, generation: Generation) -> str | None:
    """The id of a node's only log dir; there is none before 3.7."""
    if not generation.binary.at_least(3, 7):
        return None
    return base64.urlsafe_b64encode(f"log-dir-of-{node:05d}".encode())[:22].decode()
