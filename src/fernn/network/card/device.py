"""Whether there is a card to train on; what is missing, where there is none."""

from __future__ import annotations

from ...errors import UnsupportedError


def card(device: str = "cuda") -> str:
    """The device, if torch finds it and can compile for it."""
    try:
        import torch
    except ImportError as missing:
        raise UnsupportedError(
            "device='cuda' needs torch, which is not installed: pip install 'fernn[torch]'; device='cpu' needs none"
        ) from missing
    if not torch.cuda.is_available():
        why = "is built without CUDA" if torch.version.cuda is None else "finds no NVIDIA card"
        raise UnsupportedError(f"device='cuda' needs an NVIDIA card: torch {torch.__version__} {why}. Use device='cpu'")
    try:
        import triton  # noqa: F401
    except ImportError as missing:
        raise UnsupportedError(
            "device='cuda' needs triton, which comes with torch for CUDA on Linux: pip install triton"
        ) from missing
    return device
