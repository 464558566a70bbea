"""Archives as dumps: read as the folder they were made of, refused by name where they are traps, gone at the end."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import cramjam
import pytest
from command import Ended, run
from dumps_at_hand import SAMPLES, told

from auditor.archives import NotUnpacked, limits, members
from auditor.archives.unpack import unpack

SAMPLE = SAMPLES / "fast_failover_kip101" / "dump"
INDEX = 10 << 20


@pytest.fixture(autouse=True)
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place of its own for temporary folders, of which none may be left."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert [*place.iterdir()] == []


def audit(*words: object) -> Ended:
    return run("audit", *map(str, words), "--engine", "local")


def tarred(path: Path, source: Path, packed: Callable[[bytes], bytes] = bytes) -> Path:
    """A folder's content as a tar, packed by some program."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for entry in sorted(source.iterdir()):
            tar.add(entry, arcname=entry.name)
    path.write_bytes(packed(made.getvalue()))
    return path


def zipped(path: Path, source: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry in sorted(source.rglob("*")):
            packed.write(entry, entry.relative_to(source))
    return path


def zstd(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data))


def in_frames(data: bytes) -> bytes:
    """As tools that pack in parallel write it."""
    return zstd(data[:5000]) + zstd(data[5000:])


PACKED: dict[str, Callable[[Path], Path]] = {
    "dump.tar": lambda path: tarred(path, SAMPLE),
    "dump.tar.gz": lambda path: tarred(path, SAMPLE, gzip.compress),
    "DUMP.TGZ": lambda path: tarred(path, SAMPLE, gzip.compress),
    "dump.tar.zst": lambda path: tarred(path, SAMPLE, zstd),
    "dump.tzst": lambda path: tarred(path, SAMPLE, in_frames),
    "dump.zip": lambda path: zipped(path, SAMPLE),
    "misnamed.zip": lambda path: tarred(path, SAMPLE, gzip.compress),
}


@pytest.mark.parametrize("name", PACKED)
def test_an_archive_tells_what_its_folder_tells(tmp_path: Path, name: str) -> None:
    archive = PACKED[name](tmp_path / name)
    before = archive.read_bytes()
    ended = audit(archive, "--format", "json")
    assert json.loads(ended.out) == told(SAMPLE)
    assert (ended.code, archive.read_bytes()) == (1, before)


def test_an_archive_a_broker_is_of_the_broker_it_is_named_after(tmp_path: Path) -> None:
    archives = [tarred(tmp_path / f"broker-{n}.tar.gz", SAMPLE / f"broker-{n}", gzip.compress) for n in (1, 2)]
    report = json.loads(audit(*archives, "--format", "json").out)
    folders = told([SAMPLE / "broker-1", SAMPLE / "broker-2"])
    assert [f["fingerprint"] for f in report["findings"]] == [f["fingerprint"] for f in folders["findings"]]
    assert [r["path"] for r in report["replicas"]] == [r["path"] for r in folders["replicas"]]


def test_every_command_takes_one_and_show_opens_it_again(tmp_path: Path) -> None:
    archive = PACKED["dump.tar.gz"](tmp_path / "dump.tar.gz")
    finding = json.loads(audit(archive, "--format", "json").out)["findings"][0]["id"]
    shown = run("show", finding)
    assert shown.code == 0
    assert "cannot be opened" not in shown.out
    assert "has changed" not in shown.out
    asked = ("--topic", "ff", "--partition", "0")
    for words in (("timeline", *asked), ("find", *asked, "--offset", "3"), ("advise", "--engine", "local")):
        packed, plain = (run(words[0], str(dump), *words[1:]) for dump in (archive, SAMPLE))
        assert (packed.code, packed.out) == (plain.code, plain.out)
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(told(SAMPLE)))
    assert "0 new, 0 changed, 0 fixed" in run("diff", str(kept), str(archive), "--engine", "local").out


def test_neither_an_archive_nor_its_folder_takes_a_report(tmp_path: Path) -> None:
    archive = PACKED["dump.tar"](tmp_path / "dump.tar")
    before = archive.read_bytes()
    ended = audit(archive, "--output", archive, "--force")
    assert (ended.code, archive.read_bytes()) == (2, before)
    assert "inside the dump" in ended.err


def test_archives_and_folders_are_not_mixed(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "broker-1.tar", SAMPLE / "broker-1")
    assert "expected archives alone or folders alone" in audit(archive, SAMPLE / "broker-2").err
    (tmp_path / "b").mkdir()
    other = tarred(tmp_path / "b" / "broker-1.tar", SAMPLE / "broker-2")
    assert f"{other}: expected a name that no other archive here has" in audit(archive, other).err


def test_people_read_the_archives_name_not_the_private_folders(tmp_path: Path, private: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "note").write_text("nothing\n")
    archive = tarred(tmp_path / "empty.tar", tmp_path / "empty")
    err = audit(archive).err
    assert f"{archive}: found no log dir" in err
    assert str(private) not in err


def test_allocated_zeros_take_no_room_and_are_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live brokers' indexes are 10 MiB of zeros each, and pack a thousandfold."""
    monkeypatch.setattr(limits, "SPARE", 1 << 20)
    index = tmp_path / "in" / "00000000000000000000.index"
    index.parent.mkdir()
    with index.open("wb") as file:
        file.write(b"\1" * 8)
        file.truncate(INDEX)
    archive = tarred(tmp_path / "i.tar.zst", index.parent, zstd)
    assert archive.stat().st_size * limits.RATIO < INDEX
    (tmp_path / "out").mkdir()
    unpack(archive, tmp_path / "out")
    copy = tmp_path / "out" / index.name
    assert copy.read_bytes() == index.read_bytes()
    assert copy.stat().st_blocks * 512 < 1 << 20
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def member(name: str, data: bytes = b"x", **also: object) -> Callable[[tarfile.TarFile], None]:
    """One member, whatever its header claims."""

    def add(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        for key, value in also.items():
            setattr(info, key, value)
        tar.addfile(info, io.BytesIO(data) if info.isreg() else None)

    return add


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> Callable[[tarfile.TarFile], None]:
    return member(name, b"", type=kind, linkname=target)


TRAPS: dict[str, tuple[tuple[Callable[[tarfile.TarFile], None], ...], str]] = {
    "absolute": ((member("/etc/evil"),), "'/etc/evil' has an absolute path"),
    "climbs": ((member("a/../../evil"),), "'a/../../evil' leaves the archive"),
    "link out": ((link("l", "../../etc"),), "'l' is a link that leaves the archive, to '../../etc'"),
    "link away": ((link("l", "/etc/passwd"),), "its member 'l' is a link to '/etc/passwd', which has an absolute path"),
    "links by turns": (
        (member("a/b/x"), link("a/b/c", "../.."), link("out", "a/b/c/../y")),
        "'out' is a link that leaves the archive",
    ),
    "through a link": ((link("l", "a"), member("l/evil")), "'l/evil' lies in 'l', which is no folder"),
    "hard link out": ((link("h", "../evil", tarfile.LNKTYPE),), "its member 'h' is a link to '../evil', which"),
    "hard link to nothing": ((link("h", "n", tarfile.LNKTYPE),), "hard link to 'n', which it does not hold"),
    "hard link to a link": (
        (member("f"), link("s", "f"), link("h", "s", tarfile.LNKTYPE)), "hard link to 's', which it does not hold",
    ),
    "device": ((member("d", b"", type=tarfile.CHRTYPE),), "'d' is a device"),
    "fifo": ((member("f", b"", type=tarfile.FIFOTYPE),), "'f' is a FIFO"),
    "twice": ((member("a"), member("./a")), "it holds './a' twice"),
    "file as folder": ((member("a"), member("a/b")), "'a/b' lies in 'a', which is no folder"),
    "folder as file": ((member("a/b"), member("a")), "it holds 'a' twice"),
    "control": ((member("a\x1b[2Jb"),), r"'a\x1b[2Jb' has control characters in its name"),
    "deep": ((member("/".join("d" * 40)),), "lies deeper than 32 folders"),
    "long name": ((member("n" * 300),), "has a name of more than 255 bytes"),
    "long path": ((member("p/" * 3000 + "x"),), "has a path of more than 4096 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_refused_by_its_members_name_and_leaves_nothing(tmp_path: Path, private: Path, trap: str) -> None:
    members, said = TRAPS[trap]
    archive = tmp_path / "trap.tar"
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as tar:
        for add in members:
            add(tar)
    before = sorted(tmp_path.rglob("*"))
    ended = audit(archive)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"tidemark: {archive}: ")
    assert said in ended.err
    assert "unpack it yourself and give its folder" in ended.err
    assert sorted(tmp_path.rglob("*")) == before
    assert not (private.parent / "evil").exists()


def test_links_inside_are_read_as_in_a_folder(tmp_path: Path) -> None:
    archive = tmp_path / "l.tar"
    with tarfile.open(archive, "w") as tar:
        for add in (member("a/f", b"here"), link("a/s", "../a/f"), link("h", "./a/f", tarfile.LNKTYPE)):
            add(tar)
    (tmp_path / "out").mkdir()
    unpack(archive, tmp_path / "out")
    assert [(tmp_path / "out" / name).read_bytes() for name in ("a/s", "h")] == [b"here", b"here"]
    assert (tmp_path / "out" / "a" / "s").readlink() == Path("../a/f")


def bombs(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    text = tmp_path / "text"
    text.mkdir()
    (text / "server.log").write_bytes(b"[2026-11-21 06:18:13,607] INFO again\n" * 200_000)
    yield tarred(tmp_path / "b.tar.gz", text, gzip.compress), "it unpacks to more than"
    yield zipped(tmp_path / "b.zip", text), "it unpacks to more than"
    for name in ("server.log", "server.log.1"):
        (text / name).write_bytes(bytes(1 << 20))
    yield tarred(tmp_path / "z.tar.zst", text, zstd), "of zero bytes"
    huge = tarfile.TarInfo("huge")
    huge.size = 1 << 50
    (tmp_path / "h.tar").write_bytes(huge.tobuf())
    yield tmp_path / "h.tar", f"'huge' claims to be of {1 << 50} bytes"
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "p.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20))
    yield tmp_path / "p.tar", "a header of it claims to be longer than"
    many = tarfile.TarInfo("pax")
    many.type = tarfile.XHDTYPE
    (tmp_path / "r.tar").write_bytes(many.tobuf() * 5000)
    yield tmp_path / "r.tar", "headers without end"
    crowd = tmp_path / "crowd"
    for number in range(40):
        (crowd / str(number)).mkdir(parents=True)
    yield tarred(tmp_path / "m.tar", crowd), "it holds more than 30 members"


def test_bombs_are_refused_with_the_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SPARE", 1 << 20)
    monkeypatch.setattr(limits, "ZEROS", 1 << 20)
    monkeypatch.setattr(limits, "MEMBERS", 30)
    for archive, said in bombs(tmp_path):
        ended = audit(archive)
        assert (ended.code, said in ended.err, ended.err.count("\n")) == (2, True, 1), (archive.name, ended.err)


def test_a_crowded_zip_is_refused_before_it_is_unpacked_and_progress_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TOLD_EACH", 10)
    monkeypatch.setattr(members, "MEMBERS", 30)
    for count in (30, 31):
        with zipfile.ZipFile(tmp_path / f"{count}.zip", "w") as packed:
            for number in range(count):
                packed.writestr(f"broker-1/{number}", b"")
    path, large = tmp_path / "30.zip", tmp_path / "31.zip"
    told_of = [f"tidemark: unpacking {path}: {number} members so far" for number in (10, 20, 30)]
    assert audit(path).err.splitlines()[:3] == told_of
    assert "so far" not in audit(path, "-q").err
    refused = audit(large).err
    assert f"{large}: it holds 31 members, more than 30. If it is what it should be, unpack it yourself" in refused
    assert "so far" not in refused


def damages(whole: bytes) -> Iterator[bytes]:
    yield b""
    yield b"nonsense" * 100
    yield whole[: len(whole) // 2]
    yield whole.rstrip(b"\0")
    yield whole[: len(whole) // 512 // 2 * 512]
    middle = whole.index(b"broker-2/")
    yield whole[:middle] + b"\xff" * 8 + whole[middle + 8 :]
    yield whole + whole


@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstd], ids=["tar", "gz", "zst"])
def test_a_damaged_archive_is_refused_whole(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    whole = tarred(tmp_path / "whole.tar", SAMPLE).read_bytes()
    archive = tmp_path / "damaged.tar"
    squeezed = packed(whole)
    cuts = [] if packed is bytes else [squeezed[:-20], squeezed[: len(squeezed) // 2], squeezed[:7]]
    for data in [*map(packed, damages(whole)), *cuts]:
        archive.write_bytes(data)
        ended = audit(archive)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"tidemark: {archive}: ")


def test_zips_with_oddities_are_refused(tmp_path: Path) -> None:
    def made(name: str, data: bytes = b"x", mode: int = 0, **also: object) -> Path:
        path = tmp_path / "odd.zip"
        with zipfile.ZipFile(path, "w") as packed:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            for key, value in also.items():
                setattr(info, key, value)
            packed.writestr(info, data)
        return path

    assert "'../evil' leaves the archive" in audit(made("../evil")).err
    assert "link that leaves the archive, to '../evil'" in audit(made("l", b"../evil", stat.S_IFLNK | 0o777)).err
    assert "packed by method 14" in audit(made("x", compress_type=zipfile.ZIP_LZMA)).err
    assert "neither a file nor a folder" in audit(made("d", b"", stat.S_IFCHR)).err
    assert "backslashes" in audit(made("a\\b")).err
    path = made("secret")
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02") + 8
    path.write_bytes(data[:at] + b"\x01" + data[at + 1 :])
    assert "'secret' is encrypted" in audit(path).err
    whole = zipped(tmp_path / "whole.zip", SAMPLE).read_bytes()
    for cut in (whole[:-30], whole[: len(whole) // 2], whole[:2000] + b"\0" * 50 + whole[2050:]):
        path.write_bytes(cut)
        assert (audit(path).code, audit(path).err.count("\n")) == (2, 1)


def test_a_full_disk_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = PACKED["dump.tar"](tmp_path / "dump.tar")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert "let TMPDIR name another folder" in audit(archive).err


@pytest.mark.skipif(shutil.which("tar") is None or shutil.which("zstd") is None, reason="no tar or zstd here")
def test_what_people_pack_with_is_read(tmp_path: Path) -> None:
    """GNU tar's own headers for sparse files and long names, and zstd's frames."""
    dump = Path(shutil.copytree(SAMPLE, tmp_path / "dump"))
    with (dump / "broker-1" / "data" / "ff-0" / "00000000000000000000.index").open("r+b") as index:
        index.truncate(INDEX)
    archive = tmp_path / "d.tar.zst"
    subprocess.run(["tar", "-S", "--zstd", "-cf", archive, "-C", dump, "."], check=True)
    report = json.loads(audit(archive, "--format", "json").out)
    assert report == told(dump)


def test_the_text_of_a_refusal_is_one_sentence_of_ours(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "n.tar").write_bytes(b"no")
    with pytest.raises(NotUnpacked, match="expected a tar or zip archive, whole"):
        unpack(tmp_path / "n.tar", tmp_path / "x")
