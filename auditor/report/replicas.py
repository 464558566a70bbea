"""The table of replicas: all of a small dump, the troubled ones of a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from auditor.report.layout import Page, counted, table
from auditor.report.model import PlacedReplica

ALL_SHOWN: Final = 24
"""Up to so many replicas every one is listed."""
MOST_SHOWN: Final = 200
GONE: Final = ("deleted", "stray")
HEADS: Final = (
    "replica", "broker", "log start", "log end", "LEO expected", "HW on disk", "HW expected", "last epoch", "verdict",
)  # fmt: skip


def replica_table(placed: Sequence[PlacedReplica], page: Page, *, verbose: bool) -> Iterator[str]:
    """One line a replica, partition by partition; what is not listed is counted."""
    if not placed:
        return
    shown = list(placed) if verbose else _shown(placed)
    if shown:
        clusters = len({item.cluster_id for item in placed}) > 1
        heads, *rows = table(HEADS, [_row(item, clusters=clusters) for item in shown], right=range(1, 8))
        yield ""
        yield page.paint(heads, "strong")
        for item, row in zip(shown, rows, strict=True):
            words = row.removesuffix(item.replica.verdict)
            yield words + page.paint(item.replica.verdict, item.replica.verdict)
    yield from _summary(placed, shown, page)


def _shown(placed: Sequence[PlacedReplica]) -> list[PlacedReplica]:
    living = [item for item in placed if item.replica.state not in GONE]
    if len(living) <= ALL_SHOWN:
        return living
    troubled: list[PlacedReplica] = []
    for _, group in groupby(living, key=_partition):
        own = list(group)
        if any(_in_trouble(item) for item in own):
            troubled += own
    return troubled[:MOST_SHOWN]


def _partition(item: PlacedReplica) -> tuple[str | None, str, int]:
    return item.cluster_id, item.topic, item.partition


def _in_trouble(item: PlacedReplica) -> bool:
    return item.replica.verdict not in ("sound", item.replica.state)


def _row(item: PlacedReplica, *, clusters: bool) -> tuple[str, ...]:
    replica = item.replica
    cluster = f"{item.cluster_id or 'unknown cluster'}/" if clusters else ""
    return (
        f"{cluster}{item.topic}-{item.partition}",
        str(replica.broker),
        str(replica.log_start_offset),
        str(replica.log_end_offset),
        _span(replica.expected_end_low, replica.expected_end_high),
        "none" if replica.high_watermark_on_disk is None else str(replica.high_watermark_on_disk),
        _span(replica.expected_low, replica.expected_high),
        str(replica.epochs[-1].epoch) if replica.epochs else "none",
        replica.verdict,
    )


def _span(low: int | None, high: int | None) -> str:
    """What is known of an offset; a question mark where nothing bounds it."""
    if low is None and high is None:
        return "?"
    return str(low) if low == high else f"{'?' if low is None else low}..{'?' if high is None else high}"


def _summary(placed: Sequence[PlacedReplica], shown: Sequence[PlacedReplica], page: Page) -> Iterator[str]:
    gone = [item for item in placed if item.replica.state in GONE]
    rest = len(placed) - len(shown) - (len(gone) if gone and not _lists(shown, gone) else 0)
    troubled = sum(_in_trouble(item) for item in placed) - sum(_in_trouble(item) for item in shown)
    parts = []
    if rest > 0:
        state = "sound" if troubled <= 0 else f"{troubled} of them in trouble"
        parts.append(f"{counted(rest, 'replica')} {'more' if shown else 'in all'}, {state}")
    if gone and not _lists(shown, gone):
        parts.append(f"{len(gone)} deleted or stray")
    if parts:
        yield ""
        yield page.paint(f"{'; '.join(parts)} (-v lists every replica)", "faint")


def _lists(shown: Sequence[PlacedReplica], gone: Sequence[PlacedReplica]) -> bool:
    return gone[0] in shown
