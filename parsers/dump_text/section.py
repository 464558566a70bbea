"""One dumped segment: batch lines proved by the chain of their positions, record lines by their batch.

Keys and payloads are printed raw and may hold anything, newlines and whole batch lines too. Once contents were seen in
the text, a batch line counts only when all records of the batch before it were printed and it begins where that batch
ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from parsers.dump_text.addressed_lines import DumpLine
from parsers.dump_text.batch_rows import batch_row
from parsers.dump_text.dumped_file import DumpedFile
from parsers.dump_text.grammar import shows_contents
from parsers.dump_text.line_facts import BatchLine, PositionedLine, RecordLine
from parsers.dump_text.output import Output
from parsers.dump_text.record_groups import Group
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import BatchHeader, RefusalKind

_CLAIMS_LIMIT: Final = 8
_UNKNOWN: Final = -1
NEWEST_MAGIC: Final = 2


@dataclass(slots=True)
class Text:
    """What holds for the whole text: where rows go, and whether contents were printed, so that a line may be forged."""

    output: Output
    contents_seen: bool = False


@dataclass(slots=True)
class PendingBatch:
    """The latest batch, kept back until the next one chains to it: two lines may claim its place."""

    said: BatchLine
    row: BatchHeader
    disputed: bool = False


@dataclass(slots=True)
class Section:
    """The state of one section."""

    file: DumpedFile | None
    place: Origin
    text: Text
    start: int
    ends: set[int] | None = None
    held: PendingBatch | None = None
    pending: int = 0
    deep: bool = False
    last_record: int = -1
    group: Group | None = None
    rejected: tuple[int, int] | None = None

    @property
    def complete(self) -> bool:
        """Whether all records of the latest batch were printed, so that a new frame or batch may follow."""
        return not self.deep or self.pending == 0

    @property
    def disputed(self) -> bool:
        """Whether two lines claim the place of the latest batch."""
        return self.held is not None and self.held.disputed

    def batch(self, line: DumpLine, said: BatchLine) -> bool:
        """Take a batch line; False where it is no evidence of a batch."""
        if self.text.contents_seen and not self._proved(line, said):
            return self.disputed
        row = batch_row(said, self.place, line.start, line.end)
        if row is None:
            self.refuse("malformed", line.start, line.end, "numbers that fit their fields", line.head)
            return True
        if self.ends is not None and said.position not in self.ends:
            self.refuse(
                "malformed", line.start, line.end, f"a batch at position {min(self.ends)}", f"position {said.position}"
            )
        if not self.complete:
            self._refuse_missing(line.start)
        self._release()
        self.held = PendingBatch(said, row)
        self.ends = {said.position + said.size}
        self.pending = (
            said.record_count
            if said.record_count is not None
            else 0
            if said.magic == 2 or said.last_offset == 0
            else _UNKNOWN
        )
        self.last_record, self.rejected = -1, None
        return True

    def _proved(self, line: DumpLine, said: BatchLine) -> bool:
        """Whether a batch line that may stand inside a payload begins where the chain says."""
        held = self.held
        if held is not None and said.position == held.said.position:
            if said != held.said:
                self._dispute(line, held, said)
            return False
        if self.complete and (self.ends is None or said.position in self.ends):
            return True
        self.reject(line)
        return False

    def _dispute(self, line: DumpLine, held: PendingBatch, said: BatchLine) -> None:
        """Two lines claim one place and either may be forged: none gives a row, and the chain may go on from both."""
        if self.ends is None or len(self.ends) >= _CLAIMS_LIMIT:
            return self.reject(line)
        if not held.disputed:
            row = held.row
            self.refuse(
                "ambiguous", row.span_start, row.span_end, "one batch line a position", f"two at {said.position}"
            )
        self.refuse("ambiguous", line.start, line.end, "one batch line a position", f"two at {said.position}")
        held.disputed = True
        self.ends.add(said.position + said.size)
        self.pending = 0
        return None

    def record(self, said: RecordLine) -> bool:
        """Take a record line below its batch line; False where it is none of that batch's.

        Below a disputed batch the line is explained by the refusals of that batch.
        """
        held = self.held
        if self.disputed:
            return True
        if held is None or self.pending == 0 or said.offset <= self.last_record:
            return False
        batch = held.said
        if said.offset > batch.last_offset or (batch.base_offset is not None and said.offset < batch.base_offset):
            return False
        self.deep = True
        self.last_record = said.offset
        if self.pending != _UNKNOWN:
            self.pending -= 1
        elif said.offset == batch.last_offset:
            self.pending = 0
        self._note_contents(said.tail)
        return True

    def positioned(self, line: DumpLine, said: PositionedLine) -> bool:
        """Take a record line that carries its batch's position; False where it cannot be the next."""
        if said.magic > NEWEST_MAGIC:
            self.refuse("unknown_version", line.start, line.end, f"a magic up to {NEWEST_MAGIC}", f"magic {said.magic}")
            return True
        group = self.group
        if group is not None and group.first.position == said.position:
            if not group.belongs(said):
                self.reject(line)
                return False
            group.add(said, line.end)
        elif not self._begins(line, said):
            self.reject(line)
            return False
        self._note_contents(said.tail)
        return True

    def _begins(self, line: DumpLine, said: PositionedLine) -> bool:
        """Begin the group of a new position, if positions and offsets still grow."""
        group = self.group
        if group is None:
            first = self.file.base_offset if self.file else None
            if self.file is not None and said.position != 0:
                self.refuse("malformed", line.start, line.end, "a batch at position 0", f"position {said.position}")
            known = said.offset == first or said.magic < 2
        else:
            if said.position < group.first.position + group.least_size or said.offset <= group.last_offset:
                return False
            known = said.offset == group.last_offset + 1 or said.magic < 2
            self._close_group(said.position)
        self.group = Group.begin(said, base_known=known, start=line.start, end=line.end)
        self.rejected = None
        return True

    def _close_group(self, following: int | None) -> None:
        group = self.group
        if group is None:
            return
        size = group.size_up_to(following)
        row = None if size is None else batch_row(group.batch(size), self.place, group.start, group.end)
        if row is None:
            self.refuse(
                "malformed",
                group.start,
                group.end,
                "a position after the batch, to tell its size",
                f"position {group.first.position}",
            )
        else:
            self.text.output.rows.append(row)

    def reject(self, line: DumpLine) -> None:
        """Remember a line that looks like evidence and is proved by nothing; a later proved line makes it payload."""
        start = self.rejected[0] if self.rejected else line.start
        self.rejected = (start, line.end)

    def close(self, end: int) -> None:
        """End the section: what was held is released, what is missing or doubtful is refused."""
        if not self.complete:
            self._refuse_missing(end)
        self._release()
        self._close_group(None)
        if self.rejected:
            where = "the end of the section" if self.ends is None else f"position {min(self.ends)}"
            self.refuse(
                "ambiguous", *self.rejected, f"a line that continues the chain at {where}", "lines that do not chain"
            )
        self.held = self.group = self.rejected = None
        self.pending = 0

    def _release(self) -> None:
        held = self.held
        if held is not None and not held.disputed:
            self.text.output.rows.append(held.row)

    def _refuse_missing(self, end: int) -> None:
        held = self.held
        if held is not None:
            more = "more record lines" if self.pending == _UNKNOWN else f"{self.pending} more record lines"
            self.refuse("malformed", held.row.span_start, end, f"{more} of the batch at {held.said.position}", "none")

    def _note_contents(self, tail: bytes) -> None:
        if not self.text.contents_seen:
            self.text.contents_seen = shows_contents(tail)

    def refuse(self, kind: RefusalKind, start: int, end: int, expected: str, found: str | bytes) -> None:
        """Add a refusal of bytes of the text."""
        self.text.output.refusals.append(refuse(self.place, kind, start, end, expected=expected, found=found))
