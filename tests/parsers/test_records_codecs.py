"""Codecs: every framing that Kafka's clients write, what Kafka rejects, and bombs within bounded memory."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.records.codecs import decompress
from parsers.records.undecodable import Undecodable
from tests.lab.effort import cases
from tests.parsers.test_records_bytes import lz4, xerial, zstd

LIMIT = 1 << 20
TEXT = b"".join(b"record %d " % number for number in range(20_000))


def unpack(codec: int, data: bytes, *, magic: int = 2, limit: int = LIMIT) -> bytes:
    return decompress(codec, memoryview(data), magic=magic, limit=limit)


def kind(codec: int, data: bytes, *, magic: int = 2, limit: int = LIMIT) -> str:
    with pytest.raises(Undecodable) as caught:
        unpack(codec, data, magic=magic, limit=limit)
    return caught.value.kind


def outcome(codec: int, data: bytes, magic: int) -> str:
    try:
        size = len(unpack(codec, data, magic=magic))
    except Undecodable as stop:
        return stop.kind
    return "read" if size <= LIMIT else f"{size} bytes"


def lz4_by_library(data: bytes, **options: bool) -> bytes:
    stream = cramjam.lz4.Compressor(**options)
    stream.compress(data)
    return bytes(stream.finish())


FRAMINGS: list[tuple[str, int, bytes]] = [
    ("gzip", 1, gzip.compress(TEXT)),
    ("gzip members", 1, b"".join(gzip.compress(TEXT[at : at + 7]) for at in range(0, len(TEXT), 7))),
    ("snappy xerial", 2, xerial(TEXT)),
    ("snappy raw", 2, bytes(cramjam.snappy.compress_raw(TEXT))),
    ("snappy concatenated", 2, xerial(TEXT[:50_000]) + xerial(TEXT[50_000:])),
    ("snappy header between chunks", 2, xerial(TEXT, header_between=True)),
    ("lz4", 3, lz4(TEXT)),
    ("lz4 without end mark", 3, lz4(TEXT, end=b"")),
    ("lz4 with content checksum", 3, lz4_by_library(TEXT, content_checksum=True, block_linked=False)),
    ("zstd", 4, zstd(TEXT)),
    ("zstd with content size", 4, bytes(cramjam.zstd.compress(TEXT))),
    ("zstd frames", 4, zstd(TEXT[:9]) + zstd(TEXT[9:])),
    ("zstd skippable frame", 4, b"\x5a\x2a\x4d\x18\x03\0\0\0abc" + zstd(TEXT)),
]


@pytest.mark.parametrize(("codec", "packed"), [item[1:] for item in FRAMINGS], ids=[item[0] for item in FRAMINGS])
def test_every_framing_is_read_and_bounded(codec: int, packed: bytes) -> None:
    assert unpack(codec, packed) == TEXT
    assert unpack(codec, packed, limit=len(TEXT)) == TEXT
    assert kind(codec, packed, limit=len(TEXT) - 1) == "too_large"


@pytest.mark.parametrize(("codec", "packed"), [item[1:] for item in FRAMINGS], ids=[item[0] for item in FRAMINGS])
def test_a_stream_cut_inside_its_data_is_refused(codec: int, packed: bytes) -> None:
    assert kind(codec, packed[: len(packed) * 2 // 3 + 1]) == "undecodable"
    assert kind(codec, packed[:5]) == "undecodable"


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_bytes_after_the_stream_are_refused(codec: int) -> None:
    packed = {1: gzip.compress(TEXT), 2: xerial(TEXT), 3: lz4(TEXT), 4: zstd(TEXT)}[codec]
    assert kind(codec, packed + b"\x01garbage") == "undecodable"
    assert kind(codec, b"") == "undecodable"


def test_magic_0_gets_the_lz4_header_checksum_wrong_and_is_read() -> None:
    packed = lz4(TEXT, checksum=0x1A)
    assert unpack(3, packed, magic=0) == TEXT
    assert unpack(3, lz4(TEXT), magic=0) == TEXT
    assert kind(3, packed, magic=1) == kind(3, packed, magic=2) == "undecodable"


def test_linked_lz4_blocks_are_refused_as_in_kafka() -> None:
    with pytest.raises(Undecodable, match="independent"):
        unpack(3, lz4_by_library(TEXT, block_linked=True))


def lz4_with_size(stated: int) -> bytes:
    descriptor = b"\x68\x40" + struct.pack("<Q", stated)
    plain = b"\x04\x22\x4d\x18" + descriptor
    for checksum in range(256):
        packed = plain + bytes([checksum]) + struct.pack("<I", 0x80000003) + b"abc" + b"\0\0\0\0"
        try:
            cramjam.lz4.decompress(plain + bytes([checksum]) + b"\0\0\0\0")
        except cramjam.DecompressionError as error:
            if "header" in str(error).lower():
                continue
        return packed
    raise AssertionError("no checksum fits")


def test_lz4_content_size_must_hold() -> None:
    assert unpack(3, lz4_with_size(3)) == b"abc"
    assert kind(3, lz4_with_size(4)) == "undecodable"


def test_lz4_content_checksum_must_hold() -> None:
    packed = bytearray(lz4_by_library(b"abc", content_checksum=True, block_linked=False))
    packed[-1] ^= 1
    assert kind(3, bytes(packed)) == "undecodable"


def test_a_snappy_size_that_its_bytes_cannot_hold() -> None:
    assert kind(2, b"\x80\x80\x04" + b"\0ab") == "undecodable"
    assert kind(2, b"\xff\xff\xff\xff\x0f" + b"\0ab") == "too_large"


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_many_empty_parts_stay_linear_and_empty(codec: int) -> None:
    part = {
        1: gzip.compress(b""),
        2: struct.pack(">i", 1) + b"\0",
        3: struct.pack("<I", 0x80000001) + b"x",
        4: zstd(b""),
    }[codec]
    start = {1: b"", 2: xerial(b"")[:16], 3: lz4(b"", end=b""), 4: b""}[codec]
    assert unpack(codec, start + part * 20_000) == (b"x" * 20_000 if codec == 3 else b"")


BOMBS = """
import resource, struct, sys, zlib
from parsers.provenance import Origin
from parsers.records import decode_entry
from tests.parsers.test_records_bytes import lz4, raw_batch, xerial
import cramjam
mega = 1 << 20
packer = zlib.compressobj(9, wbits=31)
start = packer.compress(b"a") + packer.flush(zlib.Z_FULL_FLUSH)
gzip_bomb = start + (packer.compress(b"\\0" * 16 * mega) + packer.flush(zlib.Z_FULL_FLUSH)) * 64
def repeated(last):
    return struct.pack("<I", 131072 << 3 | 2 | last)[:3] + b"\\0"
zstd_bomb = b"\\x28\\xb5\\x2f\\xfd\\x00\\x58" + repeated(0) * 32768 + repeated(1)
snappy_chunk = bytes(cramjam.snappy.compress_raw(b"\\0" * 16 * mega))
snappy_bomb = xerial(b"")[:16] + (struct.pack(">i", len(snappy_chunk)) + snappy_chunk) * 64
lz4_block = bytes(cramjam.lz4.compress_block(b"\\0" * 65536, store_size=False))
lz4_bomb = lz4(b"", end=b"") + (struct.pack("<I", len(lz4_block)) + lz4_block) * 16384
bombs = {1: gzip_bomb, 2: snappy_bomb, 3: lz4_bomb, 4: zstd_bomb}
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 512 * mega, used + 512 * mega))
for codec, bomb in bombs.items():
    entry = raw_batch(bomb, count=1, attributes=codec)
    kinds = [refusal.kind for refusal in decode_entry(entry, Origin(source="x"), 0).refusals]
    assert kinds == ["too_large"], (codec, kinds)
print("bounded")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to bound a process")
def test_bombs_of_a_gigabyte_and_more_are_refused_within_bounded_memory() -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", BOMBS],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "bounded\n", run.stderr


@settings(max_examples=cases(80), deadline=None)
@given(data=st.data(), packed=st.sampled_from([item[1:] for item in FRAMINGS[2:]]), magic=st.integers(0, 2))
def test_no_mutated_stream_raises_anything_else(data: st.DataObject, packed: tuple[int, bytes], magic: int) -> None:
    codec, stream = packed[0], bytearray(packed[1])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, min(len(stream) - 1, 64)) | st.integers(0, len(stream) - 1))
        stream[at] = data.draw(st.integers(0, 255))
    assert outcome(codec, bytes(stream), magic) in ("read", "undecodable", "too_large")


@settings(max_examples=cases(100), deadline=None)
@given(noise=st.binary(max_size=64), codec=st.integers(1, 7), magic=st.integers(0, 2))
def test_noise_behind_a_true_beginning(noise: bytes, codec: int, magic: int) -> None:
    for start in (b"", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18\x60\x40\x82", xerial(b"")[:16], zlib.compress(b"")[:2]):
        assert outcome(codec, start + noise, magic) in ("read", "undecodable", "too_large")
