"""Every recorded refusal explained, and each explanation held to what it says.

`python -m tests.refusals` judges all of them and prints the shares; the test judges a fixed tenth.
"""
