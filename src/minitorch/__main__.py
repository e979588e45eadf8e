"""`python -m minitorch` is the console script `minitorch`."""

from minitorch.cli import main

if __name__ == "__main__":
    main()
