"""What the replicas hold, each by itself and beside the others."""
