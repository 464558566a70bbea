"""The Spark engine: the same functions as the local one, run where the bytes lie."""
