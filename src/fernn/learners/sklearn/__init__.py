"""The learners as scikit-learn estimators."""

from .classes import OnePerClassClassifier, RankedClassifier, RuleListClassifier
from .classifier import FernnClassifier
from .detector import TightestDetector
from .enumerative import EnumerativeClassifier
from .lattice import LatticeClassifier
from .maxsat import MaxSatClassifier
from .regressor import FernnRegressor
from .transformer import RobustnessTransformer
from .tree import TreeClassifier

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
