"""The page: values into templates that escape all they are given, under a policy that lets nothing in from outside."""

from __future__ import annotations

from auditor.report.html.shelf import SCRIPT, STYLE, policy, shelf
from auditor.report.html.template_values import page_values
from auditor.report.model import AuditReport


def render(report: AuditReport) -> str:
    """The whole page, the same for the same report."""
    style, script = (shelf().get_template(name).render() for name in (STYLE, SCRIPT))
    return shelf().get_template("page.html").render(policy=policy(style, script), **page_values(report)) + "\n"
