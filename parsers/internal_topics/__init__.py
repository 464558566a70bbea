"""`__consumer_offsets`, `__transaction_state`, `__remote_log_metadata`: commits, transactions, remote segments."""

from __future__ import annotations

from parsers.internal_topics.group_members import GroupMembers, Membership, memberships
from parsers.internal_topics.groups import group_history
from parsers.internal_topics.homes import StandingKeys
from parsers.internal_topics.latest import latest_commits
from parsers.internal_topics.latest_states import latest_states
from parsers.internal_topics.record import InternalRecord, internal_record
from parsers.internal_topics.remote_segments import REMOTE_LIMIT, RemoteSegment, remote_segments
from parsers.internal_topics.transaction_states import transaction_history
