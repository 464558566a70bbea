"""The Java client's own partitioner and assignors as referees: the answers that other tests hold us to are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.referee.maven import compiled, missing_tools, run_java
from tests.rules.protocol.client_vectors import RELEASE, vectors

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(bool(missing_tools()), reason=f"needs {', '.join(missing_tools())} on the PATH"),
]


def test_the_client_still_answers_as_it_is_written_down() -> None:
    source = Path(__file__).parent / "java" / "ClientPlacement.java"
    cases = vectors()
    answers = run_java(
        compiled(source, RELEASE), "ClientPlacement", stdin="".join(f"{case}\n" for case, _ in cases)
    ).splitlines()
    assert list(zip((case for case, _ in cases), answers, strict=True)) == cases
