"""A simulated run as text: the timeline, the logs at its end, and generations side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from auditor.report.plain import plain
from rules.simulator.drawing import draw
from rules.simulator.log_changes import first_and_last, ranges
from rules.simulator.run_outcome import Outcome
from rules.simulator.run_rows import ReplicaRow, Row
from rules.simulator.state import ProduceAnswer, ReconciledCut

WIDTH: Final = 100
LEGEND: Final = (
    "* leads  ? believes to lead  ~ awaits an answer  o follows nobody  x is down",
    "! under-replicated  !! below min.insync.replicas  2@5 the log end of follower 2 as its leader knows it",
)
COLUMNS: Final = ("leo", "hw", "epoch")


def run_text(finished: Outcome) -> str:
    """The timeline of a run and what it came to."""
    return "\n".join([*_heading(finished), "", *timeline(finished), "", *account(finished)]) + "\n"


def _heading(finished: Outcome) -> list[str]:
    script, generations = finished.run.script, finished.run.generations
    versions = dict.fromkeys(str(generation) for generation in generations.values())
    lines = [plain(script.title)]
    lines += textwrap.wrap(plain(script.about), WIDTH)
    rules = ", ".join(dict.fromkeys(generation.rule for generation in generations.values()))
    return [*lines, f"{'; '.join(versions)} ({rules})"]


def timeline(finished: Outcome) -> list[str]:
    """One row an event; below it what was said."""
    rows = finished.run.rows
    table = [_header(rows[0]), *(_cells(row) for row in rows)]
    widths = [max(len(cells[place]) for cells in table) for place in range(len(table[0]))]
    lines = [_joined(table[0], widths)]
    for row, cells in zip(rows, table[1:], strict=True):
        lines.append(_joined(cells, widths))
        lines += [f"      {word}" for word in row.said]
    return [*lines, *LEGEND]


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = [cells[0].rjust(widths[0]), cells[1].ljust(widths[1])]
    rest = [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
    return "  ".join([*first, *rest]).rstrip()


def _header(row: Row) -> list[str]:
    cells = ["#", "event", "isr, epoch"]
    for replica in row.replicas:
        cells += [f"{replica.broker}: {COLUMNS[0]}", *COLUMNS[1:], "remote"]
    return cells


def _cells(row: Row) -> list[str]:
    members = ",".join(map(str, row.isr))
    short = "!!" if row.under_min_isr else "!" if row.under_replicated else ""
    eligible = f" elr {','.join(map(str, row.elr))}" if row.elr else ""
    cells = [str(row.number), row.event, f"{short}{members} e{row.epoch}{eligible}"]
    for replica in row.replicas:
        cells += _replica_cells(replica)
    return cells


MOST_NAMED: Final = 8
ANSWERS: Final[dict[ProduceAnswer, str]] = {
    "acknowledged": "acknowledged",
    "waiting": "not answered yet",
    "refused": "refused",
    "refused-after-append": "refused after the append",
    "none": "sent without asking",
    "untold": "not answered",
    "failed": "told to try elsewhere",
}
MARKS: Final = {"leader": "*", "zombie": "?", "down": "x", "waiting": "~", "idle": "o", "follower": ""}


def _replica_cells(replica: ReplicaRow) -> list[str]:
    remote = " ".join(f"{known.broker}@{_known(known.log_end_offset)}" for known in replica.remote)
    last = "-" if replica.last_epoch is None else str(replica.last_epoch)
    return [f"{MARKS[replica.role]}{replica.log_end_offset}", str(replica.high_watermark), last, remote or "."]


def _known(log_end_offset: int) -> str:
    return "?" if log_end_offset < 0 else str(log_end_offset)


def account(finished: Outcome) -> list[str]:
    """The logs at the end and what came of them."""
    lines = ["Logs at the end:", *draw(finished.run.end).splitlines(), *_holdings(finished), ""]
    return lines + [f"{name}: {value}" for name, value in verdicts(finished)]


def _holdings(finished: Outcome) -> list[str]:
    """What the digits stand for, where the batches are few."""
    return [
        f"broker {broker.id} holds {ranges(broker.log.batches)}"
        for broker in finished.run.end.brokers
        if 0 < len(broker.log.batches) <= MOST_NAMED
    ]


def verdicts(finished: Outcome) -> list[tuple[str, str]]:
    """What a run came to, a line each."""
    end = finished.visible
    parted = (f"{p.left} and {p.right} from offset {p.offset}" for p in finished.partings)
    twice = (f"{a.name} and {b.name} at {max(a.base_offset, b.base_offset)}" for a, b in finished.replaced)
    answers = (f"{sent.name} {ANSWERS[sent.answer]}" for sent in finished.run.end.produces[-MOST_NAMED:])
    return [
        ("Visible", "nothing, nobody leads" if end is None else f"[{end[0]}, {end[1]}) of broker {finished.leader}"),
        ("Cuts", _listed(_cut(cut) for cut in finished.cuts if cut.removed)),
        ("Diverge", _listed(parted)),
        ("Acknowledged and lost", first_and_last([sent.name for sent in finished.lost]) or "none"),
        ("Visible once and lost", first_and_last([batch.name for batch in finished.unread]) or "none"),
        ("Offsets read twice", _listed(twice)),
        ("Producers", _listed(answers)),
        ("Without a leader", f"{finished.offline_ms} ms"),
    ]


def _cut(cut: ReconciledCut) -> str:
    return f"broker {cut.broker} to {cut.to_offset} (dropped {ranges(cut.removed)})"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def comparison_text(columns: Sequence[Outcome]) -> str:
    """Generations side by side: what each made of the same script."""
    script = columns[0].run.script
    lines = [plain(script.title), *textwrap.wrap(plain(script.about), WIDTH)]
    for column in columns:
        versions = next(iter(column.run.generations.values()))
        lines += ["", f"== {column.name} ({versions})", *draw(column.run.end).splitlines()]
        lines += [f"{name}: {value}" for name, value in verdicts(column)]
    return "\n".join([*lines, "", *_summary(columns)]) + "\n"


def _summary(columns: Sequence[Outcome]) -> list[str]:
    header = ["", "visible", "cuts", "diverge at", "acknowledged and lost"]
    table = [header, *(_summary_cells(column) for column in columns)]
    widths = [max(len(cells[place]) for cells in table) for place in range(len(header))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True)).rstrip() for cells in table]


def _summary_cells(column: Outcome) -> list[str]:
    end = column.visible
    return [
        column.name,
        "-" if end is None else f"[{end[0]}, {end[1]})",
        _listed(f"{cut.broker}→{cut.to_offset}" for cut in column.cuts if cut.removed),
        _listed(str(parting.offset) for parting in column.partings),
        first_and_last([sent.name for sent in column.lost]) or "none",
    ]
