"""What the process says when it ends: one table for the command line, the JSON report and the jobs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """The number a run ends with; the same number stands in its report."""

    CLEAN = 0
    FINDINGS = 1
    COULD_NOT_RUN = 2
    UNKNOWN = 3
    INTERNAL_ERROR = 101
    OUT_OF_MEMORY = 102
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """One sentence a person can act on."""
        return MEANINGS[self]


MEANINGS: Final[dict[ExitCode, str]] = {
    ExitCode.CLEAN: "no finding of the asked severity, and enough was read to say so",
    ExitCode.FINDINGS: "at least one finding of the asked severity, whatever the coverage",
    ExitCode.COULD_NOT_RUN: "no verdict was given: wrong usage, configuration, input or place for the result",
    ExitCode.UNKNOWN: "no such finding, but the verdict is open or coverage is below the asked minimum",
    ExitCode.INTERNAL_ERROR: "a defect of the auditor itself",
    ExitCode.OUT_OF_MEMORY: "memory ran out, here or in an executor: nothing was judged",
    ExitCode.INTERRUPTED: "stopped from outside; what was known by then was printed",
}


OF_DIFF: Final[dict[ExitCode, str]] = {
    **MEANINGS,
    ExitCode.CLEAN: "nothing new of the asked severity, and the later side saw enough to say so",
    ExitCode.FINDINGS: "at least one new finding of the asked severity, whatever the coverage",
    ExitCode.COULD_NOT_RUN: "nothing was compared: wrong usage, configuration, input or place for the result",
    ExitCode.UNKNOWN: "nothing new of it, but the later side leaves something open; the line ENDS says what",
    ExitCode.INTERRUPTED: "stopped from outside: nothing was compared",
}


OF_ADVISE: Final[dict[ExitCode, str]] = {
    **MEANINGS,
    ExitCode.CLEAN: "no loss is known, nothing must wait, and enough was read to say so",
    ExitCode.FINDINGS: "records are lost, or a start, the best election or a rolling restart must wait",
    ExitCode.COULD_NOT_RUN: "no advice was given: wrong usage, configuration, input or place for the result",
    ExitCode.UNKNOWN: "neither, but something could not be judged, or the audit's verdict is open",
}


def exit_code_table(meanings: Mapping[ExitCode, str] = MEANINGS) -> str:
    """The table as `--help` prints it, one code a line."""
    return "\n".join(f"{code.value:>3}  {meanings[code]}" for code in ExitCode)
