"""Names of an archive's members as paths below a folder; one that would leave the folder, or is odd, is refused."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Final, NoReturn

from auditor.archives.limits import DEPTH, NAME_BYTES, PATH_BYTES

FIRST_PRINTABLE: Final = 0x20
DELETE: Final = 0x7F
Refuse = Callable[[str], NoReturn]


def steps_of(name: str, refuse: Refuse) -> tuple[str, ...]:
    """The folders and the last name of a member; nothing for the archive's own root."""
    _require_plain(name, refuse)
    steps = tuple(step for step in name.split("/") if step not in ("", "."))
    if ".." in steps:
        refuse(f"its member {name!r} leaves the archive")
    if len(steps) > DEPTH:
        refuse(f"its member {_shortened(name)} lies deeper than {DEPTH} folders")
    if any(len(step.encode(errors="surrogateescape")) > NAME_BYTES for step in steps):
        refuse(f"its member {_shortened(name)} has a name of more than {NAME_BYTES} bytes")
    return steps


def require_link_inside(name: str, steps: tuple[str, ...], target: str, refuse: Refuse) -> None:
    """A symbolic link leads to a path below the same folder, by its words."""
    _require_plain(target, refuse)
    place = posixpath.normpath("/".join((*steps[:-1], target)))
    if place.split("/")[0] == "..":
        refuse(f"its member {name!r} is a link that leaves the archive, to {target!r}")


def _require_plain(name: str, refuse: Refuse) -> None:
    if not name:
        refuse("one of its members has no name")
    if len(name.encode(errors="surrogateescape")) > PATH_BYTES:
        refuse(f"its member {_shortened(name)} has a path of more than {PATH_BYTES} bytes")
    if name.startswith("/"):
        refuse(f"its member {name!r} has an absolute path")
    if any(ord(character) < FIRST_PRINTABLE or ord(character) == DELETE for character in name):
        refuse(f"its member {name!r} has control characters in its name")


def _shortened(name: str) -> str:
    return repr(f"{name[:60]}…")
