"""What happens to a partition, one event a line: the language of scripts that are played to a simulated cluster.

    t0 elect 1 epoch 0 isr 1,2
    t1 produce 1 x5 acks=all
    t2 append 2 0..5 epoch 0
    t3 fetch 2@1 hw=1
    t4 crash 1
    t5 elect 2 epoch 1

A line is `tN`, the deed, the broker that does it or has it done, and what else the deed needs; what stands in brackets
may be left out. N is a logical time: it never falls from line to line. Ends are exclusive.

    produce B xN [acks=all|1|0]         a producer sends N records to leader B (acks=all)
    append B S..E epoch P               B appends offsets [S, E) of leader epoch P
    fetch B@O [from L] [hw=H]           follower B asks (leader L) for offset O, and is told high watermark H
    crash B                             B dies as it stands
    stop B                              B stops in order
    restart B                           B starts again
    lose-pages B from O                 what B had not flushed is gone from offset O on
    flush B to O                        B's recovery point is O
    checkpoint B hw=H                   B writes high watermark H to its disk
    elect B epoch P [isr I,J] [unclean] B leads in epoch P, with this ISR
    isr B I,J                           leader B's ISR is now this: brokers left it or joined it
    truncate B to O                     B cuts its log to offset O

`#` begins a remark that runs to the end of its line. `read_events` and `write_events` are each other's inverse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from rules.sketch_log import SketchError

Acks = Literal["all", "1", "0"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """A producer's records reach a leader."""

    time: int
    broker: int
    records: int
    acks: Acks = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """A replica's log grows by offsets of one epoch."""

    time: int
    broker: int
    start_offset: int
    end_offset: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A follower asks for an offset; the answer may tell it a high watermark."""

    time: int
    broker: int
    offset: int
    leader: int | None = None
    high_watermark: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """A broker dies."""

    time: int
    broker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A broker stops in order."""

    time: int
    broker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """A broker starts again."""

    time: int
    broker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesLost:
    """The unflushed end of a log is gone."""

    time: int
    broker: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """A log is on disk up to an offset."""

    time: int
    broker: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HighWatermarkWritten:
    """A broker checkpoints its high watermark."""

    time: int
    broker: int
    high_watermark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Elected:
    """A broker becomes the leader of an epoch."""

    time: int
    broker: int
    epoch: int
    isr: tuple[int, ...] = ()
    unclean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrChanged:
    """The leader's in-sync replicas are others now."""

    time: int
    broker: int
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated:
    """A log is cut."""

    time: int
    broker: int
    offset: int


Event = (
    Produced | Appended | Fetched | Crashed | Stopped | Restarted | PagesLost | Flushed | HighWatermarkWritten | Elected
    | IsrChanged | Truncated
)  # fmt: skip

Words = Mapping[str, str | None]
_LINE: Final = re.compile(r"t(?P<time>\d+)\s+(?P<deed>[a-z-]+)\s+(?P<broker>\d+)(?P<rest>.*)")
_BROKERS: Final = r"\d+(?:,\d+)*"
_SHAPES: Final[Mapping[str, str]] = {
    "produce": r"\s+x(?P<records>\d+)(?:\s+acks=(?P<acks>all|1|0))?",
    "append": r"\s+(?P<start_offset>\d+)\.\.(?P<end_offset>\d+)\s+epoch\s+(?P<epoch>\d+)",
    "fetch": r"@(?P<offset>\d+)(?:\s+from\s+(?P<leader>\d+))?(?:\s+hw=(?P<high_watermark>\d+))?",
    "crash": "",
    "stop": "",
    "restart": "",
    "lose-pages": r"\s+from\s+(?P<offset>\d+)",
    "flush": r"\s+to\s+(?P<offset>\d+)",
    "checkpoint": r"\s+hw=(?P<high_watermark>\d+)",
    "elect": rf"\s+epoch\s+(?P<epoch>\d+)(?:\s+isr\s+(?P<isr>{_BROKERS}))?(?P<unclean>\s+unclean)?",
    "isr": rf"\s+(?P<isr>{_BROKERS})",
    "truncate": r"\s+to\s+(?P<offset>\d+)",
}


def read_events(text: str) -> tuple[Event, ...]:
    """The events of a script, in its order."""
    lines = (raw.partition("#")[0].strip() for raw in text.splitlines())
    events = tuple(read_event(line) for line in lines if line)
    for before, event in pairwise(events):
        if event.time < before.time:
            message = f"expected a time from t{before.time} on, found {write_event(event)!r}"
            raise SketchError(message)
    return events


def write_events(events: Iterable[Event]) -> str:
    """A script that reads back into these events."""
    return "\n".join(map(write_event, events))


def read_event(line: str) -> Event:
    """The event of one line."""
    match = _LINE.fullmatch(line)
    shape = _SHAPES.get(match["deed"]) if match else None
    words = re.fullmatch(shape, match["rest"].rstrip()) if match and shape is not None else None
    if match is None or words is None:
        message = f"expected an event such as 't3 fetch 2@1 hw=1', found {line!r}; the deeds are {', '.join(_SHAPES)}"
        raise SketchError(message)
    return _READERS[match["deed"]](words.groupdict(), int(match["time"]), int(match["broker"]))


def _number(words: Words, name: str) -> int | None:
    value = words[name]
    return None if value is None else int(value)


def _brokers(words: Words) -> tuple[int, ...]:
    return tuple(int(broker) for broker in (words["isr"] or "").split(",") if broker)


def _produced(words: Words, time: int, broker: int) -> Event:
    acks: Mapping[str | None, Acks] = {"1": "1", "0": "0"}
    return Produced(time=time, broker=broker, records=int(words["records"] or 0), acks=acks.get(words["acks"], "all"))


def _appended(words: Words, time: int, broker: int) -> Event:
    start, end, epoch = (int(words[name] or 0) for name in ("start_offset", "end_offset", "epoch"))
    return Appended(time=time, broker=broker, start_offset=start, end_offset=end, epoch=epoch)


def _fetched(words: Words, time: int, broker: int) -> Event:
    return Fetched(
        time=time,
        broker=broker,
        offset=int(words["offset"] or 0),
        leader=_number(words, "leader"),
        high_watermark=_number(words, "high_watermark"),
    )


def _elected(words: Words, time: int, broker: int) -> Event:
    unclean = words["unclean"] is not None
    return Elected(time=time, broker=broker, epoch=int(words["epoch"] or 0), isr=_brokers(words), unclean=unclean)


_READERS: Final[Mapping[str, Callable[[Words, int, int], Event]]] = {
    "produce": _produced,
    "append": _appended,
    "fetch": _fetched,
    "crash": lambda _, time, broker: Crashed(time=time, broker=broker),
    "stop": lambda _, time, broker: Stopped(time=time, broker=broker),
    "restart": lambda _, time, broker: Restarted(time=time, broker=broker),
    "lose-pages": lambda w, time, broker: PagesLost(time=time, broker=broker, offset=int(w["offset"] or 0)),
    "flush": lambda w, time, broker: Flushed(time=time, broker=broker, offset=int(w["offset"] or 0)),
    "checkpoint": lambda w, time, broker: HighWatermarkWritten(
        time=time, broker=broker, high_watermark=int(w["high_watermark"] or 0)
    ),
    "elect": _elected,
    "isr": lambda w, time, broker: IsrChanged(time=time, broker=broker, isr=_brokers(w)),
    "truncate": lambda w, time, broker: Truncated(time=time, broker=broker, offset=int(w["offset"] or 0)),
}


def write_event(event: Event) -> str:
    """The line that reads back into this event."""
    isr = ",".join(map(str, event.isr)) if isinstance(event, Elected | IsrChanged) else ""
    return f"t{event.time} {_WORDS[type(event)].format(event=event, isr=isr)}{''.join(_more(event, isr))}"


def _more(event: Event, isr: str) -> Iterator[str]:
    """What an event may leave out."""
    if isinstance(event, Fetched):
        yield "" if event.leader is None else f" from {event.leader}"
        yield "" if event.high_watermark is None else f" hw={event.high_watermark}"
    if isinstance(event, Elected):
        yield f" isr {isr}" if isr else ""
        yield " unclean" if event.unclean else ""


_WORDS: Final[Mapping[type[Event], str]] = {
    Produced: "produce {event.broker} x{event.records} acks={event.acks}",
    Appended: "append {event.broker} {event.start_offset}..{event.end_offset} epoch {event.epoch}",
    Fetched: "fetch {event.broker}@{event.offset}",
    Crashed: "crash {event.broker}",
    Stopped: "stop {event.broker}",
    Restarted: "restart {event.broker}",
    PagesLost: "lose-pages {event.broker} from {event.offset}",
    Flushed: "flush {event.broker} to {event.offset}",
    HighWatermarkWritten: "checkpoint {event.broker} hw={event.high_watermark}",
    Elected: "elect {event.broker} epoch {event.epoch}",
    IsrChanged: "isr {event.broker} {isr}",
    Truncated: "truncate {event.broker} to {event.offset}",
}
