"""What may be left out of a dump: files of a kind, logs, disks, brokers; heads, tails and middles of logs."""

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
PARTS: Final = (
    "kind", "kind", "kind of broker", "kind of broker", "kind of folder", "kind of folder", "logs", "disk", "broker",
    "folder", "file", "cut", "cut", "cut", "middle", "middle", "stretch of all", "stretch of all",
    "segments", "segments",
)  # fmt: skip
"""What may be left out, as often as it is drawn."""


Cut = tuple[str, tuple[tuple[int, int], ...]]
"""A log, and the pieces of it that are left."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is left out: whole files, and stretches of logs."""

    name: str
    gone: frozenset[str] = frozenset()
    cuts: tuple[Cut, ...] = ()


def sizes_under(root: Path) -> Sizes:
    """Every file under a folder."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path.relative_to(root)): path.stat().st_size for path in found}


def draw(files: Sizes, rng: random.Random) -> Ablation:
    """One to three things left out."""
    return together_as_one([_part(files, rng) for _ in range(rng.choice((1, 1, 2, 2, 3)))])


def _part(files: Sizes, rng: random.Random) -> Ablation:  # noqa: C901, PLR0911 - one branch a kind of part
    nodes = sorted({source.partition("/")[0] for source in files})
    node = rng.choice(nodes)
    own = [source for source in files if source.startswith(f"{node}/")]
    folders = sorted({_folder(source) for source in own if _is_data(source)} - {""})
    match rng.choice(PARTS):
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
        case "middle":
            return without_middle(files, node, *sorted((rng.random(), rng.random())))
        case "stretch of all":
            return without_stretches(files, rng, nodes)
        case "segments" if folders:
            return without_segments(files, rng, rng.choice(folders))
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
        return Ablation(f"{source} from {at}", cuts=((source, ((at, size),)),))
    return Ablation(f"{source} to {at}", cuts=((source, ((0, at),)),))


def without_stretches(files: Sizes, rng: random.Random, nodes: Sequence[str]) -> Ablation:
    """Logs of most nodes without their heads, their middles or their tails, all from one time on or each by itself."""
    together = rng.random() < 0.5
    place, stretch = rng.choice(("head", "middle", "tail")), sorted((rng.random(), rng.random()))
    parts: list[Ablation] = []
    for node in nodes:
        if not together:
            stretch = sorted((rng.random(), rng.random()))
        first, last = stretch
        if rng.random() < 0.8:
            ends = {"head": (0.0, last), "middle": (first, last), "tail": (first, 1.0)}[place]
            parts.append(without_middle(files, node, *ends))
    return together_as_one(parts)


def without_ends_of_kinds(files: Sizes, rng: random.Random) -> Ablation:
    """Some kinds of logs, of all nodes or of some, without their heads, their tails or a middle part."""
    kinds = rng.sample(LOGS, rng.choice((1, 2, 2, 3)))
    at, place = rng.uniform(0.15, 0.9), rng.choice(("head", "head", "tail", "gap"))
    of_some, nodes = rng.random() < 0.35, sorted({source.partition("/")[0] for source in files})
    of = rng.sample(nodes, rng.choice((1, 2))) if of_some else nodes
    cuts: list[Cut] = []
    for source, size in files.items():
        if source.rpartition("/")[2] in kinds and source.partition("/")[0] in of and size:
            first, second = int(size * at), int(size * min(1, at + 0.3))
            left = {"head": ((0, first),), "tail": ((first, size),), "gap": ((0, first), (second, size))}[place]
            cuts.append((source, left))
    return Ablation(f"the {place} at {at:.2f} is left of {', '.join(kinds)} of {', '.join(of)}", cuts=tuple(cuts))


def together_as_one(parts: Sequence[Ablation]) -> Ablation:
    """All that several leave out."""
    gone = frozenset(source for part in parts for source in part.gone)
    cuts = {cut[0]: cut for part in parts for cut in part.cuts if cut[0] not in gone}
    return Ablation(" + ".join(part.name for part in parts), gone, tuple(cuts.values()))


def without_middle(files: Sizes, node: str, first: float, last: float) -> Ablation:
    """All logs of a broker without a stretch amid them, as where rotated files were not copied."""
    logs = {source: size for source, size in files.items() if source.startswith(f"{node}/") and not _is_data(source)}
    cuts = ((source, ((0, int(first * size)), (int(last * size), size))) for source, size in logs.items() if size)
    return Ablation(f"logs of {node} without {first:.3f} to {last:.3f}", cuts=tuple(cuts))


def without_segments(files: Sizes, rng: random.Random, folder: str) -> Ablation:
    """Neighbouring segments of a partition, of one of its replicas or of all; their snapshots stay, or go too."""
    partition = folder.rpartition("/")[2]
    bases = sorted({_stem(s) for s in files if s.endswith(".log") and _folder(s) == folder and files[s]})
    if len(bases) < 2:
        return Ablation("nothing")
    first, last = sorted(rng.sample(range(len(bases) + 1), 2))
    gone, of_all = bases[first:last], rng.random() < 0.5
    suffixes = rng.choice(((".log", ".index", ".timeindex", ".txnindex"), SUFFIXES))
    where = {_folder(s) for s in files if _folder(s).rpartition("/")[2] == partition} if of_all else {folder}
    chosen = (s for s in files if _folder(s) in where and _stem(s) in gone and s.endswith(suffixes))
    named = ", ".join(base.lstrip("0") or "0" for base in gone)
    return Ablation(f"no {named} in {'all ' if of_all else ''}{folder} of {', '.join(suffixes)}", frozenset(chosen))


def _stem(source: str) -> str:
    return source.rpartition("/")[2].partition(".")[0]


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
