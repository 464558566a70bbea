"""The rules' pages as text: one page, the list, and the whole reference."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Final

from auditor.config import ConfigError
from auditor.report.layout import COLUMNS, Page
from rules.catalog import BY_ID, RULES
from rules.finding import Severity, capital, sentences
from rules.rule import Rule

INDENT: Final = 4
MARGIN: Final = " " * INDENT
NAMED: Final = 6
"""Scripts named of a rule; the rest is counted."""
DRAWINGS: Final = (
    "A drawing has a line for each replica and a column for each offset. The digit is the leader epoch, | the high"
    " watermark, . an offset that is not held. Lines that begin with t are events, in order."
)
LAWS: Final = (
    "A *law* is the property of Kafka's replication that a rule audits. Names such as `LeaderCompleteness` are those of"
    " published specifications."
)
BY_DRAWING: Final = "only the drawing above, and tests"
EVIDENCE: Final = {
    "BatchHeader": "segments, or what kafka-dump-log printed of them",
    "RecordRow": "records, decoded (level deep)",
    "IndexEntry": "indexes beside segments",
    "EpochEntry": "leader-epoch-checkpoint",
    "OffsetCheckpoint": "offset checkpoints of log dirs",
    "SourceRow": "the list of files",
    "Refusal": "what could not be read",
    "MetadataChange": "metadata log, or znodes",
    "ConfigChange": "settings in the metadata log",
    "BrokerSetting": "settings in server.log and server.properties",
    "BrokerEvent": "server.log, state-change.log, controller.log",
    "Fetch": "request logs: fetches",
    "Produce": "request logs: answers to producers",
    "EpochRequest": "request logs: where epochs end",
    "IsrRequest": "request logs: changes of ISR and leaders",
    "Description": "what tools printed (--describe)",
    "GroupOffset": "__consumer_offsets: commits",
    "GroupState": "__consumer_offsets: members",
    "Transaction": "__transaction_state",
}
"""What people call the rows that rules ask for."""


def page_text(rule_id: str) -> str:
    """The page of one rule, for a terminal."""
    found = BY_ID.get(rule_id.upper()) or next((rule for rule in RULES if rule.name == rule_id), None)
    if found is None:
        names = [*BY_ID, *(rule.name for rule in RULES)]
        close = difflib.get_close_matches(rule_id.upper(), names, n=1) or difflib.get_close_matches(rule_id, names, n=1)
        hint = f"did you mean {close[0]}?" if close else "`tidemark rules` lists them all"
        message = f"no rule {rule_id!r}: {hint}"
        raise ConfigError(message)
    return "\n".join(_lines(found)) + "\n"


def _lines(rule: Rule) -> Iterator[str]:
    page = rule.page
    yield f"{rule.id}  {rule.name}  ({rule.severity.label}; scope: {rule.scope})"
    for text in (page.title, *([page.introduction] if page.introduction else ())):
        yield f"\n{_wrapped(text)}"
    yield f"\nProves\n{_wrapped(page.proves, indented=INDENT)}"
    yield f"\nUndecided when\n{_wrapped(page.undecided_when, indented=INDENT)}"
    yield f"\nUpheld\n{indent(page.upheld, MARGIN)}"
    yield f"\nViolated\n{indent(page.violated, MARGIN)}"
    yield f"\n{_wrapped(DRAWINGS, indented=INDENT)}"
    if rule.reach:
        yield f"\nReach\n{_wrapped(rule.reach, indented=INDENT)}"
    yield f"\nWhat you will read\n{_wrapped(example(rule), indented=INDENT)}"
    yield f"\n{_wrapped(f'Shown by: {shown_by(rule.id)}')}"
    yield f"\nLaw: {rule.law}"
    yield _wrapped(f"Needs: {_needed(rule)}")
    if rule.implied_by:
        yield f"Follows from: {', '.join(rule.implied_by)}"


@cache
def example(rule: Rule) -> str:
    """What the rule says of its own drawing; of one that looks at more than a drawing shows, its words with holes."""
    from rules.judging.judge import judge
    from rules.judging.judge_topics import judge_topics
    from rules.sketch.notation import read_sketch

    verdict = judge(read_sketch(rule.page.violated).evidence, [rule])
    told = judge_topics([verdict], [rule]) if rule.check_topic else [verdict]
    found = (finding for each in told for finding in each.findings if finding.rule == rule.id)
    return sentences(next((finding.message for finding in found), rule.message))


def _needed(rule: Rule) -> str:
    """The evidence that it asks for, as people call it."""
    return "; ".join(EVIDENCE[row.__name__] for row in rule.needs)


def _wrapped(text: str, columns: int = COLUMNS, indented: int = 0) -> str:
    """Paragraphs and points of lists, each filled to the width of a page."""
    page, told = Page(columns=columns, colour=False), []
    for part in re.split(r"(\n\s*\n|\n(?=- ))", text):
        hanging = 2 if part.startswith("- ") else 0
        told.append(part if part.isspace() else "\n".join(page.wrapped(" ".join(part.split()), indented, "", hanging)))
    return "".join(told)


@cache
def _table() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By rule the recorded samples and the scripts in which it finds something; tests hold it against audits."""
    told: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("shown_by.json").read_text("utf-8"))
    return told


def shown_by(rule_id: str) -> str:
    """What shows a rule: recorded samples first, then mutants of them, then scripts that `simulate` runs."""
    shown = _table().get(rule_id, {})
    samples, mutants, scripts = (shown.get(kind, ()) for kind in ("samples", "mutants", "scripts"))
    parts = [f"recorded {', '.join(samples)}"] if samples else ["no recorded sample"]
    if mutants:
        parts.append(f"byte mutant of {', '.join(mutants)}")
    if scripts:
        more = f" and {len(scripts) - NAMED} more" if len(scripts) > NAMED else ""
        parts.append(f"simulated {', '.join(scripts[:NAMED])}{more}")
    return "; ".join(parts) if samples or mutants or scripts else f"no recorded sample; {BY_DRAWING}"


def listing() -> str:
    """One line a rule."""
    width = max(len(rule.name) for rule in RULES)
    lines = (f"{r.id:<9} {r.severity.label:<9} {r.name:<{width}}  {r.page.title}" for r in RULES)
    return "\n".join(lines) + "\n"


def reference() -> str:
    """All pages as Markdown; the file docs/rules.md is this text."""
    about = "\n".join(_wrapped(text, 120) for text in (DRAWINGS, LAWS))
    head = f"# Rules\n\nGenerated by `tidemark rules --markdown`.\n\n{about}\n"
    return head + _index() + _twins() + "".join(f"\n{_markdown(rule)}" for rule in RULES)


def _index() -> str:
    """The rules by how grave a finding is, and by the evidence that each of them can use."""
    grave = {each.label: [r for r in RULES if r.severity is each] for each in sorted(Severity, reverse=True)}
    shown = {words: [r for r in RULES if name in {row.__name__ for row in r.needs}] for name, words in EVIDENCE.items()}
    return f"\n## By severity\n\n{_linked('severity', grave)}\n## By evidence\n\n{_linked('evidence', shown)}"


def _linked(what: str, rules: Mapping[str, Sequence[Rule]]) -> str:
    lines = (f"| {words} | {', '.join(map(_link, own))} |\n" for words, own in rules.items() if own)
    return f"| {what} | rules |\n|---|---|\n{''.join(lines)}"


def _link(rule: Rule) -> str:
    return f"[{rule.id}](#{rule.id.lower()}-{rule.name})"


def _twins() -> str:
    """How each rule is shown to fire, and which of them no recorded sample shows."""
    table = _table()
    alone = [rule.id for rule in RULES if not table[rule.id]["samples"]]
    bare = [rule_id for rule_id in alone if not table[rule_id]["mutants"]]
    return (
        "\n## Twins\n"
        "\nEvery page draws twins: a lawful partition on which the rule is asked and stays silent, and one on which it"
        " fires.\nA test judges both. *Shown by* names the recorded samples in `sample_logs/` in which the rule finds"
        " something, and\nthe scripts in `sample_logs/textbook/` whose brokers, run by `simulate`, leave what it"
        " finds. Of a *byte mutant* exact\nbytes of a recorded sample were changed, and of its lawful twin others:"
        " `tests/mutants` audits both.\n"
        f"\nRecorded samples show {len(RULES) - len(alone)} of {len(RULES)} rules, byte mutants"
        f" {len(alone) - len(bare)} more{_and_why(bare)}"
    )


def _and_why(bare: Sequence[str]) -> str:
    """The rules that are shown by neither, each with the reason."""
    if not bare:
        return ".\n"
    reasons = "".join(f"| {rule_id} | {' '.join(_table()[rule_id]['notShown'])} |\n" for rule_id in bare)
    return (
        f". The other {len(bare)}, and why:\n\n| rule | why no sample and no mutant shows it |\n|---|---|\n{reasons}"
    )


def _markdown(rule: Rule) -> str:
    page = rule.page
    follows = f"\nFollows from: {', '.join(rule.implied_by)}." if rule.implied_by else ""
    introduction = f"{page.introduction}\n\n" if page.introduction else ""
    reach = f"**Reach.** {rule.reach}\n\n" if rule.reach else ""
    return (
        f"## {rule.id} {rule.name}\n\n{page.title}\n\n{introduction}"
        f"Severity: {rule.severity.label}. Scope: {rule.scope}. Law: {rule.law}."
        f" Needs: {_needed(rule)}.{follows}\n\n"
        f"**Proves.** {page.proves}\n\n**Undecided when.** {page.undecided_when}\n\n"
        f"Upheld:\n\n```\n{page.upheld}\n```\n\nViolated:\n\n```\n{page.violated}\n```\n\n"
        f"**Shown by.** {capital(shown_by(rule.id))}.\n\n"
        f"{reach}**What you will read.** {example(rule)}\n"
    )
