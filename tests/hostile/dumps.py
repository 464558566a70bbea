"""Dumps small enough to be judged by the dozen: recorded ones cut down, held in memory, laid out anew when changed."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from parsers.provenance import Origin
from parsers.records import decode_entry
from tests.hostile.mutators import batches_of
from tests.hostile.targets import SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """What stands in a file's place: `fifo`, `folder`, or a link and where it leads."""

    kind: str
    target: str = ""


Content: TypeAlias = bytes | Special
Files: TypeAlias = Mapping[str, Content]
"""Every file of a dump by its path."""

CLAIMS: Final = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint")
"""Checkpoints that say how far a log went at least."""
_SEGMENT: Final = re.compile(r"(\d{20})\.log")
_REPLICA: Final = re.compile(r"(.+)-(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One entry of a segment, by its stated length."""

    start: int
    end: int
    base: int
    next: int
    """The offset behind its last record; of a legacy set the one behind its own."""
    epoch: int
    magic: int


@dataclass(frozen=True, kw_only=True)
class Replica:
    """A replica's folder as this model reads it, sharing no code with the readers under test but for keys of records."""

    files: Files
    log_dir: str
    name: str

    @property
    def path(self) -> str:
        """Its folder."""
        return f"{self.log_dir}/{self.name}"

    @property
    def topic_and_partition(self) -> tuple[str, str]:
        """As checkpoints name it."""
        topic, _, partition = self.name.rpartition("-")
        return topic, partition

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """Its plain segments in order."""
        return tuple(
            sorted(
                path
                for path, content in self.files.items()
                if isinstance(content, bytes)
                and path.rpartition("/")[0] == self.path
                and _SEGMENT.fullmatch(path.rpartition("/")[2])
            )
        )

    def bytes_of(self, path: str) -> bytes:
        """A file's bytes; none where it is no file or not there."""
        content = self.files.get(path, b"")
        return content if isinstance(content, bytes) else b""

    @cached_property
    def batches(self) -> Mapping[str, tuple[Batch, ...]]:
        """The entries of each segment."""
        return {path: tuple(_batches(self.bytes_of(path))) for path in self.segments}

    @cached_property
    def end(self) -> int:
        """The offset behind its last record."""
        return max((one.next for found in self.batches.values() for one in found), default=0)

    @cached_property
    def claimed_end(self) -> int:
        """How far checkpoints of the log dir say that the log went at least."""
        return max((self.claim(kind) or 0 for kind in CLAIMS), default=0)

    def claim(self, kind: str) -> int | None:
        """What a checkpoint says of this replica."""
        rows = rows_of(self.bytes_of(f"{self.log_dir}/{kind}"))
        return next(
            (offset for topic, partition, offset in rows if (topic, partition) == self.topic_and_partition), None
        )

    @cached_property
    def start(self) -> int:
        """Where its log begins by its checkpoint; what lies below waits for its deletion and counts no more."""
        return self.claim("log-start-offset-checkpoint") or 0

    @cached_property
    def cleaned(self) -> int:
        """Up to where the cleaner may have taken entries that a peer still has; 0 where the topic is not compacted."""
        return (self.claim("cleaner-offset-checkpoint") or self.end) if self.is_compacted else 0

    @cached_property
    def epochs(self) -> tuple[tuple[int, int], ...]:
        """Its leader epochs and their first offsets, as the file beside the log tells them."""
        lines = self.bytes_of(f"{self.path}/leader-epoch-checkpoint").decode().splitlines()[2:]
        return tuple((int(line.split()[0]), int(line.split()[1])) for line in lines if line.strip())

    @cached_property
    def is_compacted(self) -> bool:
        """Whether the cleaner may have left holes in its log: by its topic's name in the recordings."""
        return self.name.startswith(("state", "__", "kv")) and not self.name.startswith("__cluster")

    def peers(self) -> Iterator[Replica]:
        """The same partition elsewhere."""
        return (other for other in replicas_of(self.files) if other.name == self.name and other.log_dir != self.log_dir)

    def has_twin(self, batch: Batch, entry: bytes) -> bool:
        """Whether a peer that serves the entry's offsets holds it too, byte by byte, so that the two can be compared."""
        return any(
            peer.serves_from < batch.next and entry in peer.bytes_of(path)
            for peer in self.peers()
            for path in peer.segments
        )

    @cached_property
    def serves_from(self) -> int:
        """The first offset that it serves."""
        return max(self.start, int(self.segments[0][-24:-4]))

    def keeps_for_good(self, path: str, batch: Batch) -> bool:
        """Whether a batch holds the last record of a key, not a delete: no cleaning may take that away."""
        later: set[str | None] = set()
        for one in reversed(self.segments):
            content = self.bytes_of(one)
            for other in reversed(self.batches[one]):
                entry = content[other.start : other.end]
                rows = decode_entry(entry, Origin(source=one), other.start, payloads=True).rows
                if (one, other) == (path, batch):
                    return any(row.key is not None and row.value is not None and row.key_hash not in later for row in rows)
                later.update(row.key_hash for row in rows)
        return False


def _batches(content: bytes) -> Iterator[Batch]:
    for start, end in batches_of(content):
        base = int.from_bytes(content[start : start + 8], "big", signed=True)
        magic = content[start + 16]
        delta = struct.unpack_from(">i", content, start + 23)[0] if magic == 2 else 0
        epoch = struct.unpack_from(">i", content, start + 12)[0] if magic == 2 else -1
        yield Batch(start=start, end=end, base=base, next=base + delta + 1, epoch=epoch, magic=magic)


def rows_of(checkpoint: bytes) -> tuple[tuple[str, str, int], ...]:
    """The lines of an offset checkpoint."""
    lines = (line.rsplit(" ", 2) for line in checkpoint.decode().splitlines()[2:] if line.strip())
    return tuple((topic, partition, int(offset)) for topic, partition, offset in lines)


def checkpoint_of(rows: Sequence[tuple[str, str, int]]) -> bytes:
    """The inverse."""
    return b"0\n%d\n" % len(rows) + b"".join(f"{t} {p} {o}\n".encode() for t, p, o in rows)


def replicas_of(files: Files) -> Iterator[Replica]:
    """Every replica in plain use that has a segment."""
    folders = sorted({path.rpartition("/")[0] for path in files if path.endswith(".log")})
    for folder in folders:
        log_dir, _, name = folder.rpartition("/")
        if _REPLICA.fullmatch(name) and log_dir.endswith("/data"):
            replica = Replica(files=files, log_dir=log_dir, name=name)
            if replica.segments:
                yield replica


# --- the recorded ones, cut down --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A recorded dump, or a part of it, that dumps are made from."""

    name: str
    sample: str
    topics: tuple[str, ...] = ()
    """Folders of the partitions that stay; all where none is named."""
    logs: bool = False
    requests: bool = False
    metadata: bool = False
    beside: Mapping[str, str] = field(default_factory=dict)
    """Recorded files that people brought along, by the path that they get."""

    def files(self) -> dict[str, Content]:
        """Its files; checkpoints speak only of the partitions that stay."""
        root = SAMPLES / self.sample / "dump"
        paths = (path for path in sorted(root.rglob("*")) if path.is_file())
        found = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
        brought = {path: (SAMPLES / recorded).read_bytes() for path, recorded in self.beside.items()}
        return {path: self._cut(path, content) for path, content in found.items() if self._stays(path)} | brought

    def _stays(self, path: str) -> bool:
        parts = path.split("/")
        if parts[-1] == "kafka-request.log":
            return self.requests
        if parts[1] == "logs":
            return self.logs
        folder = parts[2] if len(parts) > 3 else ""
        if folder.startswith("__cluster_metadata"):
            return self.metadata
        if parts[0].startswith("controller"):
            return self.metadata
        return not (folder and self.topics) or folder in self.topics

    def _cut(self, path: str, content: bytes) -> bytes:
        if not self.topics or not path.endswith("-offset-checkpoint"):
            return content
        return checkpoint_of([row for row in rows_of(content) if f"{row[0]}-{row[1]}" in self.topics])


CLEAN: Final = (
    Base(name="rejoined", sample="unclean_rejoined"),
    Base(name="acks", sample="acks_one_lost"),
    Base(name="acks-metadata", sample="acks_one_lost", metadata=True),
    Base(name="recreated-logs", sample="recreated_topic", metadata=True, logs=True),
    Base(name="failover", sample="fast_failover_kip279"),
    Base(name="recreated", sample="recreated_topic", metadata=True),
    Base(name="orders", sample="clean_4x", topics=("orders-0", "orders-1")),
    Base(name="mixed-metadata", sample="clean_mixed", metadata=True),
    Base(name="segments", sample="clean_mixed", topics=("my-topic.v2-0",)),
    Base(name="old-segments", sample="clean_1_1", topics=("my-topic.v2-0", "short-0")),
    Base(name="retained", sample="clean_4x", topics=("short-0",)),
    Base(name="compacted", sample="clean_2_8", topics=("state-0", "state-1")),
    Base(name="internal", sample="clean_mixed", topics=("__consumer_offsets-0", "__transaction_state-0", "__transaction_state-1")),
    Base(name="old-orders", sample="clean_1_1", topics=("orders-0",)),
    Base(name="migrated", sample="migrated", metadata=True),
)  # fmt: skip
"""Sound ones: whatever harms them must show."""
TROUBLED: Final = (
    Base(name="acks-logs", sample="acks_one_lost", metadata=True, logs=True),
    Base(name="lost-pages", sample="lost_pages_hw", logs=True, requests=True, metadata=True),
    Base(name="kip101", sample="fast_failover_kip101", logs=True, requests=True, metadata=True),
    Base(name="unclean", sample="unclean_rejoined", logs=True, requests=True, metadata=True),
    Base(name="compaction", sample="compaction_race"),
    Base(name="rot", sample="bit_rot_payload", metadata=True),
    Base(name="texts", sample="lost_pages_hw", beside={
        "broker-3/orders-0.txt": "dump_log_text/3.9.1/orders-0.data.out", "broker-3/bitrot.txt": "dump_log_text/2.8.2/bitrot.deep.out",
        "broker-4/old.txt": "dump_log_text/1.1.1/oldformat.data.out", "broker-4/offsets.txt": "dump_log_text/3.9.1/offsets.out",
        "tools/topics.txt": "tool_texts/2.8.2/topics-shrunk.txt", "tools/groups.txt": "tool_texts/1.1.1/groups.txt",
        "tools/shell.txt": "tool_texts/1.1.1/zookeeper-shell.txt", "tools/quorum.txt": "tool_texts/4.3.0/quorum.txt",
    }),
)  # fmt: skip
"""Ones with findings of every kind: changed, they must still be told."""
BASES: Final = (*CLEAN, *TROUBLED)


# --- on disk ----------------------------------------------------------------------------------------------------------


class Ground:
    """A folder that holds one dump after another of the same base; only what changed is written."""

    def __init__(self, root: Path, base: Files) -> None:
        self.root = root
        self.base, self._now = base, dict[str, Content]()
        root.mkdir(parents=True, exist_ok=True)
        self.lay(base)

    def lay(self, files: Files) -> None:
        """Make the folder hold these files and nothing else."""
        for path in [path for path, content in self._now.items() if files.get(path) != content]:
            self._remove(path)
        for path, content in files.items():
            if path not in self._now:
                self._write(path, content)

    def now(self) -> dict[str, Content]:
        """What lies there."""
        return dict(self._now)

    def _remove(self, path: str) -> None:
        place, content = self.root / path, self._now.pop(path)
        if isinstance(content, Special) and content.kind == "folder":
            shutil.rmtree(place)
        else:
            place.unlink()
        for folder in place.parents:
            if folder == self.root or any(folder.iterdir()):
                break
            folder.rmdir()

    def _write(self, path: str, content: Content) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            place.write_bytes(content)
        elif content.kind == "fifo":
            os.mkfifo(place)
        elif content.kind == "folder":
            place.mkdir()
        else:
            place.symlink_to(content.target)
        self._now[path] = content

    def state(self) -> tuple[tuple[object, ...], ...]:
        """Names, kinds, sizes, times of change and bytes of everything that is there."""
        return tuple(sorted(_state_of(self.root, str(self.root))))


def _state_of(root: Path, folder: str) -> Iterator[tuple[object, ...]]:
    for entry in os.scandir(folder):
        status = entry.stat(follow_symlinks=False)
        regular = entry.is_file(follow_symlinks=False)
        content = hash(Path(entry.path).read_bytes()) if regular else 0
        yield entry.path, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino, content
        if entry.is_dir(follow_symlinks=False):
            yield from _state_of(root, entry.path)


# --- written down -----------------------------------------------------------------------------------------------------


def recipe(base: str, files: Files, before: Files, told: Mapping[str, str]) -> bytes:
    """A dump by what it changes of its base, as a file of the corpus keeps it."""
    changed = {
        path: _spelled(files.get(path)) for path in sorted({*files, *before}) if files.get(path) != before.get(path)
    }
    return json.dumps({"base": base, **told, "changes": changed}, indent=1).encode() + b"\n"


def _spelled(content: Content | None) -> object:
    if content is None:
        return None
    if isinstance(content, Special):
        return {"kind": content.kind, "target": content.target}
    return base64.b64encode(content).decode()


def cooked(text: bytes) -> tuple[str, dict[str, Content], dict[str, str]]:
    """The base's name, the files and what was told of them; the inverse of `recipe`."""
    told = json.loads(text)
    base = next(base for base in BASES if base.name == told["base"])
    files = base.files()
    for path, spelled in told.pop("changes").items():
        if spelled is None:
            files.pop(path, None)
        elif isinstance(spelled, str):
            files[path] = base64.b64decode(spelled)
        else:
            files[path] = Special(**spelled)
    return base.name, files, told
