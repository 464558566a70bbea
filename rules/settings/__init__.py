"""What is told of settings: their names, each statement, and what was in force at a moment."""

from __future__ import annotations

from rules.settings.setting import BrokerVersion, Setting, TakenOver
from rules.settings.setting_names import (
    BROKER_EPOCH,
    BROKER_NAMES,
    BROKER_STATE,
    CLEANUP_POLICY,
    CONTROLLER_EPOCH,
    DYNAMIC,
    FACTOR,
    INCARNATION,
    INTER_BROKER_PROTOCOL,
    KAFKA_VERSION,
    LAG_TIME,
    LEADER_OF_EPOCH,
    MESSAGE_FORMAT,
    METADATA_VERSION,
    MIN_IN_SYNC,
    QUORUM_LEADER,
    REMOTE_STORAGE,
    REMOTE_SYSTEM,
    START_INSTANT,
    STARTED,
    STARTING,
    STOPPED,
    STOPPING,
    TOPICS_OWN,
    UNCLEAN,
    SettingOrigin,
)
from rules.settings.settings_told import NO_SETTINGS, Settings, settings_of
