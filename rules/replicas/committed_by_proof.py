"""How far a replica's own records are committed by what was told, beside the high watermark on its disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rules.history.moments import Committed


def committed_by_proof(
    stretches: Iterable[tuple[int, int, int]], leaders: Mapping[int, int] | None, proofs: Iterable[Committed]
) -> int:
    """Where the last of its records ends that a proof of their own leader epoch covers; 0 where none does.

    A stretch is an epoch, where its records begin in the log, and where they end.
    Records of one epoch are the same in every log that holds them, so that whoever told it told it of these too. Where
    epochs were not written, their leaders are given, and theirs alone is the word: a follower that has heard of its
    leader and not yet fetched from it knows what was committed in an older one's log.
    """
    ends: dict[int, int] = {}
    for proof in (proof for proof in proofs if leaders is None or _its_leaders(proof, leaders)):
        ends[proof.term] = max(proof.end_offset, ends.get(proof.term, 0))
    own = (stretch for stretch in stretches if stretch[0] >= 0)
    return max((min(ends[epoch], end) for epoch, start, end in own if ends.get(epoch, 0) > start), default=0)


def _its_leaders(proof: Committed, leaders: Mapping[int, int]) -> bool:
    """Whether the leader of its epoch told it; of a quorum's, a tool asked that one."""
    moment = proof.moment
    return moment.kind == "described" or moment.witness == leaders.get(proof.term)
