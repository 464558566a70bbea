"""What a judgement is: a finding with its exhibits, or the reason why none could be made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, Literal, Protocol

from msgspec import Struct

from parsers.provenance import Span
from rules.fingerprint import fingerprint
from rules.words import place_name

FactValue = str | int | bool | None | tuple[int, ...] | tuple[str, ...]
Confidence = Literal["certain", "likely", "possible"]
Verdict = Literal["violated", "undecided"]
Scope = Literal["partition", "topic", "group", "broker", "cluster"]
Change = Literal["unclean election", "opening below committed records", "loss of acknowledged records"]
"""What a change of leaders brought about."""
Newest = Literal["any", "its epoch", "the epoch before"]
Place = tuple[str | None, str | None, int | None]
"""A partition: its cluster, topic and number; null where what is told is of more than that."""


class AboutPartition(Protocol):
    """Whatever is told of a partition."""

    @property
    def cluster_id(self) -> str | None:
        """Its cluster."""

    @property
    def topic(self) -> str | None:
        """Its topic."""

    @property
    def partition(self) -> int | None:
        """Its number."""


def place_of(about: AboutPartition) -> Place:
    """Which partition it is about."""
    return about.cluster_id, about.topic, about.partition


class Severity(IntEnum):
    """How bad a defect is; ordered, so that severities compare."""

    INFO = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def label(self) -> str:
        """The word that reports use."""
        return self.name.lower()


class Exhibit(Struct, frozen=True, kw_only=True):
    """One piece of evidence and the part it plays."""

    span: Span
    role: str


class Violation(Struct, frozen=True, kw_only=True):
    """What a rule says when its law is broken; the rule's page supplies everything else."""

    brokers: tuple[int, ...]
    start_offset: int | None = None
    end_offset: int | None = None
    severity: Severity | None = None
    confidence: Confidence = "certain"
    facts: Mapping[str, FactValue]
    exhibits: tuple[Exhibit, ...] = ()
    as_written: bool = False
    """Whether its window is drawn as all headers tell the log, those too that are not believed."""


class Undecided(Struct, frozen=True, kw_only=True):
    """What a rule says when evidence is missing, and which evidence would decide it."""

    reason: str
    missing: str
    """What to add; or what to do, in words that begin with "ask" or "audit"."""
    brokers: tuple[int, ...] = ()
    start_offset: int | None = None
    end_offset: int | None = None
    epoch: int | None = None
    """The one epoch whose records it is about, where it is of one."""
    blocking: bool = True
    """Whether the whole verdict becomes unknown: the rule might well be violated, rather than merely not apply."""
    asked_at_level: str | None = None
    """The audit level that asks the question, where this one does not."""
    exhibits: tuple[Exhibit, ...] = ()


class NamedFact(Struct, frozen=True, kw_only=True):
    """One fact of a finding; the value is JSON text, so that any kind of value travels in one column."""

    name: str
    value: str


class Finding(Struct, frozen=True, kw_only=True):
    """A defect found, with everything a report needs to tell it and a reader needs to check it."""

    rule: str
    severity: int
    confidence: str
    verdict: str
    cluster_id: str | None
    topic: str | None
    topic_id: str | None
    partition: int | None
    brokers: tuple[int, ...]
    start_offset: int | None
    end_offset: int | None
    message: str
    exhibits: tuple[Exhibit, ...]
    facts: tuple[NamedFact, ...]
    implied_by: tuple[str, ...] = ()
    sketch: str = ""
    blocking: bool = False
    id_digits: int = 8
    """Digits of the fingerprint in the id; more where another finding of the report begins alike."""

    @property
    def fingerprint(self) -> str:
        """The same in every run and wherever the dump lies: no path, time or run id goes into it."""
        place = (self.rule, self.cluster_id, self.topic or self.topic_id, self.partition, self.brokers)
        return fingerprint((*place, self.start_offset, self.end_offset, self._subject), self.topic_id)

    @property
    def _subject(self) -> str:
        """What else tells two findings of one rule on one range apart."""
        return next((fact.value for fact in self.facts if fact.name == "subject"), "")

    @property
    def id(self) -> str:
        """The short name by which people refer to the finding."""
        return f"F-{self.fingerprint[: self.id_digits]}"

    @property
    def place(self) -> str:
        """What it is about: a partition, a topic as a whole, or nothing narrower than the dump."""
        return "" if self.topic is None else place_name(self.topic, self.partition)

    def values(self) -> dict[str, FactValue]:
        """The facts as plain values."""
        return {fact.name: json.loads(fact.value) for fact in self.facts}


class RecordsMeant(Struct, frozen=True, kw_only=True):
    """Which records the offsets of a rule's findings mean: those can be copied before they are gone."""

    held_by: str = ""
    """The fact that names the broker on which they stand; empty for any copy that is not of the leading log."""
    newest: Newest = "any"
    """The newest epoch whose records they can be."""

    @property
    def gone(self) -> bool:
        """Whether they went from the log that leads: a bill is owed for them."""
        return not self.held_by


class Bearing(Struct, frozen=True, kw_only=True):
    """What a rule's findings mean to those that link, bill, heal or tell them, whatever the rule is called."""

    change: Change | None = None
    """What it shows of a change of leaders: such findings of many partitions are one event."""
    spoils_what_went_wrong: bool = False
    """Whether it is a cause of its own that may have worked on logs that had parted before."""
    calls_for: str = ""
    """What a person has to do about it."""
    where_open: str = ""
    """What a person has to do where it is only possible; empty where that is the same."""
    needless: str = ""
    """The fact that says that nobody has to do it: it is done, or another finding asks for more."""
    copies_again: bool = False
    """Whether that gives its replica up for a new copy: not where no other copy is whole (the fact `whole`)."""
    to_write_again: bool = False
    """Whether producers have to write its records again."""
    owes_a_cut: bool = False
    """Whether it tells of records that are there now and will be cut."""
    healed_by_a_cut: bool = False
    """Whether such a cut heals it."""
    of_groups: bool = False
    """Whether it concerns consumer groups, which the fact `groups` names."""
    names: str = ""
    """The fact that gives the names for their place in the words; empty where these are folders."""
    records: RecordsMeant | None = None
    """Null where its offsets are no records that could be copied."""
    uncounted: str = ""
    """The fact that says whether records may be lost by what it found that nothing counts; a bill may count them."""

    def asked_of(self, finding: Finding) -> str:
        """What a person has to do about a finding; empty where nothing is left to do."""
        if self.needless and finding.values().get(self.needless) is True:
            return ""
        if self.copies_again and not finding.values().get("whole", True):
            return NO_WHOLE_COPY
        return self.where_open if self.where_open and finding.confidence == "possible" else self.calls_for


PLACE_OF_NAMES: Final = "{names}"
"""Where in words names come to stand that only the place of a finding tells, such as folders."""
COPY_AGAIN: Final = (
    "This copy is not sound. Let a broker with a sound copy lead. Then stop this broker, move its folder out of its log"
    f" dir (here: {PLACE_OF_NAMES}), and start it. It copies its leader's log."
    " If it led with an empty log, its followers would empty theirs."
)
NO_WHOLE_COPY: Final = "Delete nothing and move nothing away. No other copy here is whole, and a new one lacks more."


def may_be_one_topic(topic_id: str | None, other_id: str | None) -> bool:
    """Whether two findings of one topic's name may be of one topic: a topic created again has another id."""
    return topic_id is None or other_id is None or topic_id == other_id


Bearings = Mapping[str, Bearing]
"""By the ids of rules."""
NO_BEARING: Final = Bearing()


UNDECIDED: Final = "Undecided"
"""With this word begins the message of an open question."""
_TO_DO: Final = ("ask ", "audit ", "find out ")
"""With these words begins what would decide a question and cannot be added."""
_RANGE: Final = re.compile(r"(?:(offset|record)s )?\[(\d{1,20}), (\d{1,20})\)")


def capital(words: str) -> str:
    """The words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def offsets_told(start: int, end: int) -> str:
    """Offsets as people say them, the last one named: offset 7; offsets 100–149; no offsets."""
    if end - start < 2:  # noqa: PLR2004 - one offset, or none
        return f"offset {start}" if end > start else "no offsets"
    return f"offsets {start}–{end - 1}"


def sentences(words: str) -> str:
    """Clauses as sentences: each begins with a capital and ends with a stop."""
    clauses = (clause.strip() for clause in with_last_offsets(words).split("; "))
    return " ".join(_sentence(clause) for clause in clauses if clause)


def question_told(reason: str, missing: str) -> str:
    """An open question and what would decide it, as sentences, whether or not the reason ends as one.

    What would decide it is a thing to add, or something to do: that is told as a sentence of its own.
    """
    what = missing.removesuffix(".")
    order = capital(what) if what.startswith(_TO_DO) else f"To decide it, add {what}"
    return f"{reason.removesuffix('.')}. {order}."


def with_last_offsets(words: str) -> str:
    """Half-open ranges in words as people say them: records [100, 150) are records 100–149, one is record 100."""
    return _RANGE.sub(_range, words)


def _range(found: re.Match[str]) -> str:
    offsets = offsets_told(int(found[2]), int(found[3]))
    if found[1] is None:
        return offsets.removeprefix("offsets ").removeprefix("offset ")
    return offsets.replace("offset", found[1], 1)


def _sentence(clause: str) -> str:
    """A name such as min.insync.replicas keeps its small letter."""
    first = clause.split(maxsplit=1)[0].rstrip(",:")
    plain = first.replace("'", "").isalpha()
    head = clause[:1].upper() + clause[1:] if plain else clause
    return head if head.endswith((".", "!", "?")) else f"{head}."


def named_facts(facts: Mapping[str, FactValue]) -> tuple[NamedFact, ...]:
    """Facts in the form in which they travel."""
    return tuple(NamedFact(name=name, value=json.dumps(value)) for name, value in facts.items())
