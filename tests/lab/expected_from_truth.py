"""Write sample_logs/<case>/expected.json from the case's truth.json: what was done there, never what a tool said.

Run it as `python -m tests.lab.expected_from_truth`; a test checks that the files agree.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[2] / "sample_logs"


def expected(truth: dict[str, Any]) -> dict[str, Any]:
    """What an audit of the case must find, must not find, and how bad it may get beside that."""
    demands = [_demand(demand, truth) for demand in truth["expect"]]
    return {
        "kafka": truth["kafka"],
        "mustFind": demands,
        "mustNotFind": [{"rule": ban["rule"], "why": ban["why"]} for ban in truth.get("mustNot", [])],
        "maxSeverityBeside": truth.get("maxSeverity", "low"),
    }


def _demand(demand: dict[str, Any], truth: dict[str, Any]) -> dict[str, Any]:
    return {
        "rule": demand["rule"],
        "from": demand["from"],
        "topic": demand.get("topic", truth.get("topic")),
        "partition": demand.get("partition", truth.get("partition")),
        "brokers": demand.get("brokers"),
        "startOffset": demand.get("startOffset"),
        "endOffset": demand.get("endOffset"),
        "atLeast": demand.get("atLeast", "info"),
    }


def cases() -> list[Path]:
    """The recorded cases, each a folder with its truth."""
    return sorted(path.parent for path in SAMPLES.glob("*/truth.json"))


def main() -> None:
    """Write every case's file."""
    for case in cases():
        truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
        text = json.dumps(expected(truth), indent=1) + "\n"
        (case / "expected.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
