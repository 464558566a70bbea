"""Values of settings that Kafka itself would not show."""

from __future__ import annotations

from typing import Final

HIDDEN: Final = "[hidden]"
"""What Kafka prints in their place."""
_SECRETS: Final = ("password", "jaas.config", "keystore.key", "secret")


def shown(name: str, value: str | None) -> str | None:
    """The value of a setting as a table may hold it."""
    return HIDDEN if value is not None and any(word in name for word in _SECRETS) else value
