"""Mutants by what brokers, traces and consumers told: lines of logs, and records of the offsets topic."""

from __future__ import annotations

import struct
from typing import Final

from tests.mutants.mutant import Change, Mutant, Said, unchanged
from tests.mutants.on_disks import ALL, BASE, D, batch, epochs, gone, on_healed, own_tail
from tests.mutants.surgery import Copy, summed

CHANGES: Final = "state-change.log"
REQUESTS: Final = "kafka-request.log"
SERVER: Final = "server.log"
OFFSETS: Final = "__consumer_offsets-0"
COMMITTED: Final = struct.pack(">hqi", 3, 100, -1)
RESET: Final = (
    "{line} WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncate fully and reset fetch offset for"
    " partition d-0 from 60 to the current leader's start offset {start} because the local replica's end offset is"
    " smaller than the current leader's start offsets. (kafka.server.ReplicaFetcherThread)"
)

SHRINKING: Final = (
    "{line} INFO [Partition d-0 broker=1] Shrinking ISR from 1,2,3 to 1,2."
    " Leader: (highWatermark: 60, endOffset: {end}). Out of sync replicas: (brokerId: 3, endOffset: 60)."
    " (kafka.cluster.Partition)"
)
FAILED: Final = (
    "{line} WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Partition d-0 marked as failed"
    " (kafka.server.ReplicaFetcherThread)"
)


def line(node: str, name: str, pattern: str, new: str, count: int = 0) -> Change:
    return lambda copy: copy.log(node, name, pattern, new, count=count)


def answered(asked: int, watermark: int) -> Change:
    """Broker 1 answers those who ask for an offset with another high watermark."""
    pattern = rf'("fetchOffset":{asked},.*?"highWatermark":){asked},'
    return line("broker-1", REQUESTS, pattern, rf"\g<1>{watermark},")


def asks_again(copy: Copy) -> None:
    """Broker 3 asks for 20 where it asked for 30, and nobody was promised that it has more."""
    copy.log("broker-1", REQUESTS, r'("replicaId":3,.*?"fetchOffset":)30,', r"\g<1>20,")
    copy.log("broker-1", REQUESTS, r'("PRODUCE".*"acks":)-1(,.*"baseOffset":20,)', r"\g<1>1\2")


def follows_with(watermark: int) -> Change:
    """Broker 3 begins to follow in epoch 1 with a high watermark."""
    pattern = r"(starts at leader epoch 1 from offset \d+ with partition epoch \d+ and high watermark )\d+"
    return line("broker-3", CHANGES, pattern, rf"\g<1>{watermark}")


def leads_in(epoch: int) -> Change:
    """Broker 1 says once more that it leads."""
    pattern = r"^(.*)Leader d-0 (.*) starts at leader epoch 0 (.*)$"
    return line("broker-1", CHANGES, pattern, rf"\g<0>\n\1Leader d-0 \2 starts at leader epoch {epoch} \3")


def leads_with(isr: str) -> Change:
    return line("broker-2", CHANGES, r"(Leader d-0 .*starts at leader epoch 1 .*ISR )\[[0-9,]*\]", rf"\1[{isr}]")


def asks(offset: int) -> Change:
    """A consumer asks broker 2 when broker 3 asked it for offset 70."""
    pattern = r'^(.*"FETCH".*"replicaId":)3(.*"fetchOffset":)70(.*)$'
    return line("broker-2", REQUESTS, pattern, rf"\g<0>\n\g<1>-1\g<2>{offset}\3", 1)


def reset(start: int) -> Change:
    """Broker 1, whose log ends at 60, begins anew where its leader's log is said to start."""
    pattern = r"^(\[.*?\]) INFO \[ReplicaFetcherManager on broker 1\] Added fetcher to broker 2 .*$"
    return line("broker-1", SERVER, pattern, r"\g<0>" + "\n" + RESET.format(line=r"\1", start=start), 1)


def shrinks_at(end: int) -> Change:
    """Broker 1 drops broker 3, which has asked for 60, where its own log ends at an offset."""
    pattern = r"^(\[.* 05:34:)29,890\] INFO \[ReplicaAlterLogDirsManager on broker 1\] Removed fetcher .*$"
    return line("broker-1", SERVER, pattern, SHRINKING.format(line=r"\g<1>29,100]", end=end) + "\n" + r"\g<0>", 1)


def failed(copy: Copy) -> None:
    """Broker 1 gave the partition up at 60, and what broker 2 answered is not told."""
    pattern = r"^(\[.*?\]) INFO \[ReplicaFetcherManager on broker 1\] Added fetcher to broker 2 .*$"
    copy.log("broker-1", SERVER, pattern, r"\g<0>" + "\n" + FAILED.format(line=r"\1"), count=1)
    behind(copy)


def behind(copy: Copy) -> None:
    """Broker 1's log ends at 60."""
    copy.write(1, D, copy.batches(1, D)[:6])
    copy.checkpoint(1, "replication", D, 60)
    copy.checkpoint(1, "recovery-point", D, 60)
    copy.without("broker-2/logs/kafka-request.log", "broker-1/data/d-0/00000000000000000140.snapshot")


def lacking(broker: int) -> Change:
    """A broker lost its last batch; broker 2 alone is in the last ISR."""
    return lambda copy: copy.write(broker, "again-0", copy.batches(broker, "again-0")[:-1])


def committed(offset: int = 100, epoch: int = -1) -> Change:
    """The group committed something else, on every copy of the offsets topic."""

    def change(copy: Copy) -> None:
        new = struct.pack(">hqi", 3, offset, epoch)
        for broker in ALL:
            copy.change(broker, OFFSETS, 0, lambda held: summed(held.replace(COMMITTED, new)))

    return change


def elsewhere(group: bytes) -> Change:
    """A record like the group's stands in the other partition of the offsets topic too."""

    def change(copy: Copy) -> None:
        for broker in ALL:
            (held,) = copy.batches(broker, OFFSETS)
            copy.write(broker, "__consumer_offsets-1", [summed(held.replace(b"\0\2g1", b"\0\2" + group))])

    return change


def mutant(
    rule: str, change: Change, said: tuple[Said, ...], lawful: Change, because: str, sample: str = BASE
) -> Mutant:
    return Mutant(rule=rule, sample=sample, change=change, said=said, lawful=lawful, because=because)


MUTANTS: Final = (
    mutant(
        "CONS001", committed(1000), (("high", (), 458, 1000),),
        committed(458), "the group has read to the log end", "clean_mixed",
    ),
    mutant(
        "CONS002", committed(epoch=2), (("high", (), 99, 100),),
        committed(epoch=0), "the record before the offset is of that epoch", "clean_mixed",
    ),
    mutant(
        "CONS004", on_healed(asks(90)), (("high", (2,), 80, 90),),
        on_healed(asks(80)), "everybody in sync had come to 80",
    ),
    mutant(
        "CONS005", elsewhere(b"g1"), (("medium", (), None, None),),
        elsewhere(b"g2"), "this group is at home there", "clean_mixed",
    ),
    mutant(
        "EPOCH008", on_healed(leads_in(1)), (("critical", (1, 2), None, None),),
        on_healed(leads_in(0)), "the same leader says it twice",
    ),
    mutant(
        "HW003", on_healed(answered(30, 40)), (("critical", (1,), 30, 40),),
        on_healed(answered(30, 20)), "a high watermark lags by a round",
    ),
    mutant(
        "HW004", on_healed(follows_with(70)), (("high", (3,), 60, 70),),
        on_healed(follows_with(50)), "a follower hears of it a round later",
    ),
    mutant(
        "HW002", on_healed(answered(30, 10), asks_again), (("high", (1,), 10, 20),),
        on_healed(answered(30, 20), asks_again), "the same is told once more, as one of the two had come to 20 only",
    ),
    mutant(
        "HW006", on_healed(answered(30, 20)), (("medium", (1,), 20, 30),),
        on_healed(answered(30, 20), asks_again), "one of the two had come to 20 only",
    ),
    mutant(
        "ISR001", lacking(2), (("critical", (2,), 60, 70),),
        lacking(1), "broker 1 is not in the last ISR", "recreated_topic",
    ),
    mutant(
        "ISR002", on_healed(shrinks_at(60)), (("medium", (1, 3), None, None),),
        on_healed(shrinks_at(70)), "the follower had not asked for the last ten",
    ),
    mutant(
        "LEAD003", on_healed(leads_with("1,3")), (("high", (2,), None, None),),
        on_healed(leads_with("3,2")), "the order in an ISR says nothing",
    ),
    mutant(
        "LEAD004", on_healed(batch(1, at=65, epoch=0), epochs(1, (0, 0), (1, 70))), (("critical", (1,), 60, 70),),
        on_healed(own_tail), "nobody copied what it wrote",
    ),
    mutant(
        "LEO002", on_healed(failed), (("medium", (1,), 60, 140),),
        on_healed(behind), "it is only behind",
    ),
    mutant(
        "TRUNC005", gone(1, at=45, replica="fire-0"), (("high", (1,), 40, 50),),
        unchanged, "its cut to 50 was at the border of a batch", "acks_one_lost",
    ),
    mutant(
        "TRUNC006", on_healed(reset(50)), (("high", (1,), 50, 60),),
        on_healed(reset(70)), "its leader keeps nothing of what it missed: there is no place to go on from",
    ),
)  # fmt: skip
