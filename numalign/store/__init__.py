"""Everything numalign writes into files."""
