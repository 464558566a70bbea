"""The inverse of the readers, byte-true: for simulated dumps, salvage and tests."""
