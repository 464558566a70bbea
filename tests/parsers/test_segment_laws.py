"""Laws of the segment reader on any bytes: parts add up, kernels agree, every byte is accounted for once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.segment import Links, chain, compiled, scan
from parsers.segment.chain import Kernel, choose_kernel
from parsers.segment.compiled import compiled_kernel
from parsers.segment.held_bytes import HeldSegment
from parsers.segment.plain_kernel import PlainKernel
from tests.lab.effort import cases
from tests.parsers.segment_logs import KERNELS, ORIGIN, SAMPLES, compiled_for_sure, damaged, everything, log_of, spans

PAGE = 4096
BIG = SAMPLES / "clean_mixed/dump/broker-1/data"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws") / "0.log"


@settings(max_examples=cases(60), deadline=None)
@given(content=damaged(), cuts=st.lists(st.integers(0, 1500), max_size=5), rows=st.integers(1, 5))
def test_parts_add_up_to_the_whole(path: Path, content: bytes, cuts: list[int], rows: int) -> None:
    path.write_bytes(content)
    assert everything(path, cuts, chunk_rows=rows) == everything(path)


@pytest.mark.slow
@settings(max_examples=cases(60), deadline=None)
@given(content=damaged())
def test_both_kernels_see_one_chain(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert everything(path, kernel=compiled_for_sure()) == everything(path, kernel=PlainKernel())


@settings(max_examples=cases(100), deadline=None)
@given(damaged(), st.integers(1, 300), st.lists(st.integers(0, 1500), max_size=3), st.booleans())
def test_what_is_held_at_once_changes_nothing(
    path: Path, content: bytes, window: int, cuts: list[int], plain: bool
) -> None:
    path.write_bytes(content)
    whole = everything(path)
    with mock.patch.object(chain, "WINDOW", window):
        assert everything(path, cuts, kernel=PlainKernel() if plain else compiled_for_sure()) == whole


@settings(max_examples=cases(60), deadline=None)
@given(damaged(), st.integers(64, 400), st.integers(1, 5))
def test_entries_are_given_with_their_bytes_and_change_nothing_else(
    path: Path, content: bytes, window: int, rows: int
) -> None:
    path.write_bytes(content)
    whole, refusals = everything(path)
    valid = [row["span_start"] for row in whole.to_pylist() if row["crc_valid"]]
    with mock.patch.object(chain, "WINDOW", window):
        chunks = [
            (chunk, [(row["span_start"], bytes(entry)) for row, entry in chunk.entries()])
            for chunk in scan(path, ORIGIN, entries=True, chunk_rows=rows, kernel=PlainKernel())
        ]
    given = [entry for _, entries in chunks for entry in entries]
    assert [row for chunk, _ in chunks for row in chunk.headers.to_pylist()] == whole.to_pylist()
    assert [refusal for chunk, _ in chunks for refusal in chunk.refusals] == refusals
    assert [start for start, _ in given] == valid
    assert [entry for start, entry in given if content[start : start + len(entry)] != entry] == []


@settings(max_examples=cases(60), deadline=None)
@given(content=damaged(), cuts=st.lists(st.integers(0, 1500), max_size=4).map(sorted))
def test_what_one_stretch_hands_on_changes_nothing_in_the_next(path: Path, content: bytes, cuts: list[int]) -> None:
    path.write_bytes(content)
    bounds = [*pairwise([0, *cuts, None])]
    links = Links()
    handed = [c for a, b in bounds for c in scan(path, ORIGIN, start=a or 0, end=b, links=links)]
    alone = [c for a, b in bounds for c in scan(path, ORIGIN, start=a or 0, end=b)]
    assert handed == alone


def test_a_stretch_is_found_where_the_one_before_it_ended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"".join(log_of(400)))
    half, links = path.stat().st_size // 2, Links()
    skipped: list[int] = []
    skip = PlainKernel.skip

    def counted(kernel: PlainKernel, segment: HeldSegment, position: int, stop: int) -> tuple[int, int]:
        skipped.append(stop - position)
        return skip(kernel, segment, position, stop)

    monkeypatch.setattr(PlainKernel, "skip", counted)
    assert [*scan(path, ORIGIN, end=half, links=links)]
    assert [*scan(path, ORIGIN, start=half, links=links)]
    assert skipped == []
    assert [*scan(path, ORIGIN, start=half)]
    assert skipped


@settings(max_examples=cases(60), deadline=None)
@given(content=damaged(), verify=st.booleans())
def test_every_byte_is_in_one_row_or_one_refusal(path: Path, content: bytes, verify: bool) -> None:
    path.write_bytes(content)
    ranges = spans(*everything(path, verify=verify))
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][: len(ranges)]
    assert (ranges[-1][1] if ranges else 0) == len(content)


@settings(max_examples=cases(30), deadline=None)
@given(content=damaged())
def test_checksums_do_not_change_the_chain(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    summed, refusals = everything(path)
    unsummed, same = everything(path, verify=False)
    assert summed.drop_columns("crc_valid") == unsummed.drop_columns("crc_valid")
    assert refusals == same


@pytest.mark.parametrize("kernel", KERNELS)
def test_forced_splits_of_a_page(path: Path, kernel: Callable[[], Kernel]) -> None:
    log = log_of(800, value=b"some value")
    log[30] = b"\xff" * 7
    log[200] = bytes(PAGE * 3)
    log[500] = log[500][:40]
    log[600] = b"\x02" * PAGE
    content = b"".join(log) + bytes(PAGE * 2)
    path.write_bytes(content)
    whole = everything(path, kernel=kernel())
    assert len(whole[1]) == 5
    assert everything(path, range(PAGE, len(content), PAGE), kernel=kernel()) == whole


def test_forced_splits_of_recorded_segments() -> None:
    largest = max(BIG.rglob("*.log"), key=lambda segment: segment.stat().st_size)
    cuts = range(PAGE, largest.stat().st_size, PAGE)
    assert len(cuts) > 1
    assert everything(largest, cuts) == everything(largest)


@pytest.mark.slow
def test_large_files_take_the_compiled_kernel() -> None:
    assert isinstance(choose_kernel(64 << 20), compiled.CompiledKernel)
    assert isinstance(choose_kernel(1 << 20), PlainKernel)


def test_a_machine_without_numba_reads_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "parsers.segment.compiled_loop", None)
    assert compiled_kernel.__wrapped__() is None


@pytest.mark.slow
def test_a_kernel_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from parsers.segment import compiled_loop

    real, asked = compiled_loop._compile, []

    def unwritable(keep: bool) -> tuple[compiled.Walk, compiled.Skip]:
        asked.append(keep)
        if keep:
            raise RuntimeError("cannot cache function: no locator available")
        return real(True)

    monkeypatch.setattr(compiled_loop, "_compile", unwritable)
    assert compiled_loop.compile_kernel() is not None
    assert asked == [True, False]
