"""What is judged, and how: facts in, verdicts out. Pure functions over values, without files, Spark or printing."""
