"""Lines about in-sync replicas and high watermarks as a leader sees them."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

ISR: Final = (
    Event(
        kind="isr-updated",
        means="The leader learnt that its proposal of an ISR was committed.",
        wordings=(
            Wording(
                text="ISR updated <from AlterIsr to|to> <[|>{isr}<]|><? ?><? ?><?(under-min-isr) ?>and <version|zkVersion> updated to <[|>{partition_epoch}",
                since="2.4",
            ),
        ),
    ),
    Event(
        kind="isr-shrinking",
        means="The leader drops replicas that lag; tells its high watermark and end. detail: the replicas out of sync with their ends.",
        wordings=(
            Wording(
                text="Shrinking ISR from {previous_isr} to {isr}<?. Leader: (highWatermark: {high_watermark}, endOffset: {log_end_offset})"
                ". Out of sync replicas: {detail}?>",
            ),
        ),
    ),
    Event(
        kind="isr-expanding",
        means="The leader takes caught-up replicas in.",
        wordings=(
            Wording(text="Expanding ISR from {previous_isr} to {isr}", until="2.8"),
            Wording(text="Expanding ISR for partition {tp} from {previous_isr} to {isr}", until="1.0"),
        ),
    ),
    Event(
        kind="isr-update-rejected",
        means="The leader works with a state older than the cluster's: a deposed leader, or a stale one.",
        wordings=(
            Wording(
                text="Cached zkVersion <[|>{partition_epoch}<]|> not equal to that in zookeeper, skip updating ISR",
                until="2.8",
            ),
        ),
    ),
    Event(
        kind="isr-update-failed",
        means="The controller refused the leader's proposal of an ISR.",
        wordings=(
            Wording(text="Failed to <update ISR|alter partition> to {detail}", since="2.7"),
        ),
    ),
    Event(
        kind="high-watermark-updated",
        means="The leader's high watermark moved (printed at DEBUG).",
        wordings=(
            Wording(text="High watermark updated <?from (offset={previous_offset}{*}) ?>to (offset={high_watermark}"),
        ),
    ),
    Event(
        kind="high-watermark-held",
        means="The leader's high watermark did not move; detail tells the log end offsets that it knows, where printed.",
        wordings=(
            Wording(text="Skipping update high watermark since new hw {*} All current LEOs are {detail}"),
            Wording(text="Not increasing HWM because partition is under min ISR", since="3.7"),
        ),
    ),
    Event(
        kind="replica-position-recorded",
        means="The leader recorded a follower's (other_broker) log end offset (printed at DEBUG).",
        wordings=(
            Wording(
                text="Recorded replica {other_broker} log end offset (LEO) position {log_end_offset}<? and log start offset {log_start_offset}?>",
            ),
        ),
    ),
)  # fmt: skip
