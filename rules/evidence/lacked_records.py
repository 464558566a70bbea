"""What a leader lacked when it opened its epoch, and what shows that it was committed, as facts in words."""

from __future__ import annotations

from collections.abc import Mapping

from rules.history.moments import Committed


def lacked_records(
    proof: Committed, start: int, end: int, *, likely: bool = False, log_end: int | None = None
) -> Mapping[str, str]:
    """Where the log ended before these offsets, those between are lacking too: another proof shows that."""
    one = end - start == 1
    some = f"{'a ' * one}{'' if likely else 'committed '}record{'s' * (not one)} at offsets [{start}, {end})"
    sure = f" that {'was' if one else 'were'} most likely committed" if likely else ""
    shown = proof.because if likely else f"{'that record was' if one else 'they were'} committed: {proof.because}"
    before = log_end is not None and log_end < start
    other = f"; another finding tells of offsets [{log_end}, {start})" if before else ""
    return {"lacked": f"{some}{sure}", "because": f"{shown}{other}"}
