"""A range of a log read again, because folded facts could not settle it, and what the second look shows."""
