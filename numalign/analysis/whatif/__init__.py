"""The same situation with one thing changed, replayed on the twin."""
