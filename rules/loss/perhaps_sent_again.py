"""Committed records that no bill names, because older ones stand in their place that producers may have sent again."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.loss.accounts import committed_end_of
from rules.loss.last_answers import sent_again
from rules.loss.left_out import left_out
from rules.loss.lost_stretch import LeftOut


def perhaps_sent_again(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """The committed parts of what was left out there: the records that stand may be the same, or others."""
    for stretch in left_out(evidence):
        if stretch.older or stretch.held_by_none:
            continue
        for start, end in (stretch.extent & sent_again(evidence, stretch.epoch)).parts:
            part = replace(stretch, start=start, end=end)
            known = committed_end_of(evidence, part, again=False)
            if start < known:
                yield replace(part, end=known)
