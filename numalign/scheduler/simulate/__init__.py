"""A cluster over time: arrivals, stale data, run-away pods; a scheduler in front, exact kubelets behind.

docs/rules/scheduling.md 3, 4 and 6. `engine.Simulation` drives; the other modules hold one idea each.
"""
