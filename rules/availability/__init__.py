"""A partition's availability over time: who was in sync and who led, how long it was exposed, and what allowed it."""
