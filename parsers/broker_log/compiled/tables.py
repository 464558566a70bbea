"""The numbers by which the compiled loops know steps, lines, rows and leads, and where each stands in its table."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
"""A text, eight bytes a number, without what is left over at its end."""

NAMES_AT, LEADS_AT, STEPS_AT = 0, 1, 2
"""What a program begins with: where the class of letters of names stands in it, where its leads, and its steps."""

# What the loops know beforehand: where the steps of a head begin and those of an old prefix, the lead of settings, the
# byte with which every entry begins or -1, and how many bytes of a head stand before its level and behind it.
HEAD, OLD_PREFIX, SETTINGS_LEAD, OPENING, BEFORE_LEVEL, BEHIND_LEVEL = range(6)

# A step: what to do, and three numbers about it.
DONE, TEXT, RUN, NUMBER, PLACE, NUMBER_OR_NONE, IDS, BEGIN, CLOSE, UNTIL, REST, END, MAYBE, EITHER = range(14)
RELEASE, LEAVE, COPY = 14, 15, 16
STEP: Final = 4
FAILED, ODD = -1, -2
"""Where a step ends that a line does not fit, and one that only the plain reader takes."""

NULL: Final = -(1 << 63)
# How a text is taken: as it stands, without dots behind it, shortened, or as nothing where it is `None`.
PLAIN, DOTLESS, SHORTENED, OR_NONE, RAW = 0, 1, 2, 3, 4

# Columns of a line.
START, STOP, TIME, LEVEL, PREFIX, PREFIX_CODE, MESSAGE, LEAD = 0, 1, 2, 4, 6, 8, 9, 10
TAIL, TAIL_CODE, STATUS = 11, 12, 13
LINE_WIDTH: Final = 14
READ, LEFT, SETTINGS = 0, 1, 2

# Columns of a row: its line, its wording, numbers, then the first and last byte of texts.
LINE, WORDING = 0, 1
_LONG: Final = (
    "offset", "previous_offset", "answer_offset", "high_watermark", "log_end_offset", "log_start_offset", "broker_epoch",
    "count",
)  # fmt: skip
SHORT_NUMBERS: Final = (
    "partition", "epoch", "previous_epoch", "leader", "previous_leader", "other_broker", "partition_epoch",
)  # fmt: skip
NUMBERS: Final = {name: 2 + place for place, name in enumerate((*_LONG, *SHORT_NUMBERS))}
FIRST_TEXT: Final = 2 + len(NUMBERS)
_TEXTS: Final = ("topic", "topic_id", "isr", "previous_isr", "directory", "detail", "items")
TEXTS: Final = {name: FIRST_TEXT + 2 * place for place, name in enumerate(_TEXTS)}
PARTITION: Final = NUMBERS["partition"]
TOPIC, DETAIL, ITEMS = TEXTS["topic"], TEXTS["detail"], TEXTS["items"]
ROW_WIDTH: Final = FIRST_TEXT + 2 * len(TEXTS)
SHORT, LONG, LAST = 0, 1, 2
"""A number of 32 bits, of 64, and one that is told one too low."""

# A trial: a wording that is tried for a lead.
TRIAL_WORDING, TRIAL_STEPS, TRIAL_ITEMS, TRIAL_WHOLE = 0, 1, 2, 3
TRIAL_WIDTH: Final = 4
# A lead: its letters, and its trials. Before them: for each first byte its leads, then those behind a first word.
LEAD_FROM, LEAD_LENGTH, LEAD_TRIALS, LEAD_TRIALS_TO = 0, 1, 2, 3
LEAD_WIDTH: Final = 4
INNER: Final = 512
FIRST_LEAD: Final = 514
