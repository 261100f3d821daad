"""The learners as scikit-learn estimators."""

from .classifier import FernnClassifier
from .enumerative import EnumerativeClassifier
from .maxsat import MaxSatClassifier
from .regressor import FernnRegressor
from .transformer import RobustnessTransformer

__all__ = [
    "EnumerativeClassifier",
    "FernnClassifier",
    "FernnRegressor",
    "MaxSatClassifier",
    "RobustnessTransformer",
]
