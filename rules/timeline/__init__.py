"""A partition's history as rows: statements in their order, each with what every replica must have held by then."""
