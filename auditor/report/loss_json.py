"""One loss as a part of the JSON report: what went, what it was worth, where it still stands, whom it concerns."""

from __future__ import annotations

from auditor.document_fields import Json, at_least, fields
from auditor.report.model import Contents, GroupAtRisk, Loss, Portion, RemoteCopy, Survivor


def loss_document(loss: Loss) -> Json:
    """The loss."""
    start = loss.start_offset
    return {
        **fields(loss, "epoch latest_epoch leader next_epoch next_leader start_offset end_offset"),
        **fields(loss, "end_known=endOffsetKnown end_at_most=endOffsetAtMost again=openedAgain"),
        "committed": [start, loss.committed_end],
        "acknowledged": [start, max(loss.acknowledged_end, loss.committed_end)],
        "portions": [_portion(portion) for portion in loss.portions],
        "reused": [start, loss.reused_end],
        **fields(loss, "reused_epochs answers answers_known first_time last_time clock"),
        "contents": None if loss.contents is None else _contents(loss.contents),
        **fields(loss, "clients readers"),
        "groups": [_group(group) for group in loss.groups],
        "groupsKnown": loss.groups_known,
        "survivors": [_survivor(survivor) for survivor in loss.survivors],
        "remote": [_remote(copy) for copy in loss.remote],
        **fields(loss, "searched restored unread=perhapsHeldBy because"),
    }


def _remote(copy: RemoteCopy) -> Json:
    return fields(copy, "segment broker epoch start_offset end_offset span=evidence")


def _portion(portion: Portion) -> Json:
    return {
        **fields(portion, "worth start_offset end_offset records bytes"),
        "atLeast": at_least(portion),
        "divided": portion.divided,
    }


def _contents(contents: Contents) -> Json:
    return fields(contents)


def _group(group: GroupAtRisk) -> Json:
    return fields(group, "group offset=committedOffset epoch=committedEpoch time=commitTime standing")


def _survivor(survivor: Survivor) -> Json:
    return fields(survivor, "broker kind path start_offset end_offset")
