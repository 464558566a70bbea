"""`python -m tests.unwritten --count 2000 --seed 1` holds so many random scripts against the simulator."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.unwritten.law import Tally, drawn, judge, lost_of


def main(arguments: Sequence[str]) -> int:
    """Try as many as asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lose", action="store_true", help="some of the logs")
    asked = parser.parse_args(arguments)
    tally, begun = Tally(), time.monotonic()
    for seed in range(asked.seed, asked.seed + asked.count):
        before = len(tally.wrong)
        with tempfile.TemporaryDirectory() as room:
            script = drawn(seed)
            judge(script, Path(room, "dump"), tally, lost_of(script, seed) if asked.lose else frozenset())
        for wrong in tally.wrong[before:]:
            print(f"script {seed}: {wrong}"[:400])
    print(f"{asked.count} scripts in {time.monotonic() - begun:.0f} s: decided {dict(tally.decided)}", end="")
    print(f", open {dict(tally.left_open)}, TRUNC003 {dict(tally.found)}, wrong {len(tally.wrong)}")
    for reason, count in tally.reasons.most_common(12):
        print(f"  {count:6} {reason}")
    return 1 if tally.wrong else 0


sys.exit(main(sys.argv[1:]))
