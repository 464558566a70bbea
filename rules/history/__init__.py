"""What happened, as told: dated statements, whose clocks and terms they are of, and what nobody tells."""
