"""HW002: a high watermark went back in one leader's term: in its answers, or in what a broker left on its disk."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch, OffsetCheckpoint
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import Closing, Fetched, OffsetClaim, PartitionEvidence, Span, Unclosed, none_told
from rules.evidence.taken_back import perhaps_restarted, taken_back
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import listed, numbered


@rule(
    id="HW002",
    severity=Severity.HIGH,
    needs=(Fetch, BrokerEvent, OffsetCheckpoint),
    law="MonotonicHighWatermark",
    message="{higher:.} Later, in the same epoch {epoch}, {lower}.",
)
def high_watermark_regressed(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A high watermark went back while the same leader led.

    Compared is what one follower was told: it has one fetch in flight, so its answers stand in the order in which
    they were given. Across terms a high watermark may lawfully be lower. A broker writes a checkpoint at a clean
    shutdown. It is compared with what the replay says that the broker must have held then. The replay rests on no told
    high watermark.

    Proves
    ------
    The leader took back what it had shown as committed, or the answers are of two clusters, two topics or two
    lives. A checkpoint that is too low was changed since the stop, or restored. A release that truncates to its
    high watermark cuts committed records at its next start.

    Undecided when
    --------------
    Answers rest on fetch sessions whose beginning was not recorded: these are passed over. Two answers are of two
    sessions, and the leader's server.log does not go on to the second: it may have been restarted in between. Nothing
    confirms a checkpoint of a clean shutdown where the broker's logs, or its leader's, do not reach to that stop. The
    same holds where the log itself ends below the high watermark that the checkpoint ought to tell. Or no answer tells
    a high watermark: there is nothing to compare.

    Upheld
    ------
    broker 1 0000| ; unclean
    broker 2 0000| ; unclean
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 leads 2 epoch 1 at 4 hw 3
    t4 fetch 1@4 from 2 hw=3

    Violated
    --------
    broker 1 0000| ; unclean
    broker 2 0000| ; unclean
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 fetch 2@4 from 1 hw=3
    """
    for before, after in taken_back(evidence.replayed.courses):
        restarted = perhaps_restarted(evidence, before, after)
        yield _undecided(before, after) if restarted else _violation(before, after)
    yield from _closed_too_low(evidence)
    answers = [row.moment for course in evidence.replayed.courses for row in course.rows if row.moment.kind == "fetched"]
    if none_told(answer.high_watermark for answer in answers):
        missing = "request logs (DEBUG) or followers' logs whose answers tell a high watermark"
        yield Undecided(reason="no answer here tells a high watermark to compare", missing=missing, blocking=False)
    yield from _not_compared(evidence) if evidence.replayed.courses else ()


def _not_compared(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """High watermarks of checkpoints that were not copied, and those beside which nothing tells what they must be."""
    marks = {r.broker: r.high_watermark.offset for r in evidence.current if r.high_watermark is not None}
    if stopped := {closing.broker for closing in evidence.closings} - marks.keys():
        whose = numbered("broker", sorted(stopped))
        reason = f"no checkpoint here tells the high watermark that {whose} saved at shutdown"
        yield Undecided(reason=reason, missing=f"the replication-offset-checkpoint of {whose}", blocking=False)
    open_ones = [c for c in evidence.closings if isinstance(c, Unclosed) and c.broker in marks]
    for missing in dict.fromkeys(c.missing for c in open_ones):
        saved = sorted({c.broker for c in open_ones if c.missing == missing})
        alike, whose = {marks[b]: [o for o in saved if marks[o] == marks[b]] for b in saved}, numbered("broker", saved)
        did = listed([f"{numbered('broker', own)} saved high watermark {mark}" for mark, own in alike.items()])
        yield Undecided(reason=f"{did} at shutdown. It is not known whether {whose} had a higher one then", missing=missing.format(whose=whose), blocking=False)


def _undecided(before: Fetched, after: Fetched) -> Undecided:
    asked = Silence(broker=after.witness, log="server", window="of the time between these answers", perhaps="it may have been restarted then")
    return Undecided(
        reason=f"broker {after.witness} reported high watermark {before.high_watermark} to broker {after.broker} and later,"
        f" in another session of epoch {after.term}, only {after.high_watermark}",
        missing=would_tell(asked),
        blocking=False,
    )


def _closed_too_low(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    replicas = {replica.broker: replica for replica in evidence.current}
    for closing in evidence.closings:
        if isinstance(closing, Unclosed):
            continue
        claim, end = replicas[closing.broker].high_watermark, replicas[closing.broker].log_end_offset
        held = closing.high_watermark.interval.low or 0
        if claim is None or claim.offset >= held:
            continue
        if end < held:
            reason = f"broker {closing.broker}'s log end offset is {end}, below high watermark {held}, which it had at least"
            missing = "the log lines of the cut, restart or election after which it ends there"
            yield Undecided(reason=reason, missing=missing, brokers=(closing.broker,), blocking=False)
        else:
            yield _lowered(closing, claim)


def _lowered(closing: Closing, claim: OffsetClaim) -> Violation:
    low = closing.high_watermark.low
    held, because = (0, "") if low is None else (low.offset, low.because)
    return Violation(
        brokers=(closing.broker,),
        start_offset=claim.offset,
        end_offset=held,
        confidence="likely" if closing.estimated else "certain",
        facts={
            "higher": f"broker {closing.broker} held high watermark {held} at least ({because})",
            "lower": f"it wrote only {claim.offset} when it shut down cleanly",
            "leader": closing.leader,
            "follower": None if closing.leader == closing.broker else closing.broker,
            "epoch": closing.epoch,
            "subject": f"the checkpoint of broker {closing.broker}",
        },
        exhibits=_shown((claim.span, "the high watermark on disk"), (closing.stopped.span, "the clean shutdown")),
    )


def _violation(before: Fetched, after: Fetched) -> Violation:
    return Violation(
        brokers=() if after.witness is None else (after.witness,),
        start_offset=after.high_watermark,
        end_offset=before.high_watermark,
        facts={
            "higher": f"broker {after.witness} reported high watermark {before.high_watermark} to broker {after.broker}",
            "lower": f"it reported only {after.high_watermark}",
            "leader": after.witness, "follower": after.broker, "epoch": after.term, "subject": str(after.term),
        },
        exhibits=_shown((before.span, "the higher answer"), (after.span, "the lower answer after it")),
    )


def _shown(*parts: tuple[Span, str]) -> tuple[Exhibit, ...]:
    return tuple(Exhibit(span=span, role=role) for span, role in parts)
