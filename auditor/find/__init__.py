"""`tidemark find`: where a broker finds an offset or a timestamp, step by step, and whether its indexes mislead it."""

from auditor.find.run_find import Sought, run_find
