"""Hashes of keys and groups against the Java client's answers, and each against its columnwise twin."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.narrow.key_tallies import hashed
from rules.protocol.partitioning import PARTITIONERS, fnv1a, group_partition, murmur2
from tests.rules.protocol.client_vectors import vectors


@pytest.mark.parametrize(("case", "answer"), vectors("murmur2"))
def test_murmur2_is_the_java_clients(case: str, answer: str) -> None:
    assert murmur2(bytes.fromhex(case.split(" ")[1])) == int(answer)


@pytest.mark.parametrize(("case", "answer"), vectors("group"))
def test_a_group_is_kept_where_the_java_client_says(case: str, answer: str) -> None:
    _, name, count = case.split(" ")
    assert group_partition(name, int(count)) == int(answer)


@pytest.mark.parametrize(("key", "digest"), [(b"kafka", 0xD33C4E1), (b"giberish123456789", 0x77A58295)])
def test_fnv1a_is_librdkafkas(key: bytes, digest: int) -> None:
    assert fnv1a(key) == digest


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_columns_of_keys_hash_as_single_keys_do(keys: list[bytes]) -> None:
    found = hashed(keys)
    assert {name: own.tolist() for name, own in found.items()} == {
        name: [hash_of(key) for key in keys] for name, hash_of in PARTITIONERS.items()
    }
    assert found["crc32"].tolist() == [zlib.crc32(key) for key in keys]
