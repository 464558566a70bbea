"""Data Docs of one run, as a folder that can be carried away."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext

from auditor.quality.outcome import QualityReport
from auditor.quality.pages import index_page, standing_alone

SITE: Final = "quality"


def build_site(context: EphemeralDataContext, folder: Path, report: QualityReport) -> Path:
    """Write the Data Docs of what the context has validated; the page to open first."""
    for name in context.get_site_names():
        context.delete_data_docs_site(name)
    context.add_data_docs_site(
        SITE,
        {
            "class_name": "SiteBuilder",
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.resolve())},
        },
    )
    context.build_data_docs(site_names=[SITE])
    # Fonts and logos that no page uses any more.
    shutil.rmtree(folder / "static", ignore_errors=True)
    for page in sorted(folder.rglob("*.html")):
        page.write_text(standing_alone(page.read_text(encoding="utf-8")), encoding="utf-8")
    index = folder / "index.html"
    # The index that comes with them is drawn by scripts from a network; this one is tables of links and addresses.
    index.write_text(index_page(folder, report), encoding="utf-8")
    return index
