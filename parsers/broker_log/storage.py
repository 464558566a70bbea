"""Lines about replicas and segments on disk: made, rolled, retained, deleted."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

STORAGE: Final = (
    Event(
        kind="replica-created",
        means="A new, empty replica begins here. detail: its topic's own settings; before 2.8 all that hold for it.",
        wordings=(
            Wording(text="Created log for partition {tp} in {directory} with properties<? {{detail}}?>"),
        ),
    ),
    Event(
        kind="replica-deleted",
        means="A replica's directory was renamed to be deleted (detail); its bytes live on until the delay is over.",
        wordings=(
            Wording(text="Log for partition {tp} is renamed to {detail} and is scheduled for deletion"),
        ),
    ),
    Event(
        kind="replica-swapped",
        means="A replica moved to another log dir takes the place of the old one.",
        wordings=(
            Wording(text="Attempting to replace current log {detail} for {tp}"),
        ),
    ),
    Event(
        kind="log-start-incremented",
        means="The log start offset moved up; detail: why, where printed.",
        wordings=(
            Wording(text="Incremented log start offset to {log_start_offset} due to {detail}", since="2.6"),
            Wording(text="Incrementing log start offset <?of partition {tp} ?>to {log_start_offset}", until="2.6"),
        ),
    ),
    Event(
        kind="segment-rolled",
        means="A new segment begins at offset, the log end offset then.",
        wordings=(
            Wording(
                text="Rolled new log segment at offset {offset} in ",
                copies={"log_end_offset": "offset"}, since="1.1",
            ),
        ),
    ),
    Event(
        kind="segments-deletable",
        means="Retention lets segments go; detail: their base offsets, then why.",
        wordings=(
            Wording(text="Found deletable segments with base offsets [{detail}", until="2.4"),
        ),
    ),
    Event(
        kind="segment-deleted",
        means="A segment (offset: its base) goes by lawful retention; detail: why.",
        wordings=(
            Wording(text="Deleting segment LogSegment(baseOffset={offset}, {*}) due to {detail}", since="2.4"),
        ),
    ),
    Event(
        kind="producer-snapshot-written",
        means="Producer state was saved at offset, the log end offset then: at each roll and at a clean stop.",
        wordings=(
            Wording(text="<Writing|Wrote> producer snapshot at offset {offset}", copies={"log_end_offset": "offset"}),
        ),
    ),
)  # fmt: skip
