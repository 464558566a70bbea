"""Bounded, read-only access to files."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.files import FileFault, disk_name, locate, printable, read_head, read_small, read_source
from parsers.provenance import Origin
from parsers.tables import Refusal


def fault_of(content: bytes | FileFault | Path) -> FileFault:
    assert isinstance(content, FileFault)
    return content


def test_a_small_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"12345")
    assert read_small(file) == read_small(file, 5) == b"12345"
    assert read_head(file, 2) == b"12"
    fault = fault_of(read_small(file, 4))
    assert (fault.kind, fault.size) == ("too_large", 5)


def test_what_is_no_file_is_a_fault(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target").write_bytes(b"x")
    found = {
        "fifo": "a FIFO", "link": "a symbolic link", ".": "a folder", "absent": "No such file or directory",
        "nul\0": "embedded null byte",
    }  # fmt: skip
    for name, words in found.items():
        fault = fault_of(read_small(tmp_path / name))
        assert (fault.kind, words in fault.found) == ("unreadable", True), fault
    assert fault_of(read_small(Path("/dev/zero"), 10)).found == "a character device"


def test_a_socket_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        assert fault_of(read_small(Path("s"))).found == "a socket"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser is never denied")
def test_a_forbidden_file_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x")
    file.chmod(0)
    assert fault_of(read_small(file)).found == "Permission denied"


def test_a_fault_becomes_a_refusal_that_names_the_source(tmp_path: Path) -> None:
    refusal = read_source(tmp_path, Origin(source="a/b", broker=3))
    assert isinstance(refusal, Refusal)
    assert (refusal.kind, refusal.source, refusal.broker) == ("unreadable", "a/b", 3)


@pytest.mark.parametrize("source", ["../secret", "/etc/passwd", "out/secret", "..%2Fsecret", "../dump-2/secret"])
def test_no_source_leads_out_of_the_dump(tmp_path: Path, source: str) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    dump = tmp_path / "dump"
    dump.mkdir()
    (dump / "out").symlink_to("..")
    assert fault_of(locate(dump, source)).kind == "escapes_dump"


@given(st.binary(min_size=1, max_size=20).map(os.fsdecode))
def test_a_printed_name_leads_back(name: str) -> None:
    shown = printable(name)
    assert shown.isprintable()
    assert "\\" not in shown
    assert os.fsencode(disk_name(shown)) == os.fsencode(name)
    shown.encode("utf-8")
