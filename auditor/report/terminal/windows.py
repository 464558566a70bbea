"""Which drawing stands under which finding: findings that show one window of a log have it drawn once, at the first."""

from __future__ import annotations

from collections.abc import Sequence

from rules.finding import Finding, Place
from rules.sketch.drawn_window import MARGIN


def windows_of(findings: Sequence[Finding]) -> dict[str, str]:
    """The drawings by the id of the finding that they stand under: the widest window of all that lie within it."""
    drawn: dict[str, str] = {}
    places: dict[Place, list[Finding]] = {}
    for finding in findings:
        if finding.sketch:
            places.setdefault((finding.cluster_id, finding.topic, finding.partition), []).append(finding)
    for own in places.values():
        left = own
        while left:
            widest = max(left, key=_width)
            shown = [finding for finding in left if _within(finding, widest)]
            drawn[shown[0].id] = widest.sketch
            left = [finding for finding in left if finding not in shown]
    return drawn


def _width(finding: Finding) -> int:
    """Offsets that a finding spans; one without a range is drawn at the log ends, and only where nothing else is."""
    if finding.start_offset is None or finding.end_offset is None:
        return -1
    return finding.end_offset - finding.start_offset


def _within(finding: Finding, widest: Finding) -> bool:
    """Whether the widest finding's window, margins included, shows this one's range."""
    if finding.start_offset is None or finding.end_offset is None:
        return True
    if widest.start_offset is None or widest.end_offset is None:
        return False
    return widest.start_offset - MARGIN <= finding.start_offset and finding.end_offset <= widest.end_offset + MARGIN
