"""Changes of bytes that know what they change: numbers, lines, brackets and encodings of texts, fields of batches."""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import google_crc32c

LARGEST: Final = 1 << 18
"""Bytes of an input; more of the same shows nothing else."""

NUMBERS: Final = (
    b"0", b"1", b"-1", b"2", b"7", b"-0", b"+5", b"00", b"127", b"128", b"32767", b"32768", b"65536",
    b"2147483647", b"2147483648", b"-2147483648", b"-2147483649", b"4294967296", b"9223372036854775806",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809",
    b"18446744073709551615", b"1" + b"0" * 30, b"9" * 400, b"9" * 5000, b"1_000", b"0x10", b"1e9", b"1.5", b"-1e400",
    b"NaN", b"Infinity", b"true", b"null", b"\xc2\xb2", b"\xd9\xa3", b"\xef\xbc\x91", b"", b" ", b"1 2", b"1,2", b"1,,2", b"1,x",
)  # fmt: skip
"""Numbers at the edges of their types, and what only looks like a number."""
INTEGERS: Final = (0, 1, 2, -1, -2, 60, 61, 127, 128, 255, 1 << 15, (1 << 15) - 1, (1 << 31) - 1, 1 << 31, -(1 << 31),
                   1 << 32, (1 << 63) - 1, -(1 << 63), (1 << 62), 49, 12)  # fmt: skip
ODD_TEXTS: Final = (
    b"\0", b"\r", b"\r\n", b"\n\n", b"\t", b"\x1b[31m", b"\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xef\xbb\xbf",
    b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xcc\x81" * 40, b"\\", b"\\u", b"\\u12", b"\\n",
    b'"', b"'", b'""', b'"\n"', b"{", b"}", b"[", b"]", b"(", b")", b"=", b":", b",", b";", b"#", b"%", b"%s", b"$", b"|",
    b"<", b"&", b"../", b"/", b"//", b"~", b"*", b"\xf0\x9f\x92\xa9", b"A" * 300, b"A" * 132_000,
)  # fmt: skip
"""Characters by which readers, terminals and documents have been misled."""
_NUMBER: Final = re.compile(rb"-?\d+")
_WORD: Final = re.compile(rb"[\w.\-]+")
_LENGTHS: Final = (1, 1, 2, 3, 4, 8, 16, 61, 100, 1000)
FIELDS: Final = (
    (0, ">q"), (8, ">i"), (12, ">i"), (16, ">b"), (17, ">I"), (21, ">h"), (23, ">i"), (27, ">q"), (35, ">q"), (43, ">q"),
    (51, ">h"), (53, ">i"), (57, ">i"),
)  # fmt: skip
"""Where the fields of a batch of magic 2 stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What is known of a format: whether it is text, whether it is batches, and the words that it is made of."""

    text: bool
    batches: bool = False
    packed: bool = False
    """Whether files of it may be compressed as a whole."""
    words: tuple[bytes, ...] = ()


Change = Callable[[Random, bytes, Grammar, "Sequence[bytes]"], bytes]


def mutated(random: Random, seed: bytes, grammar: Grammar, others: Sequence[bytes]) -> bytes:
    """A seed changed in one to five ways; `others` are further inputs of the format."""
    content = seed
    changes = _changes(grammar)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        content = random.choice(changes)(random, content, grammar, others)[:LARGEST]
    if grammar.packed and random.random() < 0.03:
        packed = gzip.compress(content, 1)
        content = packed if random.random() < 0.5 else mutated_bytes(random, packed)
    return content


def mutated_bytes(random: Random, content: bytes) -> bytes:
    """A few changes that know nothing of any format."""
    for _ in range(random.randint(1, 4)):
        content = random.choice(_ANY)(random, content, _PLAIN, ())
    return content


def batches_of(content: bytes) -> Iterator[tuple[int, int]]:
    """Where entries begin and end, by their stated lengths, up to the first that cannot be."""
    start = 0
    while start + 17 <= len(content):
        length = int.from_bytes(content[start + 8 : start + 12], "big", signed=True)
        end = start + 12 + length
        if length <= 0 or end > len(content):
            return
        yield start, end
        start = end


def summed(batch: bytes) -> bytes:
    """A batch of magic 2 with the checksum that its bytes give."""
    if len(batch) <= 21 or batch[16] != 2:
        return batch
    return batch[:17] + struct.pack(">I", google_crc32c.value(batch[21:])) + batch[21:]


# --- any bytes --------------------------------------------------------------------------------------------------------


def _place(random: Random, content: bytes) -> tuple[int, int]:
    start = random.randint(0, len(content))
    return start, min(len(content), start + random.choice(_LENGTHS))


def _flip(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    if not content:
        return content
    at = random.randrange(len(content))
    return content[:at] + bytes((content[at] ^ 1 << random.randrange(8),)) + content[at + 1 :]


def _overwrite(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    start, end = _place(random, content)
    filling = random.choice((bytes(end - start), b"\xff" * (end - start), random.randbytes(end - start)))
    return content[:start] + filling + content[end:]


def _cut_out(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    start, end = _place(random, content)
    return content[:start] + content[end:]


def _cut_off(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    return content[: random.randint(0, len(content))]


def _insert(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(content))
    return content[:at] + random.randbytes(random.choice(_LENGTHS)) + content[at:]


def _repeat(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    start, end = _place(random, content)
    times = random.choice((2, 2, 3, 50))
    return content[:start] + content[start:end] * times + content[end:]


def _exchange(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    first, second = sorted((_place(random, content), _place(random, content)))
    if first[1] > second[0]:
        return content
    (a, b), (c, d) = first, second
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _splice(random: Random, content: bytes, _grammar: Grammar, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    start, end = _place(random, other)
    end = random.choice((end, len(other)))
    at, behind = _place(random, content)
    return content[:at] + other[start:end] + content[behind:]


def _number_of_bytes(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    width = random.choice((1, 2, 4, 4, 8))
    if len(content) < width:
        return content
    at = random.randint(0, len(content) - width)
    value = random.choice((*INTEGERS, len(content), len(content) - at)) % (1 << 8 * width)
    return content[:at] + value.to_bytes(width, "big") + content[at + width :]


def _varint(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(content))
    value, coded = random.choice(INTEGERS) & ((1 << 64) - 1), bytearray()
    while value >= 128:
        coded.append(value & 127 | 128)
        value >>= 7
    coded.append(value)
    return content[:at] + bytes(coded) + content[at + random.choice((0, 1, len(coded))) :]


# --- texts ------------------------------------------------------------------------------------------------------------


def _lines(random: Random, content: bytes, _grammar: Grammar, others: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case 3:
            lines[at] = lines[at].rstrip(b"\r\n")
        case 4:
            strange = (random.choice(others) if others else content).splitlines(keepends=True)
            lines.insert(to, random.choice(strange) if strange else b"\n")
        case _:
            lines[at:at] = [lines[at]] * random.choice((10, 200))
    return b"".join(lines)


def _replaced(random: Random, content: bytes, pattern: re.Pattern[bytes], words: Sequence[bytes]) -> bytes:
    found = list(pattern.finditer(content))
    if not found or not words:
        return content
    match = random.choice(found)
    return content[: match.start()] + random.choice(words) + content[match.end() :]


def _number(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    return _replaced(random, content, _NUMBER, NUMBERS)


def _near_number(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    found = [match for match in _NUMBER.finditer(content) if len(match[0]) < 20]
    if not found:
        return content
    match = random.choice(found)
    value = int(match[0]) + random.choice((-1, 1, -10, 10, 1 << 31))
    return content[: match.start()] + b"%d" % value + content[match.end() :]


def _word(random: Random, content: bytes, grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    return _replaced(random, content, _WORD, grammar.words or ODD_TEXTS)


def _odd_text(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(content))
    return content[:at] + random.choice(ODD_TEXTS) + content[at:]


def _token(random: Random, content: bytes, grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(content))
    return content[:at] + random.choice(grammar.words or ODD_TEXTS) + content[at:]


def _nested(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    start, end = _place(random, content)
    opening, closing = random.choice(
        ((b"[", b"]"), (b"{", b"}"), (b'{"a":', b"}"), (b"(", b")"), (b"FetchData(", b")"))
    )
    depth = random.choice((1, 3, 70, 5000))
    return content[:start] + opening * depth + content[start:end] + closing * depth + content[end:]


def _encoded(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    match random.randrange(5):
        case 0:
            return content.replace(b"\n", b"\r\n")
        case 1:
            return content.replace(b"\n", b"\r")
        case 2:
            return b"\xef\xbb\xbf" + content
        case 3:
            return content.decode("latin-1").encode("utf-16")
        case _:
            return content.rstrip(b"\n")


# --- batches ----------------------------------------------------------------------------------------------------------


def _field(random: Random, content: bytes, _grammar: Grammar, _others: Sequence[bytes]) -> bytes:
    """A field of a batch header; half the time with the checksum that then holds."""
    found = list(batches_of(content))
    if not found:
        return content
    start, end = random.choice(found)
    at, form = random.choice(FIELDS)
    width = struct.calcsize(form)
    batch = bytearray(content[start:end])
    own = int.from_bytes(batch[at : at + width], "big")
    value = random.choice((*INTEGERS, own + 1, own - 1, own ^ 1 << random.randrange(8 * width)))
    batch[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "big")
    told = summed(bytes(batch)) if random.random() < 0.5 else bytes(batch)
    return content[:start] + told[: len(batch)] + content[end:]


def _inside(random: Random, content: bytes, grammar: Grammar, others: Sequence[bytes]) -> bytes:
    """The records of a batch changed, its length and checksum made to fit: what only decoding can tell."""
    found = list(batches_of(content))
    if not found:
        return content
    start, end = random.choice(found)
    batch = content[start:end]
    if len(batch) <= 61:
        return content
    body = random.choice(_ANY)(random, batch[61:], grammar, [other[61:] for other in others[:3]])
    batch = batch[:61] + body
    batch = batch[:8] + struct.pack(">i", len(batch) - 12) + batch[12:]
    return content[:start] + summed(batch) + content[end:]


def _batches(random: Random, content: bytes, _grammar: Grammar, others: Sequence[bytes]) -> bytes:
    pieces = [content[start:end] for start, end in batches_of(content)]
    if not pieces:
        return content
    rest = content[sum(map(len, pieces)) :]
    at, to = random.randrange(len(pieces)), random.randrange(len(pieces))
    match random.randrange(4):
        case 0:
            del pieces[at]
        case 1:
            pieces.insert(to, pieces[at])
        case 2:
            pieces[at], pieces[to] = pieces[to], pieces[at]
        case _:
            strange = random.choice(others) if others else content
            found = list(batches_of(strange))
            if found:
                start, end = random.choice(found)
                pieces.insert(to, strange[start:end])
    return b"".join(pieces) + rest


_PLAIN: Final = Grammar(text=False)
_ANY: Final[tuple[Change, ...]] = (
    _flip, _overwrite, _cut_out, _cut_off, _insert, _repeat, _exchange, _splice, _number_of_bytes, _varint,
)  # fmt: skip
_TEXT: Final[tuple[Change, ...]] = (
    _flip, _cut_out, _cut_off, _repeat, _exchange, _splice, _lines, _lines, _number, _number, _number, _near_number,
    _near_number, _word, _word, _odd_text, _odd_text, _token, _nested, _encoded,
)  # fmt: skip
_BATCHES: Final[tuple[Change, ...]] = (*_ANY, *(_field,) * 6, *(_inside,) * 6, *(_batches,) * 3)


def _changes(grammar: Grammar) -> tuple[Change, ...]:
    return _TEXT if grammar.text else _BATCHES if grammar.batches else _ANY
