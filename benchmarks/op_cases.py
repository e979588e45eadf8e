"""The calls that `ops.py` measures: a table by family, the same text for both libraries.

A case is given the library (`torch` or `minitorch.torch`) and its inputs. Makers give the inputs
for about `n` elements, as arrays of float32; those of floats require grad, others do not. Where the
work is not one pass over the elements (a product of matrices, a decomposition), the maker's sizes
are the natural ones and smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

SIZES = {"64": 64, "4 k": 4096, "1 M": 1 << 20}
Rng = np.random.Generator
Maker = Callable[[Rng, int], tuple[np.ndarray, ...]]


class Case(NamedTuple):
    """name, family and tier (of PyTorch's operator database); the inputs, and what is called."""

    name: str
    family: str
    tier: str
    make: Maker
    call: Callable[..., Any]
    backward: bool = True


def normal(rng: Rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def flat(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (normal(rng, n),)


def two(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return normal(rng, n), normal(rng, n)


def three(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return normal(rng, n), normal(rng, n), normal(rng, n)


def positive(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (np.abs(normal(rng, n)) + np.float32(0.5),)


def two_positive(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return positive(rng, n) + positive(rng, n)


def inside(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (rng.uniform(0.05, 0.95, n).astype(np.float32),)


def square(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    side = isqrt(n)
    return (normal(rng, side, side),)


def distinct(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    """A square without ties, of which libraries choose different ones."""
    return (rng.permutation(n).astype(np.float32).reshape(isqrt(n), -1) / n,)


def two_squares(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return square(rng, n) + square(rng, n)


def row_too(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return normal(rng, isqrt(n), isqrt(n)), normal(rng, isqrt(n))


def masked(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (*square(rng, n), rng.random((isqrt(n), isqrt(n))) < 0.5)


def masked_two(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (*two_squares(rng, n), rng.random((isqrt(n), isqrt(n))) < 0.5)


def chosen(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    """A square, and as many numbers of rows as it has rows."""
    side = isqrt(n)
    return normal(rng, side, side), rng.integers(0, side, side)


def placed(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    """A square, a number of a row for each element, and another square."""
    side = isqrt(n)
    return normal(rng, side, side), rng.integers(0, side, (side, side)), normal(rng, side, side)


def rows_placed(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    side = isqrt(n)
    return normal(rng, side, side), rng.integers(0, side, side), normal(rng, side, side)


def edge_of(n: int) -> int:
    """The side of matrices to multiply, for about n elements."""
    return {64: 8, 4096: 64}.get(n, 512)


def matrix(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (normal(rng, edge_of(n), edge_of(n)),)


def matrices(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return matrix(rng, n) + matrix(rng, n)


def matrix_vector(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    side = isqrt(n)
    return normal(rng, side, side), normal(rng, side)


def vector_matrices(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return (normal(rng, edge_of(n)), *matrices(rng, n))


def batches(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    count, side = {64: (4, 4), 4096: (16, 16)}.get(n, (64, 128))
    return normal(rng, count, side, side), normal(rng, count, side, side)


def batches_three(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    left, right = batches(rng, n)
    return normal(rng, *left.shape), left, right


def solid(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    """A matrix that is far from singular."""
    side = {64: 8, 4096: 64}.get(n, 256)
    return (normal(rng, side, side) / 4 + np.float32(isqrt(side)) * np.eye(side, dtype="f4"),)


def solid_two(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    (a,) = solid(rng, n)
    return a, normal(rng, len(a), 4)


def definite(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    (a,) = solid(rng, n)
    return (a @ a.T,)


def pieces(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return tuple(normal(rng, max(n // 16, 1)) for _ in range(16))


def sentences(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    """A table of vectors and numbers of its rows, for about n results."""
    width = {64: 8, 4096: 32}.get(n, 256)
    return normal(rng, 1000, width), rng.integers(0, 1000, n // width)


def rows(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    """Rows of features, with a weight and a bias for each feature."""
    width = {64: 8, 4096: 64}.get(n, 768)
    return normal(rng, n // width, width), normal(rng, width), normal(rng, width)


def dense(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    side = edge_of(n)
    return normal(rng, side, side), normal(rng, side, side), normal(rng, side)


def classes(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    width = {64: 8, 4096: 64}.get(n, 600)
    count = n // width
    return normal(rng, count, width), rng.integers(0, width, count)


def chances(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    return inside(rng, n) + inside(rng, n)


def images(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    count, channels, side = {64: (1, 4, 4), 4096: (2, 8, 16)}.get(n, (16, 16, 64))
    return (normal(rng, count, channels, side, side),)


def signals(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    count, channels, side = {64: (1, 4, 16), 4096: (4, 16, 64)}.get(n, (16, 64, 1024))
    return (normal(rng, count, channels, side),)


def normed(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    (x,) = images(rng, n)
    return x, normal(rng, x.shape[1]), normal(rng, x.shape[1])


def convolved(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    (x,) = images(rng, n)
    channels = x.shape[1]
    return x, normal(rng, channels, channels, 3, 3), normal(rng, channels)


def convolved_each(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    (x,) = images(rng, n)
    return x, normal(rng, x.shape[1], 1, 3, 3), normal(rng, x.shape[1])


def convolved_signal(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    (x,) = signals(rng, n)
    return x, normal(rng, x.shape[1], x.shape[1], 3), normal(rng, x.shape[1])


def heads(rng: Rng, n: int) -> tuple[np.ndarray, ...]:
    shape = {64: (1, 2, 4, 8), 4096: (4, 4, 16, 16)}.get(n, (32, 8, 64, 64))
    return tuple(normal(rng, *shape) for _ in range(3))


CASES: list[Case] = []


def family(name: str, tier: str = "core") -> Callable[..., None]:
    def case(
        op: str, make: Maker, call: Callable[..., Any] | None = None, backward: bool = True
    ) -> None:
        CASES.append(Case(op, name, tier, make, call or plain(op), backward))

    return case


def plain(op: str) -> Callable[..., Any]:
    """The function of that name, called with all inputs."""

    def call(t: Any, *inputs: Any) -> Any:
        found = t
        for part in op.split("."):
            found = getattr(found, part)
        return found(*inputs)

    return call


case = family("pointwise")
for _op in ("abs", "neg", "exp", "expm1", "sin", "cos", "tanh", "sigmoid", "square", "sinc"):
    case(_op, flat)
for _op in ("asinh", "atan", "sinh", "cosh", "erf", "erfc", "exp2", "relu", "sign", "deg2rad"):
    case(_op, flat)
for _op in ("floor", "ceil", "round", "trunc", "frac", "nan_to_num", "positive"):
    case(_op, flat)
for _op in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma"):
    case(_op, positive)
for _op in ("logit", "acos", "asin", "atanh", "tan", "erfinv", "i0"):
    case(_op, inside)
for _op in ("add", "sub", "mul", "maximum", "minimum", "fmax", "atan2", "hypot", "copysign"):
    case(_op, two)
for _op in ("logaddexp", "logaddexp2"):
    case(_op, two)
for _op in ("div", "pow", "xlogy", "fmod", "remainder", "ldexp"):
    case(_op, two_positive)
case("floor_divide", two_positive, backward=False)
case("add (row)", row_too, lambda t, x, y: x + y)
case("mul (row)", row_too, lambda t, x, y: x * y)
case("add (number)", flat, lambda t, x: x + 2.0)
case("mul (number)", flat, lambda t, x: x * 2.0)
case("pow (2)", flat, lambda t, x: x**2)
case("pow (3)", flat, lambda t, x: x**3)
case("pow (0.5)", positive, lambda t, x: x**0.5)
case("clamp", flat, lambda t, x: t.clamp(x, -0.5, 0.5))
case("lerp", three)
case("lerp (number)", two, lambda t, x, y: t.lerp(x, y, 0.3))
case("addcmul", three)
case("addcdiv", lambda rng, n: two(rng, n) + positive(rng, n))
case("where", masked_two, lambda t, x, y, mask: t.where(mask, x, y))
case("masked_fill", masked, lambda t, x, mask: t.masked_fill(x, mask, 0.0))
case("to (float64)", flat, lambda t, x: x.to(t.float64))
case("half", flat, lambda t, x: x.half())
case("clone", flat)
for _op in ("eq", "lt", "ge", "isclose"):
    case(_op, two, backward=False)
for _op in ("isnan", "isfinite", "signbit", "logical_not"):
    case(_op, flat, backward=False)

case = family("reduce")
for _op in ("sum", "mean", "std", "var", "amax", "max", "norm", "logsumexp", "all", "median"):
    if _op != "all":
        whole = (lambda t, x: t.logsumexp(x, (0, 1))) if _op == "logsumexp" else None
        case(_op, square, whole)
for _op in ("sum", "mean", "std", "var", "amax", "amin", "logsumexp", "norm", "nansum"):
    for _dim in (0, 1):
        case(
            f"{_op} (dim {_dim})",
            square,
            lambda t, x, op=_op, dim=_dim: getattr(t, op)(x, dim=dim),
        )
for _op in ("max", "min", "median", "mode", "kthvalue"):
    if _op == "kthvalue":
        case("kthvalue (dim 1)", distinct, lambda t, x: t.kthvalue(x, 3, 1)[0])
    else:
        case(f"{_op} (dim 1)", distinct, lambda t, x, op=_op: getattr(t, op)(x, 1)[0])
case("max (dim 0)", square, lambda t, x: t.max(x, 0)[0])
case("prod", lambda rng, n: (np.exp(normal(rng, n) / 64),))
case("prod (dim 1)", lambda rng, n: (np.exp(square(rng, n)[0] / 64),), lambda t, x: t.prod(x, 1))
case("var_mean (dim 1)", square, lambda t, x: t.var_mean(x, 1)[0])
case("quantile", lambda rng, n: square(rng, min(n, 1 << 20)), lambda t, x: t.quantile(x, 0.3, 1))
case("cumsum", square, lambda t, x: t.cumsum(x, 1))
case("cumsum (dim 0)", square, lambda t, x: t.cumsum(x, 0))
case("cumprod", lambda rng, n: (np.exp(square(rng, n)[0] / 64),), lambda t, x: t.cumprod(x, 1))
case("cummax", square, lambda t, x: t.cummax(x, 1)[0])
case("logcumsumexp", square, lambda t, x: t.logcumsumexp(x, 1))
case("diff", square)
case("trapezoid", square)
case("dist", two)
case("cdist", lambda rng, n: two_squares(rng, min(n, 1 << 16)))
case("aminmax", square, lambda t, x: t.aminmax(x)[0])
case("argmax", square, backward=False)
case("argmax (dim 1)", square, lambda t, x: t.argmax(x, 1), backward=False)
case("argmin (dim 0)", square, lambda t, x: t.argmin(x, 0), backward=False)
case("all", masked, lambda t, x, mask: mask.all(), backward=False)
case("any (dim 1)", masked, lambda t, x, mask: mask.any(1), backward=False)
case("count_nonzero", square, backward=False)

case = family("shape")
case("view", square, lambda t, x: x.view(-1))
case("reshape", square, lambda t, x: x.t().reshape(-1))
case("flatten", square)
case("transpose", square, lambda t, x: x.transpose(0, 1))
case("permute", images, lambda t, x: x.permute(0, 2, 3, 1))
case("contiguous", square, lambda t, x: x.t().contiguous())
case("squeeze", square, lambda t, x: x.unsqueeze(0).squeeze(0))
case("expand", square, lambda t, x: x.unsqueeze(0).expand(4, -1, -1))
case("repeat", square, lambda t, x: x.repeat(2, 2))
case("tile", square, lambda t, x: t.tile(x, (2, 1)))
case("repeat_interleave", square, lambda t, x: t.repeat_interleave(x, 3, 0))
case("narrow", square, lambda t, x: x.narrow(1, 1, x.shape[1] // 2))
case("select", square, lambda t, x: x.select(1, 2))
case("unbind", square, lambda t, x: x.unbind(0)[1])
case("split", square, lambda t, x: x.split(4, 1)[1])
case("chunk", square, lambda t, x: x.chunk(4, 0)[1])
case("cat", two_squares, lambda t, x, y: t.cat((x, y)))
case("cat (dim 1)", two_squares, lambda t, x, y: t.cat((x, y), 1))
case("cat (16)", pieces, lambda t, *xs: t.cat(xs))
case("stack (16)", pieces, lambda t, *xs: t.stack(xs))
case("hstack", two_squares, lambda t, x, y: t.hstack((x, y)))
case("flip", square, lambda t, x: t.flip(x, (1,)))
case("roll", square, lambda t, x: t.roll(x, 3, 1))
case("rot90", square)
case("tril", square)
case("triu", square)
case("diagonal", square)
case("diag_embed", lambda rng, n: (normal(rng, isqrt(n)),))
case("diag", square)
case("movedim", images, lambda t, x: t.movedim(x, 1, 3))
case("unfold", square, lambda t, x: x.unfold(1, 4, 2))
case("as_strided", flat, lambda t, x: x.as_strided((8, 4), (4, 2)))
case("meshgrid", lambda rng, n: (normal(rng, isqrt(n)),) * 2, lambda t, x, y: t.meshgrid(x, y)[0])
case("block_diag", two_squares)
case("atleast_3d", flat)
case("broadcast_to", flat, lambda t, x: t.broadcast_to(x, (4, *x.shape)))
case("swapaxes", square, lambda t, x: t.swapaxes(x, 0, 1))
case("resolve_conj", flat)

case = family("index")
case("x[:, i]", square, lambda t, x: x[:, 1])
case("x[i]", square, lambda t, x: x[2])
case("x[1:-1, ::2]", square, lambda t, x: x[1:-1, ::2])
case("x[rows]", chosen, lambda t, x, i: x[i])
case("x[:, columns]", chosen, lambda t, x, i: x[:, i])
case("x[rows, columns]", chosen, lambda t, x, i: x[i, i])
case("x[mask]", masked, lambda t, x, mask: x[mask])
case("index_select", chosen, lambda t, x, i: t.index_select(x, 0, i))
case("index_select (dim 1)", chosen, lambda t, x, i: t.index_select(x, 1, i))
case("gather", placed, lambda t, x, i, y: t.gather(x, 1, i))
case("gather (dim 0)", placed, lambda t, x, i, y: t.gather(x, 0, i))
case("take", placed, lambda t, x, i, y: t.take(x, i))
case("take_along_dim", placed, lambda t, x, i, y: t.take_along_dim(x, i, 1))
case("masked_select", masked)
case("nonzero", masked, lambda t, x, mask: t.nonzero(mask), backward=False)
case("searchsorted", flat, lambda t, x: t.searchsorted(t.sort(x.detach())[0], x), backward=False)

case = family("scatter")
case("scatter", placed, lambda t, x, i, y: t.scatter(x, 1, i, y))
case("scatter_add", placed, lambda t, x, i, y: t.scatter_add(x, 1, i, y))
case("scatter_add (dim 0)", placed, lambda t, x, i, y: t.scatter_add(x, 0, i, y))
case("scatter_reduce", placed, lambda t, x, i, y: t.scatter_reduce(x, 1, i, y, "amax"))
case("index_add", rows_placed, lambda t, x, i, y: t.index_add(x, 0, i, y))
case("index_copy", rows_placed, lambda t, x, i, y: t.index_copy(x, 0, t.arange(len(x)), y))
case("index_fill", rows_placed, lambda t, x, i, y: t.index_fill(x, 0, i, 1.0))
case("index_put", rows_placed, lambda t, x, i, y: t.index_put(x, (i,), y, accumulate=True))
case("masked_scatter", masked_two, lambda t, x, y, mask: t.masked_scatter(x, mask, y))
case("select_scatter", row_too, lambda t, x, y: t.select_scatter(x, y, 0, 1))
case("slice_scatter", two_squares, lambda t, x, y: t.slice_scatter(x, y[:4], 0, 0, 4))
case("put", placed, lambda t, x, i, y: t.Tensor.put(x, i, y, True))
case("bincount", chosen, lambda t, x, i: t.bincount(i), backward=False)

case = family("sort")
case("sort", distinct, lambda t, x: t.sort(x, 1)[0])
case("sort (dim 0)", distinct, lambda t, x: t.sort(x, 0)[0])
case("argsort", distinct, backward=False)
case("topk", distinct, lambda t, x: t.topk(x, 4, 1)[0])
case("msort", distinct)
case("unique", chosen, lambda t, x, i: t.unique(i), backward=False)

case = family("matmul")
case("mm", matrices)
case("matmul", matrices)
case("matmul (batches)", batches, lambda t, x, y: x @ y)
case("bmm", batches)
case("mv", matrix_vector)
case("dot", two)
case("outer", lambda rng, n: (normal(rng, isqrt(n)),) * 2)
case("addmm", vector_matrices)
case("baddbmm", batches_three)
case("einsum", batches, lambda t, x, y: t.einsum("bij,bkj->bik", x, y))
case("tensordot", matrices, lambda t, x, y: t.tensordot(x, y, 1))
case("inner", matrices)
case("kron", lambda rng, n: (normal(rng, isqrt(isqrt(n)), isqrt(isqrt(n))),) * 2)
case("cross", lambda rng, n: (normal(rng, n // 3, 3),) * 2, lambda t, x, y: t.linalg.cross(x, y))
case("cov", lambda rng, n: (normal(rng, 8, n // 8),))
case("corrcoef", lambda rng, n: (normal(rng, 8, n // 8),))

case = family("activation", "nn")
for _op in ("gelu", "silu", "leaky_relu", "elu", "selu", "softplus", "mish", "hardswish"):
    case(_op, flat, plain(f"nn.functional.{_op}"))
for _op in ("hardtanh", "hardsigmoid", "logsigmoid", "softsign", "relu6", "tanhshrink", "celu"):
    case(_op, flat, plain(f"nn.functional.{_op}"))
case("gelu (tanh)", flat, lambda t, x: t.nn.functional.gelu(x, approximate="tanh"))
case("glu", square, plain("nn.functional.glu"))
case("softmax", square, lambda t, x: t.nn.functional.softmax(x, -1))
case("softmax (dim 0)", square, lambda t, x: t.nn.functional.softmax(x, 0))
case("log_softmax", square, lambda t, x: t.nn.functional.log_softmax(x, -1))
case("prelu", normed, lambda t, x, w, b: t.nn.functional.prelu(x, w))
case("dropout", flat, lambda t, x: t.nn.functional.dropout(x, 0.0))

case = family("layer", "nn")
case("linear", dense, plain("nn.functional.linear"))
case("linear (no bias)", dense, lambda t, x, w, b: t.nn.functional.linear(x, w))
case(
    "bilinear",
    lambda rng, n: (normal(rng, 8, 8), normal(rng, 8, 8), normal(rng, 4, 8, 8)),
    plain("nn.functional.bilinear"),
)
case("embedding", sentences, lambda t, w, i: t.nn.functional.embedding(i, w))
case("embedding_bag", sentences, lambda t, w, i: t.nn.functional.embedding_bag(i.reshape(-1, 2), w))
case("scaled_dot_product_attention", heads, plain("nn.functional.scaled_dot_product_attention"))
case(
    "scaled_dot_product_attention (causal)",
    heads,
    lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
)
case("pad", images, lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1)))
case("pad (reflect)", images, lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1), "reflect"))
case("interpolate (nearest)", images, lambda t, x: t.nn.functional.interpolate(x, scale_factor=2))
case(
    "interpolate (bilinear)",
    images,
    lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
)
case("pixel_shuffle", images, lambda t, x: t.nn.functional.pixel_shuffle(x, 2))
case("unfold", images, lambda t, x: t.nn.functional.unfold(x, 2, stride=2))
case("normalize", square, plain("nn.functional.normalize"))
case("cosine_similarity", two_squares, plain("nn.functional.cosine_similarity"))
case("pairwise_distance", two_squares, plain("nn.functional.pairwise_distance"))

case = family("norm", "nn")
case("layer_norm", rows, lambda t, x, w, b: t.nn.functional.layer_norm(x, w.shape, w, b))
case("rms_norm", rows, lambda t, x, w, b: t.nn.functional.rms_norm(x, w.shape, w))
case("group_norm", normed, lambda t, x, w, b: t.nn.functional.group_norm(x, 2, w, b))
case("instance_norm", images, plain("nn.functional.instance_norm"))
case(
    "batch_norm",
    normed,
    lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, training=True),
)
case(
    "batch_norm (tracking)",
    normed,
    lambda t, x, w, b: t.nn.functional.batch_norm(
        x, t.zeros(len(w)), t.ones(len(w)), w, b, training=True
    ),
)
case(
    "batch_norm (eval)",
    normed,
    lambda t, x, w, b: t.nn.functional.batch_norm(x, t.zeros(len(w)), t.ones(len(w)), w, b),
)
case("local_response_norm", images, lambda t, x: t.nn.functional.local_response_norm(x, 3))

case = family("loss", "nn")
case("cross_entropy", classes, plain("nn.functional.cross_entropy"))
case(
    "cross_entropy (smoothed)",
    classes,
    lambda t, x, y: t.nn.functional.cross_entropy(x, y, label_smoothing=0.1),
)
case("nll_loss", classes, plain("nn.functional.nll_loss"))
for _op in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
    case(_op, two, plain(f"nn.functional.{_op}"))
for _op in ("binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"):
    case(_op, chances, lambda t, x, y, op=_op: getattr(t.nn.functional, op)(x, y.detach()))
for _op in ("soft_margin_loss", "poisson_nll_loss"):
    case(_op, two, lambda t, x, y, op=_op: getattr(t.nn.functional, op)(x, y.detach()))

case = family("conv", "nn")
case("conv1d", convolved_signal, lambda t, x, w, b: t.nn.functional.conv1d(x, w, b, padding=1))
case("conv2d", convolved, lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, padding=1))
case(
    "conv2d (stride 2)",
    convolved,
    lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, stride=2, padding=1),
)
case(
    "conv2d (depthwise)",
    convolved_each,
    lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, padding=1, groups=x.shape[1]),
)
case(
    "conv_transpose2d",
    convolved,
    lambda t, x, w, b: t.nn.functional.conv_transpose2d(x, w, b, padding=1),
)

case = family("pool", "nn")
case("max_pool2d", images, lambda t, x: t.nn.functional.max_pool2d(x, 2))
case("max_pool2d (3, 1)", images, lambda t, x: t.nn.functional.max_pool2d(x, 3, 1, 1))
case("avg_pool2d", images, lambda t, x: t.nn.functional.avg_pool2d(x, 2))
case("adaptive_avg_pool2d", images, lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 2))
case("adaptive_max_pool2d", images, lambda t, x: t.nn.functional.adaptive_max_pool2d(x, 2))
case("max_pool1d", signals, lambda t, x: t.nn.functional.max_pool1d(x, 2))

case = family("linalg", "linalg")
case("inv", solid, plain("linalg.inv"))
case("solve", solid_two, plain("linalg.solve"))
case(
    "det",
    lambda rng, n: (solid(rng, n)[0] / np.float32(len(solid(rng, n)[0]) ** 0.5),),
    plain("linalg.det"),
)
case("slogdet", solid, lambda t, x: t.linalg.slogdet(x)[1])
case("cholesky", definite, plain("linalg.cholesky"))
case("qr", solid, lambda t, x: t.linalg.qr(x)[1])
case("eigh", definite, lambda t, x: t.linalg.eigh(x)[0])
case("svdvals", solid, plain("linalg.svdvals"))
case("pinv", solid, plain("linalg.pinv"))
case("matrix_norm", matrix, plain("linalg.matrix_norm"))
case("vector_norm", flat, plain("linalg.vector_norm"))
case("matrix_power", solid, lambda t, x: t.linalg.matrix_power(x / 8, 3))
case("multi_dot", matrices, lambda t, x, y: t.linalg.multi_dot((x, y, x)))

case = family("fft", "fft")
case("rfft", square, lambda t, x: t.fft.rfft(x).abs())
case("fft", square, lambda t, x: t.fft.fft(x).abs())
case("fft2", square, lambda t, x: t.fft.fft2(x).abs())
case("fftshift", square, plain("fft.fftshift"))

case = family("special", "special")
for _op in ("i0e", "i1", "ndtr", "erfcx", "log_ndtr"):
    case(_op, flat, plain(f"special.{_op}"))
for _op in ("entr", "ndtri"):
    case(_op, inside, plain(f"special.{_op}"))
case(
    "zeta",
    lambda rng, n: two_positive(rng, n),
    lambda t, x, y: t.special.zeta(x.detach() + 1.1, y.detach()),
    backward=False,
)
case("xlog1py", two_positive, plain("special.xlog1py"))
case("polygamma", positive, lambda t, x: t.special.polygamma(1, x))
