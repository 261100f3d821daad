"""Beyond two classes: a rule for each of many, a list of rules, one class alone, and classes that are ranked."""

from .each import OnePerClass
from .envelope import Envelope, Tight
from .fitted import RulesFit
from .listing import Ordered
from .ranking import Ranked
from .ranks import RankRule
from .rules import Decides, PerClass, Rule, RuleList, Rules, confusion
from .saved import read_rules
from .tightest import Tightest

__all__ = [
    "Decides",
    "Envelope",
    "OnePerClass",
    "Ordered",
    "PerClass",
    "RankRule",
    "Ranked",
    "Rule",
    "RuleList",
    "Rules",
    "RulesFit",
    "Tight",
    "Tightest",
    "confusion",
    "read_rules",
]
