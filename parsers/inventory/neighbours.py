"""Whose files are that lie beside the log dirs: logs, configuration, dump texts."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.inventory.contents import LogDir
from parsers.inventory.file_names import broker_of_word
from parsers.inventory.tree_walk import ancestors
from parsers.provenance import Origin


class Neighbours:
    """The brokers that have a log dir in or under each folder."""

    def __init__(self, log_dirs: Sequence[LogDir], root_name: str) -> None:
        """Note each log dir's broker at every folder that encloses it."""
        self._root_name = root_name
        self._brokers: dict[str, set[tuple[int | None, str | None]]] = {}
        for log_dir in log_dirs:
            for folder in ancestors(log_dir.path):
                self._brokers.setdefault(folder, set()).add((log_dir.broker, log_dir.cluster_id))
        clusters = {log_dir.cluster_id for log_dir in log_dirs}
        self._only_cluster = next(iter(clusters)) if len(clusters) == 1 else None

    def owner_of(self, path: str) -> Origin:
        """The broker of the nearest enclosing folder that has exactly one, or that is named after one and has none."""
        for folder in ancestors(path):
            found = self._brokers.get(folder)
            if found:
                return _only_broker(found)
            broker = self._broker_of_name(folder)
            if broker is not None:
                return Origin(source=path, broker=broker, cluster_id=self._only_cluster)
        return Origin(source=path)

    def folder_named(self, source: str) -> tuple[str, int] | None:
        """The nearest folder around a file that is named after a broker, and which broker that is."""
        for folder in ancestors(source.rpartition("/")[0] or "."):
            broker = self._broker_of_name(folder)
            if broker is not None:
                return folder, broker
        return None

    def holds(self, path: str, broker: int) -> bool:
        """Whether a broker has a log dir in or under a folder."""
        return any(held == broker for held, _ in self._brokers.get(path, ()))

    def name_of(self, folder: str) -> str:
        """What a folder is called."""
        return self._root_name if folder == "." else folder

    def _broker_of_name(self, folder: str) -> int | None:
        return broker_of_word(self.name_of(folder).rpartition("/")[2])


def _only_broker(found: set[tuple[int | None, str | None]]) -> Origin:
    brokers = {broker for broker, _ in found}
    clusters = {cluster for _, cluster in found if cluster is not None}
    if len(brokers) != 1 or len(clusters) > 1:
        return Origin(source=".")
    return Origin(source=".", broker=next(iter(brokers)), cluster_id=next(iter(clusters), None))
