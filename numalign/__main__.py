"""`python -m numalign`: the same as the `numalign` command."""

from numalign.cli import script

if __name__ == "__main__":
    script()
