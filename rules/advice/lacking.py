"""What a candidate for leader lacks, in words: what it costs to elect it, and who has the records to copy first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rules.advice.cuts import merged
from rules.advice.weighed import Candidate, OwedCut, Stretch, named, worth_of
from rules.protocol.offsets import without
from rules.words import any_of, listed, numbered

Held = tuple[int, Stretch]
"""A broker, and a stretch that it holds and a candidate for leader does not."""


def costs(lacks: Sequence[Stretch]) -> str:
    """What an election costs, by what somebody was told of it."""
    return f"loses {worth_of(lacks)} unless they are copied before: {named(lacks)}."


def copies_first(candidate: Candidate, held: Sequence[Held]) -> str:
    """Which copies come first: of what a candidate lacks, by who has it; empty where it lacks nothing."""
    by_holder: dict[str, list[Stretch]] = {}
    for stretch in candidate.lacks:
        by_holder.setdefault(holders(stretch, held), []).append(stretch)
    return "copy " + " and ".join(f"{named(own)} from {who}" for who, own in by_holder.items()) if by_holder else ""


def copy_of(broker: int, paths: Iterable[str], noun: str = "folder") -> str:
    """To copy folders or files of a broker, by their names there and where they are in the dump."""
    each = [*dict.fromkeys(paths)]
    nouns, names = noun if len(each) == 1 else f"{noun}s", [path.rpartition("/")[2] for path in each]
    here = listed([*dict.fromkeys(path.rpartition("/")[0] if noun == "file" else path for path in each)])
    return f"copy broker {broker}'s {nouns} {listed(names)} (here: {here})"


def perhaps_lacked(held: Sequence[Held]) -> Iterator[str]:
    """What a candidate lacks of which it is not known whether anybody was told that it is written."""
    own = [stretch for _, stretch in held]
    lacks = [s for s in own if s.told_of]
    open_ones = [s for s in own if s.perhaps_told_of and not any(_within(s, known) for known in lacks)]
    if open_ones:
        yield f"it lacks {perhaps_words(open_ones)}"


def cut_untold(cuts: Sequence[OwedCut]) -> Iterator[str]:
    """That others may cut their logs when a candidate leads, and files were not copied by which they do."""
    for cut in cuts:
        if cut.untold:
            yield f"how far broker {cut.follower} then truncates its log is not known: {cut.untold}"


def perhaps_short(lacks: Sequence[Stretch]) -> str:
    """What a candidate lacks that it had by its own high watermark, and may have still."""
    why = "lost in a crash, or only copied early, which --copied live, stopped or crashed tells"
    return f"its log lacks {named(lacks)} here: {why}"


def _within(stretch: Stretch, other: Stretch) -> bool:
    ends = other.start_offset <= stretch.start_offset and stretch.end_offset <= other.end_offset
    return stretch.epoch == other.epoch and ends


def perhaps_words(stretches: Sequence[Stretch]) -> str:
    """Stretches of which it is not known whether anybody was told, and that this is not known."""
    older = any(stretch.perhaps_older for stretch in stretches)
    open_ = "are of an earlier topic of this name" if older else "were acknowledged"
    return f"{named(merged(stretches))}. Whether those {open_} is not known"


def holders(stretch: Stretch, held: Sequence[Held]) -> str:
    """Any of the brokers that have all of a stretch, else those that have parts."""
    parts: dict[int, list[tuple[int, int]]] = {}
    for broker, other in held:
        if other.epoch == stretch.epoch and other.start_offset < stretch.end_offset:
            parts.setdefault(broker, []).append((other.start_offset, other.end_offset))
    whole = [b for b, own in parts.items() if not [*without(stretch.start_offset, stretch.end_offset, sorted(own))]]
    return any_of("broker", sorted(whole)) if whole else numbered("broker", sorted(parts))
