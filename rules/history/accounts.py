"""What anybody was told of an epoch's records: that they are committed, or that they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rules.history.moments import Committed, Moment, succeeded
from rules.history.repetitions import begin_unseen
from rules.history.statements import Fetched, Produced


class Accounts:
    """The proofs, answers and consumers' fetches of every epoch, looked up once for all stretches of a partition."""

    def __init__(
        self, moments: Iterable[Moment], proofs: Iterable[Committed], batch_end: Callable[[int, int], int]
    ) -> None:
        """By the terms in which they were learnt."""
        self._batch_end = batch_end
        self._committed: dict[int, int] = {}
        for proof in proofs:
            self._committed[proof.term] = max(proof.end_offset, self._committed.get(proof.term, 0))
        self._answers: dict[int, list[Produced]] = {}
        self._consumed: dict[int, list[Fetched]] = {}
        for moment in moments:
            if moment.term is not None and succeeded(moment):
                self._answers.setdefault(moment.term, []).append(moment)
            elif moment.term is not None and moment.kind == "consumed":
                self._consumed.setdefault(moment.term, []).append(moment)

    def committed_end(self, epoch: int, start: int, end: int) -> int:
        """How far the offsets of a stretch are certainly committed; its start where nothing proves it."""
        return min(end, max(start, self._committed.get(epoch, start)))

    def answers(
        self, epoch: int, start: int, end: int, counts: Callable[[Produced], bool] = lambda _: True
    ) -> list[Produced]:
        """What producers were told of the stretch, as far as the answers count."""
        return [m for m in self._answers.get(epoch, ()) if start <= (m.offset or 0) < end and counts(m)]

    def left_out(self, epoch: int, answers: Sequence[Produced]) -> bool:
        """Whether other answers may be of the same stretch that a busy log's reading has left out."""
        return any(m.left_out for m in answers) or begin_unseen(self._answers.get(epoch, ()), answers)

    def acknowledged_end(self, epoch: int, start: int, end: int, answers: Sequence[Moment]) -> int:
        """Where the last batch ends that one of the answers names by its first record."""
        last = max((m.offset or 0 for m in answers), default=None)
        return start if last is None else min(end, self._batch_end(last, epoch))

    def consumed(self, epoch: int) -> Sequence[Fetched]:
        """Consumers' fetches in the epoch."""
        return self._consumed.get(epoch, ())
