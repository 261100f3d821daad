"""python -m reproduction [EXPERIMENT...] [--quick]: what `fernn reproduce` does, from a clone of the repository."""

import sys

from fernn.cli import main

sys.argv = ["fernn", "reproduce", *sys.argv[1:]]
main()
