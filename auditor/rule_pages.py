"""The rules' pages as text: one page, and the list."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Final

from auditor.config import ConfigError
from auditor.report.sheet import COLUMNS, Sheet
from rules.catalog import BY_ID, RULES
from rules.finding import sentences
from rules.rule import Rule
from rules.thresholds import Threshold

INDENT: Final = 4
MARGIN: Final = " " * INDENT
NAMED: Final = 6
"""Scripts named of a rule; the rest is counted."""
DRAWINGS: Final = (
    "A drawing has a line for each replica and a column for each offset. The digit is the leader epoch, | the high"
    " watermark, . an offset that is not held. Lines that begin with t are events, in order."
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
        yield f"\n{wrapped(text)}"
    yield f"\nProves\n{wrapped(page.proves, indented=INDENT)}"
    yield f"\nUndecided when\n{wrapped(page.undecided_when, indented=INDENT)}"
    yield f"\nUpheld\n{indent(page.upheld, MARGIN)}"
    yield f"\nViolated\n{indent(page.violated, MARGIN)}"
    yield f"\n{wrapped(DRAWINGS, indented=INDENT)}"
    if rule.reach:
        yield f"\nReach\n{wrapped(rule.reach, indented=INDENT)}"
    for threshold in rule.thresholds:
        yield f"\nThreshold\n{wrapped(threshold_told(threshold), indented=INDENT)}"
    yield f"\nWhat you will read\n{wrapped(example(rule), indented=INDENT)}"
    yield f"\n{wrapped(f'Shown by: {shown_by(rule.id)}')}"
    yield f"\nLaw: {rule.law}"
    yield wrapped(f"Needs: {needed(rule)}")
    if rule.implied_by:
        yield f"Follows from: {', '.join(rule.implied_by)}"


def threshold_told(threshold: Threshold) -> str:
    """A number that a policy may raise."""
    unit = threshold.unit
    least, most = f"{threshold.default} {unit} by default", f"at most {threshold.most} {unit}"
    return f"{threshold.name}: {threshold.means} It is {least}. A policy may raise it, to {most}."


@cache
def example(rule: Rule) -> str:
    """What the rule says of its own drawing; of one that looks at more than a drawing shows, its words with holes."""
    from rules.judging.judge import judge
    from rules.judging.judge_topics import judge_topics
    from rules.sketch.notation import read_sketch

    verdict = judge(read_sketch(rule.page.violated).evidence, [rule])
    verdicts = judge_topics([verdict], [rule]) if rule.check_topic else [verdict]
    found = (finding for each in verdicts for finding in each.findings if finding.rule == rule.id)
    return sentences(next((finding.message for finding in found), rule.message))


def needed(rule: Rule) -> str:
    """The evidence that it asks for, as people call it."""
    return "; ".join(EVIDENCE[row.__name__] for row in rule.needs)


def wrapped(text: str, columns: int = COLUMNS, indented: int = 0) -> str:
    """Paragraphs and points of lists, each filled to the width of a page."""
    page, parts = Sheet(columns=columns, colour=False), []
    for part in re.split(r"(\n\s*\n|\n(?=- ))", text):
        hanging = 2 if part.startswith("- ") else 0
        parts.append(part if part.isspace() else "\n".join(page.wrapped(" ".join(part.split()), indented, "", hanging)))
    return "".join(parts)


@cache
def shown() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By rule what shows it, its lawful twins, and why no recording does; tests hold it against audits."""
    showing: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("shown_by.json").read_text("utf-8"))
    return showing


def shown_by(rule_id: str) -> str:
    """What shows a rule: recorded samples first, then mutants of them, then scripts that `simulate` runs."""
    showing = shown().get(rule_id, {})
    samples, mutants = (showing.get(kind, ()) for kind in ("samples", "mutants"))
    parts = [f"recorded {', '.join(samples)}"] if samples else ["no recorded sample"]
    if mutants:
        parts.append(f"byte mutant of {', '.join(mutants)}")
    parts += simulated(rule_id)
    return "; ".join(parts) if samples or len(parts) > 1 else f"no recorded sample; {BY_DRAWING}"


def simulated(rule_id: str, written: Callable[[str], str] = str) -> Sequence[str]:
    """The first scripts that show a rule, and how many more do; nothing where none does."""
    scripts = shown().get(rule_id, {}).get("scripts", ())
    more = f" and {len(scripts) - NAMED} more" if len(scripts) > NAMED else ""
    return [f"simulated {', '.join(map(written, scripts[:NAMED]))}{more}"] if scripts else []


def listing() -> str:
    """One line a rule."""
    width = max(len(rule.name) for rule in RULES)
    lines = (f"{r.id:<9} {r.severity.label:<9} {r.name:<{width}}  {r.page.title}" for r in RULES)
    return "\n".join(lines) + "\n"
