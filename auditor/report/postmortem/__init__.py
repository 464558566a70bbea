"""The incident report in Markdown."""
