"""The file that a section of the text speaks of, as its name and folder tell."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import Origin, ReplicaState

_FOLDER: Final = re.compile(r"(?P<name>.+?)(?:\.[0-9a-f]{32}-(?P<state>future|delete|stray))?")
_PARTITION: Final = re.compile(r"(?P<topic>.+)-(?P<partition>\d{1,9})")
_FILE: Final = re.compile(r"(?P<base>\d{1,20})(?:-\d{1,10})?(?P<suffix>\..*)")
_STATES: Final[dict[str, ReplicaState]] = {"future": "future", "delete": "deleted", "stray": "stray"}


class DumpedFile(Struct, frozen=True, kw_only=True):
    """What `Dumping <path>` says: topic, partition and base offset, each null where the path does not tell."""

    path: str
    topic: str | None
    partition: int | None
    base_offset: int | None
    suffix: str
    state: ReplicaState = "current"

    def place(self, origin: Origin) -> Origin:
        """The origin of the section's rows: the text's own, with the replica that the path names."""
        if self.topic is None:
            return origin
        return replace(origin, topic=self.topic, partition=self.partition, state=self.state)


def dumped_file(path: str) -> DumpedFile:
    """Read a path as printed, with slashes of either kind; the topic ends at the folder's last dash."""
    parts = re.split(r"[/\\]", path)
    named = _FILE.fullmatch(parts[-1])
    folder = _FOLDER.fullmatch(parts[-2]) if len(parts) > 1 else None
    split = _PARTITION.fullmatch(folder["name"]) if folder else None
    base = int(named["base"]) if named else None
    return DumpedFile(
        path=path,
        topic=split["topic"] if split else None,
        partition=int(split["partition"]) if split and int(split["partition"]) < 1 << 31 else None,
        base_offset=base if base is not None and base < 1 << 63 else None,
        suffix=named["suffix"] if named else "." + parts[-1].rpartition(".")[2],
        state=_STATES.get(folder["state"] or "", "current") if folder and split else "current",
    )
