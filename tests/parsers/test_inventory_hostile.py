"""Trees that resist: links out of the dump and in circles, pipes, names that cannot be printed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.files import read_source
from parsers.inventory import take_inventory
from parsers.writers.checkpoints import write_meta_properties
from parsers.writers.segments import Record, batch_bytes, legacy_bytes
from tests.parsers.segment_logs import SAMPLES


def put(root: Path, path: str, content: bytes = b"") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def put_log_dir(root: Path, path: str) -> None:
    put(root, f"{path}/meta.properties", write_meta_properties(broker=1, cluster_id="C1"))
    put(root, f"{path}/t-0/00000000000000000000.log")


def test_links_never_lead_out_of_the_dump(tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.log", b"secret")
    dump = tmp_path / "dump"
    put_log_dir(dump, "d")
    (dump / "d" / "u-0").symlink_to(tmp_path / "outside")
    (dump / "d" / "server.log").symlink_to("../../outside/secret.log")
    inventory = take_inventory(dump)
    assert [(refusal.kind, refusal.source) for refusal in inventory.refusals] == [
        ("escapes_dump", "d/server.log"), ("escapes_dump", "d/u-0"),
    ]  # fmt: skip
    assert not any("secret" in file.origin.source or "server.log" in file.origin.source for file in inventory.files)


def test_a_segment_that_is_a_link_out_of_the_dump_is_refused_with_where_it_points(tmp_path: Path) -> None:
    put(tmp_path, "outside.log", b"secret")
    put_log_dir(tmp_path, "dump/d")
    segment = tmp_path / "dump/d/t-0/00000000000000000007.log"
    segment.symlink_to("../../../outside.log")
    found = next(file for file in take_inventory(tmp_path / "dump").files if file.base_offset == 7)
    content = read_source(tmp_path / "dump", found.origin)
    assert not isinstance(content, bytes)
    assert (content.kind, content.found) == ("escapes_dump", "a link to ../../../outside.log")


@pytest.mark.parametrize(
    "name",
    ["99999999999999999999.log", "-0000000000000000001.log", "7.log", "copy of 00000000000000000007.log", "7.log.swap"],
)
def test_a_segment_named_by_no_base_offset_is_refused_by_name(tmp_path: Path, name: str) -> None:
    put_log_dir(tmp_path, "d")
    put(tmp_path, f"d/t-0/{name}", b"records")
    (refusal,) = take_inventory(tmp_path).refusals
    assert (refusal.kind, refusal.topic, refusal.partition) == ("malformed", "t", 0)
    assert (refusal.found, refusal.span_end) == (name, 7)


@pytest.mark.parametrize("name", ["00000000000000000000.log.bak", "00000000000000000007.log~", "saved", "notes.txt"])
@pytest.mark.parametrize(
    "entry",
    [
        batch_bytes(base_offset=7, records=[Record(value=b"v" * 5000)]),
        legacy_bytes(magic=0, offset=7, key=b"k", value=b"v" * 5000),
        legacy_bytes(magic=1, offset=7, value=None),
    ],
)
def test_a_file_that_begins_as_a_log_does_is_refused_whatever_its_name_is(
    tmp_path: Path, name: str, entry: bytes
) -> None:
    put_log_dir(tmp_path, "d")
    put(tmp_path, f"d/t-0/{name}", entry)
    (refusal,) = take_inventory(tmp_path).refusals
    assert (refusal.kind, refusal.found, refusal.span_end) == ("malformed", name, len(entry))


def test_no_other_file_of_a_replica_begins_as_a_log_does(tmp_path: Path) -> None:
    """Every other file of the recordings, and texts of people, each under a name that says nothing."""
    put_log_dir(tmp_path, "d")
    held = (file for file in SAMPLES.glob("*/dump/**/data/*-*/*") if file.is_file())
    others = [file for file in held if ".log" not in file.suffixes and ".checkpoint" not in file.suffixes]
    heads = {file.read_bytes()[:4096] for file in others} | {b"moved away\n" * 9, bytes(4096), b"{}"}
    assert len(heads) > 100
    for number, head in enumerate(sorted(heads)):
        put(tmp_path, f"d/t-0/saved-{number}", head)
    assert take_inventory(tmp_path).refusals == ()


def test_a_directory_numbered_in_other_digits_is_no_partition(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "d")
    put(tmp_path, "d/x-٣/00000000000000000000.log", b"records")
    inventory = take_inventory(tmp_path)
    assert [replica.path for replica in inventory.replicas] == ["d/t-0"]
    assert [(refusal.kind, refusal.source) for refusal in inventory.refusals] == [("malformed", "d/x-٣")]


def test_links_inside_the_dump_neither_loop_nor_double(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "broker-1/data")
    (tmp_path / "broker-1/data/loop").symlink_to("..")
    (tmp_path / "latest").symlink_to("broker-1")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "broker-1" / "server.log").symlink_to("data/real.txt")
    put(tmp_path, "broker-1/data/real.txt", b"text")
    inventory = take_inventory(tmp_path)
    assert [(refusal.kind, refusal.source) for refusal in inventory.refusals] == [("unreadable", "self")]
    assert [replica.path for replica in inventory.replicas] == ["broker-1/data/t-0"]
    link = next(file for file in inventory.files if file.kind == "broker-log")
    assert (link.size, read_source(tmp_path, link.origin)) == (4, b"text")


def test_a_fifo_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "broker-1")
    os.mkfifo(tmp_path / "broker-1" / "t-0" / "partition.metadata")
    inventory = take_inventory(tmp_path)
    assert [(refusal.kind, refusal.found) for refusal in inventory.refusals] == [("unreadable", "a FIFO")]
    assert "broker-1/t-0/partition.metadata" not in {file.origin.source for file in inventory.files}


def test_odd_names_become_printable_and_lead_back(tmp_path: Path) -> None:
    names = [b"new\nline", b"\xff\xfe", b"back\\slash", b"50%41", "übung ٣".encode()]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    inventory = take_inventory(tmp_path)
    assert len(inventory.files) == 5
    for file in inventory.files:
        assert file.origin.source.isprintable()
        assert "\\" not in file.origin.source
    contents = {read_source(tmp_path, file.origin) for file in inventory.files}
    assert contents == set(names)


def test_folders_nested_beyond_any_path_are_refused_without_a_crash(tmp_path: Path) -> None:
    # Each link-free step stays short; together they exceed what one path may name.
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 100, dir_fd=here)
        deeper = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    assert [refusal.kind for refusal in take_inventory(tmp_path).refusals] == ["unreadable"]
