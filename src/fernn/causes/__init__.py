"""Root causes: which past behaviour precedes a fault, from recordings that say at every sample whether there is one.

made = marked(X, faulty)           # or read_marked("plant.csv", "fault")
print(Cause().fit(made).told())
"""

from .account import Account, Episode, RuleAccount, account
from .cause import Cause
from .found import CauseFit
from .marked import Marked, marked
from .reading import inspect_marked, read_marked
from .tank import CAUSE, tank

__all__ = [
    "CAUSE",
    "Account",
    "Cause",
    "CauseFit",
    "Episode",
    "Marked",
    "RuleAccount",
    "account",
    "inspect_marked",
    "marked",
    "read_marked",
    "tank",
]
