"""What a leader lacked when it opened its epoch, and what shows that it was committed, as facts in words."""

from __future__ import annotations

from collections.abc import Mapping

from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.history.moments import Committed
from rules.replicas.lineage import LostTerm
from rules.settings import LEADER_OF_EPOCH
from rules.words import any_of


def whoever_opened(lost: LostTerm, evidence: PartitionEvidence) -> str:
    """Who opened the epoch; of the metadata log, whom its own records of elections name."""
    if evidence.topic != METADATA_TOPIC or lost.leader is not None:
        return "an unknown broker" if lost.leader is None else f"broker {lost.leader}"
    name = f"{LEADER_OF_EPOCH}{lost.epoch}"
    nodes = {each.value for each in evidence.settings.statements if each.name == name}
    return f"quorum leader {nodes.pop()}" if len(nodes) == 1 else "an unknown controller"


def records_lost(lost: LostTerm, *, likely: bool) -> Mapping[str, str]:
    """What an opening lost; where its log ended before, what became of the records between."""
    opened, deleted = lost.opening.offset or 0, lost.deleted_below
    start, end = max(opened, deleted), lost.dated_end or 0
    other = f"; another finding tells of offsets [{start}, {end})" if start < end else ""
    other += f"; records before offset {deleted} had been deleted" if opened < deleted else ""
    if lost.perhaps_before:
        other += f"; perhaps the leader of {any_of('epoch', lost.perhaps_before)} lacked records there first"
    found = lacked_records(lost.committed, lost.start_offset, lost.committed.end_offset, likely=likely)
    return {**found, "because": f"{found['because']}{other}"}


def lacked_records(proof: Committed, start: int, end: int, *, likely: bool = False) -> Mapping[str, str]:
    """What was committed, or most likely, and by which proof."""
    one = end - start == 1
    some = f"{'a ' * one}{'' if likely else 'committed '}record{'s' * (not one)} at offsets [{start}, {end})"
    sure = f" that {'was' if one else 'were'} most likely committed" if likely else ""
    shown = proof.because if likely else f"{'that record was' if one else 'they were'} committed: {proof.because}"
    return {"lacked": f"{some}{sure}", "because": shown}
