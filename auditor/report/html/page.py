"""The page: values into templates that escape all they are given, under a policy that lets nothing in from outside."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from auditor.report.html.shapes import number
from auditor.report.html.values import page_values
from auditor.report.layout import counted, size
from auditor.report.model import AuditReport
from auditor.report.plain import plain
from rules.finding import capital, offsets_told

STYLE: Final = "style.css"
SCRIPT: Final = "script.js"


def render(report: AuditReport) -> str:
    """The whole page, the same for the same report."""
    shelf = _shelf()
    style, script = (shelf.get_template(name).render() for name in (STYLE, SCRIPT))
    return shelf.get_template("page.html").render(policy=_policy(style, script), **page_values(report)) + "\n"


@cache
def _shelf() -> Environment:
    """The templates; a name that is not given is an error, and words of a dump are escaped twice over."""
    shelf = Environment(
        loader=PackageLoader("auditor.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shelf.filters["px"] = number
    shelf.filters["capital"] = capital
    shelf.filters["stopped"] = lambda words: f"{words.removesuffix('.')}."
    shelf.filters["counted"] = counted
    shelf.filters["size"] = size
    shelf.globals["offsets"] = offsets_told
    return shelf


def _shown(value: object) -> object:
    """What moves the cursor, hides or turns text round is spelled out; the template then escapes what marks up."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, sent or run but the one style and the one script that stand in the page."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none';"
        " form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
