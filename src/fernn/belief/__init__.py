"""How far a rule may be believed.

account      all that is known for and against the rule of a run
rivalry      the formulas that are as good, by behaviour; related(f, g): what two of them have to do with each other
parts        what could be left out of a rule; leaner(rule, data): without it
slack        how far each threshold can move; nearest(rule, data): the traces nearest to its border
tested       its error on traces not seen, beside chance and guessing; tested_rules: of rules for classes
detected     what a rule of one class flags: of known faults, and of good traces
nested       the error to expect of what a learner picks
chance       whether labels that mean nothing give as good a rule
stability    whether other recordings would have given the same rule
abstaining   verdicts that may be `cannot say`; of each class few are misjudged
"""

from .abstaining import Abstaining, abstaining
from .account import Account, account
from .chance import Chance, chance
from .guessing import Detection, Tested, detected, tested, tested_outcome, tested_rules
from .interval import clopper_pearson, of_blocks
from .meaning import Part, leaner, parts
from .nested import Nested, nested
from .relation import Relation, needed_length, related
from .rivalry import Group, Rivalry, rivalry
from .stability import Stability, stability
from .tightness import Nearest, Slack, nearest, slack

__all__ = [
    "Abstaining",
    "Account",
    "Chance",
    "Detection",
    "Group",
    "Nearest",
    "Nested",
    "Part",
    "Relation",
    "Rivalry",
    "Slack",
    "Stability",
    "Tested",
    "abstaining",
    "account",
    "chance",
    "clopper_pearson",
    "detected",
    "leaner",
    "nearest",
    "needed_length",
    "nested",
    "of_blocks",
    "parts",
    "related",
    "rivalry",
    "slack",
    "stability",
    "tested",
    "tested_outcome",
    "tested_rules",
]
