"""Lines of a start: how a broker found its logs and what recovery did to them."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

RECOVERY: Final = (
    Event(
        kind="log-loaded",
        means="A log was loaded with this start and end.",
        wordings=(
            Wording(
                text="Completed load of log with {count} segments, log start offset {log_start_offset} and log end offset {log_end_offset} in ",
                until="2.8",
            ),
            Wording(
                text="Completed load of Log(dir={directory}, <?topicId={topic_id}, ?>topic={topic}, partition={partition}, highWatermark={number}, "
                "lastStableOffset={number}, logStartOffset={log_start_offset}, logEndOffset={log_end_offset})<? with {count} segments?>",
                since="2.8",
            ),
        ),
    ),
    Event(
        kind="initial-high-watermark",
        means="The replica's high watermark after a start: the checkpointed one, clamped to the log.",
        wordings=(
            Wording(text="Log loaded for partition {tp} with initial high watermark {high_watermark}", since="2.4"),
        ),
    ),
    Event(
        kind="replica-loaded",
        means="An assigned replica's first high watermark; remote replicas are printed with 0.",
        wordings=(
            Wording(text="Replica loaded for partition {tp} with initial high watermark {high_watermark}", until="2.4"),
        ),
    ),
    Event(
        kind="no-checkpointed-high-watermark",
        means="The replica's log dir has no high watermark for it: a new replica, or a lost checkpoint.",
        wordings=(
            Wording(text="No checkpointed highwatermark is found for partition {tp}"),
        ),
    ),
    Event(
        kind="clean-start",
        means="The log dir was closed in order: nothing is recovered.",
        wordings=(
            Wording(
                text="Skipping recovery of {count} logs from {directory} since clean shutdown file was found",
                since="3.0",
            ),
            Wording(
                text="Skipping recovery for all logs in {directory} since clean shutdown file was found",
                since="2.6", until="3.0",
            ),
        ),
    ),
    Event(
        kind="unclean-start",
        means="The log dir was not closed in order: what was not flushed is recovered, and may be gone.",
        wordings=(
            Wording(
                text="Recovering {count} logs from {directory} since no clean shutdown file was found",
                since="2.8",
            ),
            Wording(
                text="Attempting recovery for all logs in {directory} since no clean shutdown file was found",
                since="2.6",
            ),
        ),
    ),
    Event(
        kind="first-start",
        means="The log dir holds no logs, or no broker epoch: a first start, or what follows an unclean stop.",
        wordings=(
            Wording(text="No logs found to be loaded in {directory}", since="3.0"),
            Wording(text="Unable to read the broker epoch in {directory}", since="3.7"),
        ),
    ),
    Event(
        kind="log-loading-failed",
        means="A log dir did not load; the broker stops or runs without it. detail: the error.",
        wordings=(
            Wording(text="There was an error in one of the threads during logs loading: {detail}"),
            Wording(text="Error while loading log dir {directory}"),
            Wording(text="Error while loading logs in {directory} in {detail}"),
        ),
        reason_follows=True,
    ),
    Event(
        kind="segment-recovered",
        means="A segment (offset: its base) was not known to be flushed and is read again.",
        wordings=(
            Wording(text="Recovering unflushed segment {offset}"),
        ),
    ),
    Event(
        kind="corruption-found",
        means="Recovery cut the log at offset: records from there on are lost on this broker.",
        wordings=(
            Wording(text="Corruption found in segment {previous_offset}, truncating to offset {offset}"),
        ),
    ),
    Event(
        kind="invalid-offset-in-recovery",
        means="Recovery met an offset out of order and deleted the segment from offset on.",
        wordings=(
            Wording(text="Found invalid offset during recovery{*} starting offset {offset}"),
        ),
    ),
    Event(
        kind="index-rebuilt",
        means="An index did not fit its segment and was rebuilt: usual after an unclean stop.",
        wordings=(
            Wording(text="Found a corrupted index file corresponding to log file {detail} due to "),
        ),
    ),
    Event(
        kind="swap-found",
        means="A cleaning was interrupted and is completed: also in healthy clusters.",
        wordings=(
            Wording(text="Found <?log ?><?index ?>file {detail} from interrupted swap operation."),
        ),
    ),
    Event(
        kind="stray-found",
        means="A replica lies here that the metadata does not assign to this broker.",
        wordings=(
            Wording(text="Log for partition {tp} is marked as stray and renamed to {detail}", since="3.6"),
            Wording(text="Found stray log dir {detail}", since="3.0"),
            Wording(text="Found stray partitions {detail}", since="3.0"),
            Wording(text="Loaded stray log: {detail}", since="3.6"),
        ),
    ),
)  # fmt: skip
