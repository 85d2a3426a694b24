"""Every recorded pod that is admitted and not aligned, explained, and each fix applied and played again.

`python -m tests.unaligned` judges 200 of them and prints the shares; the test judges a few.
"""
