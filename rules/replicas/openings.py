"""Where each epoch opened: by its leader's word, else by the logs, else by its leader's epoch file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from parsers.provenance import Span
from rules.history.moments import Moment, epoch_starts
from rules.history.statements import RoleTaken
from rules.replicas.claims import EpochClaim
from rules.replicas.replica import Replica

ON_DISK: Final = "disk"
"""The clock of what no witness wrote and the disks themselves show."""


def first_openings(moments: Sequence[Moment], replicas: Sequence[Replica]) -> dict[int, RoleTaken]:
    """Where each epoch began: by its leader's word, else by where all logs have its first batch, else by a file.

    What only an epoch file tells is doubtful.
    """
    leaders = {m.epoch: m.leader for m in moments if m.kind == "leadership" and (m.leader or 0) >= 0}
    by_files = {
        entry.epoch: _opening(replica.broker, entry.epoch, entry.start_offset, entry.span, doubtful=True)
        for replica in replicas
        for entry in _borne_out(replica)
        if leaders.get(entry.epoch) == replica.broker
    }
    by_logs = {
        epoch: _opening(leaders.get(epoch), epoch, start, span) for epoch, start, span in _first_batches(replicas)
    }
    return {**by_files, **by_logs, **epoch_starts(moments)}


def _opening(leader: int | None, epoch: int, offset: int, span: Span, *, doubtful: bool = False) -> RoleTaken:
    return RoleTaken(
        kind="leader-starts", clock=ON_DISK, broker=leader, epoch=epoch, offset=offset, doubtful=doubtful, span=span
    )


def _first_batches(replicas: Sequence[Replica]) -> Iterator[tuple[int, int, Span]]:
    """Where a log in use goes on from an older epoch in each, if no copy does so elsewhere."""
    found: dict[int, dict[int, Span]] = {}
    in_use: set[int] = set()
    for replica in replicas:
        for before, run in pairwise(() if replica.cleaned else replica.log.epochs):
            if 0 <= before.epoch < run.epoch and run.start_offset == before.end_offset:
                found.setdefault(run.epoch, {}).setdefault(run.start_offset, run.first)
                in_use |= {run.epoch} if replica.state == "current" else set()
    for epoch, starts in found.items():
        if epoch in in_use and len(starts) == 1:
            yield from ((epoch, start, span) for start, span in starts.items())


def _borne_out(replica: Replica) -> Iterator[EpochClaim]:
    """What a replica in use noted in its epoch file, as far as its own log says the same.

    Its log holds no older record from there on and no newer one before, and goes on there in that epoch, or ends: who
    wrote nothing yet has no batch to show. The first entry moves with the log start.
    """
    entries = replica.epoch_file.entries if replica.epoch_file.state == "entries" else ()
    rising = all(a.epoch < b.epoch and a.start_offset <= b.start_offset for a, b in pairwise(entries))
    if replica.state != "current" or replica.cleaned or not replica.end_known or not rising:
        return
    for place, entry in enumerate(entries):
        epoch, start = entry.epoch, entry.start_offset
        parted = all(r.end_offset <= start if r.epoch < epoch else r.start_offset >= start for r in replica.log.epochs)
        begins = any(run.start_offset == start for run in replica.runs_by_epoch.get(epoch, ()))
        if (place > 0 or start == 0) and parted and (begins or start == replica.log_end_offset):
            yield entry
