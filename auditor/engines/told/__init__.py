"""From what brokers, tools and people told to facts: logs, traces, metadata, settings, texts, tables."""
