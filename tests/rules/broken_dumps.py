"""Dumps written byte by byte, so that a test can break exactly one thing and say at which offset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from parsers.writers.checkpoints import (
    epoch_lines,
    offset_lines,
    write_clean_shutdown,
    write_meta_properties,
    write_partition_metadata,
)
from parsers.writers.segments import Codec, Record, batch_bytes
from rules.finding import Severity
from tests.auditor.dumps_at_hand import digest

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
OTHER_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAg"
CLUSTER = "BBBBBBBBBBBBBBBBBBBBBB"

Told = tuple[str, str, tuple[int, ...], int | None, int | None]
"""Rule, severity, brokers, offsets: what a finding says."""


@dataclass(frozen=True, slots=True)
class Batch:
    base: int
    end: int
    epoch: int
    content: bytes


def wrote(
    epoch: int, start: int, end: int, letter: str = "", *, size: int = 10, codec: Codec = "none",
    key: bytes | None = None,
) -> list[Batch]:  # fmt: skip
    """Batches that a leader of this epoch wrote; other letters are other records, and a key is that of all."""
    return [batch(epoch, base, min(base + size, end), letter, codec, key=key) for base in range(start, end, size)]


def batch(
    epoch: int, base: int, end: int, letter: str = "", codec: Codec = "none", last: int | None = None,
    key: bytes | None = None,
) -> Batch:  # fmt: skip
    values = [f"{epoch}{letter}-{offset}".encode() * 4 for offset in range(base, end)]
    records = [Record(offset_delta=delta, key=key, value=value) for delta, value in enumerate(values)]
    delta = (end if last is None else last) - base - 1
    return Batch(base, end, epoch, batch_bytes(
        base_offset=base, leader_epoch=epoch, records=records, codec=codec, last_offset_delta=delta
    ))  # fmt: skip


def kept(whole: Batch, offsets: Sequence[int], key: bytes | None = None) -> Batch:
    """A batch of which the cleaner left these offsets."""
    records = [
        Record(offset_delta=offset - whole.base, key=key, value=f"{whole.epoch}-{offset}".encode() * 4)
        for offset in offsets
    ]
    return Batch(whole.base, whole.end, whole.epoch, batch_bytes(
        base_offset=whole.base, leader_epoch=whole.epoch, records=records, last_offset_delta=whole.end - whole.base - 1
    ))  # fmt: skip


def chain(log: Sequence[Batch]) -> list[tuple[int, int]]:
    first: dict[int, int] = {}
    for one in log:
        first.setdefault(one.epoch, one.base)
    return sorted(first.items())


@dataclass
class Yard:
    """A dump in the making."""

    root: Path
    topic: str = "t"
    cluster: str = CLUSTER
    claims: dict[tuple[str, str], dict[tuple[str, int], int]] = field(default_factory=dict)
    reports: dict[tuple[str, str], AuditReport] = field(default_factory=dict)

    def broker(
        self,
        broker: int,
        log: Sequence[Batch],
        *,
        hw: int | None = -1,
        epochs: Sequence[tuple[int, int]] | None = None,
        recovery: int | None = -1,
        start: int | None = None,
        cleaner: int | None = None,
        clean: bool = True,
        segments: Sequence[int] = (),
        topic_id: str | None = TOPIC_ID,
        log_dir: str = "data",
        partition: int = 0,
        suffix: str = "",
    ) -> Path:
        """A replica of the broker, everything in agreement with its log unless said otherwise; its directory."""
        home = f"{self.cluster}/broker-{broker}/{log_dir}"
        folder = self.root / home / f"{self.topic}-{partition}{suffix}"
        folder.mkdir(parents=True)
        (self.root / home / "meta.properties").write_bytes(
            write_meta_properties(broker=broker, cluster_id=self.cluster, directory_id=None)
        )
        if clean:
            (self.root / home / ".kafka_cleanshutdown").write_bytes(write_clean_shutdown())
        end = max((one.end for one in log), default=0)
        self._segments(folder, log, segments)
        (folder / "leader-epoch-checkpoint").write_bytes(epoch_lines(chain(log) if epochs is None else epochs))
        if topic_id is not None:
            (folder / "partition.metadata").write_bytes(write_partition_metadata(topic_id))
        known = {"replication": hw, "recovery-point": recovery, "log-start": start, "cleaner": cleaner}
        for kind, claim in known.items():
            lines = self.claims.setdefault((home, kind), {})
            if claim is not None:
                lines[self.topic, partition] = end if claim < 0 else claim
            if any(each is not None for each in known.values()):  # a broker writes each of them, though it names nobody
                path = self.root / home / f"{kind}-offset-checkpoint"
                path.write_bytes(offset_lines((topic, number, at) for (topic, number), at in lines.items()))
        return folder

    @staticmethod
    def _segments(folder: Path, log: Sequence[Batch], bases: Sequence[int]) -> None:
        starts = sorted({log[0].base if log else 0, *bases})
        for base, following in zip(starts, [*starts[1:], 1 << 62], strict=True):
            content = b"".join(one.content for one in log if base <= one.base < following)
            (folder / f"{base:020d}.log").write_bytes(content)

    def report(self, level: str = "full") -> AuditReport:
        """The audit of what lies there now, made once for the same bytes."""
        asked = (level, digest(self.root))
        if asked not in self.reports:
            self.reports[asked] = audit(self.root, AuditConfig(engine="local", level=level))  # type: ignore[arg-type]
        return self.reports[asked]

    def told(self, level: str = "full", *, least: Severity = Severity.LOW) -> list[Told]:
        """What is found of at least this severity, worst first; known defects that may explain it left out."""
        found = [f for f in self.report(level).violations if f.severity >= least and f.rule != "BUG001"]
        told = [(f.rule, Severity(f.severity).label, f.brokers, f.start_offset, f.end_offset) for f in found]
        return sorted(told, key=lambda one: (-Severity[one[1].upper()], one[0], one[2], one[3] or 0))

    def undecided(self, level: str = "full") -> list[tuple[str, tuple[int, ...]]]:
        return [(f.rule, f.brokers) for f in self.report(level).findings if f.verdict == "undecided"]

    def healthy(self, log: Sequence[Batch], *brokers: int) -> None:
        for broker in brokers:
            self.broker(broker, log)


def position(log: Sequence[Batch], offset: int) -> int:
    """Where the batch of an offset begins in a log of one segment."""
    return sum(len(one.content) for one in log if one.end <= offset)


def change(path: Path, at: int, how: Callable[[int], int]) -> None:
    """Change one byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] = how(data[at])
    path.write_bytes(bytes(data))


def segment(folder: Path, base: int = 0) -> Path:
    return folder / f"{base:020d}.log"
