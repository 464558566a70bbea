"""What kafka-dump-log prints about batches and records, one pattern a shape, from 0.10 to 4.3.

Patterns are anchored at the line's start and stop before keys and payloads, which may hold anything.
"""

from __future__ import annotations

import re
from typing import Final

from parsers.dump_text.line_facts import BatchLine, PositionedLine, RecordLine

_N: Final = rb"-?\d{1,19}"
_TYPE: Final = rb"(?P<type>NoTimestampType|CreateTime|LogAppendTime): (?P<time>" + _N + rb")"
_BOOL: Final = rb"(?:true|false)"
_PARTS: Final = {b"n": _N, b"type": _TYPE, b"bool": _BOOL}
"""Parts of patterns by the names that patterns give them."""

_BATCH: Final = re.compile(
    rb"baseOffset: (?P<base>%(n)b) lastOffset: (?P<last>%(n)b)(?: count: (?P<count>\d{1,10}))?"
    rb" baseSequence: (?P<sequence>%(n)b) lastSequence: %(n)b producerId: (?P<producer>%(n)b)"
    rb"(?: producerEpoch: (?P<epoch>%(n)b))? partitionLeaderEpoch: (?P<leader>%(n)b)"
    rb" isTransactional: (?P<txn>%(bool)b)(?: isControl: (?P<control>%(bool)b))?"
    rb"(?: deleteHorizonMs: OptionalLong(?P<horizon>\.empty|\[%(n)b\]))?"
    rb" position: (?P<position>\d{1,19}) %(type)b(?: isvalid: (?P<early>%(bool)b))?"
    rb" size: (?P<size>\d{1,10}) magic: (?P<magic>\d) compresscodec: (?P<codec>\w{1,30}) crc: (?P<crc>\d{1,10})"
    rb"(?: isvalid: (?P<late>%(bool)b))?" % _PARTS
)
_LEGACY_BATCH: Final = re.compile(
    rb"offset: (?P<last>%(n)b) position: (?P<position>\d{1,19}) %(type)b(?: isvalid: (?P<early>%(bool)b))?"
    rb" size: (?P<size>\d{1,10}) magic: (?P<magic>[01]) compresscodec: (?P<codec>\w{1,30}) crc: (?P<crc>\d{1,10})"
    rb"(?: isvalid: (?P<late>%(bool)b))?" % _PARTS
)
_RECORD: Final = re.compile(
    rb"\| offset: (?P<offset>%(n)b) (?:isValid: %(bool)b crc: (?:null|\d{1,10}) keySize: %(n)b valueSize: %(n)b"
    rb" (?:NoTimestampType|CreateTime|LogAppendTime): %(n)b baseOffset: %(n)b lastOffset: %(n)b baseSequence: %(n)b"
    rb" lastSequence: %(n)b producerEpoch: %(n)b partitionLeaderEpoch: %(n)b batchSize: \d{1,10} magic: \d"
    rb" compressType: \w{1,30} position: \d{1,19}|%(type)b key[sS]ize: %(n)b value[sS]ize: %(n)b)"
    rb" (?:sequence: %(n)b headerKeys: \[|(?:isValid: %(bool)b )?crc: \d{1,10}\}?(?: isvalid: %(bool)b)?)" % _PARTS
)
_DEEP: Final = re.compile(
    rb"offset: (?P<offset>%(n)b) position: (?P<position>\d{1,19}) %(type)b isvalid: (?P<valid>%(bool)b)"
    rb" keysize: (?P<key>%(n)b) valuesize: (?P<value>%(n)b) magic: (?P<magic>\d) compresscodec: (?P<codec>\w{1,30})"
    rb" (?:producerId: (?P<producer>%(n)b)(?: producerEpoch: (?P<epoch>%(n)b))? sequence: (?P<sequence>%(n)b)"
    rb" isTransactional: (?P<txn>%(bool)b) headerKeys: \[|crc: (?P<crc>\d{1,10}))" % _PARTS
)
_OLD: Final = re.compile(
    rb"offset: (?P<offset>%(n)b) position: (?P<position>\d{1,19}) (?:%(type)b )?isvalid: (?P<valid>%(bool)b)"
    rb" payloadsize: (?P<value>%(n)b) magic: (?P<magic>[01]) compresscodec: (?P<codec>\w{1,30}) crc: (?P<crc>\d{1,10})"
    rb"(?: keysize: (?P<key>%(n)b))?" % _PARTS
)
_CONTROL: Final = re.compile(
    rb"\] (?:endTxnMarker: (?P<marker>ABORT|COMMIT) coordinatorEpoch: %(n)b"
    rb"|controlType: \w{1,40}\((?P<number>-?\d{1,5})\)"
    rb"|(?P<name>LeaderChange|SnapshotHeader|SnapshotFooter|KRaftVersion|KRaftVoters):? \{.*)" % _PARTS
)
_CONTROL_TYPES: Final = {
    b"ABORT": 0,
    b"COMMIT": 1,
    b"LeaderChange": 2,
    b"SnapshotHeader": 3,
    b"SnapshotFooter": 4,
    b"KRaftVersion": 5,
    b"KRaftVoters": 6,
}
_CODECS: Final = {"no": 0, "none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
_LONGEST_BATCH: Final = 1024


def batch_line(text: bytes) -> BatchLine | None:
    """Read the one line that a batch gets without deep iteration, or from 2.2 always."""
    if len(text) > _LONGEST_BATCH:
        return None
    if match := _BATCH.fullmatch(text):
        return _batch_of(match)
    if match := _LEGACY_BATCH.fullmatch(text):
        return _legacy_of(match)
    return None


def _batch_of(match: re.Match[bytes]) -> BatchLine:
    control, count, epoch = match["control"], match["count"], match["epoch"]
    horizon = match["horizon"]
    return BatchLine(
        base_offset=int(match["base"]),
        last_offset=int(match["last"]),
        record_count=None if count is None else int(count),
        base_sequence=int(match["sequence"]),
        producer_id=int(match["producer"]),
        producer_epoch=None if epoch is None else int(epoch),
        leader_epoch=int(match["leader"]),
        transactional=match["txn"] == b"true",
        control=None if control is None else control == b"true",
        horizon=None if horizon in (None, b".empty") else int(horizon[1:-1]),
        position=int(match["position"]),
        timestamp_type=match["type"],
        timestamp=int(match["time"]),
        size=int(match["size"]),
        magic=int(match["magic"]),
        codec=codec_of(match["codec"]),
        crc=int(match["crc"]),
        valid=_valid(match["late"] or match["early"]),
    )


def _legacy_of(match: re.Match[bytes]) -> BatchLine:
    codec = codec_of(match["codec"])
    offset = int(match["last"])
    return BatchLine(
        base_offset=offset if codec == 0 else None,
        last_offset=offset,
        record_count=1 if codec == 0 else None,
        base_sequence=-1,
        producer_id=-1,
        producer_epoch=-1,
        leader_epoch=-1,
        transactional=False,
        control=False,
        horizon=None,
        position=int(match["position"]),
        timestamp_type=match["type"],
        timestamp=int(match["time"]),
        size=int(match["size"]),
        magic=int(match["magic"]),
        codec=codec,
        crc=int(match["crc"]),
        valid=_valid(match["late"] or match["early"]),
    )


def record_line(text: bytes) -> RecordLine | None:
    """Read a record line of 2.2 and later up to its key."""
    match = _RECORD.match(text)
    if match is None:
        return None
    return RecordLine(offset=int(match["offset"]), tail=text[match.end() :])


def positioned_line(text: bytes) -> PositionedLine | None:
    """Read a record line of 0.11 to 2.1, or any line of 0.10, up to its key."""
    match = _DEEP.match(text)
    old = None if match else _OLD.match(text)
    found = match or old
    if found is None:
        return None
    crc, key = found["crc"], found["key"]
    return PositionedLine(
        offset=int(found["offset"]),
        position=int(found["position"]),
        timestamp_type=found["type"] or b"",
        timestamp=int(found["time"] or -1),
        valid=found["valid"] == b"true",
        key_size=int(key or -1),
        value_size=int(found["value"]),
        magic=int(found["magic"]),
        codec=codec_of(found["codec"]),
        producer_id=int((match and match["producer"]) or -1),
        producer_epoch=_optional(match["epoch"]) if match and match["producer"] else -1,
        sequence=int((match and match["sequence"]) or -1),
        transactional=match is not None and match["txn"] == b"true",
        crc=_optional(crc),
        before_v2=old is not None,
        tail=text[found.end() :],
    )


def control_type(tail: bytes) -> int | None:
    """Type of a control record by what follows its (empty) list of header keys; null where nothing tells it."""
    match = _CONTROL.fullmatch(tail)
    if match is None:
        return None
    if match["number"] is not None:
        number = int(match["number"])
        return number if -(1 << 15) <= number < 1 << 15 else None
    return _CONTROL_TYPES[match["marker"] or match["name"]]


def shows_contents(tail: bytes) -> bool:
    """Whether a record line goes on with a key or a payload, after which any text may follow."""
    return b" key: " in tail or b" payload: " in tail


def told_before_contents(text: bytes) -> int | None:
    """Up to which byte a line of a batch or record tells of no key, header or payload; None of any other line."""
    if batch_line(text) is not None:
        return len(text)
    found = _RECORD.match(text) or _DEEP.match(text) or _OLD.match(text)
    if found is None:
        return None
    return len(text) if control_type(text[found.end() :]) is not None else found.end()


def codec_of(name: bytes) -> int | None:
    """Codec bits by any release's name of the codec."""
    return _CODECS.get(name.decode("ascii", "replace").lower().removesuffix("compressioncodec"))


def _optional(number: bytes | None) -> int | None:
    return None if number is None else int(number)


def _valid(word: bytes | None) -> bool | None:
    return None if word is None else word == b"true"
