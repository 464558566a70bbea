"""Words on the page stand out from their ground as WCAG asks of small text, in the light and in the dark."""

from __future__ import annotations

import re

import pytest

from tests.auditor.dumps_at_hand import SAMPLES

STYLES = SAMPLES.parent / "auditor/report/html/templates/pictures.css"
WRITTEN_IN = (
    "ink", "soft", "link", "critical", "high", "medium", "low", "info", "undecided", "sound", "lost", "owed", "saved",
)  # fmt: skip
LEAST = 4.5


def themes() -> list[dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\n *\}", STYLES.read_text(encoding="utf-8"), re.DOTALL)
    return [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})\b", block)) for block in blocks]


def luminance(color: str) -> float:
    parts = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", WRITTEN_IN)
@pytest.mark.parametrize("ground", ["paper", "sheet"])
def test_a_colour_in_which_words_are_written_stands_out(theme: int, name: str, ground: str) -> None:
    colors = themes()[theme]
    dark, light = sorted(map(luminance, (colors[name], colors[ground])))
    assert (light + 0.05) / (dark + 0.05) >= LEAST
