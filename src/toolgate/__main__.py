"""`python -m toolgate`: the command line."""

import sys

from toolgate.doors.cli import main

if __name__ == "__main__":
    sys.exit(main())
