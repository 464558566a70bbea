"""The pictures of the page in docs/, taken anew in a real browser: `python -m tests.page_pictures`."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.report.formats import rendered
from tests.lab.chromium import Browser, browser, found
from tests.lab.sample_reports import report_on

ROOT: Final = Path(__file__).resolve().parents[1]
WIDTH: Final = 1080
TALL: Final = 9000
"""The whole page at once: a browser paints only what is in sight."""
MARGIN: Final = 10
LATE: Final = ".finding-card, .partition figure"
"""Painted when they come into sight, which a picture of all does not wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A part of the page of one recorded incident."""

    name: str
    case: str
    first: str
    last: str
    """Selectors of the elements at which the picture begins and ends."""
    dark: bool = False


SHOTS: Final = (
    Shot(name="report-overview.png", case="fast_failover_kip101", first="header", last="#overview .cards > figure"),
    Shot(
        name="report-over-time.png", case="unclean_4x", first="#p1 .replicas + h4", last="#p1-table0", dark=True
    ),
)  # fmt: skip


def taken(tab: Browser, shot: Shot, folder: Path) -> bytes:
    """One picture as PNG."""
    page = folder / "page.html"
    page.write_text(rendered("html", report_on(ROOT / "sample_logs" / shot.case)), encoding="utf-8")
    tab.seen(width=WIDTH, height=TALL, dark=shot.dark)
    tab.open(page)
    tab.ask(f"document.querySelectorAll('{LATE}').forEach((each) => {{ each.style.contentVisibility = 'visible'; }})")
    tab.ask("new Promise((done) => setTimeout(done, 500))")
    top = tab.ask(f"document.querySelector('{shot.first}').getBoundingClientRect().top + scrollY")
    bottom = tab.ask(f"document.querySelector('{shot.last}').getBoundingClientRect().bottom + scrollY")
    top = max(0, top - MARGIN)
    return tab.shot({"x": 0, "y": top, "width": WIDTH, "height": bottom + MARGIN - top})


def main() -> int:
    """Write them."""
    program = found()
    if program is None:
        sys.stderr.write("no chromium here\n")
        return 2
    with browser(program) as tab, tempfile.TemporaryDirectory() as folder:
        for shot in SHOTS:
            (ROOT / "docs" / shot.name).write_bytes(taken(tab, shot, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
