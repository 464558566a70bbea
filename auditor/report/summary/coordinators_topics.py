"""What to do about lost records that Kafka alone writes: no producer can write them again, no consumer reads them."""

from __future__ import annotations

from typing import Final

from rules.protocol.topics import GROUPS_TOPIC, METADATA_TOPIC, REMOTE_LOG_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC

OF_BROKERS: Final = {
    GROUPS_TOPIC: (
        "Only brokers write these records: they tell which offsets consumer groups committed. Groups that lost a commit"
        " go back to an older one and read records twice, or auto.offset.reset decides. Compare what they committed"
        " with what their consumers did, and set their offsets again where they differ."
    ),
    TRANSACTIONS_TOPIC: (
        "Only brokers write these records: they tell where transactions stand. A transaction whose record is lost may"
        " stay open, and readers of committed records wait for it. List such transactions with"
        " kafka-transactions.sh find-hanging, and abort them."
    ),
    SHARE_STATE_TOPIC: (
        "Only brokers write these records: they tell what share groups acknowledged. Their consumers may get records"
        " again that they had acknowledged. Check whether they bear that."
    ),
    REMOTE_LOG_TOPIC: (
        "Only brokers write these records: they tell which segments were copied to remote storage. Segments that no"
        " record names any more are not found there. Compare what the storage holds with this topic before retention"
        " deletes local copies."
    ),
    METADATA_TOPIC: (
        "Only controllers write these records: they tell topics, partitions, leaders, ISRs, settings and access rules."
        " What they changed may not be in force any more. Compare topics, settings and access rules with what they"
        " should be, and make lost changes again."
    ),
}
"""By topic: what its records tell, what their loss does, and who has to act."""
