"""The compiled loop itself, in the part of Python that numba turns into machine code.

This module imports numba; only `compiled.compiled_kernel` loads it, and only for files that are worth it.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import llvmlite.binding
import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from parsers.segment.columns import HeaderColumns, Skip, Walk, empty_columns
from parsers.segment.entry_header import INT64_MAX, MAX_LENGTH
from parsers.segment.held_bytes import HEADER_ROOM

CRC_SYMBOL: Final = "tidemark_crc32c_extend"
"""Name under which compiled code finds `crc32c_extend`; were it an address, the code could not be kept on disk."""

Function = TypeVar("Function", bound=Callable[..., Any])

_crc32c_extend: Any = types.ExternalFunction(CRC_SYMBOL, types.uint32(types.uint32, types.int64, types.uint64))


def _compiled(function: Function) -> Function:
    """Marks a function for the compiler, and leaves its type as it reads."""
    return cast("Function", numba.njit(function))


def _big_endian(bits: int) -> Any:
    """An intrinsic that reads a signed big-endian integer of `bits` at an address, aligned or not."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(bits)
        value = builder.load(builder.inttoptr(arguments[0], word.as_pointer()), align=1)
        value = builder.bswap(value) if bits > 8 else value
        return value if bits == 64 else builder.sext(value, ir.IntType(64))

    def read(_typing_context: Any, _address: Any) -> Any:
        return types.int64(types.int64), codegen

    return intrinsic(read)


_read8, _read16, _read32, _read64 = (_big_endian(bits) for bits in (8, 16, 32, 64))


@_compiled
def _fits(address: int, size: int, position: int) -> int:
    if position + 26 > size:
        return 0
    magic = _read8(address + position + 16)
    length = _read32(address + position + 8)
    minimum = 49 if magic == 2 else 22 if magic == 1 else 14
    if magic < 0 or magic > 2 or length < minimum or length > MAX_LENGTH:
        return 0
    end = position + 12 + length
    return end if end <= size else 0


@_compiled
def _sane_v2(at: int) -> bool:
    base, delta, count = _read64(at), _read32(at + 23), _read32(at + 57)
    attributes = _read16(at + 21)
    sane: bool = (
        base >= 0
        and _read32(at + 12) >= -1
        and 0 <= attributes <= 0x7F
        and attributes & 7 <= 4
        and 0 <= delta <= INT64_MAX - base
        and 0 <= count <= delta + 1
        and _read64(at + 43) >= -1
        and _read16(at + 51) >= -1
        and _read32(at + 53) >= -1
    )
    return sane


@_compiled
def _exact_legacy(at: int, size: int) -> bool:
    attributes = _read8(at + 17)
    if _read64(at) < 0 or attributes < 0 or attributes > 0x0F or attributes & 7 > 3:
        return False
    key_at = 18 if _read8(at + 16) == 0 else 26
    key_length = _read32(at + key_at)
    value_at = key_at + 4 + max(key_length, 0)
    if key_length < -1 or value_at + 4 > size:
        return False
    value_length = _read32(at + value_at)
    exact: bool = value_length >= -1 and value_at + 4 + max(value_length, 0) == size
    return exact


@_compiled
def _plausible(address: int, size: int, held: int, position: int) -> int:
    """End of the entry; 0 where it is none, -1 where what is held does not tell."""
    if held < size and position + HEADER_ROOM > held:
        return -1
    end = _fits(address, size, position)
    if end == 0:
        return 0
    at = address + position
    if end > held and _read8(at + 16) != 2:
        return -1
    sane = _sane_v2(at) if _read8(at + 16) == 2 else _exact_legacy(at, end - position)
    return end if sane else 0


@_compiled
def _sound(address: int, size: int, held: int, position: int) -> int:
    end = _plausible(address, size, held, position)
    if end != 0:
        return end
    end = _fits(address, size, position)
    if end in (0, size):
        return end
    following = _plausible(address, size, held, end)
    return end if following > 0 else following


@_compiled
def _fill_v2(at: int, columns: HeaderColumns, row: int) -> None:
    base, delta = _read64(at), _read32(at + 23)
    columns.base_offset[row] = base
    # A sum beyond what an offset can be stays at the highest or the lowest one.
    columns.last_offset[row] = max(min(base, INT64_MAX - max(delta, 0)), -INT64_MAX - 1 - min(delta, 0)) + delta
    columns.leader_epoch[row] = _read32(at + 12)
    columns.crc[row] = _read32(at + 17) & 0xFFFFFFFF
    columns.attributes[row] = _read16(at + 21)
    columns.base_timestamp[row] = _read64(at + 27)
    columns.max_timestamp[row] = _read64(at + 35)
    columns.producer_id[row] = _read64(at + 43)
    columns.producer_epoch[row] = _read16(at + 51)
    columns.base_sequence[row] = _read32(at + 53)
    columns.record_count[row] = _read32(at + 57)


def _walk(  # noqa: PLR0917 - compiled code is called by position
    address: int, size: int, held: int, position: int, stop: int, columns: HeaderColumns, row: int, verify: bool
) -> tuple[int, int]:
    """Rows of magic 2 are filled whole; of older ones only place, size and magic. It ends where more must be held."""
    room = len(columns.span_start)
    while position < stop and row < room:
        end = _sound(address, size, held, position)
        if end <= 0 or (verify and end > held):
            break
        at = address + position
        magic = _read8(at + 16)
        columns.span_start[row] = position
        columns.size[row] = end - position
        columns.magic[row] = magic
        if magic == 2:
            _fill_v2(at, columns, row)
            if verify:
                computed = _crc32c_extend(0, at + 21, end - position - 21)
                columns.crc_valid[row] = computed == _read32(at + 17) & 0xFFFFFFFF
        row += 1
        position = end
    return row, position


def _skip(address: int, size: int, held: int, position: int, stop: int) -> tuple[int, int]:
    previous = -1
    while position < stop:
        end = _sound(address, size, held, position)
        if end <= 0:
            break
        previous, position = position, end
    return previous, position


def compile_kernel() -> tuple[Walk, Skip] | None:
    """The two loops, compiled or loaded from where they were kept; None where that cannot be done here."""
    address = _crc32c_address()
    if address is None:
        return None
    llvmlite.binding.add_symbol(CRC_SYMBOL, address)
    # Without a writable place to keep the code, compiling anew costs about a second; that must not end a run.
    for keep in (True, False):
        try:
            return _compile(keep)
        except (RuntimeError, OSError):
            continue
    return None


def _compile(keep: bool) -> tuple[Walk, Skip]:
    i64: Any = types.int64
    pair = types.UniTuple(i64, 2)  # type: ignore[no-untyped-call]
    columns = numba.typeof(empty_columns(1))  # type: ignore[no-untyped-call]
    walk = numba.njit(pair(i64, i64, i64, i64, i64, columns, i64, types.boolean), cache=keep, nogil=True)(_walk)
    skip = numba.njit(pair(i64, i64, i64, i64, i64), cache=keep, nogil=True)(_skip)
    return walk, skip


def _crc32c_address() -> int | None:
    """Address of libcrc32c's function, found through the extension module that links to it."""
    try:
        extension = importlib.import_module("google_crc32c._crc32c")
        function = ctypes.CDLL(extension.__file__).crc32c_extend
    except (ImportError, OSError, AttributeError):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value
