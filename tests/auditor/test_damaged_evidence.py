"""Logs that are cut, mixed, written anew or missing: what they cannot tell is named, and nobody is accused for it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.auditor.dumps_at_hand import copied, told, told_of, violations
from tests.lab.effort import spread

pytestmark = pytest.mark.slow

Damage = Callable[[Path], None]
REQUESTS = "kafka-request.log"
STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.MULTILINE)


def logs(dump: Path, *names: str) -> Iterator[Path]:
    for name in names or ("*.log",):
        yield from sorted(dump.glob(f"broker-*/logs/{name}"))


def lines_cut(dump: Path) -> None:
    for log in logs(dump, REQUESTS):
        lines = log.read_bytes().split(b"\n")
        log.write_bytes(b"\n".join(line[: len(line) * 2 // 3] if n % 5 == 2 else line for n, line in enumerate(lines)))


def brokers_in_one_file(dump: Path, name: str = REQUESTS) -> None:
    entries = [line for log in logs(dump, name) for line in log.read_bytes().split(b"\n") if line.startswith(b"[2")]
    first, *others = logs(dump, name)
    first.write_bytes(b"\n".join(sorted(entries, key=lambda line: line[:24])) + b"\n")
    for log in others:
        log.unlink()


def brokers_logs_in_one_file(dump: Path) -> None:
    for name in ("server.log", "state-change.log"):
        brokers_in_one_file(dump, name)


def sessions_without_beginning(dump: Path) -> None:
    for log in logs(dump, REQUESTS):
        lines = log.read_bytes().split(b"\n")
        log.write_bytes(b"\n".join(lines[len(lines) // 2 :]))


def brokers_logs_without_beginning(dump: Path) -> None:
    for log in logs(dump, "server.log", "state-change.log"):
        lines = log.read_bytes().split(b"\n")
        log.write_bytes(b"\n".join(lines[len(lines) // 2 :]))


def requests_end_early(dump: Path) -> None:
    for log in logs(dump, REQUESTS):
        log.write_bytes(log.read_bytes()[: log.stat().st_size * 2 // 3])


def requests_lose_their_middle(dump: Path) -> None:
    for log in logs(dump, REQUESTS):
        lines = log.read_bytes().split(b"\n")
        log.write_bytes(b"\n".join(lines[: len(lines) // 3] + lines[2 * len(lines) // 3 :]))


def a_clock_runs_an_hour_ahead(dump: Path) -> None:
    def later(stamp: re.Match[bytes]) -> bytes:
        moved = datetime.fromisoformat(stamp[1].decode()) + timedelta(hours=1)
        return b"[" + moved.isoformat(sep=" ").encode()

    for log in sorted((dump / "broker-2" / "logs").glob("*.log")):
        log.write_bytes(STAMP.sub(later, log.read_bytes()))


def a_broker_is_missing(dump: Path) -> None:
    shutil.rmtree(dump / "broker-2")


def written_as_utf_16(dump: Path) -> None:
    for log in logs(dump):
        log.write_bytes(log.read_text(encoding="utf-8", errors="replace").encode("utf-16"))


def other_encodings_in_it(dump: Path) -> None:
    for log in logs(dump):
        lines = log.read_bytes().split(b"\n")
        log.write_bytes(b"\n".join(line + b" \xe9\xff" if n % 3 == 1 else line for n, line in enumerate(lines)))


def copied_twice(dump: Path) -> None:
    for log in logs(dump):
        shutil.copy(log, log.with_name(f"{log.name}.1"))


DAMAGES: tuple[Damage, ...] = (
    lines_cut, brokers_in_one_file, brokers_logs_in_one_file, sessions_without_beginning,
    brokers_logs_without_beginning, requests_end_early, requests_lose_their_middle,
    a_clock_runs_an_hour_ahead, a_broker_is_missing, written_as_utf_16, other_encodings_in_it, copied_twice,
)  # fmt: skip
PARTLY: dict[str, frozenset[str]] = {
    "a_broker_is_missing": frozenset({"LEAD001"}),
    "brokers_logs_in_one_file": frozenset({"ACK001", "LEAD001"}),
}
"""Where less is left, a smaller part of the loss is told."""


@cache
def whole(case: str) -> tuple[Any, ...]:
    return tuple(violations(told_of(case)))


def said_of_the_whole(case: str, found: tuple[str, str, int, list[int], int, int]) -> bool:
    """The same of the same brokers and of no other records: where less is left, perhaps of fewer."""
    alike = [known for known in whole(case) if known[:4] == found[:4]]
    start, end = found[4:]
    return any(known == found or (None not in (start, end) and known[4] <= start < end <= known[5]) for known in alike)


def audited(case: str, damage: Damage, to: Path) -> dict[str, Any]:
    dump = copied(case, to / "dump", logs=True)
    damage(dump)
    return told(dump)


@pytest.mark.parametrize(
    ("case", "damage"),
    [*product(("unclean_4x",), DAMAGES), *spread(("clean_1_1", "clean_2_8", "clean_4x"), DAMAGES, 3)],
)
def test_damage_accuses_nobody(case: str, damage: Damage, tmp_path: Path) -> None:
    report = audited(case, damage, tmp_path)
    found = [f for f in violations(report) if severe(report, f) and not said_of_the_whole(case, f)]
    assert [f for f in found if f[0] not in PARTLY.get(damage.__name__, ())] == []


def severe(report: dict[str, Any], found: tuple[Any, ...]) -> bool:
    ranks = {f["severity"] for f in report["findings"] if (f["rule"], f["startOffset"]) == (found[0], found[4])}
    return bool(ranks & {"medium", "high", "critical"})


@pytest.mark.parametrize(
    ("damage", "expected", "found"),
    [
        (brokers_in_one_file, "the requests that one broker answered", "fetches of broker 1 in its own log"),
        (brokers_logs_in_one_file, "the lines of one broker", "lines of brokers 1, 2, 3"),
        (written_as_utf_16, "text in UTF-8 as the broker wrote it", "UTF-16 text"),
    ],
)
def test_what_cannot_be_used_is_refused_once_a_file(damage: Damage, expected: str, found: str, tmp_path: Path) -> None:
    refusals = audited("unclean_4x", damage, tmp_path)["refusals"]
    assert {refusal["expected"].partition(": each broker's log")[0] for refusal in refusals} == {expected}
    assert all(refusal["found"].startswith(found) and refusal["blocking"] for refusal in refusals)
    assert len({refusal["path"] for refusal in refusals}) == len(refusals)


def test_holes_in_a_trace_leave_the_high_side_open_and_are_named(tmp_path: Path) -> None:
    report = audited("unclean_4x", lines_cut, tmp_path)
    missing = {u["missing"] for u in report["coverage"]["undecided"] if u["rule"] == "HW003"}
    holed = "whole request log: some of its lines cannot be read here"
    leaders = {f"broker {broker}'s {holed}" for broker in (1, 2)}
    assert leaders <= missing


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("damage", [lines_cut, brokers_in_one_file])
def test_both_engines_say_the_same_of_it(damage: Damage, tmp_path: Path) -> None:
    dump = copied("unclean_4x", tmp_path / "dump", logs=True)
    damage(dump)
    assert told(dump, engine="spark") == told(dump)
