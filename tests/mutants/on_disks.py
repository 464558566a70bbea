"""Mutants by what lies on disks: segments, epoch files and checkpoints of a healthy 3.9.1 partition.

Three brokers hold offsets 0–139 of `d-0`: epoch 0 up to 60, then epoch 1; each shut down cleanly.
"""

from __future__ import annotations

import shutil
from typing import Final

from parsers.writers.segments import CODECS, compress
from rules.evidence import Level
from tests.mutants.mutant import Change, Mutant, Said
from tests.mutants.surgery import SUMMED, UNDER_CRC, Copy, altered, base_of, summed

BASE: Final = "epoch_checkpoint_deleted"
D: Final = "d-0"
METADATA: Final = "__cluster_metadata-0"
ALL: Final = (1, 2, 3)
OTHER_ID: Final = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def healed(copy: Copy) -> None:
    """With the epoch file of broker 3 that was deleted."""
    shutil.copy(copy.folder(1, D) / "leader-epoch-checkpoint", copy.folder(3, D) / "leader-epoch-checkpoint")


def on_healed(*changes: Change) -> Change:
    def change(copy: Copy) -> None:
        healed(copy)
        for each in changes:
            each(copy)

    return change


def batch(*brokers: int, at: int, epoch: int | None = None, **fields: int) -> Change:
    """A batch with other header fields on some brokers."""

    def change(copy: Copy) -> None:
        for broker in brokers:
            copy.change(broker, D, at, lambda held: altered(held, epoch=epoch, **fields))

    return change


def gone(*brokers: int, at: int, replica: str = D) -> Change:
    """Without a batch."""

    def change(copy: Copy) -> None:
        for broker in brokers:
            copy.change(broker, replica, at, lambda _held: b"")

    return change


def epochs(broker: int, *entries: tuple[int, int]) -> Change:
    return lambda copy: copy.epochs(broker, D, entries)


def saved(broker: int, kind: str, offset: int) -> Change:
    return lambda copy: copy.checkpoint(broker, kind, D, offset)


def shortened(broker: int, *, by: int) -> Change:
    return lambda copy: copy.write(broker, D, copy.batches(broker, D)[:-by])


def killed(broker: int) -> Change:
    """The file is not there that a broker leaves when it shuts down cleanly."""
    return lambda copy: copy.without(f"broker-{broker}/data/.kafka_cleanshutdown")


def behind(content: bytes) -> Change:
    """Bytes behind the log of broker 2."""

    def change(copy: Copy) -> None:
        path = copy.segment(2, D)
        path.write_bytes(path.read_bytes() + content)

    return change


def twice(copy: Copy) -> None:
    """Broker 2 holds one batch a second time."""
    own = copy.batches(2, D)
    copy.write(2, D, [*own[:5], own[3], *own[5:]])


def rolled(copy: Copy) -> None:
    """Broker 2 rolled its segment at 60."""
    own = copy.batches(2, D)
    copy.write(2, D, own[:6])
    copy.segment(2, D, 60).write_bytes(b"".join(own[6:]))


def retained(copy: Copy) -> None:
    """Broker 2 deleted below 70, and began its epochs there."""
    own = copy.batches(2, D)
    copy.segment(2, D).unlink()
    copy.without("broker-2/data/d-0/00000000000000000000.*index")
    copy.segment(2, D, 70).write_bytes(b"".join(own[7:]))
    copy.epochs(2, D, [(1, 70)])
    copy.checkpoint(2, "log-start", D, 70)


def zeros(copy: Copy) -> None:
    copy.change(2, D, 45, lambda held: bytes(len(held)))


def torn(copy: Copy) -> None:
    copy.change(2, D, 135, lambda held: held[:100])


def misplaced(copy: Copy) -> None:
    copy.change(2, D, 45, lambda held: (400).to_bytes(8, "big") + held[8:])


def packed(held: bytes) -> bytes:
    """A batch whose records are compressed by lz4."""
    fields = list(UNDER_CRC.unpack_from(held, SUMMED))
    fields[0] |= CODECS.index("lz4")
    records = compress(held[61:], "lz4")
    length = (49 + len(records)).to_bytes(4, "big")
    return summed(held[:8] + length + held[12:SUMMED] + UNDER_CRC.pack(*fields) + records)


def repacked(copy: Copy) -> None:
    for broker in ALL:
        copy.change(broker, D, 45, packed)


def of_another_topic(copy: Copy) -> None:
    (copy.folder(2, D) / "partition.metadata").write_bytes(OTHER_ID)


def own_tail(copy: Copy) -> None:
    """Broker 1 stopped at 80 in epoch 0, twenty records of its own behind what it had shared."""
    own = [altered(b, epoch=0, base_timestamp=1, max_timestamp=1) for b in copy.batches(1, D)[6:8]]
    copy.write(1, D, [*copy.batches(1, D)[:6], *own])
    copy.epochs(1, D, [(0, 0)])
    copy.checkpoint(1, "replication", D, 60)
    copy.checkpoint(1, "recovery-point", D, 80)
    copy.without("*/logs", "controller-100", "*/data/__cluster_metadata-0")


def metadata(change: int) -> Change:
    """A record of the metadata log of node 2 has another time; or the log ends before it."""

    def altering(copy: Copy) -> None:
        own = copy.batches(2, METADATA)
        at = base_of(own[-6])
        if change:
            copy.change(2, METADATA, at, lambda held: altered(held, base_timestamp=1, max_timestamp=1))
        else:
            copy.write(2, METADATA, own[:-6])

    return altering


def mutant(
    rule: str, change: Change, said: tuple[Said, ...], lawful: Change, because: str, level: Level = "full"
) -> Mutant:
    return Mutant(rule=rule, sample=BASE, change=change, said=said, lawful=lawful, because=because, level=level)


PAIRS_APART: Final = (("critical", (1, 2), 120, 130), ("critical", (2, 3), 120, 130))
METADATA_APART: Final = (("critical", (1, 2), 68, 69), ("critical", (2, 3), 68, 69), ("critical", (2, 100), 68, 69))
OLDER: Final = {"base_timestamp": 1, "max_timestamp": 1}

MUTANTS: Final = (
    mutant(
        "EPOCH001", on_healed(batch(*ALL, at=125, epoch=0)), tuple(("critical", (n,), 120, 130) for n in ALL),
        on_healed(batch(*ALL, at=135, epoch=2)), "epochs rise to one that the metadata log gave",
    ),
    mutant(
        "EPOCH002", on_healed(epochs(2, (0, 0), (1, 70))), (("high", (2,), 60, 70),),
        on_healed(retained), "what the file leaves out was deleted with its records",
    ),
    mutant(
        "EPOCH004", on_healed(epochs(2, (0, 0), (1, 60), (1, 50))), (("high", (2,), None, None),),
        on_healed(epochs(2, (0, 0), (1, 60), (2, 140))), "an epoch in which nothing was written has its entry",
    ),
    mutant(
        "EPOCH005", on_healed(epochs(2, (0, 0), (1, 70)), batch(2, at=65, epoch=0)),
        (("critical", (1, 2), 60, 70), ("critical", (2, 3), 60, 70)),
        on_healed(retained), "the first entry of a log says where the log begins",
    ),
    mutant(
        "EPOCH009", on_healed(epochs(2, (0, 0), (1, 60), (2, 150))), (("medium", (2,), 140, 150),),
        on_healed(epochs(2, (0, 0), (1, 60), (2, 140))), "an epoch may begin where the log ends",
    ),
    mutant(
        "HW001", on_healed(shortened(2, by=2)), (("high", (2,), 120, 140),),
        on_healed(saved(2, "replication", 130)), "a high watermark lags behind the log end",
    ),
    mutant(
        "HW002", on_healed(saved(2, "replication", 50)), (("high", (2,), 50, 140),),
        on_healed(saved(2, "replication", 50), killed(2)), "without a clean shutdown the last one saved is older",
    ),
    mutant(
        "HW005", on_healed(saved(2, "log-start", 60), saved(2, "replication", 50)), (("medium", (2,), 50, 60),),
        on_healed(saved(2, "log-start", 60)), "records below the high watermark were deleted",
    ),
    mutant(
        "LOG002", on_healed(own_tail), (("info", (1, 2), 60, 80), ("info", (1, 3), 60, 80)),
        on_healed(shortened(1, by=2)), "a log that is shorter holds nothing else",
    ),
    mutant(
        "LOG003", on_healed(batch(2, at=125, **OLDER)), PAIRS_APART,
        on_healed(own_tail), "the tails are of different epochs",
    ),
    mutant(
        "LOG007", on_healed(of_another_topic), (("medium", (2,), None, None),),
        on_healed(lambda copy: copy.without("broker-2/data/d-0/partition.metadata")), "no id is told",
    ),
    mutant(
        "LOG008", on_healed(*(shortened(n, by=1) for n in ALL)), (("critical", ALL, 130, 140),),
        on_healed(shortened(1, by=1), shortened(2, by=1)), "one copy is left",
    ),
    mutant("META001", metadata(1), METADATA_APART, metadata(0), "a node that has read less disagrees with nobody"),
    mutant(
        "SEG002", on_healed(zeros), (("high", (2,), 40, 50),),
        on_healed(behind(bytes(791))), "zeros behind the log are preallocation",
    ),
    mutant(
        "SEG003", on_healed(torn), (("high", (2,), 130, 140),),
        on_healed(behind(b"\0\0\0\0\0\0\0\x8c\0\0\x03")), "nothing flushed is missing: for information",
    ),
    mutant(
        "SEG004", on_healed(twice), (("critical", (2,), 30, 50),),
        on_healed(rolled), "the log goes on in a second segment",
    ),
    mutant(
        "SEG005", on_healed(gone(2, at=45)), (("high", (2,), 40, 50),),
        on_healed(retained), "what is missing lies before the log start",
    ),
    mutant(
        "SEG006", on_healed(misplaced), (("high", (2,), 40, 50),),
        on_healed(batch(*ALL, at=45, **OLDER)), "times go back where a producer's clock does",
    ),
    mutant(
        "SEG007", on_healed(batch(2, at=45, record_count=9)), (("high", (2,), None, None),),
        on_healed(repacked), "the records are compressed", "deep",
    ),
    mutant(
        "SEG008", on_healed(shortened(2, by=2)), (("high", (2,), 120, 140),),
        on_healed(saved(2, "recovery-point", 120)), "flushes lag behind the log end",
    ),
    mutant(
        "TRUNC004", on_healed(own_tail, saved(1, "replication", 80)), (("critical", (1,), 60, 80),),
        on_healed(own_tail), "nothing committed will go with the cut: for information",
    ),
    mutant(
        "TXN004", on_healed(batch(*ALL, at=85, base_sequence=25)), (("medium", ALL, 90, 91),),
        on_healed(batch(*ALL, at=115, producer_epoch=1, base_sequence=0)), "a new producer epoch counts from 0",
    ),
    Mutant(
        rule="LOG004", sample="compaction_race", change=gone(3, at=82, replica="kv-0"),
        said=(("high", (3,), 80, 85),),
        lawful=gone(3, at=0, replica="kv-0"), because="a batch is gone whose keys were deleted",
    ),
)  # fmt: skip
