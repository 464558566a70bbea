"""A partition's past, told once: who led when, what was cut and elected, and what is silent about it."""
