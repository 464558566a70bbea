"""SEG003: the log ends in bytes that are no batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, OffsetCheckpoint, Refusal
from rules.evidence import UNOPENED, PartitionEvidence, Replica, UnreadBytes
from rules.evidence.remote_head import RemoteHead, remote_head
from rules.finding import Exhibit, Severity, Undecided, Violation, capital, offsets_told
from rules.rule import rule

NAMED: Final = 4
"""Files told by name; the rest is counted."""


@rule(
    id="SEG003",
    severity=Severity.HIGH,
    needs=(BatchHeader, Refusal, OffsetCheckpoint),
    law="TypeOk",
    message="The last {bytes:byte} of broker {broker}'s log, from offset {start_offset} on, are not a complete, valid batch. {meaning:.}",
)
def tail_torn(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The log ends in bytes that are no batch.

    A write that was cut short, or a copy of a file that was still being written, leaves a torn batch at the end.
    Above the recovery point that is everyday, and recovery cuts it. Zeros at the end are preallocated space, not
    damage.

    Proves
    ------
    Below the recovery point: data that had been flushed is gone, and a restart after a clean shutdown will not notice.

    Undecided when
    --------------
    The recovery point is not known; the tail is then reported as information. A segment that was
    not copied, that could not be opened, or in whose place something else stands leaves the log open.
    So do first segments that nobody tells to be deleted, where the leader-epoch-checkpoint begins before the log. Of
    formats without epochs, the broker's log or a checkpoint tells it. What may lie in remote storage is named. It leaves
    the verdict open where no `__remote_log_metadata` here tells of copies of all of it. So do later ones where an index, a snapshot, a
    peer's segment or the broker's log tells that one began.

    Upheld
    ------
    broker 1 0000|_
    broker 2 0000|

    Violated
    --------
    broker 1 0000|~ ; recovery 6
    broker 2 000000|
    """
    head = remote_head(evidence)
    if head is not None:
        yield _remote(head)
    for replica in evidence.current:
        yield from _unopened(replica)
        for unread in replica.log.unread:
            if unread.kind in UNOPENED or unread.next_offset is not None:
                continue
            flushed = _below_recovery_point(replica, unread)
            if unread.kind == "zero_tail" and not flushed:
                continue
            yield Violation(
                brokers=(replica.broker,),
                start_offset=replica.log_end_offset,
                end_offset=replica.recovery_point.offset if flushed and replica.recovery_point else None,
                severity=Severity.HIGH if flushed and not (evidence.copied_live or replica.may_be_live) else Severity.INFO,
                confidence="certain" if flushed else "likely",
                facts={
                    "broker": replica.broker,
                    "bytes": unread.span.end - unread.span.start,
                    "meaning": _meaning(replica, flushed=flushed),
                    "unread": unread.words,
                },
                exhibits=(Exhibit(span=unread.span, role="bytes that are no batch"),),
            )


def _meaning(replica: Replica, *, flushed: bool) -> str:
    if flushed:
        return "data that was flushed to the disk is missing there"
    if replica.recovery_point is None:
        return "no recovery point here tells whether data that was flushed to the disk is missing there"
    return f"only data that broker {replica.broker} had not yet flushed to its disk can be missing there"


def _remote(head: RemoteHead) -> Undecided:
    """What remote storage alone holds; the verdict stays open where nothing tells that it does."""
    if not head.untold:
        what = offsets_told(head.start_offset, head.end_offset)
        return Undecided(
            reason=f"no disk in this dump holds {what}. By __remote_log_metadata they are in remote storage. So they were"
            " not checked",
            missing="a copy of the segments with these offsets from remote storage",
            blocking=False,
        )
    what = " and ".join(offsets_told(*each) for each in head.untold[:NAMED])
    remote = "__remote_log_metadata here tells of no copy" if head.notes else "nothing here tells of a copy"
    return Undecided(
        reason=f"no disk in this dump holds {what}. {capital(remote)} in remote storage. Nothing tells of a deletion",
        missing="all of __remote_log_metadata, or the first segments",
        brokers=head.brokers,
        start_offset=head.untold[0][0],
        end_offset=head.untold[-1][1],
    )


def _unopened(replica: Replica) -> Iterator[Undecided]:
    """One statement a replica and reason: segments that were not copied, segments that could not be read."""
    absent = tuple(unread for unread in replica.unopened if unread.kind == "not_copied")
    unreadable = tuple(unread for unread in replica.unopened if unread.kind != "not_copied")
    for files, what, needs in ((absent, "missing from this dump", ""), (unreadable, "not readable", "a readable ")):
        if files:
            names = ", ".join(unread.span.source for unread in files[:NAMED])
            more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
            noun = "a segment of broker {} is" if len(files) == 1 else "segments of broker {} are"
            yield Undecided(
                reason=f"{noun.format(replica.broker)} {what}. That alone proves no loss",
                missing=f"{needs}{names}{more}",
                brokers=(replica.broker,),
                exhibits=tuple(Exhibit(span=u.span, role=f"a segment that is {what}") for u in files[:NAMED]),
            )


def _below_recovery_point(replica: Replica, unread: UnreadBytes) -> bool:
    end = replica.log_end_offset if unread.expected_offset is None else unread.expected_offset
    return replica.recovery_point is not None and end < replica.recovery_point.offset
