"""A topic that has no id yet is written with an id of zeros: it is no other topic than the one of its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dumps_at_hand import copied, told, violations

NO_ID = "A" * 22


@pytest.mark.parametrize("api", ["METADATA", "FETCH"])
def test_zeros_for_an_id_take_nothing_from_what_is_found(api: str, tmp_path: Path) -> None:
    dump = copied("unclean_rejoined", tmp_path / "dump", logs=True)
    for log in dump.glob("broker-*/logs/kafka-request.log"):
        lines = log.read_text().splitlines(keepends=True)
        named = f'"requestApiKeyName":"{api}"'
        log.write_text("".join(_without_id(line) if named in line else line for line in lines))
    found = {(rule, start, end) for rule, _, _, _, start, end in violations(told(dump, topic=("pay",)))}
    assert {("LEAD001", 100, 150), ("ACK001", 100, 150), ("TRUNC001", 100, 150)} <= found


def _without_id(line: str) -> str:
    return re.sub(r'"topicId":"[^"]{22}"', f'"topicId":"{NO_ID}"', line)
