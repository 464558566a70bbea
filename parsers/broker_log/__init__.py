"""server.log, state-change.log and controller.log of Kafka 0.11 to 4.x: the lines that say something about replication."""

from __future__ import annotations

from parsers.broker_log.catalogue import EVENTS
from parsers.broker_log.clock import wall_clock
from parsers.broker_log.compressed import GzipText
from parsers.broker_log.entry_layout import DEFAULT_PATTERN, USUAL_PATTERNS, EntryLayout, LayoutError, parse_layout
from parsers.broker_log.reader import LogPart, Reading, no_part, read_log
from parsers.broker_log.witness import Witness, answered_ports, printed_ports, several_speak, witnesses
from parsers.broker_log.wrapped import HEAD_BYTES, WrappedLayout, read_written, speakers, written_as
from parsers.broker_log.zones import given_for, instant_of, owner_and_value, zone_named
