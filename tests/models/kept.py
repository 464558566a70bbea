"""The violations that the search found, made short and kept as scripts.

`python -m tests.models.kept` searches anew and writes them; the tests run each to its end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

from tests.models.oracle import VERSIONS, Version
from tests.models.search import SPOKEN, WORLDS, named, shrunk, walk

FOUND: Final = Path(__file__).parents[2] / "sample_logs" / "textbook" / "found"
BROKEN: Final = {
    ("0.10.2.2", 2): ("WeakIsr", "StrongIsr", "LogMatching", "MonotonicEpoch", "ConsistentCommittedData"),
    ("1.1.1", 2): ("WeakIsr", "StrongIsr", "MonotonicEpoch"),
    ("1.1.1", 3): ("LogMatching",),
    ("2.0.1", 2): ("WeakIsr", "StrongIsr", "MonotonicEpoch", "FirstNonMatchingOffsetFromTail"),
    ("2.0.1", 3): ("LogMatching",),
    ("3.2.0", 3): ("LogMatching",),
}
"""What generations break, and with how many replicas: those without fencing, and those that KAFKA-14704 concerns."""


def version_named(name: str) -> Version:
    """The version of that name."""
    return next(version for version in VERSIONS if version.name == name)


def path_of(name: str, invariant: str) -> Path:
    """Where the script of a violation stands."""
    return FOUND / f"{invariant.lower()}-{name}.yaml"


def search(name: str, replicas: int, wanted: tuple[str, ...], seeds: range) -> dict[str, list[str]]:
    """The shortest scripts that some searches came to."""
    best: dict[str, list[str]] = {}
    version = version_named(name)
    for seed in seeds:
        found = walk(version, WORLDS[2 if version.fenced else 0], seed=seed, steps=20_000, replicas=replicas).found
        for invariant in wanted:
            if invariant in found:
                script = shrunk(version, replicas, found[invariant], invariant)
                best[invariant] = min(best.get(invariant, script), script, key=len)
    return best


def write(name: str, replicas: int, invariant: str, lines: list[str]) -> None:
    """Keep a violation as a script that `simulate` runs."""
    script = {
        "title": f"{invariant} broken by Kafka {name}, found by search",
        "about": f"{len(lines)} events, each of them needed, found by random runs with {replicas} replicas.",
        "brokers": list(range(1, replicas + 1)),
        "version": name,
        "inter-broker-protocol": SPOKEN[name],
        "topic": {"unclean.leader.election.enable": False},
        "events": [named(line, number) for number, line in enumerate(lines)],
    }
    FOUND.mkdir(exist_ok=True)
    path_of(name, invariant).write_text(yaml.safe_dump(script, sort_keys=False, width=110), encoding="utf-8")


def main() -> None:
    """Search anew and write what was found."""
    for (name, replicas), wanted in BROKEN.items():
        best = search(name, replicas, wanted, range(1, 9))
        for invariant in wanted:
            print(name, replicas, invariant, len(best.get(invariant, ())))  # noqa: T201 - a script of its own
            if invariant in best:
                write(name, replicas, invariant, best[invariant])


if __name__ == "__main__":
    main()
