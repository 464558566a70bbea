"""`python -m tests.ablations --count 5000 --seed 1` leaves out as much as asked and prints what breaks the law."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rules.narrow.facts import Fact
from tests.ablations.bench import SAMPLES, Bench, broken
from tests.ablations.leave_out import draw


def main(arguments: Sequence[str]) -> int:
    """Try as many as asked, and print what breaks the law."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", action="append")
    asked = parser.parse_args(arguments)
    tried: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    rng = random.Random(asked.seed)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as room:
        known: dict[object, Sequence[Fact]] = {}
        names = asked.sample or sorted(path.parent.name for path in SAMPLES.glob("*/dump"))
        benches = [Bench(name, Path(room), known) for name in names]
        for _ in range(asked.count):
            bench = rng.choice(benches)
            ablation = draw(bench.files, rng)
            report = bench.judged(ablation)
            tried["nothing" if report is None else report.verdict] += 1
            for wrong in () if report is None else broken(bench, report):
                shown[" ".join(wrong.split()[:3])] += 1
                print(f"{bench.name}: {ablation.name}: {wrong}")
    print(f"{asked.count} ablations in {time.monotonic() - begun:.0f} s: {dict(tried)}; broken: {dict(shown)}")
    return 1 if shown else 0


sys.exit(main(sys.argv[1:]))
