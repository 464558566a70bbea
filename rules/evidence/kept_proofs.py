"""How far records are proved to be committed that no later epoch has given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct

from parsers.tables.metadata import NO_LEADER
from rules.evidence import PartitionEvidence
from rules.history.moments import ROLE_KINDS, Committed, Moment

_NAMING: Final = ("leadership", *ROLE_KINDS)


class KeptProofs(Struct, frozen=True, kw_only=True):
    """The furthest proofs that stand."""

    certain: Committed | None
    """Of those that surely no later epoch gave up."""
    furthest: Committed | None
    """Of those that none is told to have given up."""
    untold_epoch: int
    """The newest epoch of which nothing tells where it opened; -1 where there is none."""


def kept_proofs(evidence: PartitionEvidence, proofs: Sequence[Committed] | None = None) -> KeptProofs:
    """Which proofs stand, of those of committed records if no others are given, and whether that is certain.

    A proof of no certain epoch is one of the oldest that it can be.
    Any later leader may have given up what it tells of, but for who told it as leader and led on.
    """
    chronicle = evidence.chronicle
    starts = {epoch: m.offset for epoch, m in chronicle.opened.items() if m.offset is not None}
    for entry in (entry for replica in evidence.current for entry in (*replica.log_chain, *replica.file_chain)):
        # A chain begins an epoch no earlier than its leader did: what is below is certain, whoever told it.
        starts[entry.epoch] = min(entry.start_offset, starts.get(entry.epoch, entry.start_offset))
    given = chronicle.proofs if proofs is None else proofs
    dated = [(chronicle.earliest_term(proof.moment), proof) for proof in given]
    kept = [
        (since, proof)
        for since, proof in dated
        if all(start >= proof.end_offset for epoch, start in starts.items() if epoch > since)
    ]
    unopened = _led(chronicle.moments) - set(starts) - chronicle.led_by_nobody
    leaders = chronicle.leaders
    certain = (
        proof
        for since, proof in kept
        if not any(epoch > since and not _led_on(proof, epoch, leaders) for epoch in unopened)
    )
    return KeptProofs(
        certain=max(certain, key=attrgetter("end_offset"), default=None),
        furthest=max((proof for _, proof in kept), key=attrgetter("end_offset"), default=None),
        untold_epoch=max(unopened, default=-1),
    )


def _led_on(proof: Committed, epoch: int, leaders: Mapping[int, int]) -> bool:
    """Whether who told a proof as leader led an epoch too."""
    witness = proof.moment.witness
    own = proof.moment.clock == f"broker {witness}" and leaders.get(proof.term) == witness
    return own and leaders.get(epoch) == witness


def _led(moments: Sequence[Moment]) -> set[int]:
    """The epochs in which somebody led, by orders, by metadata, by roles and by answers."""
    said = (m for m in moments if m.error in (None, 0) and not m.doubtful)
    epochs = {m.epoch if m.kind in _NAMING else m.term for m in said if m.leader != NO_LEADER}
    return {epoch for epoch in epochs if epoch is not None}
