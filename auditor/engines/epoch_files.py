"""The leader-epoch-checkpoint of any folder, where a partition's judges ask for what lies beside its own replicas."""

from __future__ import annotations

from parsers.checkpoints import read_leader_epoch_checkpoint
from parsers.files import read_source
from parsers.provenance import Origin
from parsers.tables import Refusal
from rules.protocol.epochs import EpochChain, EpochStart
from rules.protocol.offsets import Epoch, Offset


def epochs_in(dump: str, folder: str) -> EpochChain:
    """The entries of a folder's file; none of one that cannot be read or that no broker would load."""
    origin = Origin(source=f"{folder}/leader-epoch-checkpoint")
    content = read_source(dump, origin)
    if isinstance(content, Refusal):
        return ()
    read = read_leader_epoch_checkpoint(content, origin)
    entries = read.entries if read.state == "entries" else ()
    return tuple(EpochStart(epoch=Epoch(e.epoch), start_offset=Offset(e.start_offset)) for e in entries)
