"""The learners as scikit-learn estimators."""

from .classifier import FernnClassifier
from .regressor import FernnRegressor
from .transformer import RobustnessTransformer

__all__ = ["FernnClassifier", "FernnRegressor", "RobustnessTransformer"]
