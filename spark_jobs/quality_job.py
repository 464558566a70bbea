"""Data quality on a cluster: `spark-submit spark_jobs/quality_job.py DUMP [the flags of tidemark quality]`.

Master, executors and settings are spark-submit's; pages, summary and exit code are those of the command line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

# spark-submit puts the folder of this file on the path, and not the one that holds the packages.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from auditor.cli import main


def run(arguments: list[str]) -> NoReturn:
    """Check as `tidemark quality` does, and end with its exit code."""
    sys.argv = ["tidemark", "quality", *arguments]
    from spark_jobs.session import stop_session

    try:
        main()
    finally:
        stop_session()


if __name__ == "__main__":
    run(sys.argv[1:])
