"""The paper's comparison, made again: `python -m reproduction` or `make reproduce`, in a clone of the repository."""
