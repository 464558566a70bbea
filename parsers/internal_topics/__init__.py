"""`__consumer_offsets` and `__transaction_state`: what groups committed and what transactions went through."""

from __future__ import annotations

from parsers.internal_topics.groups import GroupHistory, group_history
from parsers.internal_topics.latest import LatestCommits, latest_commits
from parsers.internal_topics.record import InternalRecord, group_partition, internal_record
from parsers.internal_topics.transactions import TransactionHistory, transaction_history

__all__ = [
    "GroupHistory", "InternalRecord", "LatestCommits", "TransactionHistory", "group_history", "group_partition",
    "internal_record", "latest_commits", "transaction_history",
]  # fmt: skip
