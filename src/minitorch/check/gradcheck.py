"""Gradients against central differences, first and second order.

For each output the whole Jacobian is compared, one perturbed input element a column:
(f(x + eps) - f(x - eps)) / (2 eps), whose error is about eps² f''' / 6 + |f| 1e-16 / eps.
Complex numbers are two real ones each: the real part, then the imaginary one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, GradcheckError
from minitorch.engine.mode import enable_grad, no_grad
from minitorch.tensor import Tensor, grad

Outputs = tuple[Tensor, ...]


@enable_grad()
def gradcheck(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-4,
    rtol: float = 1e-3,
) -> bool:
    """Whether the gradients of `fn` agree with finite differences; True, or GradcheckError.

    fn      from the inputs to a Tensor or a tuple of them
    inputs  Tensors (those that require grad are checked; float64 or complex128) and anything else
    eps     the step; atol, rtol: |analytical - numerical| <= atol + rtol * |numerical|

    A failure names the operation, input, output and index, and shows both numbers. Raises
    DTypeError for an input that requires grad and is not float64: in float32 the difference of
    two values has an error of about 1e-7 / eps, larger than any tolerance worth having.
    """
    given = _inputs("gradcheck", inputs)
    outputs = _outputs(fn(*given))
    checked = [place for place, t in enumerate(given) if _wants(t)]
    if not checked:
        raise GradcheckError("gradcheck: no input requires grad, so there is nothing to check.")
    for number, out in enumerate(outputs):
        for place in checked:
            numerical = _numerical(fn, given, place, number, eps)
            analytical = _analytical(fn, given, place, number)
            _compare(fn, out, given[place], place, number, analytical, numerical, atol, rtol)
    return True


@enable_grad()
def gradgradcheck(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-4,
    rtol: float = 1e-3,
    seed: int = 0,
) -> bool:
    """Whether the second derivatives of `fn` agree with finite differences of the first.

    The cotangents are drawn from `seed` and are inputs of the check too. Arguments and errors as
    of `gradcheck`.
    """
    given = _inputs("gradgradcheck", inputs)
    rng = np.random.default_rng(seed)
    outputs = [out for out in _outputs(fn(*given)) if out.requires_grad]
    cotangents = [Tensor(_drawn(rng, out), True) for out in outputs]
    places = [place for place, t in enumerate(given) if _wants(t)]

    @enable_grad()
    def first(*args: Any) -> Outputs:
        xs, gs = args[: len(given)], args[len(given) :]
        outs = [out for out in _outputs(fn(*xs)) if out.requires_grad]
        found = grad(outs, [xs[p] for p in places], list(gs), create_graph=True, allow_unused=True)
        return tuple(xs[p] * 0.0 if g is None else g for p, g in zip(places, found, strict=True))

    first.__name__ = f"the gradient of {_name(fn)}"
    return gradcheck(first, (*given, *cotangents), eps=eps, atol=atol, rtol=rtol)


def _drawn(rng: np.random.Generator, out: Tensor) -> np.ndarray:
    values = rng.uniform(0.5, 1.5, out.shape)
    return values + 1j * rng.uniform(0.5, 1.5, out.shape) if out.dtype.kind == "c" else values


def _wants(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _inputs(name: str, inputs: Tensor | Sequence[Any]) -> tuple[Any, ...]:
    """The inputs as a tuple of leaves with memory of their own: views of one array that overlap
    would be perturbed in several places at once."""
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    found = []
    for place, value in enumerate(given):
        if _wants(value):
            if value.dtype not in (np.float64, np.complex128):
                raise DTypeError(
                    f"{name}: input {place} is {value.dtype}; a finite difference in {value.dtype} "
                    "has an error larger than the tolerance and would look like a wrong gradient. "
                    "Pass float64: Tensor(x.astype('float64'), requires_grad=True)."
                )
            value = Tensor(np.array(value.data), True)
        found.append(value)
    return tuple(found)


def _outputs(result: Any) -> Outputs:
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(out for out in outputs if isinstance(out, Tensor) and out.dtype.kind in "fc")


def central_differences(
    evaluate: Callable[[], Sequence[np.ndarray]], values: np.ndarray, eps: float
) -> list[np.ndarray]:
    """The Jacobian, (size of `values`, size of the output), of each output of `evaluate`.

    Sizes are of real numbers: twice that of complex arrays.

    evaluate  computes from the memory of `values`, which is changed and restored
    """
    columns: list[list[np.ndarray]] = []
    steps = (eps, eps * 1j) if values.dtype.kind == "c" else (eps,)
    with np.errstate(all="ignore"):
        for at in np.ndindex(values.shape):
            before = values[at]
            for step in steps:
                values[at] = before + step
                above = [as_reals(out) for out in evaluate()]
                values[at] = before - step
                below = [as_reals(out) for out in evaluate()]
                columns.append([(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)])
            values[at] = before
    sizes = [as_reals(out).size for out in evaluate()]
    return [
        np.array([column[k] for column in columns]).reshape(len(steps) * values.size, size)
        for k, size in enumerate(sizes)
    ]


def as_reals(x: np.ndarray) -> np.ndarray:
    """A copy of the numbers of an array in a row, a complex one as two: in float64."""
    if x.dtype.kind == "c":
        return x.astype(np.complex128).reshape(-1).view(np.float64)
    return x.astype(np.float64).reshape(-1)


def real_seeds(shape: tuple[int, ...], dtype: Any, scale: float = 1.0) -> Iterator[np.ndarray]:
    """Cotangents that single out each real number of an output: 1 for a real part, i for an
    imaginary one."""
    size, units = int(np.prod(shape)), (1, 1j) if np.dtype(dtype).kind == "c" else (1,)
    for k in range(size):
        for unit in units:
            seed = np.zeros(shape, dtype)
            seed.reshape(-1)[k] = unit * scale
            yield seed


def _numerical(
    fn: Callable[..., Any], given: Sequence[Any], place: int, number: int, eps: float
) -> np.ndarray:
    """d out[number] / d input[place] by central differences: (input size, output size)."""
    with no_grad():
        return central_differences(
            lambda: [_outputs(fn(*given))[number].data], given[place].data, eps
        )[0]


def _analytical(
    fn: Callable[..., Any], given: Sequence[Any], place: int, number: int
) -> np.ndarray:
    """The same by one backward pass for each element of the output."""
    out, x = _outputs(fn(*given))[number], given[place]
    rows = np.zeros((as_reals(x.data).size, as_reals(out.data).size))
    if not out.requires_grad:
        return rows
    for k, seed in enumerate(real_seeds(out.shape, out.dtype)):
        (g,) = grad(out, x, seed, allow_unused=True)
        if g is not None:
            rows[:, k] = as_reals(g.data)
    return rows


def _compare(
    fn: Callable[..., Any],
    out: Tensor,
    x: Tensor,
    place: int,
    number: int,
    analytical: np.ndarray,
    numerical: np.ndarray,
    atol: float,
    rtol: float,
) -> None:
    close = np.isclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return
    row, column = (int(k) for k in np.argwhere(~close)[0])
    at, to = index_of(row, x.data), index_of(column, out.data)
    raise GradcheckError(
        f"gradcheck: Jacobian mismatch for output {number} of {_name(fn)} (made by "
        f"{out._op or 'no operation'}) with respect to input {place}, at input index {at} and "
        f"output index {to}:\n"
        f"  numerical:  {float(numerical[row, column])!r}\n"
        f"  analytical: {float(analytical[row, column])!r}\n"
        f"{int((~close).sum())} of {close.size} entries differ by more than atol={atol:g} + "
        f"rtol={rtol:g} * |numerical|.\n"
        f"numerical:\n{numerical}\nanalytical:\n{analytical}\n"
        "If the function has a kink or a tie nearby, move the input; else correct its formula."
    )


def index_of(place: int, array: np.ndarray) -> tuple[int, ...]:
    """The index in an array of the number that `as_reals` has at a place."""
    place //= 2 if array.dtype.kind == "c" else 1
    return tuple(int(k) for k in np.unravel_index(place, array.shape))


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__
