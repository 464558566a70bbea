"""Batches whose epoch a leader-epoch-checkpoint does not give them, and whether the file is of the log's moment."""

from __future__ import annotations

from rules.facts.stretch import EpochRun
from rules.replicas.replica import Replica


def runs_without_entry(replica: Replica) -> list[EpochRun]:
    """The runs of batches that the file gives to no entry, or whose epoch has none."""
    return [run for run in replica.log.epochs if _lacks(replica, run)]


def _lacks(replica: Replica, run: EpochRun) -> bool:
    """Whether nothing gives the run's first served offset its epoch."""
    if run.epoch < 0 or run.end_offset <= replica.log_start_offset:
        return False
    first = max(run.start_offset, replica.log_start_offset)
    known = [entry.epoch for entry in replica.epoch_file.entries if entry.start_offset <= first]
    if not known:
        return not _heads_all_epochs(replica, run)
    return max(known) < run.epoch and all(e.epoch != run.epoch for e in replica.epoch_file.entries)


def _heads_all_epochs(replica: Replica, run: EpochRun) -> bool:
    """Whether records before the run have no epochs, and the file knows its own from a later offset on.

    A follower makes no entries until it hears that the format was raised, and its leader may have heard before. Nobody
    asks for an epoch below the first, so where that begins misleads nobody.
    """
    before = [each.epoch for each in replica.log.epochs if each.end_offset <= run.start_offset]
    return bool(before) and max(before) < 0 and covered_from(replica, run) < run.end_offset


def lies_before_the_file(replica: Replica, run: EpochRun) -> bool:
    """Whether the file begins behind the run's first offset: it is cut where the log start moves to."""
    entries = replica.epoch_file.entries
    return bool(entries) and run.start_offset < entries[0].start_offset and run.epoch <= entries[0].epoch


def perhaps_before_the_file(replica: Replica, run: EpochRun) -> bool:
    """The same where the log start is not told: a file that has no entries left may have been cut at the log's end."""
    file = replica.epoch_file
    return lies_before_the_file(replica, run) or (file.state == "entries" and not file.entries)


def rebuilt_without_zero(replica: Replica) -> bool:
    """Whether the file is as recovery makes it from batches where it takes epoch 0 for none: the next epoch begins it.

    A file that was cut where the log start moved to begins in the middle of an epoch's batches.
    """
    runs, entries = replica.log.epochs, replica.epoch_file.entries
    if not entries or len(runs) < 2 or runs[0].epoch != 0 or runs[0].end_offset <= replica.log_start_offset:  # noqa: PLR2004
        return False
    return (entries[0].epoch, entries[0].start_offset) == (runs[1].epoch, runs[1].start_offset)


def covered_from(replica: Replica, run: EpochRun) -> int:
    """From where on the file gives the run's batches their epoch: their end, where it does not."""
    return min((e.start_offset for e in replica.epoch_file.entries if e.epoch == run.epoch), default=run.end_offset)


def file_may_be_of_another_moment(replica: Replica, run: EpochRun, *, starts_move: bool) -> bool:
    """Without a clean shutdown: a file that ends early is older than the log, one that begins late may be newer.

    When the log start moves, the file is cut at once, the log start on disk follows within a minute.
    """
    if replica.clean_shutdown is not None:
        return False
    if not replica.epoch_file.entries:
        return len(replica.log.epochs) == 1 and run.start_offset <= replica.log_start_offset
    newest = max(entry.epoch for entry in replica.epoch_file.entries)
    first = replica.epoch_file.entries[0]
    covered = covered_from(replica, run)
    moved = covered < run.end_offset and first.epoch == run.epoch and run.start_offset <= replica.log_start_offset
    return run.epoch > newest or moved or (starts_move and lies_before_the_file(replica, run))
