"""Names of an archive's members as paths below a folder; one that would leave the folder, or is odd, is refused."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Final, NoReturn

from auditor.archives.limits import DEPTH, NAME_BYTES, PATH_BYTES

FIRST_PRINTABLE: Final = 0x20
DELETE: Final = 0x7F
SHOWN: Final = 60
Refuse = Callable[[str], NoReturn]


def steps_of(name: str, refuse: Refuse) -> tuple[str, ...]:
    """The folders and the last name of a member; nothing for the archive's own root."""
    return _steps(name, f"its member {_shortened(name)}", refuse)


def target_of(name: str, target: str, refuse: Refuse) -> tuple[str, ...]:
    """The same of the member that a hard link repeats."""
    return _steps(target, _linking(name, target), refuse)


def require_link_inside(name: str, steps: tuple[str, ...], target: str, refuse: Refuse) -> None:
    """A symbolic link leads to a path below the same folder, by its words."""
    _require_plain(target, _linking(name, target), refuse)
    place = posixpath.normpath("/".join((*steps[:-1], target)))
    if place.split("/")[0] == "..":
        refuse(f"its member {name!r} is a link that leaves the archive, to {target!r}")


def _steps(path: str, said: str, refuse: Refuse) -> tuple[str, ...]:
    _require_plain(path, said, refuse)
    steps = tuple(step for step in path.split("/") if step not in ("", "."))
    if ".." in steps:
        refuse(f"{said} leaves the archive")
    if len(steps) > DEPTH:
        refuse(f"{said} lies deeper than {DEPTH} folders")
    if any(len(step.encode(errors="surrogateescape")) > NAME_BYTES for step in steps):
        refuse(f"{said} has a name of more than {NAME_BYTES} bytes")
    return steps


def _linking(name: str, target: str) -> str:
    """How a refusal begins that is about what a link leads to: people look for the member."""
    return f"its member {_shortened(name)} is a link to {_shortened(target)}, which"


def _require_plain(path: str, said: str, refuse: Refuse) -> None:
    if not path:
        refuse("one of its members has no name, or leads nowhere")
    if len(path.encode(errors="surrogateescape")) > PATH_BYTES:
        refuse(f"{said} has a path of more than {PATH_BYTES} bytes")
    if path.startswith("/"):
        refuse(f"{said} has an absolute path")
    if any(ord(character) < FIRST_PRINTABLE or ord(character) == DELETE for character in path):
        refuse(f"{said} has control characters in its name")


def _shortened(name: str) -> str:
    return repr(name if len(name) <= SHOWN else f"{name[:SHOWN]}…")
