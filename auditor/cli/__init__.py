"""The command line: one module for each group of commands, and the words of their options."""

from auditor.cli.process import main
