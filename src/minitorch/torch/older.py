"""Names of PyTorch's past, and small things around tensors that programs still touch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.torch import autograd
from minitorch.torch._tensor import Tensor, version_of, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import default_numpy, from_numpy_dtype, to_numpy_dtype
from minitorch.torch.functions import view_as_complex, view_as_real
from minitorch.torch.functions.basic import clone
from minitorch.torch.linalg import matrix_norm, vector_norm
from minitorch.torch.nn.functional.dropout import alpha_dropout as _alpha_dropout
from minitorch.torch.nn.functional.dropout import dropout
from minitorch.torch.nn.functional.dropout import feature_alpha_dropout as _feature_alpha_dropout
from minitorch.torch.nn.functional.dropout import feature_dropout as channelwise

__all__ = [
    "alpha_dropout",
    "alpha_dropout_",
    "cond",
    "dropout_",
    "eig",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "frobenius_norm",
    "from_file",
    "is_distributed",
    "lstsq",
    "matrix_rank",
    "native_dropout",
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
    "while_loop",
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


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Any:
    """A leaf of the class `cls` with the memory of `data`."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(
            f"_make_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}"
        )
    made: Tensor = wrap(data._array, cls)
    made._counter = version_of(data)
    return made.requires_grad_() if require_grad else made


Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]


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


def _no_gpu(name: str, words: str) -> Callable[..., Any]:
    def function(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError(words)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "AssertionError: there is no such device."
    return function


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
    (_no_gpu("xpu", "Torch not compiled with XPU enabled"), "xpu"),
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


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Any, Any]:
    """`dropout`, and the mask of what was kept."""
    from minitorch.torch.creation import ones_like
    from minitorch.torch.random import bernoulli

    if train is False or not input._array.size:
        return clone(input), ones_like(input, dtype=from_numpy_dtype(np.dtype(bool)))
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    kept = bernoulli(wrap(np.empty(input._array.shape, input._array.dtype)), 1 - p).bool()
    return input * kept * scale, kept


def _dropout_of(name: str, function: Any, inplace: bool) -> Any:
    def form(input: Tensor, p: float, train: bool) -> Any:
        return function(input, p, train, inplace)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"`torch.nn.functional.{function.__name__}`{', in place' if inplace else ''}."
    return form


dropout_ = _dropout_of("dropout_", dropout, True)
alpha_dropout = _dropout_of("alpha_dropout", _alpha_dropout, False)
alpha_dropout_ = _dropout_of("alpha_dropout_", _alpha_dropout, True)
feature_dropout = _dropout_of("feature_dropout", channelwise, False)
feature_dropout_ = _dropout_of("feature_dropout_", channelwise, True)
feature_alpha_dropout = _dropout_of("feature_alpha_dropout", _feature_alpha_dropout, False)
feature_alpha_dropout_ = _dropout_of("feature_alpha_dropout_", _feature_alpha_dropout, True)


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any
) -> Any:
    """`body_fn(*values)` as long as `cond_fn(*values)`, from `carried_inputs` on."""
    values = tuple(carried_inputs)
    while bool(cond_fn(*values)):
        values = tuple(body_fn(*values))
    return values


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
) -> Any:
    """A 1-d tensor of `size` elements whose memory is a file; with `shared` what is written into
    it gets into the file, which is made long enough."""
    kind = to_numpy_dtype(dtype) or default_numpy()
    count = int(size or 0)
    if shared:
        with open(filename, "ab") as file:
            file.truncate(max(file.tell(), count * kind.itemsize))
    return wrap(np.asarray(np.memmap(filename, kind, "r+" if shared else "c", shape=(count,))))


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
    return math.sqrt(a)


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
