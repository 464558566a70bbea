"""Assigned brokers whose logs were not judged: those that are not here, and those whose folders were not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rules.advice.model import Gate
from rules.finding import capital
from rules.replicas.unread_copies import UnreadCopy
from rules.words import numbered

MOST: Final = 3


def unseen_restarts(brokers: Sequence[int], copies: Sequence[UnreadCopy]) -> Iterator[Gate]:
    """A restart of each broker of which nothing was judged."""
    for broker in brokers:
        because, first = _of(broker, copies)
        told = f"cannot be judged. {because} What it holds and would cut is not known."
        yield Gate(action=f"restart broker {broker}", going="unknown", because=told, first=first)


def _of(broker: int, copies: Sequence[UnreadCopy]) -> tuple[str, str]:
    """Why its log was not judged, and what would let it be."""
    claimed = next((copy for copy in copies if copy.broker == broker), None)
    if claimed is not None:
        return (
            f"Its replica was not read: {named_paths(claimed.paths)} claim to be the same one.",
            "leave all but one of them out of the dump",
        )
    nobodys = next((copy for copy in copies if copy.because == "unknown broker"), None)
    if nobodys is not None:
        paths = named_paths(nobodys.paths, "or")
        return (
            f"Its copy is not in this dump, or is {paths}: nothing tells whose that is, and it was not read.",
            "name the broker of that log dir: --log-dir BROKER=PATH",
        )
    unlisted = next((copy for copy in copies if copy.because == "not listed"), None)
    if unlisted is not None:
        paths = named_paths(unlisted.paths, "or")
        return f"Its copy is not in this dump, or is in {paths}, which could not be read.", "let that folder be read"
    return "Its copy is not in this dump.", ""


def not_judged(brokers: Sequence[int], copies: Sequence[UnreadCopy]) -> str:
    """Who is assigned and was not judged: broker 3 is assigned, not in this dump,."""
    read = {copy.broker for copy in copies}
    here, away = sorted({*brokers} & read), sorted({*brokers} - read)
    told = [f"{numbered('broker', here, 'is')} assigned, here and not read,"] if here else []
    told += [f"{numbered('broker', away, 'is')} assigned, not {'read ' if copies else ''}in this dump,"] if away else []
    return capital(" and ".join(told))


def named_paths(paths: Sequence[str], word: str = "and") -> str:
    """The first folders of many."""
    shown = [*paths[:MOST], *([f"{len(paths) - MOST} more"] if len(paths) > MOST else [])]
    return f" {word} ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
