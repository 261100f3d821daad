"""The GPU of this machine: whether there is one to work on, and what is missing where there is none."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any, Literal

from ..errors import UnsupportedError

Device = Literal["cpu", "cuda"]
INSTEAD = "Use device='cpu'."


def is_interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, on the processor: for tests, where there is no GPU."""
    return os.environ.get("TRITON_INTERPRET", "") == "1"


def torch_device(device: str) -> Any:
    """The torch device; None for the processor. What is missing is said."""
    if device == "cpu":
        return None
    if device != "cuda":
        raise UnsupportedError(f"device is 'cpu' or 'cuda', got {device!r}")
    if find_spec("torch") is None:
        raise _missing("torch", "pip install 'fernn[torch]'")
    import torch

    if not is_interpreted() and not torch.cuda.is_available():
        why = "it is built without CUDA" if torch.version.cuda is None else "nvidia-smi says whether the driver does"
        raise UnsupportedError(
            f"device='cuda' needs an NVIDIA card, and torch {torch.__version__} finds none ({why}). {INSTEAD}"
        )
    if find_spec("triton") is None:
        raise _missing("triton", "it comes with the CUDA builds of torch")
    return torch.device("cpu" if is_interpreted() else "cuda")


def _missing(name: str, how: str) -> UnsupportedError:
    return UnsupportedError(f"device='cuda' needs {name}, which is not installed: {how}. {INSTEAD}")
