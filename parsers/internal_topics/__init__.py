"""`__consumer_offsets`, `__transaction_state`, `__remote_log_metadata`: commits, transactions, remote segments."""

from __future__ import annotations

from parsers.internal_topics.group_members import GroupMembers, Membership, memberships
from parsers.internal_topics.groups import GroupHistory, group_history
from parsers.internal_topics.homes import StandingKeys
from parsers.internal_topics.latest import LatestCommits, latest_commits
from parsers.internal_topics.latest_states import LatestStates, latest_states
from parsers.internal_topics.record import InternalRecord, internal_record
from parsers.internal_topics.remote_segments import REMOTE_LIMIT, RemoteSegment, RemoteSegments, remote_segments
from parsers.internal_topics.transaction_states import TransactionHistory, transaction_history

__all__ = [
    "REMOTE_LIMIT", "GroupHistory", "GroupMembers", "InternalRecord", "LatestCommits", "LatestStates", "Membership",
    "RemoteSegment", "RemoteSegments", "StandingKeys", "TransactionHistory", "group_history", "internal_record",
    "latest_commits", "latest_states", "memberships", "remote_segments", "transaction_history",
]  # fmt: skip
