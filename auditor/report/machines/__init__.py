"""Reports that programs read: one module a format, each inert whatever a dump's names hold."""
