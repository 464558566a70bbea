"""The drawn plan of the house is that of the code, and every room says what it is for."""

from __future__ import annotations

import pytest

from tests.house_plan import FLOORS, PAGE, circles, page, standing_on


def test_the_plan_is_of_the_house_as_it_stands() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "draw it anew: python -m tests.house_plan"


def test_every_room_says_what_it_is_for() -> None:
    assert [line for line in page().splitlines() if line.startswith("| `") and line.split("|")[2].strip() == ""] == []


@pytest.mark.parametrize("floor", [floor for floor, _ in FLOORS])
def test_no_room_stands_on_itself_by_way_of_others(floor: str) -> None:
    assert list(circles(standing_on(floor))) == []


def test_a_circle_of_rooms_is_seen() -> None:
    assert list(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()})) == ["b", "c"]
