"""Answers that no replayed term holds: nothing bounds what their leader held after them, and the timeline says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, TypeGuard

from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.history.moments import Moment
from rules.history.statements import Answered
from rules.replay import Missing
from rules.words import counted

_PERHAPS_APPENDED: Final = (None, 0, 7, 20)
"""A request that timed out, or whose ISR was too small afterwards, was appended nevertheless."""
_KIND: Final = "the terms of answers"


def unreplayed(moment: Moment, replayed: Collection[int]) -> TypeGuard[Answered]:
    """Whether a statement is an answer that may tell of another log end than its leader had, and no course holds it."""
    return isinstance(moment, Answered) and moment.error in _PERHAPS_APPENDED and id(moment) not in replayed


def unplaced(evidence: PartitionEvidence, replayed: Collection[int]) -> Iterator[Missing]:
    """What is not replayed because nothing tells of which term, or of which log, answers are."""
    found: dict[int | None, list[Moment]] = {}
    for moment in evidence.moments:
        if unreplayed(moment, replayed):
            found.setdefault(moment.witness, []).append(moment)
    why = _of_all(evidence)
    if found and why is not None:
        epochs = _epochs(found)
        yield Missing(kind=_KIND, evidence=why, leaves_open="every log end and high watermark", epochs=epochs)
        return
    for broker, answers in sorted(found.items(), key=lambda item: -1 if item[0] is None else item[0]):
        epochs = _epochs({broker: answers})
        of = f" in epoch {', '.join(map(str, epochs))}" if epochs else ""
        yield Missing(
            kind=_KIND,
            evidence=(
                f"a replay of {counted(len(answers), 'answer')} of broker {broker}{of}: its log was loaded once more"
                " since the epoch began, or nothing tells that it led"
            ),
            leaves_open="its log end after each of them, and the high watermarks",
            epochs=epochs,
        )


def _of_all(evidence: PartitionEvidence) -> str | None:
    if evidence.topic == METADATA_TOPIC:
        return "a replay of the metadata log: its quorum commits by other rules than replicas of a partition do"
    if evidence.epochs_used_twice:
        return "an order of the leader epochs: they began again, and a number may stand for two of them"
    return None


def _epochs(found: Mapping[int | None, Collection[Moment]]) -> tuple[int, ...]:
    return tuple(sorted({m.term for answers in found.values() for m in answers if m.term is not None and m.term >= 0}))
