"""Names of PyTorch's past, and small things around tensors that programs still touch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.torch import autograd
from minitorch.torch.attach import method
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.functions import view_as_complex, view_as_real
from minitorch.torch.functions.basic import clone
from minitorch.torch.linalg import matrix_norm, vector_norm
from minitorch.torch.tensor import Tensor, wrap

__all__ = [
    "cond",
    "eig",
    "frobenius_norm",
    "is_distributed",
    "lstsq",
    "matrix_rank",
    "native_dropout",
    "norm_except_dim",
    "nuclear_norm",
    "set_anomaly_enabled",
    "solve",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
    "symeig",
    "view_as_complex_copy",
    "view_as_real_copy",
]

# ------------------------------------------------------------------------- methods of tensors


def _new(self: Tensor, *args: Any, device: Any = None) -> Any:
    """A tensor of this one's dtype: of data, or of a size and not set."""
    made: Tensor = Tensor(*args)
    return made if isinstance(args[0] if args else None, Tensor) else made.to(self.dtype)


def _as_subclass(self: Tensor, cls: type) -> Any:
    """A tensor of the class `cls` with this one's memory and place in the graph."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}")
    made: Any = wrap(self._array, cls)
    made._node, made._tracked, made._counter = self._node, self._tracked, self._counter
    return made


def _no_bfloat16(self: Tensor, memory_format: Any = None) -> Any:
    """NotImplementedError: NumPy has no bfloat16."""
    from minitorch.torch.dtypes import bfloat16

    return self.to(bfloat16)


def _pin_memory(self: Tensor, device: Any = None) -> Any:
    """RuntimeError, as in PyTorch without an accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def _is_pinned(self: Tensor, device: Any = None) -> bool:
    """False."""
    return False


def _record_stream(self: Tensor, stream: Any) -> None:
    """Nothing: there are no streams."""


def _reinforce(self: Tensor, reward: Any) -> Any:
    """RuntimeError: use torch.distributions."""
    raise RuntimeError("reinforce() was removed.\nUse torch.distributions instead.")


def _resized(name: str) -> Callable[..., Any]:
    def function(self: Tensor, *size: Any) -> Any:
        warnings.warn(f"non-inplace {name} is deprecated", UserWarning, stacklevel=2)
        if len(size) == 1 and isinstance(size[0], Tensor):
            size = tuple(size[0].shape)
        elif len(size) == 1 and isinstance(size[0], (tuple, list)):
            size = tuple(size[0])
        count = int(np.prod(size))
        if count != self._array.size:
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, size))} ({count} elements in total), but "
                f"the given tensor has a size of {'x'.join(map(str, self.shape))} "
                f"({self._array.size} elements). autograd's resize can only change the shape of a "
                "given tensor, while preserving the number of elements. "
            )
        return self.reshape(size)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "`reshape`, deprecated under this name."
    return function


def _volatile(self: Tensor) -> bool:
    warnings.warn(
        "volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2
    )
    return False


def _module_load(self: Tensor, other: Tensor, assign: bool = False) -> Any:
    """What `load_state_dict` puts in the place of this tensor when it swaps tensors."""
    return other.detach() if assign else clone(other)


def is_distributed(input: Tensor) -> bool:
    """False."""
    return False


for _function, _name in (
    (_new, "new"),
    (_as_subclass, "as_subclass"),
    (_no_bfloat16, "bfloat16"),
    (_pin_memory, "pin_memory"),
    (_is_pinned, "is_pinned"),
    (_record_stream, "record_stream"),
    (_reinforce, "reinforce"),
    (_resized("resize"), "resize"),
    (_resized("resize_as"), "resize_as"),
    (_module_load, "module_load"),
    (is_distributed, "is_distributed"),
    (Tensor.data_ptr, "const_data_ptr"),
    (lambda self: 0, "sparse_dim"),
    (lambda self: self._array.ndim, "dense_dim"),
):
    method(_function, _name)
_attributes: Any = Tensor
_attributes.name = property(lambda self: None)
_attributes.volatile = property(_volatile)
_attributes.grad_dtype = property(lambda self: self.dtype)
_attributes.is_sparse_csr = _attributes.is_nested = _attributes.is_ipu = False
_attributes.is_vulkan = _attributes.is_xla = _attributes.is_hpu = _attributes.is_maia = False

# ---------------------------------------------------------------------------------- functions


def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Any:
    """The 2-norm along one dimension or two."""
    return vector_norm(input, 2.0, dim, keepdim)


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum of the singular values of a matrix, or along two dimensions."""
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else tuple(dim), keepdim)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Any:
    """The norm over all dimensions but one, of a shape that divides `v`; -1: over all."""
    if dim == -1:
        return v.norm(pow)
    others = [place for place in range(v.dim()) if place != dim % v.dim()]
    return vector_norm(v, pow, others, keepdim=True) if others else v.abs()


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Any, Any]:
    """`dropout`, and the mask of what was kept."""
    from minitorch.torch.creation import ones_like
    from minitorch.torch.random import bernoulli

    if train is False or not input._array.size:
        return clone(input), ones_like(input, dtype=from_numpy_dtype(np.dtype(bool)))
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    kept = bernoulli(wrap(np.empty(input._array.shape, input._array.dtype)), 1 - p).bool()
    return input * kept * scale, kept


def view_as_real_copy(input: Tensor) -> Any:
    """A copy of `view_as_real`."""
    return clone(view_as_real(input))


def view_as_complex_copy(input: Tensor) -> Any:
    """A copy of `view_as_complex`."""
    return clone(view_as_complex(input))


def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()
) -> Any:
    """`true_fn(*operands)` if `pred`, else `false_fn(*operands)`."""
    return (true_fn if bool(pred) else false_fn)(*operands)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Anomaly mode on or off; see `torch.autograd.set_detect_anomaly`."""
    autograd.set_detect_anomaly(enabled, check_nan)


# Numbers are what PyTorch calls symbolic: these are Python's.


def sym_int(a: Any) -> int:
    """int(a)."""
    return int(a)


def sym_float(a: Any) -> float:
    """float(a)."""
    return float(a)


def sym_not(a: Any) -> bool:
    """not a."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger one; a float, if one is."""
    found = max(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_min(a: Any, b: Any) -> Any:
    """The smaller one; a float, if one is."""
    found = min(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_sqrt(a: Any) -> float:
    """The square root."""
    return float(a) ** 0.5


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """t if b else f."""
    return t if b else f


def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    return sum(args)


def _removed(name: str, instead: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed. "
            f"`torch.{name}`: use `torch.linalg.{instead}` instead."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"RuntimeError: removed from PyTorch; use torch.linalg.{instead}."
    return function


eig, symeig, lstsq, matrix_rank, solve = (
    _removed(name, instead)
    for name, instead in (
        ("eig", "eig"),
        ("symeig", "eigh"),
        ("lstsq", "lstsq"),
        ("matrix_rank", "matrix_rank"),
        ("solve", "solve"),
    )
)
for _function in (eig, symeig, lstsq, solve):
    method(_function)
