"""How sure it is that broken sequences are a defect: a leader that has forgotten a producer takes any number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from rules.evidence import PartitionEvidence, Replica
from rules.replicas.sequences import SequenceBreak, fallen_epochs, merged, remembered, sequence_breaks

EXPIRY: Final = ("producer.id.expiration.ms", "transactional.id.expiration.ms")
"""Settings by which leaders forget producers; before 3.4 it was the second."""
DEFAULT_EXPIRY_MS: Final = 86_400_000
HowSure = Literal["likely", "possible"]
Found = tuple[tuple[int, ...], SequenceBreak]
"""The brokers whose logs show a break, and the break."""


class AlikeBreaks(Struct, frozen=True, kw_only=True):
    """Breaks of which the same is to be said."""

    kind: str
    """That of the breaks, or open."""
    sure: HowSure | None
    """Null where a leader may have forgotten the producers."""
    grave: bool
    """Whether they are open, and records may well be missing by the times that the batches bear."""
    found: tuple[Found, ...]


def judged_breaks(evidence: PartitionEvidence) -> Iterator[AlikeBreaks]:
    """The breaks of all replicas, each once, those together of which the same is to be said."""
    held, expiry = {replica.broker: replica for replica in evidence.current}, _expiry(evidence)
    alike: dict[tuple[str, HowSure | None, bool], list[Found]] = {}
    for brokers, each in merged([(r.broker, each) for r in evidence.current for each in _breaks(evidence, r)]):
        known = any(remembered(held[broker], each.step, expiry) for broker in brokers)
        known = known and (_keep_fences(evidence, brokers) or not each.by_marker)
        soon = _soon(each, expiry)
        sure = _sure(each, known=known, soon=soon)
        grave = not sure and soon and each.kind == "gap"
        alike.setdefault((each.kind if sure else "open", sure, grave), []).append((brokers, each))
    for (kind, sure, grave), found in alike.items():
        yield AlikeBreaks(kind=kind, sure=sure, grave=grave, found=tuple(found))


def _breaks(evidence: PartitionEvidence, replica: Replica) -> Iterator[SequenceBreak]:
    if not evidence.compacted:
        yield from sequence_breaks(replica)
    yield from fallen_epochs(replica)


def _keep_fences(evidence: PartitionEvidence, brokers: tuple[int, ...]) -> bool:
    """Whether brokers surely remembered fenced producers as they restarted."""
    releases = (evidence.release_of(broker) for broker in brokers)
    return all(release is not None and release.at_least(2, 4) for release in releases)


def _sure(found: SequenceBreak, *, known: bool, soon: bool) -> HowSure | None:
    """How sure it is that it is a defect; not at all where a leader may have forgotten the producer."""
    if found.kind == "again" or (known and found.kind != "anew"):
        return "likely"
    return "possible" if found.kind == "fallen" and soon else None


def _soon(found: SequenceBreak, expiry: int) -> bool:
    """Whether the later batch came before the producer was to be forgotten, by the times that both batches bear."""
    before, after = found.step.time_before, found.step.time_after
    return before is not None and after is not None and after - before < expiry


def _expiry(evidence: PartitionEvidence) -> int:
    values = (s.value for s in evidence.settings.statements if s.name in EXPIRY and s.value is not None)
    return min((int(value) for value in values if value.isdecimal()), default=DEFAULT_EXPIRY_MS)
