"""`tidemark simulate`: a script is read, run by `rules.simulator`, told, and written down as its brokers would."""
