"""OUTSIDE -> MODEL: the only readers of files, of /sys and of the host."""
