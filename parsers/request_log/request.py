"""One completed request of a request log, whatever release wrote it: JSON since 2.8, struct text from 1.0 to 2.7."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from parsers.request_log.fields import Struct, WrongShape, i16, i32, printable, struct_at, text
from parsers.request_log.struct_text import parse_struct

_HEADER: Final = re.compile(
    r"RequestHeader\(apiKey=([A-Z_]+), apiVersion=(\d{1,5}), clientId=(.*?), correlationId=(-?\d{1,10})\) -- ",
    re.ASCII,
)
_RESPONSE: Final = ",response:"
_CONNECTION: Final = " from connection "
TIMES: Final = ("totalTime", "requestQueueTime", "localTime", "remoteTime", "responseQueueTime", "sendTime")
_NAMED_ONCE: Final = tuple(name + ":" for name in TIMES)
_TIME_NAMES: Final = tuple(name + "Ms" for name in TIMES)
_DURATION: Final = r"([0-9]{1,15}+(?:\.[0-9]{1,12}+)?+)"
_TAIL_TIMES: Final = re.compile(rf"(\w{{1,32}}):{_DURATION}(?=[, ])", re.ASCII)
_THROTTLED: Final = r"throttleTime:[0-9]{1,15}+(?:\.[0-9]{1,12}+)?+"
TIMES_IN_ORDER: Final = re.compile(
    ";" + ",".join([*(f"{name}:{_DURATION}" for name in TIMES[:4]), _THROTTLED])
    + "".join(f",{name}:{_DURATION}" for name in TIMES[4:]) + "(?=[, ])",
    re.ASCII,
)  # fmt: skip
"""The same as every release prints them: one behind the other, behind the connection."""
_JSON: Final = json.JSONDecoder()


class Times(NamedTuple):
    """How long a request took, in microseconds."""

    total: int | None
    queue: int | None
    local: int | None
    remote: int | None
    response_queue: int | None
    send: int | None


class Request(NamedTuple):
    """A request and its answer, with names in camelCase; `answer` is null where none was sent (acks=0)."""

    api: str
    version: int
    correlation_id: int | None
    client_id: str | None
    endpoint: str
    body: Struct
    answer: Struct | None
    times: Times
    time_text: str
    start: int
    end: int


def parse_request(line: bytes, message: int, time_text: str, start: int, end: int) -> Request:
    """The request whose text behind `Completed request:` begins at `message`; WrongShape where it is none."""
    parse = _parse_json if line.startswith(b"{", message) else _parse_text
    if parse is _parse_json and is_spliced(line, message, len(line)):
        raise WrongShape("one request and its answer")
    return parse(line[message:].decode("utf-8", "surrogateescape"), time_text, start, end)


def is_spliced(line: bytes, message: int, end: int) -> bool:
    """Whether a line holds parts of two: a request or an answer twice, as where what lay between was lost."""
    return line.count(b'"request":{', message, end) > 1 or line.count(b'"response":{', message, end) > 1


def _parse_json(message: str, time_text: str, start: int, end: int) -> Request:
    try:
        line, _ = _JSON.raw_decode(message)
    except (ValueError, RecursionError) as error:
        raise WrongShape("a JSON object") from error
    header, body = struct_at(line, "requestHeader"), struct_at(line, "request")
    if header is None or body is None:
        raise WrongShape("requestHeader and request")
    api, version = text(header, "requestApiKeyName"), i16(header, "requestApiVersion")
    if api is None or version is None or version < 0:
        raise WrongShape("the request's name and version")
    return Request(
        api=api,
        version=version,
        correlation_id=i32(header, "correlationId"),
        client_id=text(header, "clientId"),
        endpoint=_endpoint(text(line, "connection") or ""),
        body=body,
        answer=struct_at(line, "response") if line.get("response") != "" else None,
        times=_json_times(line),
        time_text=time_text,
        start=start,
        end=end,
    )


def _json_times(line: Struct) -> Times:
    values = [line.get(name) for name in _TIME_NAMES]
    if set(map(type, values)) <= {float, int}:
        return Times._make([round(time * 1000) if 0 <= time < 1e15 else None for time in values])  # type: ignore[operator]
    return Times._make(map(microseconds, values))


def _parse_text(message: str, time_text: str, start: int, end: int) -> Request:
    header = _HEADER.match(message)
    if header is None:
        raise WrongShape("RequestHeader(…) of Kafka 1.0 or later")
    version, correlation_id = int(header[2]), int(header[4])
    if version >= 1 << 15 or not -(1 << 31) <= correlation_id < 1 << 31:
        raise WrongShape("a version and a correlation id that fit their fields")
    body, position = parse_struct(message, header.end(), _RESPONSE)
    if not message.startswith(_RESPONSE, position):
        raise WrongShape("the answer behind the request")
    answer, position = _text_answer(message, position + len(_RESPONSE))
    if not message.startswith(_CONNECTION, position):
        raise WrongShape("the connection behind the answer")
    tail = message[position + len(_CONNECTION) :]
    return Request(
        api=header[1],
        version=version,
        correlation_id=correlation_id,
        client_id=printable(header[3]),
        endpoint=_endpoint(tail.partition(";")[0]),
        body=body,
        answer=answer,
        times=text_times(tail),
        time_text=time_text,
        start=start,
        end=end,
    )


def text_times(tail: str) -> Times:
    """How long a request took, by the text behind its answer.

    Where a name stands twice, as a client may call itself after one, its last value counts.
    """
    in_order = TIMES_IN_ORDER.search(tail)
    if in_order is not None and all(tail.count(name) == 1 for name in _NAMED_ONCE):
        return Times(*(microseconds(float(value)) for value in in_order.groups()))
    times = {name: microseconds(float(value)) for name, value in _TAIL_TIMES.findall(tail)}
    return Times(*(times.get(name) for name in TIMES))


def _text_answer(message: str, position: int) -> tuple[Struct | None, int]:
    if message.startswith("{", position):
        return parse_struct(message, position, _CONNECTION)
    return None, position


def _endpoint(connection: str) -> str:
    """The serving end of `host:port-host:port-index`: brokers that write into one file are told apart by it."""
    return printable(connection.partition("-")[0])


def microseconds(milliseconds: object) -> int | None:
    """A duration as lines tell it."""
    if isinstance(milliseconds, (int, float)) and 0 <= milliseconds < 1e15:
        return round(milliseconds * 1000)
    return None
