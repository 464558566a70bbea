"""Holes that no cleaning left in a compacted log: it stays below the high watermark, and writes down where it went."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rules.evidence import CRASHED, PartitionEvidence
from rules.evidence.holes import Hole, holes, is_empty
from rules.replicas.replica import Replica


class NeverCleaned(Struct, frozen=True, kw_only=True):
    """The first such hole of a replica."""

    broker: int
    hole: Hole
    because: str
    missing: str
    """What would tell more."""


def never_cleaned(evidence: PartitionEvidence) -> Iterator[NeverCleaned]:
    """One hole of each replica that has some."""
    cleaned = never_cleaned_from(evidence)
    for replica in evidence.current:
        found = _beyond_its_watermark(replica) or _beyond_all_cleaners(replica, cleaned)
        found = found or _above_keyless(replica, evidence) or _behind_idle_cleaners(replica, evidence)
        if found is not None:
            hole, because, missing = found
            yield NeverCleaned(broker=replica.broker, hole=hole, because=because, missing=missing)


def never_cleaned_from(evidence: PartitionEvidence) -> int | None:
    """From where on no cleaner of any replica went, if it is known: holes behind are nobody's cleaning, nor copied.

    The checkpoints must be as old as the logs for that. Where somebody removed them, the cleaner begins anew.
    """
    own = [replica for replica in evidence.own_logs if replica.state == "current"]
    still = all(r.clean_shutdown is not None for r in own) or evidence.copied in CRASHED
    claims = [replica.cleaner_offset.offset for replica in own if replica.cleaner_offset is not None]
    cleaned = any(replica.log.sparse_batches for replica in own)
    if not still or any("cleaner-offset-checkpoint" in r.untold for r in own) or (cleaned and not claims):
        return None
    return max(claims, default=0)


def _beyond_its_watermark(replica: Replica) -> tuple[Hole, str, str] | None:
    claim = replica.high_watermark
    reach = 0 if claim is None else max(claim.offset, replica.log_start_offset)
    hole = next((hole for hole in holes(replica) if hole.end_offset > reach), None)
    if claim is None or hole is None:
        return None
    because = f"reaches beyond its high watermark {claim.offset}, where cleaning never goes"
    return hole, because, f"broker {replica.broker}'s high watermark as of the end of its log"


def _beyond_all_cleaners(replica: Replica, cleaned: int | None) -> tuple[Hole, str, str] | None:
    dirty = (hole for hole in holes(replica) if cleaned is not None and hole.end_offset > cleaned)
    hole = next((hole for hole in dirty if is_empty(replica, hole)), None)
    if hole is None:
        return None
    because = f"reaches beyond offset {cleaned}, up to which the log was cleaned"
    return hole, because, f"a copy of broker {replica.broker}'s log that holds them"


def _above_keyless(replica: Replica, evidence: PartitionEvidence) -> tuple[Hole, str, str] | None:
    """A hole above records without keys on every replica: a cleaning that came so far would have taken them too.

    Where a leader was cleaned and its follower copied the hole, the leader has none of them.
    """
    keyless = evidence.keyless_from or {}
    first = max(keyless.get(each.path, each.log_end_offset) for each in evidence.current)
    hole = next((hole for hole in holes(replica) if hole.start_offset > first and is_empty(replica, hole)), None)
    if hole is None:
        return None
    because = "no cleaning left: below it every log here has records without keys, of which a cleaner keeps none"
    return hole, because, f"a copy of broker {replica.broker}'s log that holds them"


def _behind_idle_cleaners(replica: Replica, evidence: PartitionEvidence) -> tuple[Hole, str, str] | None:
    """A hole where every log has records without keys below what its cleaner wrote down: none of these was cleaned."""
    claims, keyless = [(each, each.cleaner_offset) for each in evidence.current], evidence.keyless_from or {}
    reach = {each.path: each.log_end_offset if claim is None else claim.offset for each, claim in claims}
    idle = all(keyless.get(path, end) < end for path, end in reach.items())
    hole = next((hole for hole in holes(replica) if is_empty(replica, hole)), None)
    if hole is None or not idle or all(claim is None for _, claim in claims):
        return None
    because = "no cleaning left: where cleaners went by their checkpoints every log here has records without keys"
    return hole, because, f"a copy of broker {replica.broker}'s log that holds them"
