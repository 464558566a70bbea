"""How tight the replay's intervals are: of recorded clusters and of random walks of the model, by release.

`python -m tests.benchmarks.replay_tightness` prints, of the high watermarks that leaders told: how many there are, how
many lie between two bounds, the share of those that is known exactly, and their mean and median width.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean, median

from rules.evidence import METADATA_TOPIC
from tests.lab.sample_histories import SAMPLES, histories
from tests.models.oracle import VERSIONS
from tests.models.witnessed import moments_of, replayed, widths, witnessed

WALKS = 40


def line(name: str, known: Iterable[int | None]) -> str:
    """One row of the table."""
    told = list(known)
    closed = [width for width in told if width is not None]
    if not closed:
        return f"{name:26} {len(told):6} {0:7}"
    exact = sum(width == 0 for width in closed) / len(closed)
    return f"{name:26} {len(told):6} {len(closed):7} {exact:7.0%} {mean(closed):7.2f} {median(closed):7.1f}"


def recorded(case: str) -> list[int | None]:
    """Widths of one recording's intervals."""
    found = [evidence for evidence in histories(case).values() if evidence.topic != METADATA_TOPIC]
    return [t.expected.interval.width for evidence in found for t in evidence.replayed.told if t.by_leader]


def walked(number: int) -> list[int | None]:
    """Widths of the intervals of a release's walks."""
    walks = [witnessed(VERSIONS[number], seed, 60, 3) for seed in range(WALKS)]
    return [width for found in walks for width in widths(replayed(found, moments_of(found)))]


def main() -> None:
    """Print the table."""
    print(f"{'':26} {'told':>6} {'bounded':>7} {'exact':>7} {'mean':>7} {'median':>7}")
    for case in sorted(path.parent.name for path in SAMPLES.glob("*/truth.json")):
        print(line(case, recorded(case)))
    for number, version in enumerate(VERSIONS):
        print(line(f"walks of {version.name}", walked(number)))


if __name__ == "__main__":
    main()
