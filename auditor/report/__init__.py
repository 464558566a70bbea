"""A report, and one renderer a format."""
