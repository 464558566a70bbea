"""Assigned brokers whose logs were not judged: not here, not read, or not in the folders that bear their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rules.advice.weighed import Gate
from rules.evidence import PartitionEvidence
from rules.finding import capital
from rules.replicas.unread_copies import UnreadCopy
from rules.words import numbered

MOST: Final = 3


def unjudged_copies(evidence: PartitionEvidence) -> tuple[UnreadCopy, ...]:
    """Folders here that are or may be replicas of it, and that were not read or hold another log."""
    return (*evidence.unread_copies, *evidence.foreign.misfiled(evidence.replicas))


def unseen_restarts(brokers: Sequence[int], copies: Sequence[UnreadCopy]) -> Iterator[Gate]:
    """A restart of each broker of which nothing was judged."""
    for broker in brokers:
        because, first = _of(broker, copies)
        words = f"cannot be judged. {because} What it {'' if _misfiled_of(broker, copies) else 'holds and '}would cut"
        yield Gate(action=f"restart broker {broker}", going="unknown", because=f"{words} is not known.", first=first)


def _misfiled_of(broker: int, copies: Sequence[UnreadCopy]) -> list[UnreadCopy]:
    """The folders of a broker that are here, if all of them hold another log."""
    own = [copy for copy in copies if copy.broker == broker]
    return own if all(copy.misfiled for copy in own) else []


def _of(broker: int, copies: Sequence[UnreadCopy]) -> tuple[str, str]:
    """Why its log was not judged, and what would let it be."""
    misfiled = _misfiled_of(broker, copies)
    if misfiled:
        return _whose(misfiled)
    claimed = next((copy for copy in copies if copy.broker == broker and not copy.misfiled), None)
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


def _whose(misfiled: Sequence[UnreadCopy]) -> tuple[str, str]:
    """Which logs its folders hold, and which other folder seems to hold its own."""
    words = " ".join(f"Its folder {named_paths(copy.paths)} {copy.holds}." for copy in misfiled)
    instead = sorted({path for copy in misfiled for path in copy.instead})
    if not instead:
        return f"{words} Its own log was not found.", ""
    here, there = named_paths([path for copy in misfiled for path in copy.paths]), named_paths(instead)
    if any(copy.because == "perhaps another log" for copy in misfiled):
        return f"{words} Its own log may lie in {there}.", f"see whether {here} and {there} changed places"
    words = f"{words} Its own log seems to lie in {there}."
    return words, f"put each log into its own folder: {here} and {there} seem to have changed places"


def not_judged(brokers: Sequence[int], copies: Sequence[UnreadCopy]) -> str:
    """Who is assigned and was not judged: broker 3 is assigned, not in this dump,."""
    read = {copy.broker for copy in copies if not copy.misfiled}
    other = {copy.broker: copy.because for copy in copies if copy.misfiled and copy.broker not in read}
    clauses = _assigned({*brokers} & read, "here and not read")
    for because in sorted({*other.values()}):
        filed = [broker for broker in brokers if other.get(broker) == because]
        clauses += _assigned(filed, f"with {because} in {'its' if len(filed) == 1 else 'their'} folder here")
    clauses += _assigned({*brokers} - read - {*other}, f"not {'read ' if read else ''}in this dump")
    return capital(" and ".join(clauses))


def _assigned(brokers: Collection[int], how: str) -> list[str]:
    return [f"{numbered('broker', sorted(brokers), 'is')} assigned, {how},"] if brokers else []


def named_paths(paths: Sequence[str], word: str = "and") -> str:
    """The first folders of many."""
    shown = [*paths[:MOST], *([f"{len(paths) - MOST} more"] if len(paths) > MOST else [])]
    return f" {word} ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
