"""LEO001: a replica had more than its log reaches to when it was loaded again, or after a clean shutdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, BrokerEvent, Fetch
from rules.chronicle.silence import would_tell
from rules.evidence import PartitionEvidence
from rules.evidence.shortened import perhaps_shortened, shortened_on_disk, shortened_when_loaded
from rules.evidence.shorter import Shorter
from rules.finding import Exhibit, Severity, Undecided, Violation, with_last_offsets
from rules.rule import rule


@rule(
    id="LEO001",
    severity=Severity.HIGH,
    needs=(Fetch, BrokerEvent, BatchHeader),
    law="LogMatchingProperty",
    message="Broker {broker} {held}. Its log {ends}.",
)
def log_end_behind_acknowledged_fetch(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A log ended, when loaded or on disk, below an offset it had reached.

    A follower asks for its own log end. The leader counts that as held. Pages that were not flushed can be lost
    with the machine all the same, a leader's too. A leader tells what it held by its answers and its high
    watermark. Above that, and above what it answered for all replicas, this is information only. A clean shutdown
    flushes them. The log on disk must reach as far as the broker's last fetches, its own appends and its own word
    say.

    Proves
    ------
    The replica held the records and lost them outside the protocol: lost pages, a restored disk, a damaged tail.

    Undecided when
    --------------
    Logs and traces do not reach to the clean shutdown. Or no marker on disk confirms the stop that a log tells of. Or
    the broker told its log's end last before it met a leader whose epoch had opened below. Then the line of its cut
    may be missing. The log end at loading is not logged. Or a truncation or a reassignment in between cannot be
    excluded. Or the broker's log does not tell in which epoch it was before. Where the broker went on in its epoch, only
    clocks may tell that fetch from later ones: then the finding is likely. It is certain where the log was as long in the
    next epoch as when it was loaded. If it fetched further since, its leader must tell that it asked for less in between.
    A log that was loaded empty may be on a new disk: where its broker tells that it created the log, nothing is said.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t1 follows 2 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 loads 2 at 4
    t4 leads 2 epoch 1 at 4 hw 4

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t1 follows 2 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 loads 2 at 2
    t4 leads 2 epoch 1 at 2 hw 2
    """
    for found in (*shortened_when_loaded(evidence), *shortened_on_disk(evidence)):
        if found.gone.sure:
            yield _violation(found)
        if found.gone.possible - found.gone.sure:
            yield _undecided(found)
    yield from map(_unmarked, perhaps_shortened(evidence))


def _violation(found: Shorter) -> Violation:
    """Above the high watermark a crash takes from a leader what was not flushed: no replica was promised it."""
    closing, likely = found.closing, found.load is not None and not found.sure_of_epoch
    committed = not found.as_leader or found.ends < found.committed_end
    proof, load = found.proof, found.load
    held = f"{_held(found)}, so it had all records up to offset {found.had - 1}"
    ends = f"end offset was {found.ends} when it was loaded again, without {with_last_offsets(found.lacks)}"
    leader = None if proof is None else proof.witness
    epoch = None if proof is None else proof.term
    more: dict[str, int | str] = {}
    if found.as_leader:
        leader, epoch, more = found.broker, None if load is None else load.term, {"committed_end": found.committed_end}
    if closing is not None:
        ends = f"end offset is {found.ends} on its disk, although the broker shut down cleanly. It lacks {with_last_offsets(found.lacks)}"
        more = {"subject": "on disk"}
        leader, epoch = closing.leader, closing.epoch
    return Violation(
        brokers=(found.broker,),
        start_offset=found.ends,
        end_offset=max(end for _, end in found.gone.sure.parts),
        severity=None if committed else Severity.INFO,
        confidence="likely" if likely else "certain",
        facts={"broker": found.broker, "held": held, "ends": ends, "leader": leader, "epoch": epoch, **more},
        exhibits=_exhibits(found),
    )


def _held(found: Shorter) -> str:
    """What it had, and how that shows."""
    if found.closing is not None and found.closing.log_end.low is not None:
        return f"had reached log end offset {found.had} ({found.closing.log_end.low.because})"
    if found.as_leader and found.proof is not None:
        return found.word
    return f"fetched from offset {found.had}"


def _exhibits(found: Shorter) -> tuple[Exhibit, ...]:
    role = "what tells it" if found.load is None else "what it told" if found.as_leader else "the fetch"
    proof = () if found.proof is None else (Exhibit(span=found.proof.span, role=role),)
    if found.load is not None:
        return *proof, Exhibit(span=found.load.span, role="the log as it was loaded")
    stopped = () if found.closing is None else (Exhibit(span=found.closing.stopped.span, role="the clean shutdown"),)
    return *proof, *stopped


def _undecided(found: Shorter) -> Undecided:
    """What may have cut the log lawfully, or whether its disk was emptied."""
    who = f"broker {found.broker}"
    held = f"led with log end offset {found.had}" if found.as_leader else f"fetched from offset {found.had}"
    if found.silence is None:
        emptied = f"{who}'s line that it created the log, or the ids of"
        reason, missing = f"{who} {held}, and its log was empty when it was loaded again", f"{emptied} {_IDS}"
        return Undecided(reason=reason, missing=missing, brokers=(found.broker,))
    missing = would_tell(found.silence)
    if found.closing is None:
        reason = f"{who} {held} and its log end offset was {found.ends} when loaded"
        return Undecided(reason=reason, missing=missing, blocking=False)
    reason = f"{who}'s log end offset was {found.had} when it followed in epoch {found.closing.epoch}, and is {found.ends} now"
    return Undecided(reason=reason, missing=missing, brokers=(found.broker,), blocking=False)


def _unmarked(found: Shorter) -> Undecided:
    """The disk may have been copied before the stop."""
    return Undecided(
        reason=f"broker {found.broker}'s log end offset was {found.had} when it stopped, as its server.log tells, and is"
        f" {found.ends} here; no .kafka_cleanshutdown tells that the disk was copied after the stop",
        missing=f"the option --copied stopped, or broker {found.broker}'s .kafka_cleanshutdown",
        brokers=(found.broker,),
        start_offset=found.ends,
        end_offset=found.had,
    )


_IDS: Final = "the log dir in meta.properties before and after"
