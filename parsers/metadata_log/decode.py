"""From the bytes of a metadata record's value to its frozen value, by api key and version."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from parsers.metadata_log.bodies import BODIES, NO_OP
from parsers.metadata_log.compact_wire import MetadataCursor
from parsers.metadata_log.records import MetadataRecord, Skipped
from parsers.provenance import Origin, Span
from parsers.refusal import refuse
from parsers.tables import Refusal, RefusalKind
from parsers.wire import Malformed, TooLarge, UnknownVersion

_FRAME_VERSION: Final = 1
_NO_OP_BYTES: Final = b"\x01\x14\x00\x00"

_SKIPPED_NAMES: Final = {
    6: "AccessControl", 10: "DelegationToken", 11: "UserScramCredential", 14: "ClientQuota",
    18: "AccessControlEntry", 19: "RemoveAccessControlEntry", 22: "RemoveUserScramCredential",
    26: "RemoveDelegationToken", 29: "UnregisterController",
}  # fmt: skip


def decode_metadata_record(value: bytes, origin: Origin, span: Span) -> MetadataRecord | Refusal:
    """The record that a value of the metadata log holds."""
    if value == _NO_OP_BYTES:
        return NO_OP
    place = origin if origin.source == span.source else replace(origin, source=span.source)
    try:
        return decode_value(value)
    except Malformed as error:
        kind: RefusalKind = "too_large" if isinstance(error, TooLarge) else "malformed"
        found = f"{error.found} in {value[:16].hex(' ')}"
        return refuse(place, kind, span.start, span.end, expected=error.expected, found=found)
    except UnknownVersion as error:
        return refuse(place, "unknown_version", span.start, span.end, expected="a known version", found=str(error))


def decode_value(value: bytes) -> MetadataRecord:
    """The same for a caller that knows the address itself; raises Malformed and UnknownVersion."""
    cursor = MetadataCursor(value)
    frame = cursor.uvarint()
    if frame != _FRAME_VERSION:
        raise UnknownVersion(f"frame version {frame}")
    api_key, version = cursor.uvarint(), cursor.uvarint()
    known = BODIES.get(api_key)
    if known is None:
        return Skipped(name=_SKIPPED_NAMES.get(api_key, f"unknown {api_key}"), api_key=api_key, version=version)
    latest, decode = known
    if version > latest:
        raise UnknownVersion(f"version {version} of {decode.__name__.lstrip('_')}, known up to {latest}")
    record = decode(cursor, version)
    cursor.finish()
    return record
