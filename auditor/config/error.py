"""What is raised where a run cannot do what it was asked to do."""

from __future__ import annotations


class ConfigError(Exception):
    """A setting that cannot be used; the text says which, and what would do."""
