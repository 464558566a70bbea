"""Whole dumps: changed, audited by the local engine, told in every form, and held to the laws of a report."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from random import Random
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # published without types

from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.engines.last_resort import FORESEEN
from auditor.report import json as document
from auditor.report import terminal
from auditor.report.advice import advice_json, advice_text
from auditor.report.model import AuditReport
from auditor.report.postmortem import document as postmortem
from rules.finding import Severity
from rules.judging.giving_up import REPORTED
from tests.hostile.dumps import BASES, CLEAN, Content, Files, Ground, cooked, recipe
from tests.hostile.findings import ROOT, Fault, fault_of, keep
from tests.hostile.harms import CANARY, DEEDS, Harmed, anything, bytes_at
from tests.hostile.laws import Broken
from tests.hostile.limits import SECONDS_OF_DUMP, Hung, within
from tests.hostile.shared import Shared
from tests.replaced import replace

_CONFIG: Final = AuditConfig(engine="local")
_DEEP: Final = AuditConfig(engine="local", level="deep")
_UNPRINTABLE: Final = re.compile(r"[^\n\x20-\U0010ffff]|[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
_CODES: Final = {"clean": 0, "findings": 1, "unknown": 3}
DEEPLY: Final = 8
"""One dump in so many has every record decoded."""


EVERYDAY: Final = 60_000
"""Bytes of a dump that comes as often as the smallest; larger ones come less often, as they take longer."""


def _schema(name: str) -> jsonschema.Draft202012Validator:
    told = json.loads((ROOT / f"docs/{name}.schema.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(told)


class Judge:
    """Audits dumps that lie on a ground, and finds what is unlawful in what is said of them."""

    def __init__(self) -> None:
        self._schemas = {name: _schema(name) for name in ("report", "advice")}
        self._said: dict[str, frozenset[tuple[object, ...]]] = {}

    def judge(self, ground: Ground, harmed: Harmed, *, deep: bool = False) -> AuditReport | None:
        """Lay a dump out and hold what is said of it to the laws; None for a dump that is refused whole.

        Raises:
            Broken: where a law does not hold; whatever else is raised is the auditor's own fault.
        """
        ground.lay(harmed.files)
        before = ground.state()
        try:
            report = audit(ground.root, _DEEP if deep else _CONFIG)
        except ConfigError as refused:
            if not str(refused):
                raise Broken("a dump is refused without a word") from refused
            return None
        finally:
            if ground.state() != before:
                raise Broken("the dump was changed")
        _foreseen(report)
        self._told(report)
        self._claim_holds(report, harmed, ground)
        return report

    def _claim_holds(self, report: AuditReport, harmed: Harmed, ground: Ground) -> None:
        if harmed.claim == "must" and report.verdict == "clean" and said(report) <= self._usual(ground):
            raise FalseClean(f"false clean, although {harmed.why}")
        if harmed.claim == "may" and report.verdict == "findings":
            rules = sorted(
                {finding.rule for finding in report.violations if finding.severity >= _CONFIG.failing_severity}
            )
            raise Broken(f"accused of {' '.join(rules)}, although {harmed.why}")

    def _usual(self, ground: Ground) -> frozenset[tuple[object, ...]]:
        """What is said of a ground's own dump, unharmed."""
        if ground.root.name not in self._said:
            now = ground.now()
            ground.lay(ground.base)
            self._said[ground.root.name] = said(audit(ground.root, _CONFIG))
            ground.lay(now)
        return self._said[ground.root.name]

    def _told(self, report: AuditReport) -> None:
        told: Any = {"verdict": report.verdict, "absent": report.coverage.absent_logs, "untold": report.untold}
        texts = {
            "report": document.render(report),
            "advice": advice_json.document(report.advice, **told),
            "terminal": terminal.render(report, columns=100, colour=False, verbose=True, quiet=False),
            "postmortem": postmortem.render(report),
            "postmortem with its appendix": postmortem.render(report, appendix=True),
            "advice in words": advice_text.text(report.advice, **told),
        }
        for name, schema in self._schemas.items():
            wrong = next(schema.iter_errors(json.loads(texts[name])), None)
            if wrong is not None:
                raise Broken(f"the {name} is not of its schema at {'/'.join(map(str, wrong.absolute_schema_path))}")
        for name, text in texts.items():
            if (found := _UNPRINTABLE.search(text)) is not None:
                raise Broken(f"the {name} holds the character {found[0]!r}")
            if CANARY.decode() in text:
                raise Broken(f"the {name} shows what a record holds")
        if report.exit_code != _CODES[report.verdict]:
            raise Broken(f"the exit code of {report.verdict} is {report.exit_code}")


def said(report: AuditReport) -> frozenset[tuple[object, ...]]:
    """Findings by what they are about, for a comparison with those of the same dump before it was harmed."""
    told = (finding for finding in report.violations if finding.severity >= Severity.LOW)
    return frozenset((f.rule, f.topic, f.partition, f.brokers, f.start_offset, f.end_offset) for f in told)


def _foreseen(report: AuditReport) -> None:
    """What nobody foresaw never ends an audit; it must not happen all the same."""
    for refusal in report.refusals:
        if refusal.expected == FORESEEN:
            raise Broken(f"a last resort: {refusal.found}")
    for finding in report.findings:
        if any(REPORTED in words for words in (finding.message, *(fact.value for fact in finding.facts))):
            raise Broken(f"a last resort: {finding.message}")


class FalseClean(Broken):
    """A harm that passes for sound."""


class Judging:
    """A run over numbered dumps: the same number gives the same dump."""

    def __init__(self, seed: int, state: Path, work: Path, shared: Shared) -> None:
        self._seed, self._state, self._work, self._shared = seed, state, work, shared
        self._bases: dict[str, dict[str, Content]] = {base.name: base.files() for base in BASES}
        sizes = [sum(len(bytes_at(files, path)) for path in files) for files in self._bases.values()]
        self._weights = [1 / (EVERYDAY + size) for size in sizes]
        self._judge, self._grounds = Judge(), dict[str, Ground]()

    def _ground(self, name: str) -> Ground:
        if name not in self._grounds:
            self._grounds[name] = Ground(self._work / name, self._bases[name])
        return self._grounds[name]

    def warm(self) -> None:
        """Judge every base as it is: what is recorded as sound must be found so."""
        for name, files in self._bases.items():
            self._judge.judge(self._ground(name), Harmed(files=files, deed="nothing", claim="any", why=""), deep=True)
        for base in CLEAN:
            report = audit(self._ground(base.name).root, _CONFIG)
            if report.verdict != "clean":
                raise SystemExit(f"{base.name} is not sound as it is: {report.verdict}")

    def step(self, number: int) -> None:
        """Make and judge the dump of a number."""
        self._shared.begin(-1, number, b"", time.monotonic())
        name, harmed = self.made(number)
        deep = number % DEEPLY == 0
        fault = self._try(name, harmed, deep=deep)
        self._shared.counts["dumps"] += 1
        if fault is not None:
            self._shared.counts[fault.kind] += 1
            self._keep(name, harmed, fault, deep=deep)

    def made(self, number: int) -> tuple[str, Harmed]:
        """The base and the harm of a number."""
        random = Random(f"{self._seed}/dump/{number}")
        while True:
            base = random.choices(BASES, self._weights)[0]
            deed = random.choice(DEEDS) if base in CLEAN else anything
            harmed = deed(random, dict(self._bases[base.name]))
            if harmed is not None and harmed.files != self._bases[base.name]:
                return base.name, replace(harmed, by=deed.__name__)

    def _try(self, name: str, harmed: Harmed, *, deep: bool) -> Fault | None:
        try:
            with within(SECONDS_OF_DUMP):
                self._judge.judge(self._ground(name), harmed, deep=deep)
        except Hung:
            return Fault(kind="hangs", subject="dump", place=f"{SECONDS_OF_DUMP} s", words=harmed.deed)
        except FalseClean as law:
            return Fault(kind="false_cleans", subject="dump", place=f"{harmed.by} {law}", words=harmed.deed)
        except Broken as law:
            return Fault(kind="broken_laws", subject="dump", place=str(law), words=harmed.deed)
        except Exception as error:  # noqa: BLE001 - whatever it is, an audit must not raise it
            return fault_of(error, "dump")
        return None

    def _keep(self, name: str, harmed: Harmed, fault: Fault, *, deep: bool) -> None:
        exact = fault.kind == "hangs" or harmed.claim != "any"
        smaller = harmed if exact else self._fewer_changes(name, harmed, fault, deep=deep)
        told = {"deed": harmed.deed, "claim": harmed.claim, "why": harmed.why, "level": "deep" if deep else "full"}
        keep(self._state / "found", fault, recipe(name, smaller.files, self._bases[name], told), ".json")

    def _fewer_changes(self, name: str, harmed: Harmed, fault: Fault, *, deep: bool) -> Harmed:
        """The harm with every file given back that is not needed for it."""
        base, files = self._bases[name], dict(harmed.files)
        for path in [path for path in {*files, *base} if files.get(path) != base.get(path)]:
            fewer = {**files, path: base[path]} if path in base else {p: c for p, c in files.items() if p != path}
            smaller = replace(harmed, files=fewer)
            again = self._try(name, smaller, deep=deep)
            if again is not None and again.name == fault.name:
                files = fewer
        return replace(harmed, files=files)


def judged_again(text: bytes, work: Path) -> None:
    """Judge a dump that the corpus keeps; raises what it once raised, where that was never mended."""
    name, files, told = cooked(text)
    base: Files = next(base for base in BASES if base.name == name).files()
    claim: Any = told["claim"]
    harmed = Harmed(files=files, deed=told["deed"], claim=claim, why=told["why"])
    with within(SECONDS_OF_DUMP):
        Judge().judge(Ground(work / name, base), harmed, deep=told["level"] == "deep")
