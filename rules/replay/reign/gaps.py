"""What is known of lines that a leader's request log lacks, reign by reign."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from rules.history.gaps import TraceGap, ends_unseen, holed
from rules.replay.reign.reigns import UnbrokenReign
from rules.replay.reign.statements import Statements


def with_gaps(reign: UnbrokenReign, statements: Statements, gaps: Sequence[TraceGap]) -> UnbrokenReign:
    """A reign with where its leader's log has holes among its rows, and whether it ends before the reign did."""
    if not gaps:
        return reign
    following = statements.story_of(reign.clock).following(reign.epochs[-1])
    unseen = ends_unseen(gaps, reign.leader, None if following is None else following.time)
    return replace(reign, holed=holed(gaps, reign.leader, reign.rows), ends_unseen=unseen)
