"""What is known of lines that a leader's request log lacks, lead by lead."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from rules.history.gaps import TraceGap, ends_unseen, holed
from rules.replay.leads.by_clock_and_epoch import Statements
from rules.replay.leads.served_leads import ServedLead


def with_gaps(lead: ServedLead, statements: Statements, gaps: Sequence[TraceGap]) -> ServedLead:
    """A lead with where its leader's log has holes among its rows, and whether it ends before the lead did."""
    if not gaps:
        return lead
    following = statements.story_of(lead.clock).following(lead.epochs[-1])
    unseen = ends_unseen(gaps, lead.leader, None if following is None else following.time)
    return replace(lead, holed=holed(gaps, lead.leader, lead.rows), ends_unseen=unseen)
