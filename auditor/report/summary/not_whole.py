"""Logs that are here in part alone: some brokers have them, or disks and other brokers tell of what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.model import Coverage
from rules.words import counted, numbered

WAY_OUT: Final = "add what is missing, or accept that with --partial"
"""What is to be done about logs and files that a dump lacks."""


def not_whole(coverage: Coverage) -> Iterator[str]:
    """Each as the clause of a sentence."""
    scope = coverage.scope
    if scope.lacking:
        yield f"{scope.lacking} of some brokers are not here"
    if scope.metadata_untold:
        yield f"the metadata log here lacks {counted(scope.metadata_untold, 'partition')} of this dump"
    if scope.cut_short:
        yield f"logs of {numbered('broker', scope.cut_short)} end before what disks or other brokers show"
    if scope.begun_late:
        whose = numbered("broker", scope.begun_late)
        yield f"logs of {whose} begin after a role in which they or other brokers show them"
    if scope.holed:
        yield f"logs of {numbered('broker', scope.holed)} lack roles between others of which they tell"
    if scope.requests_holed:
        yield f"request logs of {numbered('broker', scope.requests_holed)} lack lines that numbers of fetches prove"
