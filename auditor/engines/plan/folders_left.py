"""Folders with replicas of which no unit reads anything, so that nobody calls their disks absent."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.inventory import Inventory, parse_file_name
from parsers.tables import Refusal
from rules.replicas.unread_copies import Unread, UnreadCopies, UnreadCopy

Place = tuple[str, int]
UNLISTED = "a folder that can be listed"


def unread_copies(inventory: Inventory, cluster: str | None) -> UnreadCopies:
    """What was left out of a cluster: copies that claim to be one, log dirs of nobody, folders that were refused."""
    claimed: dict[tuple[Place, int | None], list[str]] = {}
    for replica in inventory.replicas:
        origin = replica.origin
        left_out = replica.ambiguous or origin.broker is None
        if origin.cluster_id == cluster and replica.state == "current" and left_out and origin.topic is not None:
            place = origin.topic, -1 if origin.partition is None else origin.partition
            claimed.setdefault((place, origin.broker), []).append(replica.path)
    by_partition: dict[Place, tuple[UnreadCopy, ...]] = {}
    for (place, broker), paths in claimed.items():
        because: Unread = "unknown broker" if broker is None else "claimed twice"
        copy = UnreadCopy(broker=broker, paths=tuple(paths), because=because)
        by_partition[place] = (*by_partition.get(place, ()), copy)
    refused = tuple(_refused_folders(inventory))
    anywhere = (UnreadCopy(broker=None, paths=refused, because="not listed"),) if refused else ()
    return UnreadCopies(by_partition=by_partition, anywhere=anywhere)


def _refused_folders(inventory: Inventory) -> Iterator[str]:
    """Folders that may be log dirs for all that is known of them; what a replica's own folder lacks its judge says."""
    replicas = {replica.path for replica in inventory.replicas}
    for refusal in inventory.refusals:
        if may_hold_replicas(refusal) and refusal.source not in replicas:
            yield refusal.source


def may_hold_replicas(refusal: Refusal) -> bool:
    """Whether it is about a folder that may be a log dir, or hold some."""
    name = refusal.source.rpartition("/")[2]
    leads_out = refusal.kind == "escapes_dump" and parse_file_name(name).kind == "unknown"
    return leads_out or (refusal.kind == "unreadable" and refusal.expected == UNLISTED)
