"""The engines: one partition after the other in this process, or many at once on Spark, by the same functions."""
