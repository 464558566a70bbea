"""`tidemark simulate` as its user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import run
from dumps_at_hand import SAMPLES

TEXTBOOK = SAMPLES / "textbook"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--format", "xml"), "expected terminal or json"),
        (("--version", "0.8.2"), "older than 0.10.2"),
        (("--version", "2.0.1", "--inter-broker-protocol", "2.6"), "cannot speak 2.6"),
        (("--version", "9.9"), "Kafka 9.9.0 is newer than 4."),
    ],
)
def test_the_command_refuses_in_one_sentence(words: tuple[str, ...], complaint: str) -> None:
    ended = run("simulate", str(TEXTBOOK / "visible.yaml"), *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert complaint in ended.err


@pytest.mark.parametrize(
    "event", ["produce 3 a", "fetch 3", "elect 3", "elect 2 told=3", "reassign 3,1", "shrink 2 by=3", "crash 3"]
)
def test_an_event_of_a_broker_that_is_not_there_is_refused(event: str, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(f"brokers: [1, 2]\nevents:\n- produce 1 b\n- {event}\n")
    ended = run("simulate", str(script))
    assert ended.code == 2
    assert f"expected brokers 1, 2 only, found {event!r}" in ended.err
    script.write_text(f"brokers: [1, 2]\nothers: [3]\nevents:\n- produce 1 b\n- {event}\n")
    assert run("simulate", str(script)).code == 0


def test_the_command_adds_the_version_asked_for_to_a_comparison() -> None:
    ended = run("simulate", str(TEXTBOOK / "loss.yaml"), "--compare", "--version", "2.8.2")
    assert ended.code == 0
    assert "asked: truncate-on-fetch (Kafka 2.8.2" in ended.out
