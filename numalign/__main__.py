"""`python -m numalign`: the same as the `numalign` command."""

from numalign.cli import main

if __name__ == "__main__":
    main()
