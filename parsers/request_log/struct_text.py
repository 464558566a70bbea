"""Structs as Kafka 1.0 to 2.7 printed them: `{name=value,list=[{…},…]}`, unquoted.

Those of everyday letters are spelt as JSON and read as such; others are walked, in one pass of bounded depth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from parsers.request_log.fields import WrongShape

DEPTH_LIMIT: Final = 32
DIGIT_LIMIT: Final = 20
SHORT: Final = 1 << 12
"""Structs up to this length are kept among their like: long ones never drive them out, nor they long ones."""
KEPT_LENGTH: Final = 1 << 15
"""Structs that are longer than this are not kept for the next line that says the same."""

_SCALAR_END: Final = re.compile(r"[,(){}\[\]]")
_PARENTHESIS: Final = re.compile(r"[()]")
_NAME: Final = re.compile(r"([A-Za-z_]\w{0,63})=", re.ASCII)
_PLAIN: Final = re.compile(r"([A-Za-z_]\w{0,63})=([^,(){}\[\]]*)(?:(?=\})|,(?=[A-Za-z_]\w{0,63}=))", re.ASCII)
"""A field whose value opens nothing, with the comma behind it: most fields are such."""
_NUMBER: Final = re.compile(r"-?\d+\Z", re.ASCII)
_TAG: Final = re.compile(r"(\d{1,5})=", re.ASCII)
"""A tagged field that its release knew was printed with its number for a name: `_tagged_fields={0={…}, 1={…}}`."""
_NEXT_TAG: Final = re.compile(r", (?=\d{1,5}=)", re.ASCII)
_ODD: Final = re.compile(r"[^A-Za-z0-9_.,=\-{}\[\]]")
_UNNAMED: Final = re.compile(r"\{(?!\}|[A-Za-z_]\w{0,63}=)", re.ASCII)
_NEXT: Final = re.compile(r",(?=[A-Za-z_]\w{0,63}=)", re.ASCII)
_TEXT: Final = re.compile(
    r"(:|\[(?!\])|,(?![\]}]))(?![\[{\"]|(?:-?\d{1,19}|\d{20}|null|true|false)[,\]}])([^,\[\]{}\"]*)"
)
"""What is no number, word, name, struct or list, with what stands before it."""
_WORDS: Final[dict[str, object]] = {"null": None, "true": True, "false": False}


def parse_struct(text: str, start: int, behind: str) -> tuple[Mapping[str, object], int]:
    """The struct that opens at `start`, its names in camelCase, and where it ends; `behind` is what stands there."""
    if not text.startswith("{", start):
        raise WrongShape("a struct in braces")
    end = text.find("}" + behind, start) + 1
    spelt = text[start:end]
    everyday = _reader(len(spelt))(spelt) if end else None
    return _struct(text, start, DEPTH_LIMIT) if everyday is None else (everyday, end)


def _of_everyday(text: str) -> dict[str, object] | None:
    """A struct without any odd character, spelt as JSON; None where that would not say the same for sure.

    A comma inside a value, a field in a list, a number of another form: each makes JSON that cannot be read.
    """
    if _ODD.search(text) is not None or _UNNAMED.search(text) is not None:
        return None
    named, names = _NEXT.subn(',"', text)
    if names + text.count("{") - text.count("{}") != text.count("="):
        return None
    named = named.replace("{", '{"').replace('{"}', "{}")
    try:
        read = _JSON.decode(_TEXT.sub(r'\1"\2"', named.replace("=", '":')))
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


# A broker answers the same to one client after the other, until a leader or an ISR changes. What it says in between is
# short, so that long answers are kept apart from it; all that is kept was printed in 2 MB.
_kept = lru_cache(maxsize=128)(_of_everyday)
_kept_long = lru_cache(maxsize=48)(_of_everyday)


def _reader(length: int) -> Callable[[str], dict[str, object] | None]:
    return _kept if length <= SHORT else _kept_long if length <= KEPT_LENGTH else _of_everyday


def _in_camel_case(fields: list[tuple[str, object]]) -> dict[str, object]:
    return {camel_case(name): value for name, value in fields}


def _struct(text: str, start: int, depth: int) -> tuple[dict[str, object], int]:
    fields: dict[str, object] = {}
    position = start + 1
    while not text.startswith("}", position):
        plain = _PLAIN.match(text, position)
        if plain is not None:
            fields[camel_case(plain[1])] = _scalar(plain[2])
            position = plain.end()
            continue
        name = _NAME.match(text, position) or _TAG.match(text, position)
        if name is None:
            raise WrongShape("name=value in a struct")
        value, position = _value(text, name.end(), depth - 1, in_struct=True)
        fields[camel_case(name[1])] = value
        if (following := _NEXT_TAG.match(text, position)) is not None:
            position = following.end()
        elif text.startswith(",", position):
            position += 1
        elif not text.startswith("}", position):
            raise WrongShape("a comma or the end of a struct")
    return fields, position + 1


def _list(text: str, start: int, depth: int) -> tuple[list[object], int]:
    items: list[object] = []
    position = start + 1
    while not text.startswith("]", position):
        value, position = _value(text, position, depth - 1, in_struct=False)
        items.append(value)
        if text.startswith(",", position):
            position += 1
        elif not text.startswith("]", position):
            raise WrongShape("a comma or the end of a list")
    return items, position + 1


def _value(text: str, start: int, depth: int, *, in_struct: bool) -> tuple[object, int]:
    if depth <= 0:
        raise WrongShape(f"structs nested at most {DEPTH_LIMIT} deep")
    if text.startswith("{", start):
        return _struct(text, start, depth)
    if text.startswith("[", start):
        return _list(text, start, depth)
    end = _scalar_end(text, start, in_struct=in_struct)
    return _scalar(text[start:end]), end


def _scalar_end(text: str, start: int, *, in_struct: bool) -> int:
    """Where an unquoted value ends: at a comma before the next name, or at a closing bracket outside parentheses."""
    position = start
    while (found := _SCALAR_END.search(text, position)) is not None:
        at, mark = found.start(), found[0]
        if mark == "(":
            position = _behind_parentheses(text, at)
        elif mark in "}]" or (mark == "," and (not in_struct or _NAME.match(text, at + 1))):
            return at
        else:
            position = at + 1
    raise WrongShape("the end of a value")


def _behind_parentheses(text: str, start: int) -> int:
    depth = 0
    for found in _PARENTHESIS.finditer(text, start):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return found.end()
    raise WrongShape("a closing parenthesis")


def _scalar(text: str) -> object:
    if text.isdecimal() and len(text) <= DIGIT_LIMIT and text.isascii():
        return int(text)
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if len(text) <= DIGIT_LIMIT and _NUMBER.match(text) else text


@lru_cache(maxsize=1024)
def camel_case(name: str) -> str:
    """`log_start_offset` as later releases write it: `logStartOffset`."""
    head, *tail = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


_JSON: Final = json.JSONDecoder(object_pairs_hook=_in_camel_case)
