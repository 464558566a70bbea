"""The report as one page for a browser: what was lost, pictures of every troubled partition, and all findings."""
