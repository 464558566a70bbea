"""Kafka's replication protocol as pure arithmetic: offsets, epochs, watermarks, truncation, in-sync replicas."""
