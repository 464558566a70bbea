"""Changes of a sound dump, each with what must be said of it and why.

`must` is the law that no harm passes for sound. What matters is, format by format:

- A segment: every byte below the log end. Lengths, base offsets, magics, epochs and checksums lie outside the checksum and
  count no less; a batch that is missing, doubled, moved or of other content with a checksum that holds is a harm where a
  peer holds the same entry, so that the two can be compared.
- The latest timestamp of a batch is derived from its records: brokers make it anew when they clean, and nothing that
  replicates rests on it. What lies below the log start waits for its deletion.
- The end of a log: harmed where a checkpoint says that the log went further (high watermark or recovery point). A copy of
  the metadata log has no such claim: its broker may have stopped earlier.
- The leader epochs: what the log bears out. The first entry may begin below the log start, and an epoch that wrote nothing
  may be missing: brokers write those lazily.
- Offset checkpoints: upwards beyond the log end. Downwards they are older, which they lawfully are.
- Ids of topic and cluster that peers contradict, and a broker's id that another log dir bears. A broker's id that
  contradicts nothing but a folder's name stands: people name folders, brokers name themselves.

`may` is the law that nobody is accused for what is lawful: the verdict may open, but is never `findings`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from tests.hostile.dumps import Batch, Content, Files, Replica, Special, checkpoint_of, replicas_of, rows_of
from tests.hostile.mutators import FIELDS, INTEGERS, Grammar, mutated, summed

Claim = Literal["must", "may", "any"]
CANARY: Final = b"cAnArY-7f3a"
"""Stands in records; no report may print it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harmed:
    """A dump after a change: what was done, what is demanded, and why."""

    files: dict[str, Content]
    deed: str
    claim: Claim
    why: str
    by: str = "anything"
    """The deed by name."""


Deed = Callable[[Random, dict[str, Content]], Harmed | None]


# --- segments ---------------------------------------------------------------------------------------------------------


def _a_replica(random: Random, files: Files, *, filled: bool = True) -> Replica | None:
    found = [replica for replica in replicas_of(files) if not filled or any(replica.batches.values())]
    return random.choice(found) if found else None


def _a_batch(random: Random, replica: Replica) -> tuple[str, int, Batch]:
    path = random.choice([path for path in replica.segments if replica.batches[path]])
    place = random.randrange(len(replica.batches[path]))
    return path, place, replica.batches[path][place]


def _harmed(files: dict[str, Content], path: str, content: Content | None, deed: str, claim: Claim, why: str) -> Harmed:
    after = {**files, path: content} if content is not None else {p: c for p, c in files.items() if p != path}
    return Harmed(files=after, deed=f"{deed} in {path}", claim=claim, why=why)


def _of_the_end(replica: Replica, batch: Batch) -> Claim:
    """What must be said of a harm to this batch: at the end of a log, only where a checkpoint says that it was there."""
    last = batch.next >= replica.end
    return "any" if batch.next <= replica.start or (last and replica.claimed_end <= batch.base) else "must"


def flipped_bit(random: Random, files: dict[str, Content]) -> Harmed | None:
    """One bit of a batch, wherever it lies."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, batch = _a_batch(random, replica)
    content = bytearray(replica.bytes_of(path))
    headed = random.random() < 0.5
    at = random.randrange(batch.start, min(batch.end, batch.start + 27) if headed else batch.end)
    bit = random.randrange(8)
    content[at] ^= 1 << bit
    deed = f"bit {bit} of byte {at - batch.start} of the batch at {batch.base} flipped"
    return _harmed(
        files, path, bytes(content), deed, _of_the_end(replica, batch), "every byte below the log end counts"
    )


def batch_gone(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A whole batch cut out."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, batch = _a_batch(random, replica)
    content = replica.bytes_of(path)
    claim: Claim = _of_the_end(replica, batch)
    if replica.is_compacted:
        # What a later record of the same key replaces, cleaning may take; what a peer lacks too, nobody can miss.
        entry = content[batch.start : batch.end]
        lasting = replica.has_twin(batch, entry) and replica.keeps_for_good(path, batch)
        claim = claim if lasting else "any"
    deed = f"the batch [{batch.base}, {batch.next}) cut out"
    return _harmed(
        files, path, content[: batch.start] + content[batch.end :], deed, claim, "records are gone that were there"
    )


def batches_moved(random: Random, files: dict[str, Content]) -> Harmed | None:
    """Two neighbours exchanged, or one doubled."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, place, batch = _a_batch(random, replica)
    claim: Claim = "any" if batch.next <= replica.start else "must"
    found, content = replica.batches[path], replica.bytes_of(path)
    entry = content[batch.start : batch.end]
    if random.randrange(2) or place + 1 == len(found):
        after = content[: batch.end] + entry + content[batch.end :]
        return _harmed(
            files, path, after, f"the batch at {batch.base} doubled", claim, "an offset stands twice in a log"
        )
    other = found[place + 1]
    after = content[: batch.start] + content[other.start : other.end] + entry + content[other.end :]
    return _harmed(files, path, after, f"the batch at {batch.base} moved behind the next", claim, "offsets only go up")


def cut_short(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A segment that ends early, anywhere."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, batch = _a_batch(random, replica)
    at = random.choice((batch.start, random.randrange(batch.start, batch.end)))
    later = [found[0] for one, found in replica.batches.items() if one > path and found]
    beyond = later[0].base if later else replica.claimed_end
    cleaned = at == batch.start and batch.base < replica.cleaned and bool(later)
    claim: Claim = "any" if beyond <= max(batch.base, replica.start) or cleaned else "must"
    deed = f"cut at byte {at}, within [{batch.base}, {batch.next})"
    return _harmed(files, path, replica.bytes_of(path)[:at], deed, claim, "the log went further than this")


def other_content(random: Random, files: dict[str, Content]) -> Harmed | None:
    """Records or header fields of a batch changed, with a checksum that holds."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, batch = _a_batch(random, replica)
    content = replica.bytes_of(path)
    entry = content[batch.start : batch.end]
    if batch.magic != 2 or not replica.has_twin(batch, entry):
        return None
    if random.randrange(2):
        changed, deed = _canary(random, entry), "other records with a sound checksum"
    else:
        changed, deed = _field(random, entry)
    if changed == entry:
        return None
    derived = changed[:17] + changed[21:35] + changed[43:] == entry[:17] + entry[21:35] + entry[43:]
    claim: Claim = "any" if derived or batch.next <= replica.start else "must"
    after = content[: batch.start] + changed + content[batch.end :]
    return _harmed(files, path, after, f"{deed} at {batch.base}", claim, "a peer holds other records there")


def _canary(random: Random, entry: bytes) -> bytes:
    if len(entry) < 61 + 2 * len(CANARY):
        return entry
    at = random.randrange(61, len(entry) - len(CANARY))
    return summed(entry[:at] + CANARY + entry[at + len(CANARY) :])


def _field(random: Random, entry: bytes) -> tuple[bytes, str]:
    at, form = random.choice([field for field in FIELDS if field[0] not in (8, 16, 17)])
    width = struct.calcsize(form)
    own = int.from_bytes(entry[at : at + width], "big")
    value = random.choice((*INTEGERS, own + 1, own - 1, own ^ 1 << random.randrange(8 * width))) % (1 << 8 * width)
    return summed(entry[:at] + value.to_bytes(width, "big") + entry[at + width :]), f"field at byte {at} made {value}"


def segment_gone(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A segment deleted or emptied: the first may have been retained no longer, any other one leaves a hole."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path = random.choice([path for path in replica.segments if replica.batches[path]])
    emptied = random.random() < 0.3
    earlier = [one for one in replica.segments if one < path and replica.batches[one]]
    later = [replica.batches[one][0].base for one in replica.segments if one > path and replica.batches[one]]
    first, why = replica.batches[path][0], "a hole in the log, or an end below what checkpoints tell"
    claim: Claim = "must"
    if (later or [replica.claimed_end])[0] <= max(first.base, replica.start) or first.base < replica.cleaned:
        claim = "any"
    elif later and not earlier:
        claim, why = (
            ("any", "") if emptied else ("may", "retention deletes the oldest segment, on each broker by itself")
        )
    word = "emptied" if emptied else "deleted"
    return _harmed(files, path, b"" if emptied else None, f"segment {word}", claim, why)


def segment_of_another(random: Random, files: dict[str, Content]) -> Harmed | None:
    """The bytes of another partition's segment under this one's name."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, _ = _a_batch(random, replica)
    name = path.rpartition("/")[2]
    others = [one for one in files if one.endswith(f"/{name}") and files[one] != files[path] and "__cluster" not in one]
    if not others or "__cluster" in path:
        return None
    other = random.choice(others)
    twin = other.split("/")[-2] == replica.name
    return _harmed(
        files, path, files[other], f"the bytes of {other}", "any" if twin else "must", "another partition's records"
    )


def segment_misnamed(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A segment under a name behind its first offset."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, _ = _a_batch(random, replica)
    first = replica.batches[path][0]
    named = f"{path.rpartition('/')[0]}/{first.base + random.choice((1, 7, 1 << 40)):020d}.log"
    if named in files:
        return None
    after = {one: content for one, content in files.items() if one != path} | {named: files[path]}
    return Harmed(files=after, deed=f"{path} named {named}", claim="must", why="a segment holds nothing below its name")


# --- leader epochs ----------------------------------------------------------------------------------------------------


def epochs_changed(random: Random, files: dict[str, Content]) -> Harmed | None:
    """An entry of the leader epochs changed, dropped or doubled, or the file spoiled, emptied or deleted."""
    replica = _a_replica(random, files)
    if replica is None or not replica.epochs:
        return None
    path, entries = f"{replica.path}/leader-epoch-checkpoint", list(replica.epochs)
    borne = {
        one.epoch: one
        for found in reversed(replica.batches.values())
        for one in reversed(found)
        if one.epoch >= 0 and one.next > replica.start
    }
    place = random.randrange(len(entries))
    epoch, start = entries[place]
    match random.randrange(6):
        case 0:
            later = start + random.choice((1, 3, 1 << 40))
            entries[place] = (epoch, later)
            claim: Claim = "must" if epoch in borne and borne[epoch].base < later else "any"
            why = "the log has records of the epoch before that offset"
        case 1:
            entries[place] = (epoch + random.choice((1, 5, 1 << 30)), start)
            claim, why = (
                "must" if epoch in borne else "any",
                "the log has records of an epoch that the file does not know",
            )
        case 2:
            del entries[place]
            claim, why = (
                "must" if epoch in borne else "any",
                "the log has records of an epoch that the file does not know",
            )
        case 3:
            return _harmed(
                files, path, None, "deleted", "must" if borne else "any", "the log has epochs and no file of them"
            )
        case 4:
            return _harmed(
                files, path, b"", "emptied", "must" if borne else "any", "the log has epochs and the file none"
            )
        case _:
            spoiled = random.choice(
                (b"0\n", b"x\n", b"9\n0\n", b"0\n1\n0 0 0\n", b"0\n1\n0 x\n", b"0\n3\n0 0\n", b"\0" * 18)
            )
            return _harmed(files, path, spoiled, f"made {spoiled!r}", "must", "the file is malformed")
    told = b"0\n%d\n" % len(entries) + b"".join(b"%d %d\n" % entry for entry in entries)
    return _harmed(files, path, told, f"epoch {epoch} of {start} became {entries[place : place + 1]}", claim, why)


# --- checkpoints of offsets -------------------------------------------------------------------------------------------

_UP: Final = {
    "replication-offset-checkpoint": "a high watermark lies above the log end",
    "recovery-point-offset-checkpoint": "what was flushed is gone",
    "log-start-offset-checkpoint": "a log starts above its end",
}
_DOWN: Final = {
    "replication-offset-checkpoint": "the high watermark is written every few seconds, and may be older",
    "recovery-point-offset-checkpoint": "the recovery point may be older than the log",
    "log-start-offset-checkpoint": "a broker takes the first segment's name where that lies higher",
}


def checkpoint_up(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A claim above the log end."""
    kind, replica = random.choice(list(_UP)), _a_replica(random, files)
    if replica is None or replica.name.startswith("__cluster"):
        return None
    offset = replica.end + random.choice((1, 2, 50, 1 << 31, (1 << 63) - 1 - replica.end))
    return _harmed(files, *_claimed(replica, kind, offset), claim="must", why=_UP[kind])


def checkpoint_down(random: Random, files: dict[str, Content]) -> Harmed | None:
    """An older claim."""
    kind, replica = random.choice(list(_DOWN)), _a_replica(random, files)
    if replica is None or (told := replica.claim(kind)) is None or not told:
        return None
    offset, why = random.randrange(told), _DOWN[kind]
    first = next((found[0].base for found in replica.batches.values() if found), 0)
    start = max(first, replica.claim("log-start-offset-checkpoint") or 0)
    claim: Claim = "may" if kind != "replication-offset-checkpoint" or offset >= start else "any"
    return _harmed(files, *_claimed(replica, kind, offset), claim=claim, why=why)


def _claimed(replica: Replica, kind: str, offset: int) -> tuple[str, bytes, str]:
    path = f"{replica.log_dir}/{kind}"
    rows = [row for row in rows_of(replica.bytes_of(path)) if row[:2] != replica.topic_and_partition]
    return path, checkpoint_of([*rows, (*replica.topic_and_partition, offset)]), f"{replica.name} made {offset}"


def checkpoint_spoiled(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A file of the log dir that no broker could read."""
    paths = [path for path in files if path.endswith("-offset-checkpoint") and "cleaner" not in path and files[path]]
    if not paths:
        return None
    path = random.choice(paths)
    spoiled = random.choice(
        (b"0\nx\n", b"0\n1\nt 0\n", b"0\n1\nt 0 -x\n", b"7\n0\n", b"\xff\xfe\n", b"0\n2\nt 0 1\n", b"\0" * 30)
    )
    return _harmed(files, path, spoiled, f"made {spoiled!r}", "must", "a checkpoint is malformed")


# --- whose it is ------------------------------------------------------------------------------------------------------


def other_topic_id(random: Random, files: dict[str, Content]) -> Harmed | None:
    """One replica bears another topic's id."""
    replica = _a_replica(random, files)
    path = f"{replica.path}/partition.metadata" if replica else ""
    if replica is None or path not in files or not list(replica.peers()) or replica.name.startswith("__cluster"):
        return None
    spoiled = random.randrange(3) == 0
    content = b"version: 0\ntopic_id: " + (b"not-an-id" if spoiled else b"AAAAAAAAAAAAAAAAAAAAAQ")
    return _harmed(files, path, content, "other topic id", "must", "its peers bear another id")


def other_ids(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A log dir says that it is of another broker or cluster."""
    paths = [path for path in files if path.endswith("/meta.properties") and "controller" not in path]
    if not paths:
        return None
    path = random.choice(paths)
    content = bytes_at(files, path)
    key = rb"cluster\.id" if random.randrange(3) == 0 and b"cluster.id" in content else rb"(?:node|broker)\.id"
    value = (
        b"AAAAAAAAAAAAAAAAAAAAAQ"
        if key == rb"cluster\.id"
        else random.choice((*_ids(files, paths), b"77", b"x", b"-4"))
    )
    told = re.sub(rb"(?m)^(" + key + rb")=.*$", lambda match: match[1] + b"=" + value, content)
    if told == content:
        return None
    claim: Claim = "any" if value == b"77" else "must"
    which = "cluster" if b"cluster" in key else "broker"
    return _harmed(files, path, told, f"{which} id made {value.decode()}", claim, "other log dirs contradict it")


def _ids(files: Files, paths: Sequence[str]) -> list[bytes]:
    """Ids that log dirs bear already."""
    found = (re.search(rb"(?m)^(?:node|broker)\.id=(\d+)", bytes_at(files, path)) for path in paths)
    return [match[1] for match in found if match]


def bytes_at(files: Files, path: str) -> bytes:
    """A file's bytes; none where something else stands there."""
    content = files.get(path, b"")
    return content if isinstance(content, bytes) else b""


# --- whole folders ----------------------------------------------------------------------------------------------------


def replica_gone(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A replica's folder, or all its segments, gone, although the checkpoints beside it name it."""
    replica = _a_replica(random, files)
    if replica is None or not replica.claimed_end:
        return None
    only_segments = random.randrange(2)
    after = {
        path: content
        for path, content in files.items()
        if not path.startswith(f"{replica.path}/") or (only_segments and not path.endswith(".log"))
    }
    word = "segments of" if only_segments else "the whole of"
    return Harmed(
        files=after, deed=f"{word} {replica.path} gone", claim="must", why="a checkpoint names what is not there"
    )


def not_a_file(random: Random, files: dict[str, Content]) -> Harmed | None:
    """Something else under a segment's or a checkpoint's name."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    path, _, batch = _a_batch(random, replica)
    if random.randrange(3) == 0:
        path = f"{replica.path}/leader-epoch-checkpoint"
    if path not in files:
        return None
    special = random.choice((Special(kind="fifo"), Special(kind="folder"), Special(kind="link", target="/etc/passwd"),
                             Special(kind="link", target=path.rpartition("/")[2]), Special(kind="link", target="no-such")))  # fmt: skip
    return _harmed(
        files,
        path,
        special,
        f"{special.kind} {special.target} instead of {batch.base}…",
        "must",
        "a file cannot be read",
    )


def doubled_replica(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A second log dir of the same broker with the same replica in it."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    beside = f"{replica.log_dir}-2"
    copied = {
        path.replace(replica.log_dir, beside, 1): content
        for path, content in files.items()
        if path.startswith(f"{replica.path}/") or path == f"{replica.log_dir}/meta.properties"
    }
    return Harmed(
        files={**files, **copied},
        deed=f"{replica.path} also in {beside}",
        claim="must",
        why="two folders claim a replica",
    )


# --- lawful -----------------------------------------------------------------------------------------------------------

_SPARE: Final = (
    (".index", "a broker makes an index anew"),
    (".timeindex", "a broker makes an index anew"),
    (".txnindex", "a broker makes an index anew"),
    (".snapshot", "a broker makes the state of producers anew"),
    ("/.kafka_cleanshutdown", "a broker that did not stop cleanly reads its logs again"),
    ("/meta.properties", "a folder's name tells the broker as well"),
    ("/cleaner-offset-checkpoint", "a cleaner without its checkpoint begins anew"),
    ("/partition.metadata", "folders of older releases have none"),
    ("/replication-offset-checkpoint", "it was not copied"),
    ("/recovery-point-offset-checkpoint", "it was not copied"),
    ("/log-start-offset-checkpoint", "it was not copied"),
    ("/quorum-state", "it was not copied"),
)


def spare_gone(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A file missing that brokers do without."""
    suffix, why = random.choice(_SPARE)
    paths = [path for path in files if path.endswith(suffix)]
    chosen = set(random.sample(paths, random.randint(1, len(paths)))) if paths else set[str]()
    after = {path: content for path, content in files.items() if path not in chosen}
    return Harmed(files=after, deed=f"without {sorted(chosen)[:3]}", claim="may", why=why) if chosen else None


def broker_gone(random: Random, files: dict[str, Content]) -> Harmed | None:
    """A broker that was not copied."""
    brokers = sorted({path.partition("/")[0] for path in files})
    if len(brokers) < 2:
        return None
    gone = random.choice(brokers)
    after = {path: content for path, content in files.items() if not path.startswith(f"{gone}/")}
    return Harmed(files=after, deed=f"without {gone}", claim="may", why="what was not copied accuses nobody")


def rewritten_cleaner(random: Random, files: dict[str, Content]) -> Harmed | None:
    """The cleaner's own checkpoint at another place."""
    replica = _a_replica(random, files)
    if replica is None:
        return None
    offset = random.randrange(replica.end + 1)
    return _harmed(files, *_claimed(replica, "cleaner-offset-checkpoint", offset), claim="any", why="")


# --- anything ---------------------------------------------------------------------------------------------------------

_TEXTS: Final = Grammar(text=True, packed=True)
_SEGMENTS: Final = Grammar(text=False, batches=True)


def anything(random: Random, files: dict[str, Content]) -> Harmed | None:
    """Some files changed in any way at all, taken from each other's moments and places, renamed or gone."""
    after = dict(files)
    deeds = []
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        path = random.choice(sorted(after))
        deeds.append(_any_deed(random, after, path))
    return Harmed(files=_possible(after), deed="; ".join(deeds), claim="any", why="")


def _possible(files: Mapping[str, Content]) -> dict[str, Content]:
    """What a file system can hold: nothing lies in what is a file, and names are short."""
    folders = {path[:at] for path in files for at in range(len(path)) if path[at] == "/"}
    short = (path for path in files if max(map(len, path.encode().split(b"/"))) < 250)
    return {path: files[path] for path in short if path not in folders}


def _any_deed(random: Random, files: dict[str, Content], path: str) -> str:
    content, name = files[path], path.rpartition("/")[2]
    alike = [other for other in files if other.endswith(f"/{name}") and other != path]
    match random.randrange(10):
        case 0:
            del files[path]
            return f"{path} deleted"
        case 1 if alike:
            files[path] = files[random.choice(alike)]
            return f"{path} of another place"
        case 2:
            renamed = f"{path.rpartition('/')[0]}/{_name(random, name)}"
            files.setdefault(renamed, files.pop(path))
            return f"{path} renamed {renamed}"
        case 3:
            folder = path.rpartition("/")[0]
            base, _, last = folder.rpartition("/")
            to = f"{base}/{_name(random, last)}"
            if base:
                _move(files, folder, to)
            return f"{folder} renamed {to}"
        case _ if isinstance(content, bytes):
            text = not path.endswith(("index", ".snapshot", ".checkpoint")) and not re.search(r"\d{20}\.log", path)
            others = [files[other] for other in alike[:4]]
            seeds: Sequence[bytes] = [other for other in others if isinstance(other, bytes)]
            files[path] = mutated(random, content, _TEXTS if text else _SEGMENTS, seeds)
            return f"{path} changed"
        case _:
            return "nothing"


_NAMES: Final = (
    "t-0", "t--1", "t-99999999999", "a" * 240 + "-0", "..-0", "é-0", "\x1b[31m-0", "t-0.0123456789abcdef0123456789abcdef-delete",
    "t-0.0123456789abcdef0123456789abcdef-future", "t-0.0123456789abcdef0123456789abcdef-stray", "meta.properties", "server.log",
    "99999999999999999999.log", "00000000000000000000.log.deleted", "00000000000000000000.log.swap", "kafka-request.log.1",
    "00000000000000000000.log.cleaned", "leader-epoch-checkpoint.tmp", "trace.csv", "topics.txt", "controller.log.gz", "%41", "a b",
)  # fmt: skip


def _name(random: Random, name: str) -> str:
    return random.choice((*_NAMES, f"{name}.deleted", f"{name}.1", name[1:] or "x", name.upper()))


def _move(files: dict[str, Content], folder: str, to: str) -> None:
    for path in [path for path in files if path.startswith(f"{folder}/")]:
        moved = to + path[len(folder) :]
        if moved not in files:
            files[moved] = files.pop(path)


DEEDS: Final[tuple[Deed, ...]] = (
    *(flipped_bit,) * 3, *(batch_gone,) * 3, batches_moved, batches_moved, *(cut_short,) * 2, *(other_content,) * 4,
    *(segment_gone,) * 2, segment_of_another, segment_misnamed, *(epochs_changed,) * 4, *(checkpoint_up,) * 2,
    *(checkpoint_down,) * 2, checkpoint_spoiled, other_topic_id, other_ids, other_ids, *(replica_gone,) * 2, not_a_file,
    doubled_replica, spare_gone, spare_gone, broker_gone, rewritten_cleaner, *(anything,) * 18,
)  # fmt: skip
"""What may be done to a dump; two in five are anything at all."""
