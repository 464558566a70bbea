"""Who led when, and under what: one broker's leads, and the ISRs, settings and restarts that it tells of meanwhile."""
