"""What an inventory says of a dump."""

from __future__ import annotations

from msgspec import Struct

from parsers.provenance import Origin, ReplicaState, Source, Span
from parsers.tables import Refusal


class LogDir(Struct, frozen=True, kw_only=True):
    """One log dir: an entry of a broker's log.dirs."""

    path: str
    """Folder relative to the dump, with forward slashes; `.` for the dump itself."""
    cluster_id: str | None = None
    broker: int | None = None
    directory_id: str | None = None
    meta_version: int | None = None
    meta: Span | None = None
    """The meta.properties; null in a copy that lacks it."""
    clean_shutdown: Span | None = None
    """The marker of a clean shutdown; null where there is none."""
    ambiguous: bool = False
    """Whether another log dir of the dump claims to be the same one; a refusal names both."""

    @property
    def origin(self) -> Origin:
        """The origin that rows about the log dir as a whole bear."""
        return Origin(source=self.path, cluster_id=self.cluster_id, broker=self.broker, log_dir=self.path)


class ReplicaDir(Struct, frozen=True, kw_only=True):
    """One replica's directory in a log dir; its origin's source is the directory."""

    origin: Origin
    path: str
    state: ReplicaState = "current"
    ambiguous: bool = False
    """Whether another directory claims the same replica; a refusal names both."""
    listed: bool = True
    """Whether what it holds could be listed; else its files are unread, whatever their names are."""


class LogWitness(Struct, frozen=True, kw_only=True):
    """The first line of a log in which a broker names itself as its writer, of each speaker that a collector names."""

    broker: int
    speaker: str | None
    span: Span

    def __str__(self) -> str:
        return f"broker {self.broker} in {self.span.source} at bytes {self.span.start}-{self.span.end}"


class Inventory(Struct, frozen=True, kw_only=True):
    """Everything found under one root, each part sorted by path."""

    log_dirs: tuple[LogDir, ...] = ()
    replicas: tuple[ReplicaDir, ...] = ()
    files: tuple[Source, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    witnesses: tuple[LogWitness, ...] = ()
    """As which brokers logs speak, as far as a bounded look at each tells."""

    def files_by_folder(self) -> dict[str, tuple[Source, ...]]:
        """Files under the folder that holds them: a replica's under its path, a log dir's own under the log dir's."""
        folders: dict[str, list[Source]] = {}
        for file in self.files:
            folders.setdefault(file.origin.source.rpartition("/")[0] or ".", []).append(file)
        return {folder: tuple(files) for folder, files in folders.items()}
