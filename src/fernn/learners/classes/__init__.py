"""Beyond two classes: a rule for each of many, a list of rules, one class alone, and classes that are ranked."""

from .each import OnePerClass
from .fitted import RulesFit
from .listing import Ordered
from .rules import PerClass, Rule, RuleList, Rules, confusion, read_rules

__all__ = [
    "OnePerClass",
    "Ordered",
    "PerClass",
    "Rule",
    "RuleList",
    "Rules",
    "RulesFit",
    "confusion",
    "read_rules",
]
