"""The suite in several processes at once: who runs what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER: Final = "jvm"
"""The group of tests that need a JVM: they share a Spark session, and Kafka's code is made ready once."""


class WholeFiles(LoadScopeScheduling):
    """Hands the next file to whoever is free: what a file makes for all its tests is made once."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.endswith(f"@{TOGETHER}") else nodeid.partition("::")[0]


def one_begins_with(items: list[pytest.Item], needs_jvm: Callable[[pytest.Item], int]) -> None:
    """One worker takes all that needs a JVM, and at once: it is the longest piece. Others begin with the fast tests."""
    for item in filter(needs_jvm, items):
        item.add_marker(pytest.mark.xdist_group(TOGETHER))
    items.sort(key=lambda item: not needs_jvm(item))
