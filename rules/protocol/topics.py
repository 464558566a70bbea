"""The topics that Kafka keeps for itself, by name."""

from __future__ import annotations

from typing import Final

METADATA_TOPIC: Final = "__cluster_metadata"
GROUPS_TOPIC: Final = "__consumer_offsets"
TRANSACTIONS_TOPIC: Final = "__transaction_state"
REMOTE_LOG_TOPIC: Final = "__remote_log_metadata"
"""Where brokers note which segments they copied to remote storage."""
SHARE_STATE_TOPIC: Final = "__share_group_state"
BROKERS_TOPICS: Final = frozenset({GROUPS_TOPIC, TRANSACTIONS_TOPIC, SHARE_STATE_TOPIC, REMOTE_LOG_TOPIC})
"""Topics that brokers alone write and read."""
COMPACTED_TOPICS: Final = BROKERS_TOPICS - {REMOTE_LOG_TOPIC} | {"_schemas"}
"""Topics that are compacted wherever they are, a schema registry's among them."""
