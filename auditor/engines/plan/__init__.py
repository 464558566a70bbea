"""What there is to read in a dump, cut into units of work before any of it is read."""
