"""What a producer is told, and when: acks, min.insync.replicas and the high watermark."""

from __future__ import annotations

from typing import Literal

from rules.protocol.offsets import Offset

Acks = Literal["0", "1", "all"]
Answer = Literal["acknowledged", "waiting", "refused-after-append", "none"]


def answer_produce(
    acks: Acks, required_offset: Offset, *, high_watermark: Offset, isr_size: int, min_insync_replicas: int
) -> Answer:
    """The leader's answer once the records are appended up to `required_offset` (exclusive).

    min.insync.replicas counts members of the ISR, not copies; it is asked again when the high watermark arrives.
    """
    if acks != "all":
        return "acknowledged" if acks == "1" else "none"
    if high_watermark < required_offset:
        return "waiting"
    return "acknowledged" if isr_size >= min_insync_replicas else "refused-after-append"


def admit_produce(acks: Acks, *, isr_size: int, min_insync_replicas: int) -> bool:
    """Whether a leader appends at all: acks=all is turned away while the ISR is too small."""
    return acks != "all" or isr_size >= min_insync_replicas
