"""Rows to facts, a thousand times fewer: folds over Arrow batches, and how facts become evidence."""
