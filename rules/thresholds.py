"""Numbers that rules weigh by and that whoever audits may raise: what each means, and which were chosen."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Unit = Literal["ms", "percent"]
WEEK_MS: Final = 604_800_000


class Threshold(Struct, frozen=True, kw_only=True):
    """A number from which a rule tells something, or believes something."""

    name: str
    unit: Unit
    default: int
    """The least as well: below it the rule would tell what is lawful."""
    most: int
    means: str


class Chosen(Struct, frozen=True, kw_only=True):
    """The value of a rule's threshold, where it is another than the default."""

    rule: str
    name: str
    value: int


class Thresholds(Struct, frozen=True, kw_only=True):
    """The numbers that an audit goes by: those that were chosen, and the defaults of all others."""

    chosen: tuple[Chosen, ...] = ()

    def of(self, rule: str, threshold: Threshold) -> int:
        """The number that a rule goes by."""
        own = (each.value for each in self.chosen if (each.rule, each.name) == (rule, threshold.name))
        return next(own, threshold.default)


DEFAULTS: Final = Thresholds()
