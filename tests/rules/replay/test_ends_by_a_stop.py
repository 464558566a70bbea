"""Where a lead ended, by the disk that its leader left: only where nothing can have befallen its log in between."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.settings import BROKER_STATE, STARTED, STOPPED, Setting, settings_of
from rules.sketch.notation import read_sketch
from tests.replaced import replace

LED = "t1 leads 1 epoch 0 at 0 hw 0 isr 1,2\nt2 fetch 2@4 from 1 hw=0\n"
SPAN = Span(source="broker-1/logs/server.log", start=0, end=1)
START = Setting(
    name=BROKER_STATE, value=STARTED, origin="log", broker=1, since=1, clock="broker 1", span=SPAN
)  # fmt: skip
STOP = replace(START, value=STOPPED, since=20, span=replace(SPAN, start=2, end=3))


@pytest.mark.parametrize(
    ("disks", "stop", "end"),
    [
        ("broker 1 0000|\nbroker 2 0000|", (START, STOP), 4),
        ("broker 1 0000|\nbroker 2 0000|", (START,), None),
        ("broker 1 00001|\nbroker 2 00001|", (START, STOP), None),
        ("broker 1 00|\nbroker 2 001|", (START, STOP), None),
    ],
)
def test_the_disk_tells_the_end_where_no_newer_epoch_is_seen_and_its_log_reaches_the_stop(
    disks: str, stop: tuple[Setting, ...], end: int | None
) -> None:
    """A leader of which a newer epoch is seen may have followed since, and may have cut its log."""
    drawn = replace(read_sketch(f"{disks}\n{LED}").evidence, settings=settings_of(stop))
    assert [course.lead.end_offset for course in drawn.replayed.courses] == [end]
