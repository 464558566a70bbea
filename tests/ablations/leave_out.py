"""What may be left out of a dump: files of a kind, logs, disks, brokers, and heads and tails of logs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Sizes = Mapping[str, int]
"""The files of a dump and how many bytes each has."""
LOGS: Final = ("server.log", "state-change.log", "controller.log", "kafka-request.log")
CHECKPOINTS: Final = (
    "replication-offset-checkpoint", "recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint", "leader-epoch-checkpoint",
)  # fmt: skip
SMALL: Final = (*CHECKPOINTS, ".kafka_cleanshutdown", "meta.properties", "partition.metadata", "quorum-state")
SUFFIXES: Final = (".log", ".index", ".timeindex", ".snapshot", ".txnindex", ".deleted", ".checkpoint")
"""Kinds of files in log dirs that have many names."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is left out: whole files, and heads or tails of logs."""

    name: str
    gone: frozenset[str] = frozenset()
    cuts: tuple[tuple[str, int, int], ...] = ()
    """A log, and the bytes of it that are left."""


def sizes_under(root: Path) -> Sizes:
    """Every file under a folder."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path.relative_to(root)): path.stat().st_size for path in found}


def draw(files: Sizes, rng: random.Random) -> Ablation:
    """One to three things left out."""
    parts = [_part(files, rng) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    gone = frozenset(source for part in parts for source in part.gone)
    cuts = {cut[0]: cut for part in parts for cut in part.cuts if cut[0] not in gone}
    return Ablation(" + ".join(part.name for part in parts), gone, tuple(cuts.values()))


def _part(files: Sizes, rng: random.Random) -> Ablation:  # noqa: PLR0911 - one branch a kind of part
    nodes = sorted({source.partition("/")[0] for source in files})
    node = rng.choice(nodes)
    own = [source for source in files if source.startswith(f"{node}/")]
    folders = sorted({_folder(source) for source in own if _is_data(source)} - {""})
    match rng.choice(("kind", "kind", "kind of broker", "kind of broker", "kind of folder", "kind of folder",
                      "logs", "disk", "broker", "folder", "file", "cut", "cut", "cut")):  # fmt: skip
        case "kind":
            kind = rng.choice((*LOGS, *SMALL, *SUFFIXES, "__cluster_metadata"))
            return Ablation(f"no {kind}", frozenset(s for s in files if _is_of(s, kind)))
        case "kind of broker":
            kind = rng.choice((*LOGS, *SMALL, *SUFFIXES, "__cluster_metadata"))
            return Ablation(f"no {kind} of {node}", frozenset(s for s in own if _is_of(s, kind)))
        case "kind of folder" if folders:
            folder, kind = rng.choice(folders), rng.choice((*SMALL, *SUFFIXES, *SUFFIXES))
            here = (s for s in own if _folder(s) == folder and _is_of(s, kind))
            return Ablation(f"no {kind} in {folder}", frozenset(here))
        case "logs":
            return Ablation(f"no logs of {node}", frozenset(s for s in own if not _is_data(s)))
        case "disk":
            return Ablation(f"no disk of {node}", frozenset(s for s in own if _is_data(s)))
        case "broker":
            return Ablation(f"no {node}", frozenset(own))
        case "folder" if folders:
            folder = rng.choice(folders)
            return Ablation(f"no {folder}", frozenset(s for s in own if _folder(s) == folder))
        case "cut":
            return _cut(files, rng, [s for s in own if not _is_data(s) and files[s]])
        case _:
            one = rng.choice(sorted(files))
            return Ablation(f"no {one}", frozenset((one,)))


def _cut(files: Sizes, rng: random.Random, logs: Sequence[str]) -> Ablation:
    """A log without its head or its tail."""
    if not logs:
        return Ablation("nothing")
    source = rng.choice(logs)
    size = files[source]
    at = rng.randrange(size)
    if rng.random() < 0.5:
        return Ablation(f"{source} from {at}", cuts=((source, at, size),))
    return Ablation(f"{source} to {at}", cuts=((source, 0, at),))


def _is_data(source: str) -> bool:
    return "/logs/" not in source


def _is_of(source: str, kind: str) -> bool:
    name = source.rpartition("/")[2]
    if kind == "__cluster_metadata":
        return f"/{kind}-0/" in source
    if kind in SUFFIXES:
        return _is_data(source) and name.endswith(kind)
    return name == kind


def _folder(source: str) -> str:
    return source.rpartition("/")[0]
