"""`python -m auditor.cli`: the same as `tidemark`."""

from auditor.cli import main

main()
