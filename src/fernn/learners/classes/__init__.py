"""Rules for classes: one per class, an ordered list, one-class learning, and ranked classes."""

from .class_rules import Decides, Envelope, PerClass, RankRule, Rule, RuleList, Rules, Tight, confusion, read_rules
from .multiclass import OnePerClass, Ordered, Ranked
from .multiple_fits import RulesFit
from .one_class import Tightest

__all__ = [
    "Decides", "Envelope", "OnePerClass", "Ordered", "PerClass", "RankRule", "Ranked", "Rule", "RuleList", "Rules",
    "RulesFit", "Tight", "Tightest", "confusion", "read_rules",
]  # fmt: skip
