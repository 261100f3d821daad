"""The command line: every command a few lines over the library.

Exit codes: 0 fine, 1 the formula is violated, 2 bad data, 3 bad usage, 130 interrupted.
"""

from .main import main

__all__ = ["main"]
