"""One module a family of `tests/vectors`. Each has `decide(case) -> answer in the shape of the case's `expect``."""
