"""The replay of a drawing, a rule's page, a script of `simulate` or a dump, lead by lead and row by row.

    .venv/bin/python -m tests.lab.replayed HW003            both drawings of a rule's page
    .venv/bin/python -m tests.lab.replayed drawing.txt      a drawing; `-` reads it from standard input
    .venv/bin/python -m tests.lab.replayed script.yaml      a script, run and written down as its brokers would
    .venv/bin/python -m tests.lab.replayed sample_logs/clean_4x/dump orders-0      a partition of a dump

What the words of a row mean stands in `docs/replay.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.catalog import BY_ID
from rules.evidence import PartitionEvidence
from rules.history.if_set import FAR
from rules.history.statements import Fetched
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.replay.course import Course
from rules.replay.leading.leader_walk import LeaderRow, LeaderWalk
from rules.replay.leading.log_order import in_log_order
from rules.replay.leading.tracks import RemoteEndBounds
from rules.simulator.run_rows import run
from rules.sketch.notation import read_sketch
from tests.lab.sample_histories import evidence_of


def replayed(evidence: PartitionEvidence) -> Iterator[str]:
    """Every lead of a partition, and what is told of high watermarks outside what it can have been."""
    for course in evidence.replayed.courses:
        yield from of_course(course)
    for told in evidence.replayed.told_watermarks:
        if told.standing in ("above", "below"):
            span = told.moment.span
            yield f"{span.source}:{span.start} tells {told.observed}, which is {told.standing} {_range(told.expected)}"


def of_course(course: Course) -> Iterator[str]:
    """One lead: what it began with, its rows, and its end."""
    lead, rank = course.lead, course.rank
    flags = ("begun_unseen", "holed", "ends_unseen", "unplaced")
    open_in = [flag.replace("_", " ") for flag in flags if getattr(lead, flag)]
    yield f"lead of broker {lead.leader}, epochs {', '.join(map(str, lead.epochs))}: {', '.join(open_in) or 'all told'}"
    for told in course.isr.statements:
        begins = f"perhaps since {_time(told.earliest, 'ever')}, surely since {_time(told.latest, 'the next')}"
        yield f"  ISR {_ids(told.isr)} in force {begins}"
    for span in rank.min_in_sync.spans:
        yield f"  min.insync.replicas {_values(span.values)} since {_time(span.since, 'ever')}"
    yield from _bounds("  begins with", course.start)
    walk = LeaderWalk(lead, course.isr, rank, course.start)
    for row, last in in_log_order(lead.rows):
        before = walk.before
        yield from _row(walk.step(row, last=last), walk, before)
    yield from _bounds("  ends with", walk.finish())


def _row(row: LeaderRow, walk: LeaderWalk, before: int | None) -> Iterator[str]:
    moment = row.moment
    who = "" if moment.broker is None else f" by broker {moment.broker}"
    since = walk.weighing.last(walk.isr.possible(moment.last_time if row.last else moment.time).first)
    yield f"  t{moment.time}{' (last of its run)' if row.last else ''}: {moment.kind} {moment.offset}{who}"
    isrs = " or ".join(map(_ids, row.isr)) or "unknown"
    weighed = f"weighed last, at the earliest: {_time(since, 'unknown')}"
    yield f"    before: {_time(before, 'nothing')}; {weighed}; ISR {isrs}"
    yield from (f"    {_remote(remote)}" for remote in row.remotes)
    yield from _bounds("    log end", row.log_end)
    yield from _bounds("    high watermark", row.high_watermark)
    if row.fetch is not None:
        yield f"    its answer may carry {_range(row.answer)}, and carries {row.fetch.high_watermark}"


def _remote(remote: RemoteEndBounds) -> str:
    ends = f"{remote.low} to {'open' if remote.high is None else remote.high}"
    return f"broker {remote.broker} at {ends}: answered {_fetch(remote.last)}, following {_fetch(remote.following)}"


def _bounds(name: str, expected: ExpectedHighWatermark) -> Iterator[str]:
    for side, bound in (("low", expected.low), ("high", expected.high)):
        yield f"{name} {side} {'open' if bound is None else f'{bound.offset}: {bound.because}'}"


def _range(expected: ExpectedHighWatermark) -> str:
    low, high = ("open" if bound is None else bound.offset for bound in (expected.low, expected.high))
    return f"{low} to {high}"


def _fetch(fetch: Fetched | None) -> str:
    return "nothing" if fetch is None else f"{fetch.offset} at t{fetch.time}"


def _ids(isr: frozenset[int]) -> str:
    return ",".join(map(str, sorted(isr))) or "nobody"


def _values(values: frozenset[int | None]) -> str:
    return " or ".join(sorted("unknown" if value is None else str(value) for value in values))


def _time(time: float | None, without: str) -> str:
    return without if time is None else "ever" if time <= -FAR else f"t{time}"


def evidences(asked: Sequence[str]) -> Mapping[str, PartitionEvidence]:
    """What the words of the command line name, each with a name of its own."""
    source, *partitions = asked
    if source in BY_ID:
        page = BY_ID[source].page
        return {f"{source} upheld": _drawn(page.upheld), f"{source} violated": _drawn(page.violated)}
    path = Path(source)
    if path.is_dir():
        held = {f"{topic}-{number}": evidence for (topic, number), evidence in evidence_of(path).items()}
        return {name: held[name] for name in partitions or held}
    if path.suffix in (".yaml", ".yml"):
        with TemporaryDirectory() as folder:
            write_dump(run(read_script(path)), Path(folder) / "dump")
            return {path.stem: evidence_of(Path(folder) / "dump")["simulated", 0]}
    return {source: _drawn(sys.stdin.read() if source == "-" else path.read_text(encoding="utf-8"))}


def _drawn(text: str) -> PartitionEvidence:
    return read_sketch(text).evidence


if __name__ == "__main__":
    for title, drawn in evidences(sys.argv[1:]).items():
        sys.stdout.write("\n".join([f"== {title}", *replayed(drawn), ""]))
