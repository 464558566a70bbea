"""Judging: rules run on evidence, and what is said beside their findings: the bill, each replica's standing, doubts."""
