"""A partition as a few lines of text and back: the notation of rule pages, tests and reports."""
