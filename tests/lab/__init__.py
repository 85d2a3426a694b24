"""A laboratory of guests: real Linux on emulated machines of several NUMA nodes, to try what reads a running node.

`make lab` (`python -m tests.lab`) boots each shape of `shapes.py` and judges what numalign says in it.
"""
