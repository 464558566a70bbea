"""Facts of a stretch of log, each with its address, and how the facts of neighbouring stretches join."""
