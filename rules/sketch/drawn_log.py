"""The cells of a sketch line as a log: headers laid out byte by byte, folded by the fold that real logs go through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from parsers.tables import Refusal
from rules.facts.read_again import Zoom
from rules.facts.stretch import LogFacts
from rules.narrow.fold import fold
from rules.protocol.epochs import EpochStart
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.steps import StepLimit
from rules.sketch.drawn_batches import BATCH_BYTES, EVERY_MILLISECOND, Pace, SketchedBatch, headers, zoom
from rules.sketch.written_by import NOBODY, Sender, sender

_CELL: Final = re.compile(
    r"@(?P<jump>\d+):|(?P<mark>[|</~_])|(?P<nothing>[.#])(?:[x\u00d7](?P<offsets>\d+))?"
    r"|\((?P<group>[^)]*)\)(?:\{(?P<gby>[^}]*)\})?(?P<gbad>[!?]?)"
    r"|(?P<epoch>\d|\[\d+\]|-)(?P<content>[a-wyzA-WYZ]?)(?:\{(?P<by>[^}]*)\})?(?P<bad>[!?]?)"
    r"(?:[x\u00d7](?P<times>\d+))?"
)
_MEMBER: Final = re.compile(
    r"(?:(?P<gone>\.)|(?P<epoch>\d|\[\d+\]|-)(?P<content>[a-wyzA-WYZ]?))(?:[x\u00d7](?P<times>\d+))?"
)


class SketchError(ValueError):
    """A sketch that cannot be read; says where and what was expected."""


class _Layout:
    """The log as it is being laid out; lives only inside `sketch_log`."""

    def __init__(self) -> None:
        self.offset = 0
        self.position = 0
        self.files = [0]
        self.sizes = [0]
        self.batches: list[SketchedBatch] = []
        self.unread: list[tuple[str, int, int, int]] = []
        self.high_watermark: int | None = None
        self.log_start: int | None = None

    def advance(self, offsets: int, size: int) -> None:
        self.offset += offsets
        self.position += size
        self.sizes[-1] = self.position


class SketchedLog(Struct, frozen=True, kw_only=True):
    """What the cells of one line draw."""

    facts: LogFacts
    zoom: Zoom
    segments: tuple[tuple[int, str, int], ...]
    epochs: tuple[EpochStart, ...]
    high_watermark: int | None
    log_start: int | None


def sketch_log(cells: str, path: str, end_offset: int | None = None, pace: Pace = EVERY_MILLISECOND) -> SketchedLog:
    """The log that the cells of a line draw, in the replica directory `path`.

    `end_offset` lets it go on behind the cells, in one batch of the epoch drawn last.
    """
    layout = _Layout()
    position = 0
    bound = StepLimit(len(cells), "reading a sketch")
    while position < len(cells):
        bound.step()
        # A blank parts cells: a run's count ends there.
        match = _CELL.match(cells, position)
        if match is None and not cells[position].isspace():
            message = f"cannot read {cells[position:]!r} in the cells {cells.strip()!r}"
            raise SketchError(message)
        if match is not None:
            _place(layout, match)
        position = position + 1 if match is None else match.end()
    if end_offset is not None and layout.batches and end_offset > layout.offset:
        _batch(layout, layout.batches[-1].contents[-1:], "", undrawn=end_offset - layout.offset - 1)
    sources = [f"{path}/{base:020d}.log" for base in layout.files]
    facts = fold(headers(layout.batches, pace), sources, [_refusal(u, sources) for u in layout.unread])
    return SketchedLog(
        facts=facts,
        zoom=zoom(layout.batches, sources),
        segments=tuple(zip(layout.files, sources, layout.sizes, strict=True)),
        epochs=tuple(_epochs(facts)),
        high_watermark=layout.high_watermark,
        log_start=layout.log_start,
    )


def _place(layout: _Layout, match: re.Match[str]) -> None:
    if match["jump"] is not None:
        layout.offset = int(match["jump"])
        if not layout.batches:
            layout.files[-1] = layout.offset
    elif match["mark"] is not None:
        _mark(layout, match["mark"])
    elif match["nothing"] is not None:
        _nothing(layout, match["nothing"], int(match["offsets"] or 1))
    elif match["group"] is not None:
        _batch(layout, tuple(_contents(match["group"])), match["gbad"], by=_sender(match["gby"]))
    else:
        content, by = _content(match["epoch"], match["content"]), _sender(match["by"])
        for _ in range(int(match["times"] or 1)):
            _batch(layout, (content,), match["bad"], by=by)
            by = by.after(1)


def _mark(layout: _Layout, mark: str) -> None:
    if mark == "|":
        layout.high_watermark = layout.offset
    elif mark == "<":
        layout.log_start = layout.offset
    elif mark == "/":
        layout.files.append(layout.offset)
        layout.sizes.append(0)
        layout.position = 0
    else:
        _unread(layout, {"~": "torn_tail", "_": "zero_tail"}[mark])


def _nothing(layout: _Layout, mark: str, offsets: int) -> None:
    if mark == "#":
        _unread(layout, "damage")
    layout.offset += offsets


def _unread(layout: _Layout, kind: str) -> None:
    layout.unread.append((kind, len(layout.files) - 1, layout.position, layout.position + BATCH_BYTES))
    layout.advance(0, BATCH_BYTES)


def _contents(group: str) -> Iterator[tuple[int, str] | None]:
    position = 0
    bound = StepLimit(len(group), "reading a batch of a sketch")
    while position < len(group):
        bound.step()
        match = _MEMBER.match(group, position)
        if match is None:
            message = f"cannot read {group[position:]!r} in the batch ({group})"
            raise SketchError(message)
        for _ in range(int(match["times"] or 1)):
            yield None if match["gone"] else _content(match["epoch"], match["content"])
        position = match.end()


def _sender(text: str | None) -> Sender:
    found = sender(text or "")
    if found is None:
        message = f"cannot read the producer {{{text}}}"
        raise SketchError(message)
    return found


def _content(epoch: str, content: str) -> tuple[int, str]:
    return (-1 if epoch == "-" else int(epoch.strip("[]"))), content


def _batch(
    layout: _Layout,
    contents: tuple[tuple[int, str] | None, ...],
    flaw: str,
    *,
    undrawn: int = 0,
    by: Sender = NOBODY,
) -> None:
    legacy = any(content is not None and content[0] < 0 for content in contents)
    file = len(layout.files) - 1
    batch = SketchedBatch(layout.offset, contents, legacy, flaw, file, layout.position, undrawn, by)
    layout.batches.append(batch)
    layout.advance(batch.width, batch.span_size)


def _refusal(unread: tuple[str, int, int, int], sources: list[str]) -> Refusal:
    kind, file, start, end = unread
    return Refusal(
        cluster_id=None, broker=None, log_dir=None, topic=None, topic_id=None, partition=None,
        kind=kind,  # type: ignore[arg-type]
        expected="a record batch", found="other bytes", source=sources[file], span_start=start, span_end=end,
    )  # fmt: skip


def _epochs(facts: LogFacts) -> Iterator[EpochStart]:
    last = -1
    for run in facts.epochs:
        if run.epoch > last:
            last = run.epoch
            yield EpochStart(epoch=Epoch(run.epoch), start_offset=Offset(run.start_offset))
