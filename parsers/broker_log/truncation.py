"""Lines in which a replica cuts its log, or finds that it need not."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_STATE: Final = "Truncating partition {tp} with TruncationState(offset={offset}, completed={*}) due to "

TRUNCATION: Final = (
    Event(
        kind="truncating",
        means="The log end offset is lowered to offset. The former end is not in the line.",
        wordings=(
            Wording(text="Truncating to offset {offset}", since="1.0"),
            Wording(text="Truncating log {tp} to offset {offset}.", until="1.0"),
        ),
    ),
    Event(
        kind="truncation-no-effect",
        means="A truncation to offset cuts nothing: the log already ends there or before. Tells the log end offset minus one.",
        wordings=(
            Wording(
                text="Truncating to {offset} has no effect as the largest offset in the log is {last_offset}",
                since="1.0",
            ),
            Wording(
                text="Truncating {tp} to {offset} has no effect as the largest offset in the log is {last_offset}",
                until="1.0",
            ),
        ),
    ),
    Event(
        kind="truncating-to-high-watermark",
        means="The follower has no epochs to ask with and cuts to its own high watermark. At offset 0 of an empty log it is benign.",
        wordings=(
            Wording(text=_STATE + "local high watermark {high_watermark}", since="3.1"),
            Wording(
                text="Truncating partition {tp} to local high watermark {high_watermark}",
                copies={"offset": "high_watermark"}, since="2.1", until="3.1",
            ),
        ),
    ),
    Event(
        kind="truncating-by-epoch-answer",
        means="The follower cuts to the end of the last epoch that it shares with the leader (epoch and answer_offset are the answer).",
        wordings=(
            Wording(
                text=_STATE + "leader epoch and offset EpochEndOffset(errorCode={*}, partition={*}, leaderEpoch={epoch}, endOffset={answer_offset})",
                since="3.1",
            ),
        ),
    ),
    Event(
        kind="truncating-below-high-watermark",
        means="The follower cuts records that it believed committed.",
        wordings=(
            Wording(
                text="Truncating <?future ?>{tp} to offset {offset} below high watermark {high_watermark}",
                since="2.0",
            ),
        ),
    ),
    Event(
        kind="non-monotonic-high-watermark",
        means="The high watermark went back from previous_offset to high_watermark.",
        wordings=(
            Wording(
                text="Non-monotonic update of high watermark from (offset={previous_offset}<?,?> segment=[{*}]) to (offset={high_watermark}",
                since="2.8",
            ),
        ),
    ),
    Event(
        kind="segments-truncated",
        means="Whole segments go with a truncation.",
        wordings=(
            Wording(text="Deleting segments as part of log truncation: {detail}", since="2.8"),
            Wording(text="Scheduling segments for deletion {detail}", since="2.4", until="2.8"),
        ),
    ),
    Event(
        kind="full-truncation",
        means="The whole local log is given up, and fetching begins at the leader's log start.",
        wordings=(
            Wording(
                text="Truncate fully and reset fetch offset for partition {tp} from {previous_offset} to the current leader's start offset {offset}",
                since="3.6",
            ),
        ),
    ),
    Event(
        kind="reset-fetch-offset-to-latest",
        means="The follower is ahead of the leader and really truncates to the leader's end.",
        wordings=(
            Wording(
                text="Reset fetch offset for partition {tp} from {previous_offset} to current leader's latest offset {offset}",
            ),
        ),
    ),
    Event(
        kind="reset-fetch-offset-to-start",
        means="The follower's position is set to the leader's log start; from 3.6 on only where nothing is cut.",
        wordings=(
            Wording(
                text="Reset fetch offset for partition {tp} from {previous_offset} to <current|the current> leader's start offset {offset}",
                until="3.6",
            ),
        ),
    ),
    Event(
        kind="full-truncation-no-effect",
        means="The follower's position is set to its own log end: nothing is cut.",
        wordings=(
            Wording(
                text="Reset fetch offset for partition {tp} from {previous_offset} to the current local replica's end offset {offset}",
                since="3.6",
            ),
        ),
    ),
    Event(
        kind="fetch-offset-out-of-range",
        means="The leader does not hold the follower's position (previous_offset); fetching goes on at offset.",
        wordings=(
            Wording(
                text="Current offset {previous_offset} for partition {tp} is out of range, which typically implies a leader change. "
                "Reset fetch offset to {offset}",
                since="1.1",
            ),
            Wording(
                text="Current offset {previous_offset} for partition [{topic},{partition}] out of range; reset offset to {offset}",
                until="1.1",
            ),
        ),
    ),
    Event(
        kind="truncation-not-allowed",
        means="The broker stops rather than cut: the leader is shorter than the follower and unclean elections are off.",
        wordings=(
            Wording(text="Exiting because log truncation is not allowed for partition {tp}", until="2.1"),
        ),
        whole_message=True,
    ),
    Event(
        kind="all-segments-deleted",
        means="At load the log ends before it starts: every segment is deleted.",
        wordings=(
            Wording(
                text="Deleting all segments because logEndOffset ({log_end_offset}) is smaller than logStartOffset <(|>{log_start_offset}",
            ),
        ),
    ),
    Event(
        kind="metadata-log-truncated",
        means="A node cut its copy of the metadata log as the quorum leader told it.",
        wordings=(
            Wording(text="Truncated to offset {offset} from Fetch response from leader {leader}", since="2.7"),
        ),
    ),
)  # fmt: skip
