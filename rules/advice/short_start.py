"""A start with a log that once went further: what is gone from it, and whether that comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules.advice.copied_earlier import HOW
from rules.advice.weighed import Gate, Going
from rules.evidence import PartitionEvidence, Replica
from rules.finding import offsets_told
from rules.loss.written_up_to import as_it_stopped, perhaps_copied_before
from rules.words import numbered

FROM_BACKUPS: Final = "A backup can bring them back only before new records take these offsets."


def short_start(
    replica: Replica, reached: int | None, evidence: PartitionEvidence, *, may_be_elected: bool
) -> Gate | None:
    """What comes of a start whose log had reached further; nothing where it ends where it did, as far as is told."""
    action, end, point = f"restart broker {replica.broker}", replica.log_end_offset, replica.recovery_point
    flushed = point.offset if point is not None and replica.end_known and point.offset > end else None
    reached = flushed if reached is None and as_it_stopped(evidence, replica) else reached
    if reached is None:
        if flushed is None:
            return None
        because = f"cannot be judged. Its log end offset is {end} here, below its recovery point {flushed}."
        return Gate(action=action, going="unknown", because=f"{because} The copy may be older, or its end is lost.")
    missing = offsets_told(end, reached)
    lacks = f"Its log lacks {missing}, which it had"
    holders = [peer.broker for peer in evidence.followers_of(replica) if peer.holds(end, reached)]
    if may_be_elected and not holders:
        because = f"{lacks}. No copy here holds them. {FROM_BACKUPS}"
        return Gate(action=action, going="go", because=because)
    _, leader = evidence.chronicle.last_leader
    if leader == replica.broker:
        live = perhaps_copied_before(evidence, replica)
        still = f"cannot be judged. {lacks}. Perhaps it has them still, and its log was only copied earlier. {HOW}."
        because = still if live else f"lets it lead without what it had written. {lacks}."
        going: Going = "unknown" if live else "no-go"
        return Gate(action=action, going=going, because=because, first=_first(holders, missing))
    if leader in holders:
        return Gate(action=action, going="go", because=f"{lacks}. It fetches them again.")
    unknown = leader < 0 or evidence.perhaps_led_since
    last = f"Broker {leader}, which led last, does not hold them here either"
    reason = "It is not known who leads" if unknown else last
    because = f"cannot be judged. Its log lacks {missing}, which it had. {reason}."
    return Gate(action=action, going="unknown", because=because)


def _first(holders: Sequence[int], missing: str) -> str:
    return f"elect {numbered('broker', holders[:1])}" if holders else f"look for {missing} in backups"
