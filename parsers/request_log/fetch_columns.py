"""Fetches and produces in columns: what their lines tell once, what each partition's row adds, and the texts meant."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from parsers.request_log.typed import NULL

Integers: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = Mapping[str, Integers]

ASKED: Final = (
    "fetch_offset", "last_fetched_epoch", "current_leader_epoch", "log_start_offset", "request_high_watermark",
)  # fmt: skip
ANSWERED: Final = (
    "error_code", "high_watermark", "last_stable_offset", "leader_log_start_offset", "records_size", "diverging_epoch",
    "diverging_end_offset", "answer_leader", "answer_leader_epoch",
)  # fmt: skip
TIMES: Final = (
    "total_time_us", "queue_time_us", "local_time_us", "remote_time_us", "response_queue_time_us", "send_time_us",
)  # fmt: skip
IMPLIED, ANSWER_IMPLIED, STALE, BEGUN_UNSEEN, UNCHANGED = 1, 2, 4, 8, 16
"""Flags of a row; unchanged where the answer leaves its partition out."""
REASONS: Final = ("session_start_missing", "lines_lost", "epoch_went_back", "session_refused", "answer_missing")


Met = TypeVar("Met", bound=Hashable)


class Codes(dict[Met, int]):
    """A number for whatever is met, in the order in which it is."""

    def __missing__(self, met: Met) -> int:
        code = self[met] = len(self)
        return code


class Rows(Struct, frozen=True, kw_only=True):
    """Rows of partitions in the order of their lines; `line` says which line each is of, `last` the last it stands for.

    Texts are codes, as are topics (`name`); NULL is what is not told.
    """

    lines: Columns
    time_texts: Sequence[bytes]
    """Of each line, its time as written."""
    rows: Columns

    def __len__(self) -> int:
        return len(self.rows["line"])

    def of(self, column: str) -> Integers:
        """A column, of the rows or of their lines."""
        values = self.rows.get(column)
        return self.lines[column][self.rows["line"]] if values is None else values

    def of_last(self, column: str) -> Integers:
        """The same of the last line that each row stands for; NULL where it stands for one."""
        last = self.rows["last"]
        return np.where(last < 0, NULL, self.lines[column][last])

    def taken(self, places: Integers) -> Rows:
        """The rows at some places."""
        return replace(self, rows={name: column[places] for name, column in self.rows.items()})


class RequestColumns(Struct, frozen=True, kw_only=True):
    """What some lines tell: fetches, produces, and holes in sessions; what the codes of texts and topics stand for."""

    fetches: Rows | None = None
    produces: Rows | None = None
    gaps: Rows | None = None
    texts: Codes[str | None]
    names: Codes[tuple[str, str]]
    """Topic and topic id, one of them empty as a rule."""
