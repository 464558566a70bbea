"""The advice as text for a person, as files that commands read, and as JSON; nothing in it is run."""
