"""Lines of a start: how a broker found its logs and what recovery did to them."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_LOADER: Final = "[LogLoader partition=t-0, dir=/var/lib/kafka/data/broker-1] "
_ID: Final = "xcq385rNTkaYtHO3h4VBjA"

RECOVERY: Final = (
    Event(
        kind="log-loaded",
        means="A log was loaded with this start and end.",
        wordings=(
            Wording(
                text="Completed load of log with {count} segments, log start offset {log_start_offset} and log end offset {log_end_offset} in ",
                until="2.8",
                sample="[Log partition=ff-0, dir=/d] Completed load of log with 1 segments, log start offset 0 and log end offset 15 in 42 ms",
                expect={"topic": "ff", "partition": 0, "count": 1, "log_start_offset": 0, "log_end_offset": 15},
            ),
            Wording(
                text="Completed load of Log(dir={directory}, <?topicId={topic_id}, ?>topic={topic}, partition={partition}, highWatermark={number}, "
                "lastStableOffset={number}, logStartOffset={log_start_offset}, logEndOffset={log_end_offset})<? with {count} segments?>",
                since="2.8",
                sample=f"Completed load of Log(dir=/d/pay-0, topicId={_ID}, topic=pay, partition=0, highWatermark=0, lastStableOffset=0, "
                "logStartOffset=0, logEndOffset=100) with 1 segments, local-log-start-offset 0 and log-end-offset 100 in 37ms (1/1 completed in /d)",
                expect={"topic": "pay", "partition": 0, "topic_id": _ID, "log_start_offset": 0, "log_end_offset": 100, "count": 1,
                        "directory": "/d/pay-0", "high_watermark": None},
            ),
        ),
    ),
    Event(
        kind="initial-high-watermark",
        means="The replica's high watermark after a start: the checkpointed one, clamped to the log.",
        wordings=(
            Wording(
                text="Log loaded for partition {tp} with initial high watermark {high_watermark}", since="2.4",
                sample="[Partition pay-0 broker=1] Log loaded for partition pay-0 with initial high watermark 150",
                expect={"broker": 1, "topic": "pay", "high_watermark": 150},
            ),
        ),
    ),
    Event(
        kind="replica-loaded",
        means="An assigned replica's first high watermark; remote replicas are printed with 0.",
        wordings=(
            Wording(
                text="Replica loaded for partition {tp} with initial high watermark {high_watermark}", until="2.4",
                sample="Replica loaded for partition t-0 with initial high watermark 60", expect={"topic": "t", "high_watermark": 60},
            ),
        ),
    ),
    Event(
        kind="no-checkpointed-high-watermark",
        means="The replica's log dir has no high watermark for it: a new replica, or a lost checkpoint.",
        wordings=(
            Wording(
                text="No checkpointed highwatermark is found for partition {tp}",
                sample="[Partition t-0 broker=1] No checkpointed highwatermark is found for partition t-0", expect={"broker": 1, "topic": "t"},
            ),
        ),
    ),
    Event(
        kind="clean-start",
        means="The log dir was closed in order: nothing is recovered.",
        wordings=(
            Wording(
                text="Skipping recovery of {count} logs from {directory} since clean shutdown file was found", since="3.0",
                sample="Skipping recovery of 9 logs from /d/broker-1 since clean shutdown file was found", expect={"count": 9, "directory": "/d/broker-1"},
            ),
            Wording(
                text="Skipping recovery for all logs in {directory} since clean shutdown file was found", since="2.6", until="3.0",
                sample="Skipping recovery for all logs in /d/broker-1 since clean shutdown file was found", expect={"directory": "/d/broker-1"},
            ),
        ),
    ),
    Event(
        kind="unclean-start",
        means="The log dir was not closed in order: what was not flushed is recovered, and may be gone.",
        wordings=(
            Wording(
                text="Recovering {count} logs from {directory} since no clean shutdown file was found", since="2.8",
                sample="Recovering 1 logs from /d/broker-1 since no clean shutdown file was found", expect={"count": 1, "directory": "/d/broker-1"},
            ),
            Wording(
                text="Attempting recovery for all logs in {directory} since no clean shutdown file was found", since="2.6",
                sample="Attempting recovery for all logs in /d/broker-1 since no clean shutdown file was found", expect={"directory": "/d/broker-1"},
            ),
        ),
    ),
    Event(
        kind="first-start",
        means="The log dir holds no logs, or no broker epoch: a first start, or what follows an unclean stop.",
        wordings=(
            Wording(
                text="No logs found to be loaded in {directory}", since="3.0", sample="No logs found to be loaded in /d/broker-1",
                expect={"directory": "/d/broker-1"},
            ),
            Wording(
                text="Unable to read the broker epoch in {directory}", since="3.7", sample="Unable to read the broker epoch in /d/broker-1.",
                expect={"directory": "/d/broker-1"},
            ),
        ),
    ),
    Event(
        kind="log-loading-failed",
        means="A log dir did not load; the broker stops or runs without it. detail: the error.",
        wordings=(
            Wording(
                text="There was an error in one of the threads during logs loading: {detail}",
                sample="There was an error in one of the threads during logs loading: org.apache.kafka.common.errors.CorruptRecordException: x",
                expect={"detail": "org.apache.kafka.common.errors.CorruptRecordException: x"},
            ),
            Wording(
                text="Error while loading log dir {directory}", sample="Error while loading log dir /d/broker-1", expect={"directory": "/d/broker-1"},
            ),
            Wording(
                text="Error while loading logs in {directory} in {detail}",
                sample="Error while loading logs in /d/broker-1 in 33ms (0/1 completed in /d/broker-1)", expect={"directory": "/d/broker-1"},
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="segment-recovered",
        means="A segment (offset: its base) was not known to be flushed and is read again.",
        wordings=(
            Wording(
                text="Recovering unflushed segment {offset}", sample="[Log partition=t-0, dir=/d] Recovering unflushed segment 0",
                expect={"topic": "t", "offset": 0},
            ),
        ),
    ),
    Event(
        kind="corruption-found",
        means="Recovery cut the log at offset: records from there on are lost on this broker.",
        wordings=(
            Wording(
                text="Corruption found in segment {previous_offset}, truncating to offset {offset}",
                sample=_LOADER + "Corruption found in segment 0, truncating to offset 40", expect={"topic": "t", "previous_offset": 0, "offset": 40},
            ),
        ),
    ),
    Event(
        kind="invalid-offset-in-recovery",
        means="Recovery met an offset out of order and deleted the segment from offset on.",
        wordings=(
            Wording(
                text="Found invalid offset during recovery{*} starting offset {offset}",
                sample=_LOADER + "Found invalid offset during recovery. Deleting the corrupt segment and creating an empty one with starting offset 40",
                expect={"topic": "t", "offset": 40},
            ),
        ),
    ),
    Event(
        kind="index-rebuilt",
        means="An index did not fit its segment and was rebuilt: usual after an unclean stop.",
        wordings=(
            Wording(
                text="Found a corrupted index file corresponding to log file {detail} due to ",
                sample="[Log partition=t-0, dir=/d] Found a corrupted index file corresponding to log file /d/t-0/0.log due to Corrupt index found, "
                "recovering segment and rebuilding index files...",
                expect={"topic": "t", "detail": "/d/t-0/0.log"},
            ),
        ),
    ),
    Event(
        kind="swap-found",
        means="A cleaning was interrupted and is completed: also in healthy clusters.",
        wordings=(
            Wording(
                text="Found <?log ?><?index ?>file {detail} from interrupted swap operation.",
                sample="[Log partition=state-0, dir=/d] Found file /d/state-0/0.index.swap from interrupted swap operation.",
                expect={"topic": "state", "detail": "/d/state-0/0.index.swap"},
            ),
        ),
    ),
    Event(
        kind="stray-found",
        means="A replica lies here that the metadata does not assign to this broker.",
        wordings=(
            Wording(
                text="Log for partition {tp} is marked as stray and renamed to {detail}", since="3.6",
                sample="Log for partition t-0 is marked as stray and renamed to /d/t-0.f00-stray", expect={"topic": "t", "detail": "/d/t-0.f00-stray"},
            ),
            Wording(text="Found stray log dir {detail}", since="3.0", sample="Found stray log dir Log(dir=/d/t-0)", expect={"detail": "Log(dir=/d/t-0)"}),
            Wording(text="Found stray partitions {detail}", since="3.0", sample="Found stray partitions Set(t-0)", expect={"detail": "Set(t-0)"}),
            Wording(text="Loaded stray log: {detail}", since="3.6", sample="Loaded stray log: t-0", expect={"detail": "t-0"}),
        ),
    ),
)  # fmt: skip
