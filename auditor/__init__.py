"""Audits of Kafka replication; `open_dump` gives a dump's tables and findings as Spark DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditor.notebook import Dump, open_dump

__all__ = ["Dump", "open_dump"]


def __getattr__(name: str) -> object:
    """Load Spark's side when it is asked for: the command line and the local engine do without it."""
    if name in __all__:
        from auditor import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
