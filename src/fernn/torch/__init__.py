"""The cells of FERNN as torch modules, by their public name: see `fernn.learners.fernn.torch_cells`."""

from ..learners.fernn import torch_cells
from ..learners.fernn.torch_cells import *  # noqa: F403

__all__ = torch_cells.__all__
