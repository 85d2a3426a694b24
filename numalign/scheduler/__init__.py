"""Schedulers that know of NUMA nodes, as values and functions: what they read, how they filter, score and choose."""
