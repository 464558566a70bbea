"""Numbers in texts that anybody may have written: what is none is None, and nothing raises."""

from __future__ import annotations

import pytest

from rules.protocol.numbers import MOST_DIGITS, whole_number


@pytest.mark.parametrize("text", [None, "", "²", "٣", "-1", "1.5", " 2", "9" * (MOST_DIGITS + 1), "1" * 5000])
def test_what_is_no_number_of_a_setting_is_none(text: str | None) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("2", 2), ("9" * MOST_DIGITS, 10**MOST_DIGITS - 1)])
def test_a_number_of_a_setting(text: str, number: int) -> None:
    assert whole_number(text) == number
