"""Builders of epoch chains and of replicas whose logs could have come about under the protocol."""

from __future__ import annotations

from hypothesis import strategies as st

from rules.protocol.epochs import EpochChain, EpochStart, assign, epoch_at, truncate_from_start
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.replica_log import ReplicaLog, divergence_point, truncate_fully, truncate_to
from tests.replaced import replace


def chain(*pairs: tuple[int, int]) -> EpochChain:
    """A chain from (epoch, start offset) pairs."""
    return tuple(EpochStart(epoch=Epoch(epoch), start_offset=Offset(offset)) for epoch, offset in pairs)


def replica(*pairs: tuple[int, int], leo: int, hw: int = 0, start: int = 0) -> ReplicaLog:
    """A replica from (epoch, start offset) pairs and its offsets."""
    return ReplicaLog(
        epochs=chain(*pairs),
        log_start_offset=Offset(start),
        log_end_offset=Offset(leo),
        high_watermark=Offset(hw),
    )


@st.composite
def chains(draw: st.DrawFn, max_entries: int = 6) -> EpochChain:
    """Any well-formed chain."""
    count = draw(st.integers(0, max_entries))
    epochs = sorted(draw(st.sets(st.integers(0, 12), min_size=count, max_size=count)))
    offsets = sorted(draw(st.sets(st.integers(0, 40), min_size=count, max_size=count)))
    return chain(*zip(epochs, offsets, strict=True))


class History:
    """Two logs written by elected leaders, one leader an epoch, copied by prefix and cut by crashes."""

    def __init__(self) -> None:
        self.logs = [replica(leo=0), replica(leo=0)]

    def lead(self, leader: int, epoch: int, records: int) -> None:
        """Opens an epoch at the leader's log end and appends."""
        log = self.logs[leader]
        entries = assign(log.epochs, Epoch(epoch), log.log_end_offset)
        self.logs[leader] = replace(log, epochs=entries, log_end_offset=Offset(log.log_end_offset + records))

    def copy(self, leader: int, records: int) -> None:
        """The other follows: it cuts what differs and appends the leader's next records with their epochs."""
        source, log = self.logs[leader], self.logs[1 - leader]
        shared = divergence_point(source, log)
        log = truncate_to(log, min(source.log_end_offset, log.log_end_offset) if shared is None else shared)
        if log.log_end_offset < source.log_start_offset:
            log = truncate_fully(log, source.log_start_offset)
        end_offset = Offset(min(source.log_end_offset, log.log_end_offset + records))
        entries = log.epochs
        for offset in range(log.log_end_offset, end_offset):
            epoch = epoch_at(source.epochs, Offset(offset))
            if epoch is not None:
                entries = assign(entries, epoch, Offset(offset))
        self.logs[1 - leader] = replace(log, epochs=entries, log_end_offset=end_offset)

    def crash(self, broker: int, lost: int) -> None:
        """The last records never reached the disk."""
        log = self.logs[broker]
        self.logs[broker] = truncate_to(log, Offset(max(log.log_start_offset, log.log_end_offset - lost)))

    def delete_head(self, broker: int, records: int) -> None:
        """Retention moves the log start."""
        log = self.logs[broker]
        start = Offset(min(log.log_end_offset, log.log_start_offset + records))
        self.logs[broker] = replace(log, log_start_offset=start, epochs=truncate_from_start(log.epochs, start))


@st.composite
def elections(draw: st.DrawFn, *, deletes: bool = False) -> tuple[ReplicaLog, ReplicaLog]:
    """A follower and a newly elected leader after a lawful history of up to seven epochs."""
    history = History()
    epoch = 0
    for _ in range(draw(st.integers(1, 7))):
        leader = draw(st.integers(0, 1))
        epoch += draw(st.integers(1, 3))
        history.lead(leader, epoch, draw(st.integers(0, 5)))
        if draw(st.booleans()):
            history.copy(leader, draw(st.integers(0, 6)))
        if draw(st.booleans()):
            history.crash(draw(st.integers(0, 1)), draw(st.integers(0, 4)))
        if deletes and draw(st.booleans()):
            history.delete_head(draw(st.integers(0, 1)), draw(st.integers(0, 4)))
    leader = draw(st.integers(0, 1))
    history.lead(leader, epoch + 1, draw(st.integers(0, 3)))
    follower = history.logs[1 - leader]
    high_watermark = draw(st.integers(follower.log_start_offset, follower.log_end_offset))
    return replace(follower, high_watermark=Offset(high_watermark)), history.logs[leader]
