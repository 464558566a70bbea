"""What holds of every input: what a reader gives fits its tables, points into its file and can be printed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, structs

from parsers.refusal import FOUND_LIMIT
from parsers.tables import TABLES, Refusal, to_arrow
from tests.hostile.targets import Target

_ROWS: Final = frozenset(TABLES.values())
_GZIP: Final = b"\x1f\x8b"


class Broken(AssertionError):
    """A law that does not hold."""


def fed(target: Target, content: bytes, folder: Path) -> None:
    """Feed an input to a reader.

    Raises:
        Broken: where what it gives breaks a law; whatever else is raised is the reader's own fault.
    """
    told = list(target.read(content, folder))
    if not target.spans:
        return
    by_class: dict[type, list[Any]] = {}
    for row in rows_in(told):
        by_class.setdefault(type(row), []).append(row)
    for row_class, rows in by_class.items():
        to_arrow(rows, row_class)
        if not content.startswith(_GZIP):
            _spans_lie_inside(rows, len(content))
    for refusal in by_class.get(Refusal, ()):
        _can_be_printed(refusal)


def rows_in(told: Iterable[object]) -> Iterator[Any]:
    """Every row of a table and every refusal in what a reader gave."""
    pending: list[object] = list(told)
    while pending:
        value = pending.pop()
        if type(value) in _ROWS:
            yield value
        elif isinstance(value, tuple | list):
            pending.extend(value)
        elif dataclasses.is_dataclass(value):
            pending.extend(getattr(value, field.name) for field in dataclasses.fields(value))
        elif isinstance(value, Struct):
            pending.extend(structs.astuple(value))


def _spans_lie_inside(rows: Iterable[Any], size: int) -> None:
    for row in rows:
        if not 0 <= row.span_start <= row.span_end <= size:
            raise Broken(f"a {type(row).__name__} points at [{row.span_start}, {row.span_end}) of {size} bytes")


def _can_be_printed(refusal: Refusal) -> None:
    # A byte that cannot be printed is shown in four characters.
    if len(refusal.found) > 4 * FOUND_LIMIT + 4 or not refusal.found.isprintable():
        raise Broken(f"a refusal of {refusal.kind} shows what it found unescaped or at length")
    if not refusal.expected or len(refusal.expected) > 10 * FOUND_LIMIT or not refusal.expected.isprintable():
        raise Broken(f"a refusal of {refusal.kind} says badly what was due")
