"""Keys that compaction left on some replicas of a partition and not on others, though it must leave the same on all."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from parsers.provenance import Span

Remains = Literal["dead", "unsure", "gone", "stale"]
"""How the last records of keys differ.

`dead`: the holders serve a value that was deleted. `unsure`: they serve a value, the others nothing, and a delete may
have stood behind it. `gone`: the same, where no delete can have stood. `stale`: the others hold an older record.
"""


class KeysApart(Struct, frozen=True, kw_only=True):
    """Keys whose last records differ among replicas in one way."""

    remains: Remains
    holders: tuple[int, ...]
    """Brokers that serve the values at the offsets told."""
    lacking: tuple[int, ...]
    """Brokers whose logs cover these offsets, and lack the record and any later one of the key."""
    keys: int
    start_offset: int
    end_offset: int
    copied: bool
    """Whether a holder shows holes that its own cleaner did not make: it copied a log that had been compacted."""
    spans: tuple[tuple[int, Span], ...]
    """Of each holder its broker, and the batch of its first such record."""
    cut_off: tuple[int, int] | None = None
    """Where brokers that lack them cut their logs behind them: a later record of a key may have stood there."""
    perhaps_cut: tuple[int, int] | None = None
    """The epoch that began behind them in such a log, and where, if nothing tells whether the log was cut for it."""

    @property
    def outlived(self) -> bool:
        """Whether the holders serve values that were deleted, or that may have been."""
        return self.remains in ("dead", "unsure")

    @property
    def confidence(self) -> Literal["certain", "likely", "possible"]:
        """How sure it is that they were: where the delete is not seen, who holds more may be right."""
        if self.remains != "unsure":
            return "certain"
        if self.cut_off is not None:
            return "possible"
        return "likely" if self.copied or len(self.lacking) > len(self.holders) else "possible"

    @property
    def words(self) -> str:
        """How many keys it is, as people say it."""
        return "1 key" if self.keys == 1 else f"{self.keys} keys"

    @property
    def those(self) -> str:
        """The same where they were named before."""
        return "this key" if self.keys == 1 else "these keys"


class KeysUncompared(Struct, frozen=True, kw_only=True):
    """Replicas whose keys could not be compared."""

    brokers: tuple[int, ...]
    reason: str
    missing: str
