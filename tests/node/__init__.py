"""A node walked from end to end, and the trees that stand for one."""
