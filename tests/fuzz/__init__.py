"""Hostile inputs: whatever comes in, there is an answer or one clear line, soon, in little memory, and nothing breaks.

`make fuzz` makes inputs as long as it is told; what it finds is made small and kept in `corpus/`, which every test run
replays. A case is made from its class and its number alone, so the same number is the same case everywhere.
"""
