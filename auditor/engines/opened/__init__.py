"""A unit's files opened, and the form in which it tells what they hold: what every reading of a unit begins with."""
