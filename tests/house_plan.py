"""The plan of the house as it stands: its rooms, what each is for, and on which rooms it stands.

`python -m tests.house_plan` draws `docs/house.md` anew from the packages' own words and imports; a test holds the page
against the code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from tests.test_architecture import PACKAGES, ROOT, Module, imports, load

PAGE: Final = ROOT / "docs" / "house.md"
FLOORS: Final = (
    ("spark_jobs", "START ON A CLUSTER: spark-submit and sessions, no rule logic."),
    ("auditor", "TELL AND STEER: people, configuration, engines, reports; not how a byte is laid out."),
    ("rules", "NARROW AND JUDGE: the protocol, evidence, verdicts; no file format, no Spark, no screen."),
    ("parsers", "READ: bytes, text, formats, Kafka's versions; no rules, no verdicts."),
)
HEAD: Final = """\
# The house

Drawn from the code by `python -m tests.house_plan`; a test holds this page against it. A room is a package or, where it
stands alone, a module. Each floor stands on those below it: files are read (`parsers`), narrowed to facts and judged
(`rules`), told (`auditor`), on a cluster as well (`spark_jobs`). One thing crosses the floors: the Spark engine and
`quality` take their session from `spark_jobs.session`. Only these two, `parsers.spark`, the jobs and `auditor.notebook`
know pyspark: a notebook is handed a session, and gives back DataFrames. What a room may import is
law in `tests/test_architecture.py`. No two rooms stand on each other, not even by way of others; a test holds that too.

## What a rule page may import

A page asks. What it asks about is made elsewhere, and a page cannot see how.

| a page may import | for |
|---|---|
| `rules.rule`, `rules.finding` | what it declares, and what it says |
| `rules.evidence` and its modules | the evidence, its values, and larger questions about it: a module for each |
| `rules.chronicle` | who led, what was cut and who is silent: rules over time ask it |
| seven modules of `rules.loss` | what was lost. It is worked out once, and rules, bill and advice are views of it |
| `rules.protocol` | the protocol as arithmetic |
| `rules.words` | nouns with their numbers; it stands on the standard library alone |
| `parsers.tables` | the row classes that the page itself declares as `needs`, and no others |

Two families see one room more. The page of known defects reads their table, `rules.signatures`. The three pages on
indexes say the same sentences of three kinds of file, and those stand once, in `rules.index_verdicts`.

Evidence is made in `rules.history`, `rules.replicas`, `rules.replay`, `rules.unwritten` and `rules.facts`. They do not
know the evidence, and no page knows them.
"""


@cache
def page() -> str:
    """The whole page."""
    return HEAD + "".join(f"\n## `{floor}/`\n\n{says}\n\n{''.join(_rows(floor))}" for floor, says in FLOORS)


def _rows(floor: str) -> Iterator[str]:
    yield "| room | what it is for | stands on |\n|---|---|---|\n"
    modules = [module for module in load(PACKAGES) if module.name.split(".")[0] == floor]
    rooms = sorted({_room(module.name) for module in modules} - {floor})
    for room in rooms:
        inside = [module for module in modules if _room(module.name) == room]
        face = next(module for module in inside if module.name == room)
        below = sorted(set().union(*map(_below, inside)))
        yield f"| `{room.removeprefix(floor + '.')}` | {_first_line(face)} | {_named(below, floor)} |\n"


def circles(stands_on: Mapping[str, AbstractSet[str]]) -> Iterator[str]:
    """Rooms that stand on themselves by way of others."""
    for room in sorted(stands_on):
        reached: set[str] = set()
        pending = [*stands_on[room]]
        while pending:
            below = pending.pop()
            if below not in reached:
                reached.add(below)
                pending.extend(stands_on.get(below, ()))
        if room in reached:
            yield room


def standing_on(floor: str) -> dict[str, set[str]]:
    """Each room of a floor with the rooms that its modules import."""
    found: dict[str, set[str]] = {}
    for module in load(PACKAGES):
        room = _room(module.name)
        if room.split(".")[0] == floor:
            found.setdefault(room, set()).update(_below(module))
    return found


def _below(module: Module) -> set[str]:
    room = _room(module.name)
    return {_room(found.target) for found in imports(module)} & ROOMS - {room, room.split(".")[0]}


def _named(rooms: Iterable[str], floor: str) -> str:
    return ", ".join(f"`{room.removeprefix(floor + '.')}`" for room in rooms) or "-"


def _first_line(module: Module) -> str:
    return (ast.get_docstring(module.tree) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _room(name: str) -> str:
    """The innermost package of a module; the module itself where it stands alone on its floor."""
    parts = name.split(".")
    while len(parts) > 2 and ".".join(parts) not in FACES:
        parts.pop()
    return ".".join(parts)


FACES: Final = frozenset(module.name for module in load(PACKAGES) if module.path.endswith("/__init__.py"))
"""The packages: each says in its own first line what it is for."""
ROOMS: Final = frozenset(_room(module.name) for module in load(PACKAGES))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
