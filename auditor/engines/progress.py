"""How far a run has come, for whoever watches it."""

from __future__ import annotations


class Progress:
    """Told by an engine as it goes; the engine never waits for it. As it stands, nobody watches."""

    def seen(self, files: int, of: int) -> None:
        """So many files were found; where `of` is more than none, so many of these were looked into."""

    def total(self, total_bytes: int, replicas: int) -> None:
        """So many bytes of so many replicas will be read."""

    def again(self, more_bytes: int) -> None:
        """So many of them will be read once more."""

    def advance(self, read_bytes: int) -> None:
        """So many more bytes were read."""

    def doing(self, words: str) -> None:
        """What the run does now, where it is not to read: starting Spark. Empty words: it reads again."""

    def done(self, parts: int, of: int) -> None:
        """So many equal parts of that have been done."""

    def partition(self, topic: str | None, partition: int | None) -> None:
        """A partition was read and is being judged."""

    def judged(self, replicas: int) -> None:
        """A partition with so many replicas has its verdict."""
