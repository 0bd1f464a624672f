"""A program of its own: `python -m imprint_trainer` would load what only the worker needs."""

import sys

from imprint_node.run_task import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
