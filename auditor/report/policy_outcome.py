"""What a policy made of an audit's findings: told beside them, so that nothing is passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from auditor.document_fields import fields
from rules.finding import Severity
from rules.words import counted, numbered

SHOWN = 6


class SilencedLine(Struct, frozen=True, kw_only=True):
    """A finding that does not make the run fail, why not, and until when."""

    finding: str
    """Its id; what was written where it is in none."""
    reason: str
    until: str


class ThresholdSet(Struct, frozen=True, kw_only=True):
    """A number of a rule that differs from its default."""

    rule: str
    name: str
    unit: str
    value: int
    default: int


class PolicyOutcome(Struct, frozen=True, kw_only=True):
    """What of a policy held, and what no longer does."""

    rules_off: tuple[str, ...] = ()
    left_out: int = 0
    """Findings of those rules."""
    severities: tuple[tuple[str, Severity], ...] = ()
    thresholds: tuple[ThresholdSet, ...] = ()
    silenced: tuple[SilencedLine, ...] = ()
    expired: tuple[SilencedLine, ...] = ()
    unmatched: tuple[SilencedLine, ...] = ()
    """Silences of findings that are not there, or of which several begin alike."""
    baseline: str = ""
    foreign: tuple[tuple[str, ...], ...] = ()
    """Of a baseline of another cluster its clusters' ids, and this dump's: nothing is known from it."""
    known: tuple[str, ...] = ()
    """Ids of findings that the baseline has too."""
    gone: int = 0
    """Findings of the baseline that are not there any more."""

    @property
    def lines(self) -> Iterator[str]:
        """The same in words."""
        if self.rules_off:
            yield f"rules turned off: {', '.join(self.rules_off)}; {_left_out(self.left_out)}"
        if self.severities:
            words = ", ".join(f"{rule} {severity.label}" for rule, severity in self.severities)
            yield f"severities set: {words}"
        if self.thresholds:
            words = ", ".join(f"{t.rule} {t.name} {t.value} {t.unit} (default {t.default})" for t in self.thresholds)
            yield f"thresholds raised: {words}"
        for what, lines in (
            ("silenced", self.silenced),
            ("no longer silenced, the day has passed", self.expired),
            ("silenced and not found", self.unmatched),
        ):
            for line in lines[:SHOWN]:
                yield f"{what}: {line.finding} until {line.until}: {line.reason}"
            if len(lines) > SHOWN:
                yield f"{what}: {len(lines) - SHOWN} more"
        if self.foreign:
            its, own = (numbered("cluster", ids) for ids in self.foreign)
            yield f"nothing is known from {self.baseline}: it is of {its}, and this dump is of {own}"
        elif self.baseline:
            yield f"known from {self.baseline}: {len(self.known)}; in it and not found any more: {self.gone}"


def spared(outcome: PolicyOutcome | None) -> Mapping[str, str]:
    """Findings that make no run fail, by id, each with the reason."""
    if outcome is None:
        return {}
    known = dict.fromkeys(outcome.known, f"known from {outcome.baseline}")
    return {**known, **{line.finding: f"{line.reason} (until {line.until})" for line in outcome.silenced}}


def _left_out(findings: int) -> str:
    """How many findings are not told."""
    return f"{counted(findings, 'finding')} of theirs {'is' if findings == 1 else 'are'} left out"


def policy_document(outcome: PolicyOutcome | None) -> Mapping[str, object] | None:
    """The same as plain values; null where no policy was given."""
    if outcome is None:
        return None
    return {
        **fields(outcome, "rules_off left_out"),
        "severities": [{"rule": rule, "severity": severity.label} for rule, severity in outcome.severities],
        **fields(outcome, "thresholds silenced expired unmatched"),
        "foreign": _foreign(outcome),
        **fields(outcome, "known gone"),
    }


def _foreign(outcome: PolicyOutcome) -> Mapping[str, object] | None:
    if not outcome.foreign:
        return None
    of, own = map(list, outcome.foreign)
    return {"baseline": of, "dump": own}
