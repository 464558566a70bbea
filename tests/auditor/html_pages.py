"""A page as a browser's parser takes it: its elements in order, their attributes, and the text that a reader sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from dumps_at_hand import SAMPLES

from auditor.report.model import AuditReport
from tests.lab.sample_reports import report_on
from tests.replaced import replace

PARTITIONS = 10_000

VOID = frozenset({"meta", "br"})
UNREAD = frozenset({"style", "script"})
Attributes = dict[str, str]


@dataclass
class PageRead(HTMLParser):
    """What was met while the page was read."""

    elements: list[tuple[str, Attributes]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    raw: dict[str, str] = field(default_factory=dict)
    declared: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_decl(self, decl: str) -> None:
        self.declared = decl

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice: {names}"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in UNREAD:
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + data
        else:
            self.text.append(data)

    @property
    def words(self) -> str:
        """All text, spaces as a browser shows them."""
        return " ".join("".join(self.text).split())

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Elements with the names of their attributes: what no word of a dump may change."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]

    def all_of(self, name: str) -> list[str]:
        """The values of one attribute."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def page_read(page: str) -> PageRead:
    """The page, read to its end with every element closed."""
    reader = PageRead()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def many(findings: int) -> AuditReport:
    """A report on thousands of partitions, so many findings among them."""
    report = report_on(SAMPLES / "fast_failover_kip101")
    troubled = findings // len(report.findings) + 1
    return replace(
        report,
        replicas=tuple(replace(r, partition=n) for n in range(PARTITIONS) for r in report.replicas),
        findings=tuple(replace(f, partition=n) for n in range(troubled) for f in report.findings)[:findings],
        counterfactuals=tuple(replace(t, partition=n) for n in range(troubled) for t in report.counterfactuals),
        histories=tuple(replace(h, partition=n) for n in range(troubled) for h in report.histories),
        advice=tuple(replace(a, partition=n) for n in range(troubled) for a in report.advice),
        incidents=tuple(replace(i, id=f"I-{n}") for n in range(troubled) for i in report.incidents),
    )
