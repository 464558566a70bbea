"""Whose logs are: told by their own words, by logs of the same folder, by names, and last by the disks around them.

A log's words prove its writer. The name of its folder is only one more witness, and where the two contradict each other
nobody is taken for the writer: the file is refused, and both are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.inventory.contents import LogDir, LogWitness
from parsers.inventory.file_names import WRITTEN_BY_BROKERS, broker_of_word
from parsers.inventory.log_dirs import Overrides
from parsers.inventory.neighbours import Neighbours
from parsers.inventory.voices import SILENT, Voice, voice_of
from parsers.provenance import Origin, Source
from parsers.refusal import refuse
from parsers.tables import Refusal

_TOLD_LIMIT: Final = 2_000
ONE_WRITER: Final = (
    "the lines of one broker: each broker's log as a file of its own, or each line behind its writer's name, as"
    " `docker compose logs` and `kubectl logs --prefix` print it"
)
_NUMBER: Final = re.compile(r"[-_](\d+)\.log[^/]*$")
"""The number in a log's name, as `kafka-request-1.log` has it."""


class Owners(Struct, frozen=True, kw_only=True):
    """Tells whose logs are; what it is asked about are the files of one dump."""

    log_dirs: Sequence[LogDir]
    neighbours: Neighbours
    overrides: Overrides
    voices: Mapping[str, Voice]
    words: Mapping[str, Sequence[LogWitness]]
    """By folder, one word for each broker as which a log of that folder speaks."""

    def own(self, file: Source) -> Source | Refusal:
        """The file with its broker; or why nobody can be taken for its writer."""
        voice, origin = self.voices[file.origin.source], file.origin
        given = self.overrides.broker_of(origin.source)
        if voice.several:
            return file
        own = _words(file, voice)
        if given is not None:
            other = next((word for word in own if word.broker != given), None)
            given_by = f"a log of broker {given}, as --log-dir has it"
            return self._of(file, given) if other is None else _refuse(file, given_by, str(other))
        if len(own) > 1:
            brokers = ", ".join(str(broker) for broker in sorted(word.broker for word in own))
            found = f"lines of brokers {brokers}: {' and '.join(map(str, own))}"
            return _refuse(file, ONE_WRITER, found)
        words = own or self._beside(file, voice)
        if len(words) > 1:
            expected = f"a word for its own broker, or --log-dir BROKER={origin.source}"
            return _refuse(file, expected, " and ".join(map(str, words)))
        return self._by_word(file, words[0]) if words else self._silent(file, voice)

    def _by_word(self, file: Source, word: LogWitness) -> Source | Refusal:
        """The writer by a word for it, unless a folder is named after another broker."""
        named = self.neighbours.folder_named(file.origin.source)
        if named is None or named[1] == word.broker or not self._counts(*named, word.broker):
            return self._of(file, word.broker)
        place, broker = self.neighbours.name_of(named[0]), named[1]
        expected = f"a log of broker {broker}, as {place} is named, or --log-dir BROKER={file.origin.source}"
        return _refuse(file, expected, str(word))

    def _counts(self, path: str, broker: int, spoken: int) -> bool:
        """Whether a name is a witness: not where who speaks has a disk below, nor where several others speak."""
        under = "" if path == "." else f"{path}/"
        others = {w.broker for folder, words in self.words.items() if f"{folder}/".startswith(under) for w in words}
        return not self.neighbours.holds(path, spoken) and len(others - {broker}) < 2

    def _beside(self, file: Source, voice: Voice) -> Sequence[LogWitness]:
        """The writers of the other logs of the folder.

        Of several it is the one whose logs bear the same number, or who listens where the requests came in.
        """
        folder = _folder(file)
        words = self.words.get(folder, ())
        alike = [word for word in words if word.broker in self._numbered_alike(file)] if len(words) > 1 else []
        if len(alike) == 1:
            return alike
        if len(words) < 2 or not voice.answering:
            return words
        ports: dict[int, set[int]] = {}
        for source, other in self.voices.items():
            if source.rpartition("/")[0] == folder and len(other.brokers) == 1:
                ports.setdefault(next(iter(other.brokers)), set()).update(other.listening)
        listening = [word for word in words if ports.get(word.broker, set()) & voice.answering]
        return listening if len(listening) == 1 else words

    def _numbered_alike(self, file: Source) -> frozenset[int]:
        """The writers of the folder's logs that bear this one's number, where each number is of one writer."""
        writers: dict[str, set[int]] = {}
        for source, voice in self.voices.items():
            number = _NUMBER.search(source)
            if source.rpartition("/")[0] == _folder(file) and number is not None:
                writers.setdefault(number[1], set()).update(voice.brokers)
        own = _NUMBER.search(file.origin.source)
        clear = own is not None and all(len(brokers) <= 1 for brokers in writers.values())
        return frozenset(writers[own[1]]) if own is not None and clear else frozenset()

    def _silent(self, file: Source, voice: Voice) -> Source:
        """The writer by the log's place or name, or by the names of log dirs, where one broker of several has such."""
        if file.origin.broker is not None:
            return file
        named = broker_of_word(file.origin.source.rpartition("/")[2].partition(".")[0])
        broker = self._by_directories(voice) if named is None else named
        return file if broker is None else self._of(file, broker)

    def _by_directories(self, voice: Voice) -> int | None:
        brokers = {log_dir.broker for log_dir in self.log_dirs}
        meant = {d.broker for d in self.log_dirs for directory in voice.directories if f"/{d.path}".endswith(directory)}
        return next(iter(meant)) if len(meant) == 1 and len(brokers) > 1 else None

    def _of(self, file: Source, broker: int) -> Source:
        """The file as a broker's, and as of that broker's cluster where the dump has only one such broker."""
        origin = file.origin
        if origin.broker == broker:
            return file
        clusters = {log_dir.cluster_id for log_dir in self.log_dirs if log_dir.broker == broker}
        clusters = clusters or {log_dir.cluster_id for log_dir in self.log_dirs}
        cluster = next(iter(clusters)) if len(clusters) == 1 else origin.cluster_id
        return replace(file, origin=Origin(source=origin.source, cluster_id=cluster, broker=broker))


class Owned(Struct, frozen=True, kw_only=True):
    """The files of a dump, each log under its writer."""

    files: Sequence[Source]
    refusals: Sequence[Refusal]
    witnesses: Sequence[LogWitness]


def own_logs(
    root: Path, files: Iterable[Source], log_dirs: Sequence[LogDir], neighbours: Neighbours, overrides: Overrides
) -> Owned:
    """All files, brokers' logs under the broker that wrote them, and refusals of logs of which nobody is told."""
    listed = list(files)
    voices = {f.origin.source: voice_of(root, f) for f in listed if f.kind in WRITTEN_BY_BROKERS and f.size}
    words: dict[str, dict[int, LogWitness]] = {}
    for file in listed:
        spoken = _words(file, voices.get(file.origin.source, SILENT))
        if len(spoken) == 1:
            words.setdefault(_folder(file), {}).setdefault(spoken[0].broker, spoken[0])
    owners = Owners(
        log_dirs=log_dirs,
        neighbours=neighbours,
        overrides=overrides,
        voices=voices,
        words={folder: tuple(by_broker.values()) for folder, by_broker in words.items()},
    )
    owned: list[Source] = []
    refused: list[Refusal] = []
    for file in listed:
        owned_file = owners.own(file) if file.origin.source in voices else file
        if isinstance(owned_file, Refusal):
            refused.append(owned_file)
            owned_file = replace(file, kind="unknown")
        owned.append(owned_file)
    heard = (_witnesses(file, voices[file.origin.source]) for file in listed if file.origin.source in voices)
    return Owned(files=owned, refusals=refused, witnesses=[word for words_of in heard for word in words_of])


def _words(file: Source, voice: Voice) -> Sequence[LogWitness]:
    """One word for each broker, of a log in which one speaks."""
    first: dict[int, LogWitness] = {}
    for word in () if voice.several else _witnesses(file, voice):
        first.setdefault(word.broker, word)
    return tuple(first.values())


def _witnesses(file: Source, voice: Voice) -> Iterator[LogWitness]:
    for said in voice.witnesses:
        speaker = None if said.speaker is None else said.speaker.decode(errors="replace")
        yield LogWitness(broker=said.broker, speaker=speaker, span=file.origin.span(said.start, said.end))


def _folder(file: Source) -> str:
    return file.origin.source.rpartition("/")[0]


def _refuse(file: Source, expected: str, found: str) -> Refusal:
    """Both witnesses stand in `found` in full: they are what the user must choose between."""
    refusal = refuse(file.origin, "ambiguous", 0, file.size, expected="", found="")
    return replace(refusal, expected=expected[:_TOLD_LIMIT], found=found[:_TOLD_LIMIT])
