"""A JSON report that somebody kept: read with a limit, and its findings told apart by their fingerprints."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from auditor.config.small_files import text_of
from rules.fingerprint import by_name

KEPT_LIMIT: Final = 256 << 20
NO_REPORT: Final = "expected a report of --format json"
"""What is said of a file that is none."""


def report_in(path: Path, what: str) -> dict[str, Any]:
    """The document in a file; a ValueError, in words of ours, where it holds no JSON object."""
    text = text_of(path, what, KEPT_LIMIT)
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON at line {error.lineno}, column {error.colno}") from None
    except ValueError:  # Python reads no number of more than some thousand digits
        raise ValueError("a number in it has too many digits") from None
    if not isinstance(document, dict):
        raise ValueError("no object")  # noqa: TRY004 - a value like any other that is no report
    return document


def fingerprint_of(finding: dict[str, Any]) -> str:
    """What makes two findings of two reports one: the rule, the place by name, the brokers and the offsets.

    It is the end of their fingerprints. Findings of two topic ids are two, even where it is one.
    """
    return by_name(str(finding["fingerprint"]))


def topic_id_of(finding: Mapping[str, Any]) -> str | None:
    """The topic's id, where the report's dump told it."""
    topic_id = finding.get("topicId")
    return topic_id if isinstance(topic_id, str) else None


def clusters_of(document: dict[str, Any]) -> frozenset[str]:
    """The ids of the clusters whose replicas were judged, as far as their disks told them."""
    return frozenset(r["clusterId"] for r in document["replicas"] if isinstance(r.get("clusterId"), str))


def apart(one: Collection[str], other: Collection[str]) -> bool:
    """Whether two reports are of clusters that have nothing in common; who tells no id may be of any."""
    return bool(one and other) and not set(one) & set(other)
