"""The audit and the quality checks as jobs for `spark-submit`, and the session that they run in."""
