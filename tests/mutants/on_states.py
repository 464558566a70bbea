"""Mutants by what controllers and coordinators keep: records of the metadata log, and of the offsets topic."""

from __future__ import annotations

from typing import Final

from rules.evidence import Level
from tests.mutants.mutant import Change, Mutant, Said, unchanged
from tests.mutants.on_disks import ALL, BASE, METADATA, D, on_healed
from tests.mutants.on_told import OFFSETS
from tests.mutants.surgery import Copy, altered, base_of, rewritten, split
from tests.rules.test_group_assignments import Has, group_key, group_value, member

BORN: Final = bytes.fromhex("04000000010000000200000003")
"""The replicas of d-0 when it was created, which are its ISR too."""
FIRST_TERM: Final = bytes.fromhex("0101000000010000000000000000")
"""Nobody removed or added, leader 1, leader epoch 0, partition epoch 0."""
SECOND_LED: Final = bytes.fromhex("0009030000000200000003010400000002")
"""ISR 2, 3, and leader 2."""
NOBODY_LEADS: Final = bytes.fromhex("0400010101 04ffffffff 06050200000003 07050200000003")
"""No ISR, no leader, broker 3 eligible and last known."""
HELD_BY_A_GROUP: Final = 1_795_240_300_000
"""Some minutes after the topics were created."""


def of_all_nodes(*changes: tuple[bytes, bytes]) -> Change:
    """Something else stands in the records of the metadata log, on every node whose copy has them."""

    def change(copy: Copy) -> None:
        for old, new in changes:
            held = [path for path in copy.nodes(METADATA) if old in path.read_bytes()]
            assert held, old.hex()
            for path in held:
                path.write_bytes(b"".join(_instead(batch, old, new) for batch in split(path.read_bytes())))

    return change


def _instead(batch: bytes, old: bytes, new: bytes) -> bytes:
    return rewritten(batch, lambda key, value: (key, value.replace(old, new, 1))) if old in batch else batch


def ended(before: int) -> Change:
    """Every copy of the metadata log ends before an offset, and so do their snapshots."""

    def change(copy: Copy) -> None:
        for path in copy.nodes(METADATA):
            path.write_bytes(b"".join(batch for batch in split(path.read_bytes()) if base_of(batch) < before))
        copy.without(f"*/data/{METADATA}/*72.snapshot", "*/logs")

    return change


def born_later(copy: Copy) -> None:
    """All epochs of d-0 are higher by one, in the logs too."""
    born_in_1(copy)
    for broker in ALL:
        own = copy.batches(broker, D)
        copy.write(broker, D, [altered(b, epoch=int.from_bytes(b[12:16], "big") + 1) for b in own])
        copy.epochs(broker, D, [(1, 0), (2, 60)])


def has(*shares: Has) -> Change:
    """Where the group's commit stood, the group stands with its members, who read the three partitions of a topic."""
    members = [member(f"m{n}", ["orders"], own) for n, own in enumerate(shares)]
    value = group_value("range", members, at=HELD_BY_A_GROUP)

    def change(copy: Copy) -> None:
        for broker in ALL:
            copy.change(broker, OFFSETS, 0, lambda held: rewritten(held, lambda *_: (group_key(group="g1"), value)))

    return change


def mutant(
    rule: str, change: Change, said: tuple[Said, ...], lawful: Change, because: str, sample: str = BASE,
    level: Level = "full",
) -> Mutant:  # fmt: skip
    return Mutant(rule=rule, sample=sample, change=change, said=said, lawful=lawful, because=because, level=level)


born_in_1: Final = of_all_nodes((FIRST_TERM, FIRST_TERM[:9] + b"\1" + FIRST_TERM[10:]))
third_led: Final = of_all_nodes((SECOND_LED, SECOND_LED[:-1] + b"\3"))

MUTANTS: Final = (
    mutant(
        "EPOCH006", on_healed(born_in_1), tuple(("high", (n,), 0, None) for n in ALL),
        on_healed(born_later), "a partition may be created in a later epoch: the logs begin with it",
    ),
    mutant(
        "GROUP001", has({"orders": (0,)}, {"orders": (1, 2)}), (("low", (), None, None),),
        has({"orders": (0, 1)}, {"orders": (2,)}), "the first member has one more", "clean_mixed",
    ),
    mutant(
        "LEAD005", third_led, (("info", (3,), None, None),),
        of_all_nodes((BORN, BORN[:5] + bytes.fromhex("0000000300000002")), (SECOND_LED, SECOND_LED[:-1] + b"\3")),
        "broker 3 stands before broker 2 in the assignment",
    ),
    mutant(
        "META002", of_all_nodes((NOBODY_LEADS, bytes.fromhex("0400010101 04ffffffff 060101 070101"))),
        (("medium", (), None, None),), unchanged, "broker 3 is an eligible leader", "unclean_4x",
    ),
    mutant(
        "PLACE002", ended(50), (("info", (2,), None, None),),
        ended(45), "the preferred replica is not in sync yet",
    ),
)  # fmt: skip
