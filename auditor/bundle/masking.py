"""What stands in the place of contents: bytes that tell whether two were alike, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final

KEPT_RECORDS: Final = frozenset({0, 1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 20, 21, 23, 24, 25, 27, 28})
"""Kinds of metadata records that tell of brokers, topics, leaders and features; no access rules, secrets or quotas."""
CONFIG: Final = 4
KEPT_SETTINGS: Final = (
    b"cleanup.policy", b"epoch", b"isr", b"flush", b"format.version", b"insync", b"log.dir", b"node.id", b"broker.id",
    b"preallocate", b"process.roles", b"protocol.version", b"replica", b"replication", b"retention", b"segment",
    b"timestamp", b"unclean", b"expiration.ms", b"message.max", b"max.message", b"roll.ms",
)  # fmt: skip
"""Parts of the names of settings that replication depends on; values of all others are masked."""
HIDING: Final = (b"password", b"secret", b"jaas", b"credential", b"token", b"key")
TELLING_BYTES: Final = 8
_FRAME: Final = 3
_SIGN: Final = 0x80


def new_mask() -> Callable[[bytes], bytes]:
    """A mask by a key that is drawn now and kept nowhere: alike stays alike, and nothing can be looked up."""
    key = secrets.token_bytes(32)

    def mask(content: bytes) -> bytes:
        digest = hmac.new(key, content, hashlib.sha256).digest()[: min(TELLING_BYTES, len(content))]
        return digest + bytes(len(content) - len(digest))

    return mask


def is_kept_setting(name: bytes) -> bool:
    """Whether a setting's value says how logs are replicated, and is no secret."""
    return any(part in name for part in KEPT_SETTINGS) and not any(part in name for part in HIDING)


def metadata_value(value: bytes) -> bytes:
    """A record of the metadata log: as it is, or with all behind its kind masked."""
    if len(value) < _FRAME or value[1] in KEPT_RECORDS:
        return value
    if value[1] == CONFIG:
        return _config(value)
    return value[:_FRAME] + bytes(len(value) - _FRAME)


def _config(value: bytes) -> bytes:
    """A setting with its value masked unless replication depends on it."""
    try:
        _, at = _text(value, _FRAME + 1)
        name, at = _text(value, at)
        held, end = _text(value, at)
    except IndexError:
        return value[:_FRAME] + bytes(len(value) - _FRAME)
    kept = is_kept_setting(name)
    return value if kept else value[: end - len(held)] + b"." * len(held) + value[end:]


def _text(value: bytes, at: int) -> tuple[bytes, int]:
    """A compact string and the byte behind it."""
    length = shift = 0
    while True:
        byte = value[at]
        at += 1
        length |= (byte & ~_SIGN) << shift
        shift += 7
        if byte < _SIGN:
            break
    end = at + max(0, length - 1)
    if end > len(value):
        raise IndexError
    return value[at:end], end
