"""How fast numalign is, always beside something else in the same run: every claim is a ratio."""
