"""Lines about in-sync replicas and high watermarks as a leader sees them."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_PARTITION: Final = "[Partition pay-0 broker=2] "

ISR: Final = (
    Event(
        kind="isr-updated",
        means="The leader learnt that its proposal of an ISR was committed.",
        wordings=(
            Wording(
                text="ISR updated <from AlterIsr to|to> <[|>{isr}<]|><? ?><? ?><?(under-min-isr) ?>and <version|zkVersion> updated to <[|>{partition_epoch}",
                since="2.4",
                sample=_PARTITION + "ISR updated to 2,3,1  and version updated to 5",
                expect={"broker": 2, "topic": "pay", "isr": "2,3,1", "partition_epoch": 5},
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
                sample=_PARTITION + "Shrinking ISR from 1,2,3 to 2. Leader: (highWatermark: 40, endOffset: 60). Out of sync replicas: "
                "(brokerId: 1, endOffset: 40) (brokerId: 3, endOffset: 45).",
                expect={"topic": "pay", "previous_isr": "1,2,3", "isr": "2", "high_watermark": 40, "log_end_offset": 60,
                        "detail": "(brokerId: 1, endOffset: 40) (brokerId: 3, endOffset: 45)."},
            ),
        ),
    ),
    Event(
        kind="isr-expanding",
        means="The leader takes caught-up replicas in.",
        wordings=(
            Wording(
                text="Expanding ISR from {previous_isr} to {isr}", until="2.8",
                sample=_PARTITION + "Expanding ISR from 3,1 to 3,1,2", expect={"topic": "pay", "previous_isr": "3,1", "isr": "3,1,2"},
            ),
            Wording(
                text="Expanding ISR for partition {tp} from {previous_isr} to {isr}", until="1.0",
                sample="Partition [t,0] on broker 1: Expanding ISR for partition t-0 from 1 to 1,2",
                expect={"broker": 1, "topic": "t", "partition": 0, "isr": "1,2"},
            ),
        ),
    ),
    Event(
        kind="isr-update-rejected",
        means="The leader works with a state older than the cluster's: a deposed leader, or a stale one.",
        wordings=(
            Wording(
                text="Cached zkVersion <[|>{partition_epoch}<]|> not equal to that in zookeeper, skip updating ISR", until="2.8",
                sample=_PARTITION + "Cached zkVersion [4] not equal to that in zookeeper, skip updating ISR",
                expect={"broker": 2, "topic": "pay", "partition_epoch": 4},
            ),
        ),
    ),
    Event(
        kind="isr-update-failed",
        means="The controller refused the leader's proposal of an ISR.",
        wordings=(
            Wording(
                text="Failed to <update ISR|alter partition> to {detail}", since="2.7",
                sample=_PARTITION + "Failed to alter partition to PendingShrinkIsr(x) since the controller rejected the request with INVALID_REQUEST",
                expect={"topic": "pay", "detail": "PendingShrinkIsr(x) since the controller rejected the request with INVALID_REQUEST"},
            ),
        ),
    ),
    Event(
        kind="high-watermark-updated",
        means="The leader's high watermark moved (printed at DEBUG).",
        wordings=(
            Wording(
                text="High watermark updated <?from (offset={previous_offset}{*}) ?>to (offset={high_watermark}",
                sample=_PARTITION + "High watermark updated from (offset=40 segment=[0:1480]) to (offset=60 segment=[0:2220])",
                expect={"topic": "pay", "previous_offset": 40, "high_watermark": 60},
            ),
        ),
    ),
    Event(
        kind="high-watermark-held",
        means="The leader's high watermark did not move; detail tells the log end offsets that it knows, where printed.",
        wordings=(
            Wording(
                text="Skipping update high watermark since new hw {*} All current LEOs are {detail}",
                sample=_PARTITION + "Skipping update high watermark since new hw 40 is not larger than old hw 40. All current LEOs are "
                "broker 1: 40, broker 2: 60",
                expect={"topic": "pay", "detail": "broker 1: 40, broker 2: 60"},
            ),
            Wording(
                text="Not increasing HWM because partition is under min ISR", since="3.7",
                sample=_PARTITION + "Not increasing HWM because partition is under min ISR", expect={"topic": "pay", "detail": None},
            ),
        ),
    ),
    Event(
        kind="replica-position-recorded",
        means="The leader recorded a follower's (other_broker) log end offset (printed at DEBUG).",
        wordings=(
            Wording(
                text="Recorded replica {other_broker} log end offset (LEO) position {log_end_offset}<? and log start offset {log_start_offset}?>",
                sample=_PARTITION + "Recorded replica 3 log end offset (LEO) position 45 and log start offset 0.",
                expect={"topic": "pay", "other_broker": 3, "log_end_offset": 45, "log_start_offset": 0},
            ),
        ),
    ),
)  # fmt: skip
