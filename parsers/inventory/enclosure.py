"""Several folders as one dump: the root that encloses them, and where each lies under it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Final

from parsers.files import found_at, is_inside, printable
from parsers.inventory.file_names import IN_REPLICAS, broker_of_word, is_archive, parse_file_name, parse_replica_name

BROKER_ABOVE: Final = 4
"""Folders above a partition's in which its broker's name may stand: log dir, data, broker, and one to spare."""


HOME: Final = "a folder named after its partition, in one named after its broker, such as broker-1/TOPIC-0"
"""Where a file of a replica says by its place whose it is."""


class NotADump(ValueError):
    """Folders that cannot be read together; the text says why."""


def enclose(given: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """The root of one folder as it is; of several the one that encloses them all, and their places under it.

    A file of a replica stands for its folder: what lies beside it is of the same log.
    """
    if not given:
        raise NotADump("expected a folder that holds brokers' log dirs, found none")
    placed = [(place, _of_replica(place.absolute())) for place in given]
    homes = dict.fromkeys(home for _, home in placed if home is not None)
    folders = [*homes, *(place for place, home in placed if home is None)]
    for folder in folders:
        found = found_at(folder)
        if found != "a folder":
            raise NotADump(f"{folder}: expected a folder that holds brokers' log dirs, {_instead(folder, found)}")
    if len(folders) == 1:
        return _around_partition(folders[0]) or (folders[0], ())
    places = [os.path.realpath(folder) for folder in folders]
    _refuse_nested(list(zip(folders, places, strict=True)))
    root = os.path.commonpath(places)
    parts = (Path(os.path.relpath(place, root)).parts for place in places)
    return Path(root), tuple(sorted("/".join(map(printable, names)) for names in parts))


def _of_replica(place: Path) -> Path | None:
    """The partition's folder in which a segment, an index or an epoch file lies; null where it is none."""
    of_replica = parse_file_name(place.name).kind in IN_REPLICAS and parse_replica_name(place.parent.name) is not None
    return place.parent if of_replica and found_at(place) == "a regular file" else None


def _instead(place: Path, found: str) -> str:
    """What was given in a folder's place, and what to give where that can be told."""
    if found != "a regular file":
        return found if found[0].isupper() else f"found {found}; check how the path is spelled"
    if is_archive(place.name):
        return "found a file: an archive, which is to be unpacked first"
    kind = parse_file_name(place.name).kind
    if kind in IN_REPLICAS:
        return f"found a file, which does not say whose log it is; put it into {HOME}, and give that folder"
    return "found a file; give its folder, or an archive (.tar, .tar.gz, .tar.zst, .zip)"


def _around_partition(folder: Path) -> tuple[Path, tuple[str, ...]] | None:
    """A partition's folder as a part of its broker's: of the nearest folder named after one, or of its log dir."""
    place = Path(os.path.realpath(folder))
    if parse_replica_name(place.name) is None or not _holds_a_log(place):
        return None
    around = place.parents[:BROKER_ABOVE]
    home = next((above for above in around if broker_of_word(above.name) is not None), place.parent)
    return home, ("/".join(map(printable, place.relative_to(home).parts)),)


def _holds_a_log(place: Path) -> bool:
    try:
        return any(parse_file_name(name).kind in IN_REPLICAS for name in os.listdir(place))
    except OSError:
        return False


def _refuse_nested(placed: Sequence[tuple[Path, str]]) -> None:
    """A folder read twice would be compared with itself."""
    for (first, place), (second, other) in combinations(placed, 2):
        if place == other:
            raise NotADump(f"{first} and {second} are the same folder; give each folder once")
        if is_inside(place, other) or is_inside(other, place):
            inner, outer = (first, second) if is_inside(place, other) else (second, first)
            raise NotADump(f"{inner} lies inside {outer}; give the outer one alone, or folders beside each other")
