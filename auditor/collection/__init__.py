"""What an operator collects of each broker: the script that does it, and whether all of it has arrived unchanged."""

from __future__ import annotations

from auditor.collection.arrival import refused_by_manifests
from auditor.collection.printed_script import script_text
