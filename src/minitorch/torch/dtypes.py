"""dtypes, devices and other small objects that PyTorch programs pass around, and promotion.

Promotion is PyTorch's: the category (bool, integer, floating, complex) is decided by all
operands, the dtype within it by the tensors with dimensions, then by 0-d ones, then by numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class dtype:
    """A dtype as PyTorch shows it; `numpy` is the NumPy dtype behind it."""

    __slots__ = ("__weakref__", "is_complex", "is_floating_point", "is_signed", "name", "numpy")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(numpy)
        self.is_floating_point = self.numpy.kind == "f"
        self.is_complex = self.numpy.kind == "c"
        self.is_signed = self.numpy.kind in "fci"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _NAMED.get(self.name) or self.numpy.itemsize

    def to_real(self) -> dtype:
        """The dtype of a complex one's real part; itself if it is real."""
        if self.name in _NAMED:
            return float16 if self.is_complex else self
        return from_numpy_dtype(np.empty(0, self.numpy).real.dtype)

    def to_complex(self) -> dtype:
        """The complex dtype of this precision."""
        if self.is_complex:
            return self
        found = _COMPLEX.get(self.name)
        if found is None:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.name}")
        return by_name(found)

    def __getattr__(self, name: str) -> Any:
        # Only those of `_NAMED` come here: their slot "numpy" is empty.
        if name == "numpy":
            raise NotImplementedError(
                f"torch.{self.name} is a name only: NumPy has no such dtype, so there are no "
                "tensors of it. Use torch.float32 (or torch.float16 to save memory)."
            )
        if name == "is_signed":
            kind = (
                "Bits types are undefined"
                if "bits" in self.name
                else ("isSignedType not supported for quantized types")
            )
            raise RuntimeError(kind)
        raise AttributeError(f"'torch.dtype' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return by_name, (self.name,)


_NAMED = {
    "bfloat16": 2,
    "complex32": 4,
    "float4_e2m1fn_x2": 1,
    "float8_e8m0fnu": 1,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    **{f"{sign}int{bits}": 1 for sign in ("", "u") for bits in range(1, 8)},
    "bits16": 2,
    "bits1x8": 1,
    "bits2x4": 1,
    "bits4x2": 1,
    "bits8": 1,
    "qint32": 4,
    "qint8": 1,
    "quint2x4": 1,
    "quint4x2": 1,
    "quint8": 1,
}
"""Bytes of the dtypes that programs name and pass around, in tables of dtypes for example, and
that NumPy has not: there are no tensors of them."""

_COMPLEX = {
    "float16": "complex32",
    "bfloat16": "complex64",
    "float32": "complex64",
    "float64": "complex128",
}


def _named(name: str) -> dtype:
    """A dtype of `_NAMED`. Whether bits and quantised numbers have a sign is not asked."""
    made = object.__new__(dtype)
    made.name = name
    made.is_floating_point, made.is_complex = "float" in name, name == "complex32"
    if not name.startswith(("bits", "q")):
        made.is_signed = not name.startswith("uint") and name != "float8_e8m0fnu"
    return made


float16 = dtype("float16", np.float16)
float32 = dtype("float32", np.float32)
float64 = dtype("float64", np.float64)
complex64 = dtype("complex64", np.complex64)
complex128 = dtype("complex128", np.complex128)
uint8 = dtype("uint8", np.uint8)
int8 = dtype("int8", np.int8)
int16 = dtype("int16", np.int16)
int32 = dtype("int32", np.int32)
int64 = dtype("int64", np.int64)
bool_ = dtype("bool", np.bool_)
uint16 = dtype("uint16", np.uint16)
uint32 = dtype("uint32", np.uint32)
uint64 = dtype("uint64", np.uint64)
NAMED = {name: _named(name) for name in _NAMED}
bfloat16 = NAMED["bfloat16"]

ALL = (
    *(float16, float32, float64, complex64, complex128),
    *(uint8, int8, int16, int32, int64, bool_),
    *(uint16, uint32, uint64),
)
_BY_NUMPY = {each.numpy: each for each in ALL}
_BY_PYTHON: dict[Any, dtype] = {float: float64, int: int64, bool: bool_, complex: complex128}


def by_name(name: str) -> dtype:
    """The dtype called so, without `torch.`: pickles hold names."""
    return NAMED.get(name) or next(each for each in ALL if each.name == name)


def from_numpy_dtype(given: Any) -> dtype:
    """The dtype of a NumPy one; TypeError for one that PyTorch lacks."""
    found = _BY_NUMPY.get(given)
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {np.dtype(given)}. The supported types are: "
            + ", ".join(each.name for each in ALL)
            + "."
        )
    return found


def to_numpy_dtype(given: Any) -> np.dtype[Any] | None:
    """The NumPy dtype of ours, of a Python number type or of None; TypeError for another."""
    if given is None:
        return None
    if isinstance(given, dtype):
        return given.numpy
    if given in _BY_PYTHON:
        return _BY_PYTHON[given].numpy
    raise TypeError(f"dtype must be a torch.dtype, not {given!r}; for example torch.float32.")


_default = [float32]


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats: float32 unless set."""
    return _default[0]


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating dtype, the default; TypeError for another."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default[0] = d


def default_numpy() -> np.dtype[Any]:
    return _default[0].numpy


_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_PYTHON_ORDER = {bool: 0, int: 1, float: 2, complex: 3}


def result_dtype(values: Any) -> np.dtype[Any]:
    """The NumPy dtype that arrays and Python numbers promote to under PyTorch's rules."""
    dims: list[np.dtype[Any]] = []
    zero_dims: list[np.dtype[Any]] = []
    number = -1
    for value in values:
        if isinstance(value, (np.ndarray, np.generic)):
            (dims if value.ndim else zero_dims).append(value.dtype)
        elif value is not None:
            number = max(number, _PYTHON_ORDER[type(value)])
    found: np.dtype[Any] | None = None
    if number >= 0:
        floating = default_numpy()
        plain = (np.dtype(bool), np.dtype(np.int64), floating, _complex_of(floating))
        found = plain[number]
    for group in (zero_dims, dims):
        if group:
            found = _over(_within(group), found)
    assert found is not None, "there is nothing to promote"
    return found


def _over(first: np.dtype[Any], second: np.dtype[Any] | None) -> np.dtype[Any]:
    """The dtype of operands of two priorities: the first's, unless the second's is of a higher
    kind."""
    if second is None or _ORDER[second.kind] <= _ORDER[first.kind]:
        return first
    if second.kind == "c" and first.kind == "f":
        return _complex_of(first)
    return second


def _complex_of(floating: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype of this precision; of half precision the smallest there is."""
    return np.result_type(floating, np.complex64)


def _within(group: list[np.dtype[Any]]) -> np.dtype[Any]:
    """The common dtype of tensors of one priority: an integer never widens a float."""
    top = max(_ORDER[each.kind] for each in group)
    if top < 2:
        return np.result_type(*group)
    return np.result_type(*(each for each in group if _ORDER[each.kind] >= 2))


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands in their common dtype; a Python number as it is where NumPy's result has it."""
    if type(y) is float or type(y) is int:
        if type(x) is np.ndarray and x.dtype.kind == "f":
            return x, y
    elif (type(x) is float or type(x) is int) and type(y) is np.ndarray and y.dtype.kind == "f":
        return x, y
    target = result_dtype((x, y))
    return _in_dtype(x, target), _in_dtype(y, target)


_BOOL = np.dtype(np.bool_)


def promote_difference(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote` for a difference, which PyTorch refuses to take of a bool tensor or with one."""
    if any(isinstance(each, bool) or getattr(each, "dtype", None) == _BOOL for each in (x, y)):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return promote(x, y)


def _in_dtype(value: Any, target: np.dtype[Any]) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.astype(target, copy=False)
    if value is None or (target.kind in "ui" and type(value) in (int, bool)):
        # An integer beyond the dtype's range wraps, as in PyTorch.
        return value if value is None else np.asarray(value).astype(target)[()]
    return target.type(value)


def settle(out: np.ndarray, values: Any) -> np.ndarray:
    """A float64 result of no float64 input (NumPy's way with integers) in the default dtype."""
    if any(getattr(value, "dtype", None) in (np.float64, np.complex128) for value in values):
        return out
    return out.astype(default_numpy(), copy=False)


def floated(out: np.ndarray, forward: Any, values: Any) -> np.ndarray:
    """`out`, what `forward` made of these operands; in the default dtype if all are integers."""
    if any(value.dtype.kind in "fc" for value in values if hasattr(value, "dtype")):
        return out
    target = default_numpy()
    if type(out) is not np.ndarray:  # it has no memory, only a dtype
        return out.astype(target)
    return np.asarray(forward(*(np.asarray(value).astype(target) for value in values)))


_DEVICES = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"),
    *("maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)


class device:
    """Where a tensor lives: `cpu`, or `meta` for shapes without data.

    Others can be named and compared; whatever would put a tensor there raises. As a block
    (`with torch.device("meta"):`) it is where new tensors go.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            name, colon, number = type.type, "", ""
            index = type.index
        else:
            name, colon, number = str(type).partition(":")
        if name not in _DEVICES:
            if isinstance(type, int):
                raise RuntimeError("Cannot access accelerator device when none is available.")
            raise RuntimeError(
                f"Expected one of {', '.join(_DEVICES)} device type at start of device string: "
                f"{name}"
            )
        if colon and not number.isdecimal():
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = name
        self.index = int(number) if colon else index

    def __repr__(self) -> str:
        more = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{more})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        from minitorch.torch.environment import enter_device

        return enter_device(self)

    def __exit__(self, *error: object) -> None:
        from minitorch.torch.environment import leave_device

        leave_device()

    def __reduce__(self) -> Any:
        return device, (self.type,) if self.index is None else (self.type, self.index)


CPU = device("cpu")


class layout:
    """How elements are stored; here always `strided`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class memory_format(layout):
    """The order in memory that a call asks for."""


strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
sparse_coo = layout("sparse_coo")


class Size(tuple[int, ...]):
    """A shape: a tuple of ints that also counts elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for size in self:
            count *= size
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size((*self, *other))


_LIMITS = {
    "bfloat16": (2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 0.01),
    "float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6, 1.0),
    "float8_e4m3fnuz": (2.0**-3, 240.0, 2.0**-7, 1.0),
    "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14, 1.0),
    "float8_e5m2fnuz": (2.0**-3, 57344.0, 2.0**-15, 1.0),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 1.0),
}
"""eps, max, the smallest normal number and resolution of the dtypes that NumPy lacks."""


class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, d: dtype | None = None) -> None:
        d = d or get_default_dtype()
        d = d.to_real() if d.is_complex else d
        if not d.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        if d.name in _LIMITS:
            self.dtype, self.bits = d.name, 8 * d.itemsize
            self.eps, self.max, self.tiny, self.resolution = _LIMITS[d.name]
            self.min = -self.max if d.is_signed else self.tiny
            self.smallest_normal = self.tiny
            return
        info = np.finfo(d.numpy)
        self.dtype = info.dtype.name
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(f"1e-{info.precision}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        shown = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({shown}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer dtype: bits, max, min."""

    def __init__(self, d: dtype) -> None:
        if d is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if d.name in NAMED or d.numpy.kind not in "ui":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        info = np.iinfo(d.numpy)
        self.dtype = d.name
        self.bits, self.max, self.min = int(info.bits), int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
