"""The learners as scikit-learn estimators."""

from .class_estimators import OnePerClassClassifier, RankedClassifier, RuleListClassifier, TightestDetector
from .estimators import (
    EnumerativeClassifier,
    FernnClassifier,
    FernnRegressor,
    LatticeClassifier,
    MaxSatClassifier,
    RobustnessTransformer,
    TreeClassifier,
)

__all__ = [
    "EnumerativeClassifier",
    "FernnClassifier",
    "FernnRegressor",
    "LatticeClassifier",
    "MaxSatClassifier",
    "OnePerClassClassifier",
    "RankedClassifier",
    "RobustnessTransformer",
    "RuleListClassifier",
    "TightestDetector",
    "TreeClassifier",
]
