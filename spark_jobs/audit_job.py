"""An audit on a cluster: `spark-submit spark_jobs/audit_job.py DUMP [the flags of tidemark audit]`.

Master, executors and settings are spark-submit's; the report and the exit code are those of the command line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

# spark-submit puts the folder of this file on the path, and not the one that holds the packages.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from auditor.cli import main


def run(arguments: list[str]) -> NoReturn:
    """Audit by the Spark engine, as `tidemark audit` does, and end with its exit code."""
    engines = [word for word in arguments if word == "--engine" or word.startswith("--engine=")]
    if engines:
        sys.stderr.write("tidemark: --engine has no place here: spark-submit has started Spark already\n")
        raise SystemExit(2)
    sys.argv = ["tidemark", "audit", *arguments, "--engine", "spark"]
    from spark_jobs.session import stop_session

    try:
        main()
    finally:
        stop_session()


if __name__ == "__main__":
    run(sys.argv[1:])
