"""That a dump holds several clusters: what a reader must know before any number of the report."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import commonpath
from typing import Final

from auditor.report.model import AuditReport, RefusalLine
from rules.words import first_of, listed

NAMED: Final = 4


def several_clusters(report: AuditReport) -> str:
    """Which clusters lie where, and how each is audited alone; empty where one is here, or the disks of none."""
    found: dict[str, list[str]] = {}
    for placed in report.replicas:
        found.setdefault(placed.cluster_id or "", []).append(placed.replica.path)
    if len(found) < 2:  # noqa: PLR2004 - one, or none
        return _of_one_id(report)
    folders = {name: commonpath(paths) for name, paths in sorted(found.items(), reverse=True)}
    apart = "" not in folders.values() and len(set(folders.values())) == len(folders)
    where = [f"{name or 'disks that name no cluster'}{f' in {folders[name]}' * apart}" for name in folders]
    what = "Disks that may be of several clusters are" if "" in found else f"{len(found)} clusters are"
    how = "give its folder alone" if apart else "give only the folders of its brokers"
    return f"{what} in this dump: {first_of(where, NAMED)}. To audit one cluster alone, {how}."


def rival(refusal: RefusalLine) -> str:
    """The other place that claims to be the same one; empty where the refusal is of something else."""
    own = f"{refusal.path} and "
    return refusal.found.removeprefix(own) if refusal.kind == "ambiguous" and refusal.found.startswith(own) else ""


def _of_one_id(report: AuditReport) -> str:
    """Folders beside each other, each with several brokers, that claim to be the same."""
    brokers: dict[str, set[int | None]] = {}
    for placed in report.replicas:
        brokers.setdefault(_top(placed.replica.path), set()).add(placed.replica.broker)
    pairs = [(refusal.path, other) for refusal in report.refusals if (other := rival(refusal))]
    tops = {_top(path) for pair in pairs for path in pair if _top(pair[0]) != _top(pair[1])}
    whole = sorted(top for top in tops if len(brokers.get(top, ())) > 1)
    if len(whole) < 2:  # noqa: PLR2004 - nothing stands beside it
        return _of_one_broker(sorted(tops))
    return (
        f"{listed(whole)} claim to be of the same brokers: these are copies of one cluster, or clusters with one id."
        " Audit each of these folders alone."
    )


def _of_one_broker(tops: Sequence[str]) -> str:
    """Folders that claim to be of the same broker; empty where there are none."""
    if not tops:
        return ""
    either = "either copies of one broker's disks, or disks of several brokers that ran with one id"
    return f"{listed(tops)} claim to be of the same broker: {either}. Leave all but one out of the dump."


def _top(path: str) -> str:
    return path.partition("/")[0]
