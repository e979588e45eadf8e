"""Complex tensors: made of real ones, their parts, conjugates, angles and signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods, not_a_tensor, store
from minitorch.torch.functions.parts import select
from minitorch.torch.inplace import kind_name

__all__ = [
    "adjoint",
    "angle",
    "complex",
    "conj",
    "conj_physical",
    "imag",
    "is_conj",
    "is_neg",
    "polar",
    "real",
    "resolve_conj",
    "resolve_neg",
    "sgn",
    "view_as_complex",
    "view_as_real",
]

_complex, _polar = recorder("complex"), recorder("polar")
_view_as_real, _view_as_complex = recorder("view_as_real"), recorder("view_as_complex")
_conj, _conj_physical = recorder("conj"), recorder("conj", "ConjPhysicalBackward0")
_angle, _sgn, _sign = recorder("angle"), recorder("sgn"), recorder("sign", "SgnBackward0")


def _is_complex(t: Tensor) -> bool:
    return t._array.dtype.kind == "c"


def _tensor(name: str, value: Any, argument: str = "input", place: int = 1) -> Tensor:
    if not isinstance(value, Tensor):
        raise not_a_tensor(name, value, argument, place)
    return value


# -------------------------------------------------------------- made of two real tensors


def _two_parts(name: str, first: Tensor, second: Tensor, out: Tensor | None, words: str) -> None:
    a, b = first._array.dtype, second._array.dtype
    if a.kind != "f" or b.kind != "f":
        raise RuntimeError(
            f"{name}(): Expected both inputs to be Half, Float or Double tensors but got "
            f"{kind_name(first._array)} and {kind_name(second._array)}"
        )
    if a != b:
        raise RuntimeError(
            f"{name}(): Expected object of scalar type {kind_name(first._array)} but got scalar "
            f"type {kind_name(second._array)} for second argument"
        )
    if a.itemsize == 2:
        raise NotImplementedError(
            f"{name}(): of float16 it would be complex32, which NumPy does not have; convert the "
            f"{words} to float32 first."
        )
    if out is not None and out._array.dtype != np.result_type(a, np.complex64):
        raise RuntimeError(
            f"{name}(): Expected object of scalar type {KIND[a.itemsize]} but got scalar type "
            f"{kind_name(out._array)} for argument 'out'"
        )


KIND = {4: "ComplexFloat", 8: "ComplexDouble"}


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Any:
    """real + i imag. Two tensors of one dtype, float32 or float64, that broadcast; complex64 or
    complex128. RuntimeError for other dtypes."""
    _tensor("complex", real, "real")
    _tensor("complex", imag, "imag", 2)
    _two_parts("complex", real, imag, out, "parts")
    found = _complex(real, imag)
    return found if out is None else store(out, found, "complex")


def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Any:
    """abs * (cos(angle) + i sin(angle)). dtypes and errors as of `complex`."""
    _tensor("polar", abs, "abs")
    _tensor("polar", angle, "angle", 2)
    _two_parts("polar", abs, angle, out, "arguments")
    found = _polar(abs, angle)
    return found if out is None else store(out, found, "polar")


# ------------------------------------------------------------------------------- views


def view_as_real(input: Tensor) -> Any:
    """The real and imaginary parts along a new last dimension of size 2: a view.

    RuntimeError if `input` is not complex.
    """
    if not _is_complex(_tensor("view_as_real", input)):
        raise RuntimeError(
            f"view_as_real is only supported for complex tensors; this one is {input.dtype}"
        )
    return _view_as_real(input)


def view_as_complex(input: Tensor) -> Any:
    """Pairs along the last dimension, of size 2 and stride 1, as complex numbers: a view.

    RuntimeError for a dtype that is not float32 or float64, for another size, and for strides
    that do not step over whole pairs.
    """
    array = _tensor("view_as_complex", input)._array
    if array.dtype.char not in "fd":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {kind_name(array)}"
            + (" (complex32 is not there)" if array.dtype.char == "e" else "")
        )
    if not array.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2; its shape is {list(array.shape)}"
        )
    steps = input.stride()
    if steps[-1] != 1:
        raise RuntimeError(
            f"Tensor must have a last dimension with stride 1; its strides are {steps}"
        )
    if any(step % 2 for step in steps[:-1]):
        raise RuntimeError(
            "Tensor must have a stride divisible by 2 for all but last dimension; its strides "
            f"are {steps}"
        )
    if input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return _view_as_complex(input)


def real(input: Tensor) -> Any:
    """The real part, a view; `input` itself if it is real."""
    if not _is_complex(_tensor("real", input)):
        return input
    return select(_view_as_real(input), -1, 0)


def imag(input: Tensor) -> Any:
    """The imaginary part, a view. RuntimeError if `input` is real."""
    if not _is_complex(_tensor("imag", input)):
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes; this one is "
            f"{input.dtype}."
        )
    return select(_view_as_real(input), -1, 1)


# -------------------------------------------------------------------------- conjugates


def conj(input: Tensor) -> Any:
    """The complex conjugate, computed at once; `input` itself if it is real."""
    return _conj(input) if _is_complex(_tensor("conj", input)) else input


def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The complex conjugate in memory of its own; `input` itself if it is real."""
    _tensor("conj_physical", input)
    found = _conj_physical(input) if _is_complex(input) or out is not None else input
    return found if out is None else store(out, found, "conj_physical")


def resolve_conj(input: Tensor) -> Tensor:
    """`input` itself: `conj` has conjugated already."""
    return _tensor("resolve_conj", input)


def resolve_neg(input: Tensor) -> Tensor:
    """`input` itself: nothing is left to be negated here."""
    return _tensor("resolve_neg", input)


def is_conj(input: Tensor) -> bool:
    """False: no tensor waits to be conjugated here."""
    _tensor("is_conj", input)
    return False


def is_neg(input: Tensor) -> bool:
    """False: no tensor waits to be negated here."""
    _tensor("is_neg", input)
    return False


# ------------------------------------------------------------------------ angle and sign


def angle(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The angle in the plane, of a real number 0 or pi. Integers give the default floating
    dtype, complex numbers that of their parts."""
    found = _angle(_tensor("angle", input))
    return found if out is None else store(out, found, "angle")


def sgn(input: Tensor, *, out: Tensor | None = None) -> Any:
    """input / |input|, 0 where it is 0; of real numbers their sign, of NaN 0. Bools stay."""
    array = _tensor("sgn", input)._array
    if array.dtype.kind == "c":
        found = _sgn(input)
    else:
        found = wrap(array.copy()) if array.dtype == np.bool_ else _sign(input)
    return found if out is None else store(out, found, "sgn")


methods(angle, conj, is_conj, is_neg, resolve_conj, resolve_neg)
methods(conj_physical, sgn, inplace=True)


def _part_setter(name: str, number: int) -> Any:
    def assign(self: Tensor, value: Any) -> None:
        part = real(self) if number == 0 else imag(self)
        part.copy_(value if isinstance(value, Tensor) else wrap(np.asarray(value)))

    return assign


Tensor.real = property(  # type: ignore[attr-defined]
    lambda self: real(self), _part_setter("real", 0), doc=real.__doc__
)
Tensor.imag = property(  # type: ignore[attr-defined]
    lambda self: imag(self), _part_setter("imag", 1), doc=imag.__doc__
)


def adjoint(input: Tensor) -> Any:
    """Each matrix transposed and conjugated: of a real one a view."""
    if _tensor("adjoint", input)._array.ndim == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return conj(input.mT) if input._array.ndim else conj(input)


def _big_h(self: Tensor) -> Any:
    """A matrix transposed and conjugated."""
    ndim = self._array.ndim
    if ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if ndim > 2 else "")
        )
    return adjoint(self)


method(adjoint)
Tensor.mH = property(adjoint)  # type: ignore[attr-defined]
Tensor.H = property(_big_h)  # type: ignore[attr-defined]


def _chalf(self: Tensor, *, memory_format: Any = None) -> Any:
    """NotImplementedError: NumPy has no complex32."""
    raise NotImplementedError(
        "chalf: NumPy has no complex numbers of half precision (torch.complex32); use cfloat()."
    )


method(_chalf, "chalf")
