"""Words of a command that match nothing in its dump, and what may have been meant by them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from auditor.config import AuditConfig, ConfigError
from auditor.config.settings import shortened
from auditor.engines.plan.selection import Selection

Partition = tuple[str | None, int | None]
SHOWN: Final = 5


def require_matches(
    selection: Selection, held: Collection[Partition], config: AuditConfig, root: Path
) -> None:
    """Refuse settings that select nothing of what is held, as a slip that an empty report would hide."""
    unmatched = selection.unmatched(held)
    words = [f"{config.named(name)} {_short(said)}" for name, said in unmatched]
    if not words and not any(selection.admits(topic, number) for topic, number in held) and any(selection.given()):
        given = ", ".join(f"{config.named(name)} {_short(said)}" for name, said in selection.given())
        raise ConfigError(f"{given}: leaves no partition of {root} to look at")
    if words:
        hints = dict.fromkeys(hint for name, said in unmatched for hint in _hints(name, said, held))
        raise ConfigError("; ".join([f"{', '.join(words)}: matches nothing in {root}", *hints]))


def _short(said: str) -> str:
    return shortened(said)[1:-1] if len(said) > len(shortened(said)) else said


def _hints(name: str, said: str, held: Collection[Partition]) -> Iterator[str]:
    """What is there instead."""
    if name == "topic":
        yield from _topics_near(said, held)
    elif name == "partition":
        numbers = [number for _, number in held if number is not None]
        yield f"partitions here: {numbered_briefly(numbers)}" if numbers else "no partition is here"


def numbered_briefly(numbers: Iterable[int]) -> str:
    """Some of the numbers, and how many more."""
    in_order = sorted(set(numbers))
    more = f" and {len(in_order) - SHOWN} more" if len(in_order) > SHOWN else ""
    return f"{', '.join(map(str, in_order[:SHOWN]))}{more}"


def _topics_near(pattern: str, held: Collection[Partition]) -> Iterator[str]:
    """Partitions as findings name them, topics of nearly that name, or else some that are there."""
    named = {f"{topic}-{partition}": (topic, partition) for topic, partition in held if topic is not None}
    if pattern in named:
        topic, partition = named[pattern]
        yield f"did you mean --topic {topic} --partition {partition}?"
        return
    topics = sorted({topic for topic, _ in held if topic is not None})
    near = difflib.get_close_matches(pattern, topics, n=3) or [t for t in topics if t.lower() == pattern.lower()]
    if near:
        yield f"did you mean {' or '.join(near)}?"
    elif topics:
        more = f" and {len(topics) - SHOWN} more" if len(topics) > SHOWN else ""
        yield f"topics here: {', '.join(topics[:SHOWN])}{more}"
