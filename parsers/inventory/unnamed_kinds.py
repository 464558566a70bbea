"""Kinds of files that no fixed name tells: by where they lie, and by how they begin."""

from __future__ import annotations

import re
from itertools import pairwise
from struct import Struct
from typing import Final

from parsers.files import is_wide_text
from parsers.provenance import FileKind

HEAD: Final = 4096
"""Bytes of a file that are looked at."""
_LINES: Final = 40
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_DUMP_TEXT: Final = (b"Dumping ", b"Starting offset:", b"Log starting offset:")

_ZNODE: Final = re.compile(r"(?:.*/)?brokers/topics/[^/]+(?:/partitions/\d+/state)?(?:\.json|/data|/data\.json)?")
_SETTINGS_ZNODE: Final = re.compile(r"(?:.*/)?config/(?:topics/[^/]+|brokers/(?:\d+|<default>))(?:\.json)?")
_TABLE_NAME: Final = re.compile(r".*\.(?:csv|tsv|jsonl|ndjson)")
_TRACE_NAME: Final = re.compile(r"(?:.*[^a-z])?(?:fetch|trace)(?:es|s)?(?:[^a-z].*)?\.(?:csv|tsv|jsonl|ndjson)")
_TRACE_COLUMN: Final = re.compile(rb"(?:^|[\s,;\"])fetch[ _]?offset(?:[\s,;\"]|$)", re.IGNORECASE)
_DESCRIBED: Final = re.compile(
    rb"\s?Topic: ?[\w.\-]{1,249}\s+(?:TopicId|PartitionCount|Partition): ?"
    rb"|(?:Dynamic c|All c|Default c|Quota c|C)onfigs for (?:topic|Topic|broker|the default|default|client|user) ?"
    rb"|(?:GROUP\s+)?TOPIC\s+PARTITION\s+(?:NEW-OFFSET|CURRENT-OFFSET)\s"
    rb"|(?:GROUP\s+)?COORDINATOR \(ID\)\s"
    rb"|(?:Error: )?Consumer group '[^']{1,249}' (?:has no|is rebalancing|does not)"
    rb"|ClusterId:\s+\S+\s*$"
    rb"|NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s"
)
_LOG_NAME: Final = re.compile(r".+\.(?:log|out|txt|json)(?:[.\-_]\d[\d.\-_t]{0,30})?")
_LOG_LINE: Final = re.compile(
    rb"(?:\[pod/[^\]\n]{1,512}\] )?[^\[\n]{0,256}(?:\[\d{1,10}\]: [^\[\n]{0,256})?"
    rb"\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\]? "
    rb"(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    rb"|\{(?=[^\n]{0,512}\"(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\")(?=[^\n]{0,2048}\"(?:message|msg)\" ?:)"
)
"""As Kafka lays out its logs, behind whatever a collector sets before a line; or an event's fields in JSON."""
_SHELL: Final = re.compile(rb"WatchedEvent state:|\[zk: ")
_ZNODE_LINE: Final = re.compile(rb"\S{0,64}\s?.{0,64}/(?:brokers/topics|config/topics|config/brokers)/[\w.\-<>]{1,249}")
_ZNODE_CONTENT: Final = re.compile(rb"\s*\{.{0,4000}\"version\"")

_ENTRY: Final = Struct(">qiibB")
"""Offset, length, checksum or leader epoch, magic, and of magic 0 and 1 the attributes."""
_INT32: Final = Struct(">i")
_KEY_AT: Final = {0: 18, 1: 26}
"""Where an entry of magic 0 or 1 tells the length of its key."""
_BATCH_BYTES: Final = 61


def begins_dump_text(head: bytes) -> bool:
    """Whether a file that begins so is what kafka-dump-log printed."""
    return head.removeprefix(_BYTE_ORDER_MARK).startswith(_DUMP_TEXT)


def begins_segment(head: bytes) -> bool:
    """Whether a file begins with an entry of a log, by the fields of its header; its checksum may be wrong."""
    if len(head) < _ENTRY.size:
        return False
    offset, length, _, magic, attributes = _ENTRY.unpack_from(head)
    if magic == 2:
        return offset >= 0 and length + 12 >= _BATCH_BYTES and len(head) >= _BATCH_BYTES and head[21] == 0
    return offset >= 0 and magic in _KEY_AT and attributes < 16 and _filled(head, _KEY_AT[magic], length + 12)


def _filled(head: bytes, key_at: int, end: int) -> bool:
    """Whether a key, and the value behind it, end where the entry does."""
    at = key_at
    for _ in ("key", "value"):
        if at > len(head) - _INT32.size:
            return False
        (length,) = _INT32.unpack_from(head, at)
        at += _INT32.size + max(length, 0)
    return at == end


def kind_by_place(path: str) -> FileKind:
    """A znode that was saved as a file keeps its path in ZooKeeper."""
    return "znode" if _ZNODE.fullmatch(path) else "unknown"


def kind_by_head(path: str, head: bytes) -> FileKind:
    """What a file of no known name is, by its first lines; a table needs the name of one as well."""
    # Such a text is taken for what it says, so that its reader refuses it by name.
    narrow = head.replace(b"\0", b"")[2:] if is_wide_text(head) else head
    text = narrow.removeprefix(_BYTE_ORDER_MARK)
    if begins_dump_text(text):
        return "dump-text"
    name = path.rpartition("/")[2].lower()
    lines = text.split(b"\n")[:_LINES]
    if _TABLE_NAME.fullmatch(name) and (_TRACE_NAME.fullmatch(name) or _TRACE_COLUMN.search(lines[0])):
        return "trace-table"
    if any(_DESCRIBED.match(line) for line in lines):
        return "describe-text"
    if any(_SHELL.match(line) for line in lines) or _names_znodes(lines):
        return "znode-text"
    if _SETTINGS_ZNODE.fullmatch(path) and text.startswith(b"{"):
        return "znode"
    logged = _LOG_NAME.fullmatch(name) and any(_LOG_LINE.match(line) for line in lines)
    return "broker-log" if logged else "unknown"


def _names_znodes(lines: list[bytes]) -> bool:
    """Whether a line names a znode of Kafka's and the next one holds what Kafka keeps in one."""
    return any(_ZNODE_LINE.match(line) and _ZNODE_CONTENT.match(after) for line, after in pairwise(lines))
