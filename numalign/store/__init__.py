"""The one writer of files: a file is replaced whole, in one step, or not at all."""
