"""Who had read lost records, and which groups stand on them: clients that were served, and committed offsets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from rules.history.statements import Fetched
from rules.replicas.commits_of_groups import GroupCommit

GroupStanding = Literal["beyond the log end", "in the cut epoch", "among the cut offsets"]

READERS_KEPT: Final = 500


class LostReader(Struct, frozen=True, kw_only=True):
    """A client that was served lost records before they went."""

    client_id: str | None
    up_to: int
    """It asked for this offset next, and so had all below it."""


class GroupAtRisk(Struct, frozen=True, kw_only=True):
    """A consumer group whose committed offset the loss makes wrong."""

    group: str
    offset: int
    epoch: int | None
    time: int | None
    standing: GroupStanding

    def has_read(self, epoch: int, start: int, end: int) -> tuple[int, int] | None:
        """Which of the lost offsets it read; null where its commit is of another epoch's records."""
        if self.offset <= start or self.epoch not in (None, epoch):
            return None
        return start, min(end, self.offset)


def readers(fetches: Iterable[Fetched], epoch: int, leader: int | None, start: int, end: int) -> tuple[LostReader, ...]:
    """Consumers whose next fetch from the epoch's leader shows that they had lost records."""
    furthest: dict[str | None, int] = {}
    for fetch in fetches:
        served = fetch.kind == "consumed" and fetch.term == epoch and fetch.error == 0 and not fetch.doubtful
        if served and fetch.witness == leader and start < (fetch.offset or 0) <= end:
            furthest[fetch.client_id] = max(furthest.get(fetch.client_id, 0), fetch.offset or 0)
    names = sorted(furthest, key=lambda name: (name is None, name or ""))
    return tuple(LostReader(client_id=name, up_to=furthest[name]) for name in names[:READERS_KEPT])


def groups_at_risk(
    commits: Iterable[GroupCommit], epoch: int, start: int, end: int, log_end: int | None
) -> tuple[GroupAtRisk, ...]:
    """Groups that stand beyond what is there now, or whose last record was of the lost ones; each once."""
    found: dict[str, GroupAtRisk] = {}
    for commit in commits:
        standing = _standing(commit, epoch, start, end, log_end)
        if standing is not None and commit.group not in found:
            found[commit.group] = GroupAtRisk(
                group=commit.group,
                offset=commit.offset,
                epoch=commit.leader_epoch,
                time=commit.commit_time,
                standing=standing,
            )
    return tuple(found.values())[:READERS_KEPT]


def _standing(commit: GroupCommit, epoch: int, start: int, end: int, log_end: int | None) -> GroupStanding | None:
    if log_end is not None and commit.offset > log_end:
        return "beyond the log end"
    if commit.offset <= start:
        return None
    if commit.leader_epoch is not None:
        return "in the cut epoch" if commit.leader_epoch == epoch else None
    return "among the cut offsets" if commit.offset <= end else None
