"""The table of replicas, one line each; on a narrow page one paragraph each, so that no line is longer than it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.model import PlacedReplica, ReplicaVerdict
from auditor.report.sheet import NOT_TOLD, Sheet, between, table

HEADS: Final = (
    "replica", "broker", "log start", "log end", "LEO expected", "HW on disk", "HW expected", "last epoch", "verdict",
)  # fmt: skip
END_EXPECTED: Final = HEADS.index("LEO expected")
WHY_NOT_TOLD: Final = (
    "LEO expected is worked out from fetches, writes and loads that logs tell. It is not told where no log here tells"
    " any up to a clean shutdown, nor of the metadata log, whose fetches are not replayed."
)


def replica_table(placed: Sequence[PlacedReplica], page: Sheet) -> Iterator[str]:
    """Every replica, partition by partition."""
    if not placed:
        return
    clusters = len({item.cluster_id for item in placed}) > 1
    cells = [_row(item, clusters=clusters) for item in placed]
    yield ""
    yield from _untold(cells, page)
    heads, *rows = table(HEADS, cells, right=range(1, 8))
    if max(map(len, (heads, *rows))) > page.columns:
        yield from _paragraphs(cells, page)
        return
    yield page.paint(heads, "strong")
    for item, row in zip(placed, rows, strict=True):
        words = row.removesuffix(item.replica.verdict)
        yield words + page.paint(item.replica.verdict, item.replica.verdict)


def _untold(cells: Sequence[Sequence[str]], page: Sheet) -> Iterator[str]:
    """Why a log end that a replica must have had is not told."""
    if any(cell[END_EXPECTED] == NOT_TOLD for cell in cells):
        yield from page.wrapped(WHY_NOT_TOLD, 0, "faint")


def _paragraphs(cells: Sequence[Sequence[str]], page: Sheet) -> Iterator[str]:
    """The same cells, each under its head's name."""
    yield page.paint("replicas", "strong")
    for name, broker, *numbers, verdict in cells:
        words = ", ".join(f"{head} {number}" for head, number in zip(HEADS[2:-1], numbers, strict=True))
        yield from page.wrapped(f"{name} broker {broker} {verdict}: {words}", 0, "", 2)


def log_end(replica: ReplicaVerdict) -> str:
    """Where the log ends, as far as its segments here tell."""
    if replica.end_known:
        return str(replica.log_end_offset)
    return "unknown" if replica.uncopied else f"{replica.log_end_offset} or more"


def _row(item: PlacedReplica, *, clusters: bool) -> tuple[str, ...]:
    replica = item.replica
    cluster = f"{item.cluster_id or 'unknown cluster'}/" if clusters else ""
    return (
        f"{cluster}{item.topic}-{item.partition}",
        str(replica.broker),
        "unknown" if replica.uncopied else str(replica.log_start_offset),
        log_end(replica),
        between(replica.expected_end_low, replica.expected_end_high),
        "none" if replica.high_watermark_on_disk is None else str(replica.high_watermark_on_disk),
        between(replica.expected_low, replica.expected_high),
        str(replica.epochs[-1].epoch) if replica.epochs else "none",
        replica.verdict,
    )
