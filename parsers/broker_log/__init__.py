"""server.log, state-change.log and controller.log of Kafka 0.11 to 4.x: the lines that say something about replication."""

from __future__ import annotations

from parsers.broker_log.catalogue import EVENTS
from parsers.broker_log.clock import wall_clock
from parsers.broker_log.compressed import GzipText
from parsers.broker_log.facts import BrokerFacts, broker_facts
from parsers.broker_log.layout import DEFAULT_PATTERN, Layout, LayoutError, parse_layout
from parsers.broker_log.reader import LogPart, Reading, no_part, parse_events, parse_settings, read_log
from parsers.broker_log.rotation import LogFileName, log_file_name
from parsers.broker_log.trust import Trust, trust_of
from parsers.broker_log.version import KafkaVersion, parse_version
from parsers.broker_log.wrapped import HEAD_BYTES, UnwrappedText, Written, read_written, speakers, written_as
from parsers.broker_log.zones import given_for, instant_of, owner_and_value, zone_named

__all__ = [
    "DEFAULT_PATTERN", "EVENTS", "HEAD_BYTES", "BrokerFacts", "GzipText", "KafkaVersion", "Layout", "LayoutError",
    "LogFileName", "LogPart", "Reading", "Trust", "UnwrappedText", "Written", "broker_facts", "given_for", "instant_of", "log_file_name",
    "no_part", "owner_and_value", "parse_events", "parse_layout", "parse_settings", "parse_version", "read_log", "read_written",
    "speakers", "trust_of", "wall_clock", "written_as", "zone_named",
]  # fmt: skip
