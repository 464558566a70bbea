"""Archives given as dumps: unpacked into a private folder that is gone at the end, or refused where they are traps."""

from __future__ import annotations

from auditor.archives.at_hand import AtHand, at_hand
from auditor.archives.limits import NotUnpacked
from auditor.archives.members import is_readable_archive
