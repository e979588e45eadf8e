"""`torch.__config__`: what this was built with."""

from __future__ import annotations

import numpy as np

from minitorch.torch.environment import get_num_interop_threads, get_num_threads


def show() -> str:
    """What computes here, as text."""
    return f"PyTorch built with:\n  - minitorch, in Python\n  - NumPy {np.__version__}\n"


def parallel_info() -> str:
    """How many threads there are, as text."""
    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
        f"\tat::get_num_interop_threads() : {get_num_interop_threads()}\n"
    )
