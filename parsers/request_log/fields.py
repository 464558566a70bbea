"""Reading fields out of a parsed request: the names drift by release, the widths are Kafka's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

Struct: TypeAlias = Mapping[str, object]

# The lowest 64-bit number stands for nothing where values travel in columns; no field of Kafka's holds it.
_I64: Final = (1 << 63) - 1
_I32: Final = 1 << 31
_I16: Final = 1 << 15


_NOBODY: Final = object()
"""Stands for a name that a struct lacks: a client may give a field any text for a name."""
_SHAPES: Final = 256
"""Sets of names that are remembered; releases have a few."""


class WrongShape(ValueError):
    """A request whose fields are not what its API has."""


class Numbers:
    """Several numbers of a struct at once, each under the first of its names that is there.

    Which names those are is found out once for all structs that have the same names.
    """

    __slots__ = ("_bounds", "_firsts", "_kept", "_names")

    def __init__(self, *fields: tuple[int, tuple[str, ...]]) -> None:
        self._bounds = tuple(min(1 << bits - 1, _I64) for bits, _ in fields)
        self._names = tuple(names for _, names in fields)
        self._firsts = tuple(names[0] for names in self._names)
        self._kept: dict[tuple[str, ...], tuple[object, ...]] = {}

    def of(self, struct: Struct) -> tuple[int | None, ...]:
        """The numbers of a struct; null where it has none of the names."""
        names = tuple(struct)
        values = tuple(map(cast("Any", struct).get, self._kept.get(names) or self._found(names)))
        for value, bound, first in zip(values, self._bounds, self._firsts, strict=True):
            if value is not None and not (type(value) is int and -bound <= value < bound):
                raise WrongShape(f"a number for {first}")
        return values

    def _found(self, shape: tuple[str, ...]) -> tuple[object, ...]:
        names = tuple(next((name for name in names if name in shape), _NOBODY) for names in self._names)
        if len(self._kept) < _SHAPES:
            self._kept[shape] = names
        return names


def i64(struct: Struct, *names: str) -> int | None:
    """A 64-bit number under the first of the names that is there."""
    return _integer(struct, names, _I64)


def i32(struct: Struct, *names: str) -> int | None:
    """A 32-bit number under the first of the names that is there."""
    return _integer(struct, names, _I32)


def i16(struct: Struct, *names: str) -> int | None:
    """A 16-bit number under the first of the names that is there."""
    return _integer(struct, names, _I16)


def _integer(struct: Struct, names: tuple[str, ...], bound: int) -> int | None:
    for name in names:
        if name in struct:
            value = struct[name]
            if value is None or (type(value) is int and -bound <= value < bound):
                return value
            raise WrongShape(f"a number for {names[0]}")
    return None


def flag(struct: Struct, *names: str) -> bool | None:
    """A true/false value under the first of the names that is there."""
    value = _first(struct, names)
    if value is None or isinstance(value, bool):
        return value
    raise WrongShape(f"true or false for {names[0]}")


def text(struct: Struct, name: str, *others: str) -> str | None:
    """A text under the first of the names that is there; bytes that were no UTF-8 stand escaped in it."""
    value = struct.get(name)
    if value is None and others and name not in struct:
        value = _first(struct, others)
    if isinstance(value, str):
        return printable(value)
    if value is None:
        return None
    raise WrongShape(f"a text for {name}")


def printable(value: str) -> str:
    """A text that can be encoded; what was no UTF-8 in the file stands escaped."""
    if value.isascii():
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError as error:
        raise WrongShape("a text without lone surrogates") from error


def partition_number(struct: Struct, *names: str) -> int:
    """The partition number, which every partition of a request has."""
    value = _integer(struct, names, _I32)
    if value is None or value < 0:
        raise WrongShape(f"a partition number for {names[0]}")
    return value


def struct_at(struct: Struct, name: str) -> Struct | None:
    """A nested struct."""
    value = struct.get(name)
    if value is None or isinstance(value, dict):
        return value
    raise WrongShape(f"a struct for {name}")


def structs(struct: Struct, name: str, *others: str) -> Sequence[Struct]:
    """A list of structs under the first of the names that is there; none where it is missing or null."""
    value = struct.get(name)
    if value is None and others and name not in struct:
        value = _first(struct, others)
    if value is None:
        return ()
    if isinstance(value, list) and set(map(type, value)) <= {dict}:
        return value
    raise WrongShape(f"a list of structs for {name}")


def integers(struct: Struct, *names: str) -> tuple[int, ...] | None:
    """A list of 32-bit numbers under the first of the names that is there; null where it is missing."""
    value = _first(struct, names)
    if value is None:
        return None
    if value == []:
        return ()
    if isinstance(value, list) and set(map(type, value)) == {int} and min(value) >= -_I32 and max(value) < _I32:
        return tuple(value)
    raise WrongShape(f"a list of numbers for {names[0]}")


def _first(struct: Struct, names: tuple[str, ...]) -> object:
    for name in names:
        if name in struct:
            return struct[name]
    return None
