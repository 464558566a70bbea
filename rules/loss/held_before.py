"""What a leader's log had held before it was made anew, where nothing tells that any of it was written or is gone."""

from __future__ import annotations

from collections.abc import Iterator

from rules.chronicle.made_anew import MadeAnew
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import COMPACTED_TOPICS, PartitionEvidence
from rules.loss.last_answers import Answering
from rules.loss.left_out import left_out
from rules.loss.unsettled import Unsettled


def of_logs_made_anew(evidence: PartitionEvidence) -> Iterator[Unsettled]:
    """Every reign of which the log went, but those that wrote nothing by all their answers, or whose loss is known."""
    known = {(stretch.epoch, stretch.next_epoch) for stretch in left_out(evidence)}
    for log in evidence.chronicle.made_anew:
        if (log.before.epoch, log.after.epoch) not in known and not _all_heard(evidence, log):
            yield _question(evidence, log)


def _all_heard(evidence: PartitionEvidence, log: MadeAnew) -> bool:
    """Whether all that it answered is here; brokers themselves write compacted topics, and are not answered."""
    own = Answering(evidence, log.before.broker, log.before.epoch)
    begun = log.before.opening.offset or 0
    return evidence.topic not in COMPACTED_TOPICS and own.saw_its_last and not own.begins_behind(begun)


def _question(evidence: PartitionEvidence, log: MadeAnew) -> Unsettled:
    who, led, leads = f"broker {log.before.broker}", log.before.epoch, log.after.epoch
    again = f"epoch {leads}" if leads != led else f"epoch {leads} once more"
    requests = Silence(broker=log.before.broker, log="requests", window="up to its very end (nothing cut off)")
    copy = f"a copy of the disk that {who} had before"
    return Unsettled(
        broker=log.before.broker,
        words=f"{who} led in epoch {led}. Then it created its log anew, and led in {again} with an empty log."
        " No log tells what it had written before, so all of it may be lost",
        missing=copy if evidence.topic in COMPACTED_TOPICS else would_tell(requests, copy),
        start_offset=log.before.opening.offset,
        epoch=led,
        shown=((log.made, "the log is created anew"), (log.after.opening, "its broker leads with an empty log")),
    )
