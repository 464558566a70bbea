"""The copies of each cluster's metadata log: every controller and broker keeps one, with its own start and end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from auditor.engines.plan.pieces import Piece, whole
from parsers.checkpoints import read_quorum_state
from parsers.files import read_source
from parsers.inventory import Inventory, ReplicaDir, plain_segments
from parsers.provenance import Source
from parsers.tables import Refusal
from rules.evidence import METADATA_TOPIC


class MetadataCopies(Struct, frozen=True, kw_only=True):
    """All copies of one cluster's metadata log, the largest first."""

    largest: ReplicaDir
    pieces: tuple[Piece, ...]
    """Segments and snapshots, copy by copy."""
    voters: tuple[str, ...]
    """Folders of the copies that voters of the quorum kept: brokers stop reading when they stop."""
    owners: tuple[tuple[str, int | None], ...]
    """Whose each copy's folder is."""


def metadata_copies(
    dump: str, inventory: Inventory, folders: Mapping[str, Sequence[Source]]
) -> Iterator[MetadataCopies]:
    """The copies of each cluster, those of ambiguous replicas left out."""
    copies = [r for r in inventory.replicas if r.origin.topic == METADATA_TOPIC and not r.ambiguous]

    def size(replica: ReplicaDir) -> int:
        return sum(file.size for file in folders.get(replica.path, ()) if file.kind == "segment" and not file.suffix)

    for cluster in sorted({replica.origin.cluster_id for replica in copies}, key=repr):
        own = [replica for replica in copies if replica.origin.cluster_id == cluster]
        own.sort(key=lambda replica: (size(replica), replica.path), reverse=True)
        files = [file for copy in own for file in _log_and_snapshots(folders.get(copy.path, ()))]
        yield MetadataCopies(
            largest=own[0],
            pieces=tuple(map(whole, files)),
            owners=tuple((copy.path, copy.origin.broker) for copy in own),
            voters=tuple(copy.path for copy in own if _votes(dump, copy, folders.get(copy.path, ()))),
        )


def _log_and_snapshots(files: Sequence[Source]) -> Iterator[Source]:
    """A copy's segments, and the snapshots that stand for what was deleted before them."""
    yield from plain_segments(files).segments
    yield from (file for file in files if file.kind == "kraft-snapshot" and not file.suffix)


def _votes(dump: str, copy: ReplicaDir, files: Sequence[Source]) -> bool:
    """Whether the node of a copy is one of the voters that its quorum-state names, or leads them."""
    state = next((file for file in files if file.kind == "quorum-state" and not file.suffix), None)
    content = None if state is None else read_source(dump, state.origin)
    if state is None or content is None or isinstance(content, Refusal):
        return False
    quorum = read_quorum_state(content, state.origin)
    return copy.origin.broker is not None and copy.origin.broker in (*quorum.current_voters, quorum.leader_id)
