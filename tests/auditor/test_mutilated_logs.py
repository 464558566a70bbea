"""Healthy clusters' logs with lines, stretches, ends, beginnings and whole files gone: nobody is accused for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.auditor.dumps_at_hand import copied, told, told_of
from tests.lab.effort import spread

Keep = Callable[[bytes, float], bool]
"""Whether a line stays, which stands so far into its log."""

CUTS = ("lines", "a stretch", "the end", "the beginning", "files")
CASES = spread(("clean_1_1", "clean_2_8", "clean_4x", "clean_mixed"), CUTS, 2)
"""Every cut on two recordings; `tests.ablations` draws such parts of all of them."""


def kept(cut: str, rng: random.Random) -> Keep:
    share, (start, end) = rng.choice((0.1, 0.3, 0.6)), sorted((rng.random(), rng.random()))
    keeps: dict[str, Keep] = {
        "lines": lambda _, __: rng.random() > share,
        "a stretch": lambda _, at: not start <= at < end,
        "the end": lambda _, at: at < end,
        "the beginning": lambda _, at: at >= start,
        "files": lambda _, __: False,
    }
    return keeps[cut]


def mutilate(logs: Sequence[Path], cut: str, rng: random.Random) -> None:
    """Some of the logs lose the same part, as if their disk or their collector had been away."""
    keep = kept(cut, rng)
    for log in rng.sample(logs, rng.randint(1, len(logs))):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for place, line in enumerate(lines) if keep(line, place / len(lines))))


@pytest.mark.slow
@pytest.mark.parametrize(("case", "cut"), CASES)
def test_what_is_gone_accuses_nobody(case: str, cut: str, tmp_path: Path) -> None:
    whole = claims(told_of(case))
    rng = random.Random(f"{case} {cut} 0")  # noqa: S311 - the same cuts every time
    dump = copied(case, tmp_path / "dump", logs=True)
    mutilate(sorted(dump.glob("*/logs/*.log")), cut, rng)
    assert claims(told(dump)) - whole == set()


def test_a_line_whose_time_is_no_date_accuses_nobody(tmp_path: Path) -> None:
    """It would stand before all others: an answer of a late epoch would be of the first."""
    dump = copied("unclean_rejoined", tmp_path / "dump", logs=True)
    log = dump / "broker-2/logs/kafka-request.log"
    lines = log.read_bytes().splitlines(keepends=True)
    place = max(place for place, line in enumerate(lines) if b'"PRODUCE"' in line)
    lines[place] = lines[place].replace(b"[2026-11-", b"[2026-61-", 1)
    log.write_bytes(b"".join(lines))
    report, whole = told(dump), told_of("unclean_rejoined")
    assert claims(report) - claims(whole) == set()
    (unread,) = report["refusals"]
    assert (unread["path"], unread["found"]) == ("broker-2/logs/kafka-request.log", "a time that is none")


def test_an_isr_that_was_changed_is_not_the_one_that_a_reign_began_with(tmp_path: Path) -> None:
    """An order that told it again is refused, since its broker leads already: before it another ISR was in force."""
    dump = copied("fast_failover_kip101", tmp_path / "dump", logs=True)
    log = dump / "broker-1/logs/kafka-request.log"
    lines = log.read_bytes().splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if b"LEADER_AND_ISR" in line)
    log.write_bytes(b"".join(lines[:first] + lines[first + 1 :]))
    alone = [(f["startOffset"], f["endOffset"]) for f in told(dump)["findings"] if f["rule"] == "ACK002"]
    assert (0, 15) not in alone


def claims(report: dict[str, object]) -> set[tuple[object, ...]]:
    findings = report["findings"]
    assert isinstance(findings, list)
    names = ("rule", "topic", "partition", "startOffset", "endOffset")
    accused = [f for f in findings if f["verdict"] == "violated" and f["severity"] in ("medium", "high", "critical")]
    return {tuple(f[name] for name in names) for f in accused}
