"""Tensor autograd over NumPy that can be read in an afternoon.

    >>> import minitorch as mt
    >>> x = mt.Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> mt.sum(x * x).backward()
    >>> x.grad
    array([2., 4., 6.], dtype=float32)

The parts: `Tensor` and the operations (every function of `minitorch.ops` that has a name of
NumPy's or PyTorch's), `grad` for derivatives of any order, `no_grad` and its kin, `debug`, and
the modules `check` (proofs of derivatives), `graph` (pictures), `kernels` (faster formulas).
"""

import importlib
from typing import Any

from minitorch import arrangement, calculus, fft, kernels, linalg, statistics
from minitorch import numpy_face as _numpy_face  # noqa: F401 - attaches the operations
from minitorch.arrangement import *
from minitorch.calculus import *
from minitorch.constructors import (
    arange,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    rand,
    randint,
    randn,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from minitorch.engine.errors import (
    DTypeError,
    FaceError,
    GradcheckError,
    GraphError,
    IndexingError,
    MinitorchError,
    MutationError,
    ShapeError,
)
from minitorch.engine.mode import debug, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minitorch.ops import *
from minitorch.ops import __all__ as _operations
from minitorch.statistics import *
from minitorch.tensor import Tensor, grad

__version__ = "0.1.0"

_LAZY = ("check", "data", "graph", "ops")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"minitorch.{name}")
    raise AttributeError(f"module 'minitorch' has no attribute {name!r}")


__all__ = [
    "DTypeError",
    "FaceError",
    "GradcheckError",
    "GraphError",
    "IndexingError",
    "MinitorchError",
    "MutationError",
    "ShapeError",
    "Tensor",
    "__version__",
    "arange",
    "check",
    "data",
    "debug",
    "enable_grad",
    "eye",
    "fft",
    "full",
    "full_like",
    "grad",
    "graph",
    "is_grad_enabled",
    "kernels",
    "linalg",
    "linspace",
    "no_grad",
    "ones",
    "ones_like",
    "ops",
    "rand",
    "randint",
    "randn",
    "randperm",
    "set_grad_enabled",
    "tensor",
    "zeros",
    "zeros_like",
]
__all__ += arrangement.__all__
__all__ += calculus.__all__
__all__ += statistics.__all__
__all__.sort()
__all__ += _operations
