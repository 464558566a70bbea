"""Files of one log that begin in the same millisecond stand in the order in which rotation names them."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.history.moments import ordered
from rules.history.rotated import FileOrder
from rules.history.statements import Fetched
from rules.replay.leading.log_order import in_log_order
from tests.replaced import replace

LOG = "broker-3/logs/kafka-request.log"
ANSWER = Fetched(
    kind="fetched", clock="broker 3", time=1000, witness=3, broker=1, leader=3, high_watermark=10,
    span=Span(source=LOG, start=0, end=9),
)  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [
        (f"{LOG}.10", f"{LOG}.9", f"{LOG}.1", LOG),
        (f"{LOG}.4.gz", f"{LOG}.3", LOG),
        (f"{LOG}.2026-11-22-18", f"{LOG}.2026-11-22-19.gz", LOG),
    ],
)
def test_files_that_begin_in_one_millisecond_are_told_apart_by_their_names(names: tuple[str, ...]) -> None:
    files = FileOrder((name, 1000) for name in names)
    places = [files.place(name) for name in names]
    assert places == sorted(places)


def test_rotated_files_sort_oldest_first() -> None:
    names = [
        "server.log",
        "server.log.1",
        "server.log.2.gz",
        "server.log.2026-11-21-05",
        "server-2026-11-20.log.gz",
        "server.log.10",
    ]
    ordered_names = sorted(names, key=FileOrder((name, 1000) for name in names).place)
    assert ordered_names.index("server.log") == len(names) - 1
    assert ordered_names.index("server.log.10") < ordered_names.index("server.log.2.gz")
    assert ordered_names.index("server.log.2.gz") < ordered_names.index("server.log.1")
    assert ordered_names.index("server-2026-11-20.log.gz") < ordered_names.index("server.log.2026-11-21-05")


def test_times_outweigh_names() -> None:
    files = FileOrder([(f"{LOG}.1", 1000), (f"{LOG}.2", 2000)])
    assert files.place(f"{LOG}.1") < files.place(f"{LOG}.2")


def test_answers_of_one_millisecond_stand_in_the_order_of_the_files_that_rotation_cut() -> None:
    before = replace(ANSWER, high_watermark=357, span=Span(source=f"{LOG}.4", start=5000, end=5009))
    after = replace(ANSWER, high_watermark=359, span=Span(source=f"{LOG}.3", start=10, end=19))
    assert [row for row, _ in in_log_order((after, before))] == [before, after]
    assert ordered((after, before)) == (before, after)
