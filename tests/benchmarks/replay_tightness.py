"""How tight the replay's intervals are: of recorded clusters and of random walks of the model, by release.

`python -m tests.benchmarks.replay_tightness --markdown` prints docs/tightness.md, of the recordings alone; without the
option it prints two tables. The first one is of the high watermarks that leaders
told: how many there are, how many lie between two bounds, the share of those that is known exactly, their mean and
median width; and of the leaders themselves: at what share of their answers their own high watermark is known exactly.
The second one says, over all of them, what keeps an answer's interval from being exact: how often, and by how many
offsets its bound misses what was told.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import mean, median
from typing import Final

from rules.evidence import METADATA_TOPIC, LeaderRow, Replay, ToldWatermark
from tests.lab.sample_histories import SAMPLES, histories
from tests.models.oracle import VERSIONS
from tests.models.witnessed import moments_of, replayed, witnessed

WALKS = 40
READ_EARLIER: Final = "low: the answer was made at some time since its asker's former one"
IN_FLIGHT: Final = "low: a counted follower's next fetch may have been applied or not"
BATCH_END: Final = "low: where the acknowledged batch ends is not told"
BEGINNING: Final = "low: what the leader held when its term or its process began is not told"
AHEAD: Final = "high: a follower in sync may have asked for more already"
OPEN: Final = "high: nobody is surely in sync, or requests are missing"


def line(name: str, replays: Sequence[Replay]) -> str:
    """One row of the first table."""
    told = [t.expected.interval.width for found in replays for t in found.told_watermarks if t.by_leader]
    held = [row.high_watermark.interval.width for found in replays for c in found.courses for row in c.rows]
    closed = [width for width in told if width is not None]
    known = f"{sum(width == 0 for width in held) / len(held):7.0%}" if held else ""
    if not closed:
        return f"{name:26} {len(told):6} {0:7} {'':7} {'':7} {'':7} {known}"
    exact = sum(width == 0 for width in closed) / len(closed)
    return f"{name:26} {len(told):6} {len(closed):7} {exact:7.0%} {mean(closed):7.2f} {median(closed):7.1f} {known}"


HEAD: Final = """# How tight the replay is

The recordings under `sample_logs/` hold high watermarks that leaders told followers and consumers. The replay says of
each what it must have been, without looking at any that anybody told. All that were told lie between the bounds.
Bounded are those of which the evidence sets both sides, exact those of which both are the same offset; widths are in
offsets. `python -m tests.benchmarks.replay_tightness --markdown` writes this page, and a test holds it.

| recording | told | bounded | exact | of those bounded | mean width | median width |
|---|--:|--:|--:|--:|--:|--:|"""


def markdown_line(name: str, replays: Sequence[Replay]) -> str:
    """One row of the page."""
    told = [t.expected.interval.width for found in replays for t in found.told_watermarks if t.by_leader]
    closed = [width for width in told if width is not None]
    exact = sum(width == 0 for width in closed)
    share, wide, middle = (exact / len(closed), mean(closed), median(closed)) if closed else (0.0, 0.0, 0.0)
    return f"| {name} | {len(told)} | {len(closed)} | {exact} | {share:.0%} | {wide:.2f} | {middle:.1f} |"


def cases() -> list[str]:
    """The recordings of which the truth is known."""
    return sorted(path.parent.name for path in SAMPLES.glob("*/truth.json"))


def page() -> str:
    """docs/tightness.md."""
    replays = {case: recorded(case) for case in cases()}
    lines = [markdown_line(case, found) for case, found in replays.items() if any(r.told_watermarks for r in found)]
    together = markdown_line("all", [replay for found in replays.values() for replay in found])
    return "\n".join((HEAD, *lines, together, ""))


def reasons(replays: Iterable[Replay]) -> Iterator[tuple[str, int]]:
    """Why each bound that misses a told high watermark does, and by how much."""
    for found in replays:
        rows = {id(row.moment): row for course in found.courses for row in course.rows if not row.last}
        for told in found.told_watermarks:
            if told.by_leader and told.observed is not None:
                yield from _reasons(told, told.observed, rows[id(told.moment)])


def _reasons(told: ToldWatermark, observed: int, row: LeaderRow) -> Iterator[tuple[str, int]]:
    low, high, now = told.expected.low, told.expected.high, row.high_watermark.low
    if high is None:
        yield OPEN, 0
    elif high.offset > observed:
        yield AHEAD, high.offset - observed
    if low is None or low.offset >= observed:
        return
    missed = observed - low.offset
    if now is not None and now.offset >= observed:
        yield READ_EARLIER, missed
    elif "asked for" in low.because:
        yield IN_FLIGHT, missed
    else:
        yield BATCH_END if "acknowledged" in low.because else BEGINNING, missed


def recorded(case: str) -> list[Replay]:
    """The replays of one recording's partitions."""
    return [found.replayed for found in histories(case).values() if found.topic != METADATA_TOPIC]


def walked(number: int) -> list[Replay]:
    """The replays of a release's walks."""
    walks = (witnessed(VERSIONS[number], seed, 60, 3) for seed in range(WALKS))
    return [replayed(found, moments_of(found)) for found in walks]


def main() -> None:
    """Print the page, or the tables."""
    if "--markdown" in sys.argv:
        sys.stdout.write(page())
        return
    print(f"{'':26} {'told':>6} {'bounded':>7} {'exact':>7} {'mean':>7} {'median':>7} {'leaders exact':>7}")
    of_clusters: Counter[str] = Counter()
    of_walks: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for case in cases():
        found = recorded(case)
        print(line(case, found))
        for reason, offsets in reasons(found):
            of_clusters[reason] += 1
            missed[reason] += offsets
    for number, version in enumerate(VERSIONS):
        found = walked(number)
        print(line(f"walks of {version.name}", found))
        of_walks.update(reason for reason, _ in reasons(found))
    print(f"\n{'why not exact':72} {'recorded':>8} {'offsets':>8} {'walks':>6}")
    for reason in (READ_EARLIER, IN_FLIGHT, BATCH_END, BEGINNING, AHEAD, OPEN):
        print(f"{reason:72} {of_clusters[reason]:8} {missed[reason]:8} {of_walks[reason]:6}")


if __name__ == "__main__":
    main()
