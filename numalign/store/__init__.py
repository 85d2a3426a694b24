"""The one writer of files (replaced whole, in one step, or not at all) and the one opener of those that are read."""
