"""A leader's high watermark over one lead: what it knew of followers, for whom it waited, what its answers prove."""
