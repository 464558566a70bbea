"""The answers of `find` as text; keys and values of records are never told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.find.lookup import ReplicaLookup
from auditor.report.moments import moment
from auditor.report.plain import plain
from rules.finding import offsets_told


def answer_text(topic: str, partition: int, sought: str, answers: Sequence[ReplicaLookup], *, explain: bool) -> str:
    """All answers, one replica after the other."""
    lines = [f"{topic}-{partition}, {sought}"]
    for answer in answers:
        lines += ["", *_answer(answer, explain=explain)]
    if not answers:
        lines.append("no replica in plain use is here")
    return "\n".join(map(plain, lines)) + "\n"


def _answer(answer: ReplicaLookup, *, explain: bool) -> Iterator[str]:
    replica = answer.replica
    watermark = "unknown" if replica.high_watermark is None else str(replica.high_watermark.offset)
    log = offsets_told(replica.log_start_offset, replica.log_end_offset)
    yield f"broker {replica.broker}  log {log}  high watermark {watermark}"
    if answer.found is not None:
        found = answer.found
        if answer.offset is not None:
            yield f"  offset   {answer.offset}"
        yield f"  file     {found.source}"
        yield f"  bytes    [{found.start}, {found.end})"
        records = "an unknown number of records" if found.records is None else f"{found.records} records"
        yield f"  batch    {found.offsets}, {records}, latest timestamp {_time(found.max_timestamp)}"
        yield f"  epoch    {'none: an old format' if found.leader_epoch < 0 else found.leader_epoch}"
    if answer.remark:
        yield f"  {answer.remark}"
    if answer.misled:
        yield f"  its index misleads the broker: {answer.misled}"
        yield "  (while the broker is stopped, delete the segment's indexes: it builds them anew)"
    if answer.unread:
        yield "  a part of these segments is no batch, or could not be read: `tidemark audit` says which"
    for number, step in enumerate(answer.steps if explain else (), start=1):
        yield f"  {number:2}. {step}"


def _time(milliseconds: int) -> str:
    time = moment(milliseconds)
    return f"{milliseconds} ({time} UTC)" if time else "none"
