"""WHAT EXISTS: machines, pods, quantities and CPU sets as immutable values; standard library only."""
