"""`python -m envwright`."""

from envwright.cli import main

if __name__ == "__main__":
    main()
