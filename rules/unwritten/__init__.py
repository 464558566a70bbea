"""Leader epochs that a record format does not carry, reconstructed from who led when and from where logs ended."""
