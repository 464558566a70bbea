"""`tidemark find`: where a broker finds an offset or a timestamp, step by step, and whether its indexes mislead it."""

from auditor.find.command import Asked, run_find

__all__ = ["Asked", "run_find"]
