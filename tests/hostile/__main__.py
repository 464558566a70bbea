"""The machine that finds the next hole: `python -m tests.hostile --hours 8` feeds every reader and judges whole dumps.

It goes on where the state's folder says it stopped. What breaks a law is kept in `found/` there, one file a place; it
belongs into `tests/hostile/corpus/` together with the mend, and the suite replays it from then on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.hostile.overseer import oversee, totals_of

ENDLESS = 1 << 60


def main(arguments: list[str]) -> int:
    """Run as asked, and report; 1 where a law was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument(
        "--hours", type=float, default=None, help="how long at most; without it until the counts are reached"
    )
    parser.add_argument("--inputs", type=int, default=None, help="how many inputs for readers at most")
    parser.add_argument("--dumps", type=int, default=None, help="how many whole dumps at most")
    parser.add_argument("--parsers-only", action="store_true", help="no whole dumps")
    parser.add_argument("--dumps-only", action="store_true", help="no inputs for readers")
    parser.add_argument("--seed", type=int, default=12)
    default = Path(tempfile.gettempdir()) / "tidemark-hostile"
    parser.add_argument("--state", type=Path, default=None, help=f"where totals and finds are kept; {default}-SEED")
    asked = parser.parse_args(arguments)
    if asked.hours is None and asked.inputs is None and asked.dumps is None:
        parser.error("say how long: --hours, --inputs or --dumps")
    counted = asked.inputs is not None or asked.dumps is not None
    inputs = 0 if asked.dumps_only else asked.inputs if counted else ENDLESS
    dumps = 0 if asked.parsers_only else asked.dumps if counted else ENDLESS
    seconds = float("inf") if asked.hours is None else asked.hours * 3600
    state = asked.state or default.with_name(f"{default.name}-{asked.seed}")
    before = totals_of(state).faults
    totals = oversee(asked.seed, state, inputs=inputs or 0, dumps=dumps or 0, seconds=seconds)
    print(totals.told())
    if totals.faults:
        print(f"what was found stands in {state / 'found'}")
    return 1 if totals.faults > before else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
