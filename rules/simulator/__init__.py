"""The replication protocol as a deterministic machine: `step(cluster, event) -> cluster`, made of `rules.protocol`."""
