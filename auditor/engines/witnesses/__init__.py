"""From what witnesses told to facts, brokers, tools and people: logs, traces, metadata, settings, texts, tables."""
