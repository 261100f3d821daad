"""Evaluation: how far a rule may be believed.

assess               all that is known for and against the rule of a run
evaluate_rule        its error on the test set, beside chance and the majority class; evaluate_rules: for classes
evaluate_detection   what a rule of one class flags: of known faults, and of good traces
permutation_test     whether labels that mean nothing give as good a rule
bootstrap            whether other recordings would have given the same rule
nested_cv            the error to expect of what a learner picks
calibrate            conformal verdicts that may be `cannot say`; of each class few are misjudged
rashomon_set         the formulas that are as good (rivals), by behaviour
relate               how two formulas stand to each other on all traces
idle_parts           what could be left out of a rule; remove_idle_parts(rule, data): without it
threshold_slack      how far each threshold can move; nearest_traces(rule, data): the traces nearest to its border
"""

from .assessment import Assessment, assess
from .conformal import ConformalRule, calibrate
from .equivalence import Relation, relate, sufficient_length
from .intervals import clopper_pearson, cluster_interval
from .nested_cv import NestedCV, nested_cv
from .permutation_test import (
    Detection,
    HoldoutTest,
    PermutationTest,
    evaluate_detection,
    evaluate_outcome,
    evaluate_rule,
    evaluate_rules,
    permutation_test,
)
from .rashomon import BehaviourGroup, RashomonSet, rashomon_set
from .resampling import Stability, bootstrap
from .vacuity import IdlePart, NearestTrace, Slack, idle_parts, nearest_traces, remove_idle_parts, threshold_slack

__all__ = [
    "Assessment", "BehaviourGroup", "ConformalRule", "Detection", "HoldoutTest", "IdlePart", "NearestTrace",
    "NestedCV", "PermutationTest", "RashomonSet", "Relation", "Slack", "Stability", "assess", "bootstrap",
    "calibrate", "clopper_pearson", "cluster_interval", "evaluate_detection", "evaluate_outcome", "evaluate_rule",
    "evaluate_rules", "idle_parts", "nearest_traces", "nested_cv", "permutation_test", "rashomon_set", "relate",
    "remove_idle_parts", "sufficient_length", "threshold_slack",
]  # fmt: skip

FORMER_NAMES = {
    "abstaining": "calibrate",
    "account": "assess",
    "chance": "permutation_test",
    "detected": "evaluate_detection",
    "leaner": "remove_idle_parts",
    "nearest": "nearest_traces",
    "needed_length": "sufficient_length",
    "nested": "nested_cv",
    "of_blocks": "cluster_interval",
    "parts": "idle_parts",
    "related": "relate",
    "rivalry": "rashomon_set",
    "slack": "threshold_slack",
    "stability": "bootstrap",
    "tested": "evaluate_rule",
}
"""What functions were called in `fernn.belief`, and are called now."""
