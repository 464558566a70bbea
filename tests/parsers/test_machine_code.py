"""Compiled loops: kept on disk under what they were made of, and started only where that is worth it."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

from parsers.machine_code import is_kept, keep_compiled
from parsers.worth_compiling import Worth

MODULES = ("test_machine_code.py",)
NUMBER = numba.types.int64


def _doubled(number: int) -> int:
    return number + number


def test_code_is_found_where_it_was_kept_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert not is_kept(_doubled, MODULES)
    made = keep_compiled(_doubled, NUMBER(NUMBER), MODULES)
    assert made is not None
    assert made(21) == 42
    assert is_kept(_doubled, MODULES)
    assert not is_kept(_doubled, ("none_of_these.py",))


def test_kept_loops_are_loaded_soon_and_others_made_when_there_is_much_to_read() -> None:
    worth = Worth(load=10, make=100)
    assert not worth.after(9, lambda: True)
    assert not worth.after(2, lambda: False)
    assert worth.after(1, lambda: True)
    assert worth.after(88, lambda: False)


def test_what_is_short_is_read_plainly_whatever_came_before() -> None:
    worth = Worth(load=10, make=100, least=10)
    assert worth.after(200, lambda: False)
    assert not worth.after(9, lambda: True)


def test_nobody_looks_for_kept_loops_before_they_could_be_worth_it() -> None:
    def asked() -> bool:
        raise AssertionError("numba was loaded for a small log")

    assert not Worth(load=10, make=100).after(5, asked)
