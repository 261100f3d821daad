"""The learners as scikit-learn estimators."""

from .classifier import FernnClassifier
from .enumerative import EnumerativeClassifier
from .regressor import FernnRegressor
from .transformer import RobustnessTransformer

__all__ = ["EnumerativeClassifier", "FernnClassifier", "FernnRegressor", "RobustnessTransformer"]
