"""The learners as scikit-learn estimators."""

from .classifier import FernnClassifier
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
    "RobustnessTransformer",
    "TreeClassifier",
]
