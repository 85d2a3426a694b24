"""Mutants: numalign with one thing changed, and whether the tests that mirror the module see it."""
