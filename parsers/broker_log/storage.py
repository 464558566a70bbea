"""Lines about replicas and segments on disk: made, rolled, retained, deleted."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_LOG: Final = "[Log partition=short-0, dir=/d] "

STORAGE: Final = (
    Event(
        kind="replica-created",
        means="A new, empty replica begins here. detail: its topic's own settings; before 2.8 all that hold for it.",
        wordings=(
            Wording(
                text="Created log for partition {tp} in {directory} with properties<? {{detail}}?>",
                sample="Created log for partition orders-2 in /d/orders-2 with properties {min.insync.replicas=2}",
                expect={"topic": "orders", "partition": 2, "directory": "/d/orders-2", "detail": "min.insync.replicas=2"},
            ),
        ),
    ),
    Event(
        kind="replica-deleted",
        means="A replica's directory was renamed to be deleted (detail); its bytes live on until the delay is over.",
        wordings=(
            Wording(
                text="Log for partition {tp} is renamed to {detail} and is scheduled for deletion",
                sample="Log for partition again-0 is renamed to /d/again-0.101121717b3a48d98c6bdf9e391071fc-delete and is scheduled for deletion",
                expect={"topic": "again", "detail": "/d/again-0.101121717b3a48d98c6bdf9e391071fc-delete"},
            ),
        ),
    ),
    Event(
        kind="replica-swapped",
        means="A replica moved to another log dir takes the place of the old one.",
        wordings=(
            Wording(
                text="Attempting to replace current log {detail} for {tp}",
                sample="Attempting to replace current log Log(dir=/d1/t-0) with Log(dir=/d2/t-0.f00-future) for t-0",
                expect={"topic": "t", "detail": "Log(dir=/d1/t-0) with Log(dir=/d2/t-0.f00-future)"},
            ),
        ),
    ),
    Event(
        kind="log-start-incremented",
        means="The log start offset moved up; detail: why, where printed.",
        wordings=(
            Wording(
                text="Incremented log start offset to {log_start_offset} due to {detail}", since="2.6",
                sample=_LOG + "Incremented log start offset to 150 due to segment deletion",
                expect={"topic": "short", "log_start_offset": 150, "detail": "segment deletion"},
            ),
            Wording(
                text="Incrementing log start offset <?of partition {tp} ?>to {log_start_offset}", until="2.6",
                sample=_LOG + "Incrementing log start offset to 90", expect={"topic": "short", "log_start_offset": 90},
            ),
        ),
    ),
    Event(
        kind="segment-rolled",
        means="A new segment begins at offset, the log end offset then.",
        wordings=(
            Wording(
                text="Rolled new log segment at offset {offset} in ", copies={"log_end_offset": "offset"}, since="1.1",
                sample="[LocalLog partition=state-0, dir=/d/state-0] Rolled new log segment at offset 80 in 2 ms.",
                expect={"topic": "state", "offset": 80, "log_end_offset": 80},
            ),
        ),
    ),
    Event(
        kind="segments-deletable",
        means="Retention lets segments go; detail: their base offsets, then why.",
        wordings=(
            Wording(
                text="Found deletable segments with base offsets [{detail}", until="2.4",
                sample=_LOG + "Found deletable segments with base offsets [0,30,60] due to retention time 4000ms breach",
                expect={"topic": "short", "detail": "0,30,60] due to retention time 4000ms breach"},
            ),
        ),
    ),
    Event(
        kind="segment-deleted",
        means="A segment (offset: its base) goes by lawful retention; detail: why.",
        wordings=(
            Wording(
                text="Deleting segment LogSegment(baseOffset={offset}, {*}) due to {detail}", since="2.4",
                sample=_LOG + "Deleting segment LogSegment(baseOffset=120, size=1326, lastModifiedTime=1795239544232, "
                "largestRecordTimestamp=Some(1795239544232)) due to retention time 4000ms breach",
                expect={"topic": "short", "offset": 120, "detail": "retention time 4000ms breach"},
            ),
        ),
    ),
    Event(
        kind="producer-snapshot-written",
        means="Producer state was saved at offset, the log end offset then: at each roll and at a clean stop.",
        wordings=(
            Wording(
                text="<Writing|Wrote> producer snapshot at offset {offset}", copies={"log_end_offset": "offset"},
                sample="[ProducerStateManager partition=orders-0] Wrote producer snapshot at offset 71 with 2 producer ids in 0 ms.",
                expect={"topic": "orders", "partition": 0, "offset": 71, "log_end_offset": 71},
            ),
        ),
    ),
)  # fmt: skip
