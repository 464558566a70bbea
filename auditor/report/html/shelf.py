"""The templates of pages and pictures: they escape whatever they are given."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from auditor.report.html.shapes import number
from auditor.report.plain import plain
from auditor.report.sheet import size
from rules.finding import capital, offsets_told
from rules.words import counted

STYLE: Final = "style.css"
SCRIPT: Final = "script.js"


@cache
def shelf() -> Environment:
    """The templates; a name that is not given is an error, and words of a dump are escaped twice over."""
    templates = Environment(
        loader=PackageLoader("auditor.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["px"] = number
    templates.filters["capital"] = capital
    templates.filters["stopped"] = lambda words: f"{words.removesuffix('.')}."
    templates.filters["counted"] = counted
    templates.filters["size"] = size
    templates.globals["offsets"] = offsets_told
    return templates


def _shown(value: object) -> object:
    """What moves the cursor, hides or turns text round is spelled out; the template then escapes what marks up."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def policy(style: str, script: str = "") -> str:
    """Nothing is loaded, sent or run but the one style and the one script that stand in the page."""
    own = f" script-src '{_digest(script)}';" if script else ""
    return f"default-src 'none'; style-src '{_digest(style)}';{own} base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
