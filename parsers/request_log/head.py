"""Columns that the rows of one request share."""

from __future__ import annotations

from typing import TypedDict

from parsers.provenance import Origin
from parsers.request_log.fields import Struct, text
from parsers.request_log.request import Request


class Head(TypedDict):
    """Whose log, which request, when, where in the file."""

    cluster_id: str | None
    broker: int | None
    time_text: str
    client_id: str | None
    correlation_id: int | None
    api_version: int | None
    total_time_us: int | None
    queue_time_us: int | None
    local_time_us: int | None
    remote_time_us: int | None
    response_queue_time_us: int | None
    send_time_us: int | None
    source: str
    span_start: int
    span_end: int


class NamedTopic(TypedDict):
    """A topic as a request names it."""

    topic: str | None
    topic_id: str | None


def head_of(request: Request, origin: Origin) -> Head:
    """The shared columns of a request's rows."""
    return Head(
        cluster_id=origin.cluster_id,
        broker=origin.broker,
        time_text=request.time_text,
        client_id=request.client_id,
        correlation_id=request.correlation_id,
        api_version=request.version,
        total_time_us=request.times.total,
        queue_time_us=request.times.queue,
        local_time_us=request.times.local,
        remote_time_us=request.times.remote,
        response_queue_time_us=request.times.response_queue,
        send_time_us=request.times.send,
        source=origin.source,
        span_start=request.start,
        span_end=request.end,
    )


def named(topic: Struct) -> NamedTopic:
    """The topic under whichever name the release gave the field."""
    return NamedTopic(topic=text(topic, "topicName", "topic", "name"), topic_id=text(topic, "topicId"))
