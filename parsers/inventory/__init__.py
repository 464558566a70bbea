"""Walk a dump: name every file's broker, log dir, replica and kind, and refuse what is ambiguous."""

from __future__ import annotations

from parsers.inventory.contents import Inventory, LogDir, LogWitness, ReplicaDir
from parsers.inventory.enclosure import HOME, NotADump, enclose
from parsers.inventory.file_names import FileName, ReplicaName, broker_of_word, parse_file_name, parse_replica_name
from parsers.inventory.impostors import UNPACKED
from parsers.inventory.log_segments import absent_segments, plain_segments
from parsers.inventory.take import take_inventory
from parsers.inventory.unnamed_kinds import begins_dump_text
