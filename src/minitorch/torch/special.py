"""Special functions, PyTorch's `torch.special`; those that `torch` has too are the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.ops.declare import OPS
from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import default_numpy, result_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import (
    Function,
    methods,
    named,
    not_a_tensor,
    store,
)
from minitorch.torch.functions.pointwise import (
    NUMBERS,
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    i0,
    lgamma,
    log1p,
    logit,
    polygamma,
    sigmoid,
    sinc,
    xlogy,
)
from minitorch.torch.functions.reduce import logsumexp
from minitorch.torch.inplace import kind_name
from minitorch.torch.nn.functional.activation import log_softmax as _log_softmax
from minitorch.torch.nn.functional.activation import softmax as _softmax
from minitorch.torch.operators import one_sided

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

FLOATS = "Integers give the default floating dtype."


def _refuse_half(name: str, *arrays: Any) -> None:
    """Raise for half precision (as the dtype of the result), which PyTorch does not have here."""
    if result_dtype(arrays) == np.float16:
        raise NotImplementedError(
            f"\"{name}_cpu\" not implemented for 'Half': compute in single precision, x.float()"
        )


def _unary(name: str, doc: str, op: str | None = None, *, half: bool = False) -> Function:
    """A function of one tensor that is one op."""
    record = recorder(op or name)

    def function(input: Tensor, *, out: Tensor | None = None) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(f"special_{name}", input)
        kind = input._array.dtype.kind
        if kind == "c":
            raise NotImplementedError(
                f"\"{name}_cpu\" not implemented for '{kind_name(input._array)}'"
            )
        if not half and input._array.dtype.itemsize == 2 and kind == "f":
            _refuse_half(name, input._array)
        found = record(input)
        return found if out is None else store(out, found, f"special_{name}")

    return named(function, name, f"{doc} Of each element; {FLOATS}")


entr = _unary("entr", "-x * log(x); 0 at 0, and -inf below.", half=True)
erfcx = _unary("erfcx", "exp(x * x) * erfc(x), which does not vanish for a large x.")
i0e = _unary("i0e", "The modified Bessel function of order 0 times exp(-|x|).", half=True)
i1 = _unary("i1", "The modified Bessel function of order 1.", half=True)
i1e = _unary("i1e", "The modified Bessel function of order 1 times exp(-|x|).", half=True)
log_ndtr = _unary("log_ndtr", "The logarithm of the normal distribution function.")
ndtri = _unary("ndtri", "The inverse of the normal distribution function.")
expit, gammaln, psi = sigmoid, lgamma, digamma

_scaled = one_sided("mul", "MulBackward1", "x")
_shifted = one_sided("add", "AddBackward1", "x")


def ndtr(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The normal distribution function of each element. Integers give the default floating dtype;
    far below 0 it is 0, use log_ndtr there."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("special_ndtr", input)
    x = input
    if x._array.dtype.kind in "iub":
        x = input.to(_default())
    found = _scaled(_shifted(erf(_scaled(x, 0.5**0.5)), 1.0), 0.5)
    return found if out is None else store(out, found, "special_ndtr")


def _default() -> Any:
    from minitorch.torch.dtypes import from_numpy_dtype

    return from_numpy_dtype(default_numpy())


_round = recorder("round", "RoundBackward1")


def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Any:
    """The nearest multiple of 10 ** -decimals of each element; halves go to even."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("special_round", input)
    if input._array.dtype.kind in "iub":
        raise NotImplementedError(
            f"\"round_vml_cpu\" not implemented for '{kind_name(input._array)}': it is of floats"
        )
    found = _round(input, decimals)
    return found if out is None else store(out, found, "special_round")


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """exp(x), divided by its sum along `dim`."""
    return _softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of softmax along `dim`."""
    return _log_softmax(input, dim, dtype=dtype)


# --------------------------------------------------------------------------- two operands


def _array(x: Any) -> Any:
    return x._array if isinstance(x, Tensor) else x


def _check(name: str, input: Any, other: Any) -> None:
    """Raise unless the two are tensors, or one of them a number."""
    kinds = [isinstance(x, Tensor) for x in (input, other)]
    numbers = [isinstance(x, NUMBERS) for x in (input, other)]
    if not any(kinds) or not all(k or n for k, n in zip(kinds, numbers, strict=True)):
        given = ", ".join(type(x).__name__ for x in (input, other))
        raise TypeError(
            f"special_{name}() received an invalid combination of arguments - got ({given}), but "
            "expected two tensors, or a tensor and a number"
        )


_xlog1py = recorder("xlog1py")
_xlog1py_number = one_sided("xlog1py", "SpecialXlog1PyBackward2", "x")
_number_xlog1py = one_sided("xlog1py", "SpecialXlog1PyBackward1", "y")


def xlog1py(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """input * log(1 + other), and 0 where input is 0. Broadcast and promoted."""
    _check("xlog1py", input, other)
    if not isinstance(other, Tensor):
        found = _xlog1py_number(input, other)
    else:
        found = (_xlog1py if isinstance(input, Tensor) else _number_xlog1py)(input, other)
    return found if out is None else store(out, found, "special_xlog1py")


_zeta = one_sided("zeta", "SpecialZetaBackward0", "x", "y", refused="zeta")
_zeta_number = one_sided("zeta", "SpecialZetaBackward2", "x", refused="zeta")
_number_zeta = recorder("zeta", "SpecialZetaBackward1")


def zeta(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """The Hurwitz zeta function: the sum of (k + other) ** -input over k from 0 on. Broadcast and
    promoted. As in PyTorch it has no derivative in `input`: a backward to there raises."""
    _check("zeta", input, other)
    _refuse_half("zeta", _array(input), _array(other))
    if not isinstance(other, Tensor):
        found = _zeta_number(input, other)
    else:
        found = (_zeta if isinstance(input, Tensor) else _number_zeta)(input, other)
    return found if out is None else store(out, found, "special_zeta")


def _incomplete(name: str, special: str, doc: str) -> Function:
    record = one_sided(name, f"I{name[1:]}Backward0", "x", "y", refused=f"{name}: input")

    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Any:
        for place, x in enumerate((input, other)):
            if not isinstance(x, Tensor):
                raise not_a_tensor(special, x, ("input", "other")[place], place + 1)
        dtype = result_dtype((input._array, other._array))
        if dtype.kind != "f":
            raise NotImplementedError(
                f"\"{name}_cpu\" not implemented for '{kind_name(np.empty(0, dtype))}': one of the "
                "two must be floating"
            )
        found = record(input, other)
        return found if out is None else store(out, found, special)

    return named(
        function,
        name,
        f"{doc} Broadcast and promoted. As in PyTorch it has no derivative in `input`: a backward "
        "to there raises.",
    )


igamma = _incomplete(
    "igamma", "special_gammainc", "The lower incomplete gamma function over gamma(input)."
)
igammac = _incomplete(
    "igammac", "special_gammaincc", "The upper incomplete gamma function over gamma(input)."
)
gammainc, gammaincc = igamma, igammac

_mvlgamma = recorder("mvlgamma")


def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension p, of each element.

    RuntimeError for bools, and for p below 1.
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("mvlgamma", input)
    if input._array.dtype == np.bool_:
        raise RuntimeError("mvlgamma: The input tensor may not be a boolean tensor.")
    found = _mvlgamma(input, p)
    return found if out is None else store(out, found, "mvlgamma")


multigammaln = mvlgamma


def _of_degree(name: str) -> Function:
    record = recorder(name)

    def function(input: Any, n: Any, *, out: Tensor | None = None) -> Any:
        _check(name, input, n)
        _refuse_half(name, _array(input), _array(n))
        found = record(input, n)
        return found if out is None else store(out, found, f"special_{name}")

    what = name.replace("_polynomial_", " polynomial ").replace("_", " ")
    return named(
        function,
        name,
        f"The {what} of degree n of each element, 0 for n below 0. Broadcast and promoted; it has "
        "no derivative.",
    )


chebyshev_polynomial_t = _of_degree("chebyshev_polynomial_t")
chebyshev_polynomial_u = _of_degree("chebyshev_polynomial_u")
chebyshev_polynomial_v = _of_degree("chebyshev_polynomial_v")
chebyshev_polynomial_w = _of_degree("chebyshev_polynomial_w")
hermite_polynomial_h = _of_degree("hermite_polynomial_h")
hermite_polynomial_he = _of_degree("hermite_polynomial_he")
laguerre_polynomial_l = _of_degree("laguerre_polynomial_l")
legendre_polynomial_p = _of_degree("legendre_polynomial_p")
shifted_chebyshev_polynomial_t = _of_degree("shifted_chebyshev_polynomial_t")
shifted_chebyshev_polynomial_u = _of_degree("shifted_chebyshev_polynomial_u")
shifted_chebyshev_polynomial_v = _of_degree("shifted_chebyshev_polynomial_v")
shifted_chebyshev_polynomial_w = _of_degree("shifted_chebyshev_polynomial_w")


def _plain(name: str) -> Function:
    """A function of one tensor without a derivative; its op says what it is."""
    return _unary(name, f"{OPS[name].doc} It has no derivative.")


bessel_j0 = _plain("bessel_j0")
bessel_j1 = _plain("bessel_j1")
bessel_y0 = _plain("bessel_y0")
bessel_y1 = _plain("bessel_y1")
modified_bessel_i0 = _plain("modified_bessel_i0")
modified_bessel_i1 = _plain("modified_bessel_i1")
modified_bessel_k0 = _plain("modified_bessel_k0")
modified_bessel_k1 = _plain("modified_bessel_k1")
scaled_modified_bessel_k0 = _plain("scaled_modified_bessel_k0")
scaled_modified_bessel_k1 = _plain("scaled_modified_bessel_k1")
airy_ai = _plain("airy_ai")
spherical_bessel_j0 = _plain("spherical_bessel_j0")

methods(igamma, igammac, mvlgamma, inplace=True)
