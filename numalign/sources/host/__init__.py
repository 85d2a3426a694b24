"""The live host, or a captured one, from /sys and /proc."""
