"""Random numbers: every function and method that draws from a generator (`generator.py`).

One generator, `default_generator`, is drawn from where none is given; `manual_seed` sets it.
Numbers go into memory in its order: a transposed tensor is filled column by column.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.arrays import empty_like, outer_first
from minitorch.ops.meta import blank_like, is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.devices import FAKING
from minitorch.torch.dtypes import default_numpy, dtype, to_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import check_device
from minitorch.torch.functions.shape import sizes_of
from minitorch.torch.generator import Generator, default_generator
from minitorch.torch.inplace import (
    alias,
    check_writable,
    count_write,
    is_recorded,
    set_history,
    write,
)

__all__ = [
    "Generator",
    "bernoulli",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
]

_zero = recorder("zero", "NormalBackward0")


def manual_seed(seed: int) -> Generator:
    """Let the default generator begin anew from `seed`; gives it."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Let the default generator begin anew from a seed that the system gives, and tell it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator began from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Where the default generator stands, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from where `get_rng_state` was called."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, *_: Any, **__: Any) -> Iterator[None]:
    """A block after which the default generator stands where it stood before."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def source(generator: Generator | None) -> Generator:
    """The generator, or the default one."""
    return default_generator if generator is None else generator


# --------------------------------------------------------------------- for other modules


def in_order(array: np.ndarray, draw: Callable[[int], np.ndarray]) -> np.ndarray:
    """As many numbers as `array` has, at the places where they come in the order of its memory."""
    flat = draw(array.size)
    if array.flags.c_contiguous:
        return flat.reshape(array.shape)
    order = outer_first(array)
    return flat.reshape([array.shape[axis] for axis in order]).transpose(np.argsort(order))


def kept(like: np.ndarray, p: float) -> np.ndarray:
    """True with probability `p` for each element of an array, from the default generator."""
    return in_order(like, lambda count: default_generator.chances(p, count))


def slopes(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """For each element that is not above 0 a number between the bounds, in turn; 1 for others."""
    found = np.ones(x.shape, x.dtype)
    falling = x <= 0
    low, high = float(x.dtype.type(low)), float(x.dtype.type(high))
    drawn = default_generator.double(int(np.count_nonzero(falling)))
    found[falling] = drawn * (high - low) + low
    return found


def exponential(like: np.ndarray) -> np.ndarray:
    """Numbers of the exponential distribution, none of them 0, from the default generator."""
    drawn = in_order(like, default_generator.exponential).astype(like.dtype)
    return np.asarray(np.maximum(drawn, np.finfo(like.dtype).tiny))


# ------------------------------------------------------------------------ making tensors


def _floating(name: str, wanted: Any) -> np.dtype[Any]:
    found = default_numpy() if wanted is None else to_numpy_dtype(wanted)
    if found is None or found.kind not in "fc":
        raise NotImplementedError(
            f'"{name}" not implemented for {wanted}; draw floats, or use randint.'
        )
    return found


def _blank(device: Any, shape: Any, wanted: Any, requires_grad: bool = False) -> Any:
    """A tensor without memory, if the device or a fake mode asks for one; else None."""
    if device is None and not FAKING:
        return None
    from minitorch.torch import fake

    check_device(device)
    if not fake.wants_no_memory(device):
        return None
    return fake.blank(tuple(shape), wanted, device, requires_grad)


def _place(input: Tensor, device: Any) -> Any:
    """The device that was asked for, else that of a tensor without memory."""
    return input.device if device is None and (FAKING or is_meta(input._array)) else device


def _made(array: np.ndarray, requires_grad: bool) -> Any:
    t = wrap(array)
    return t.requires_grad_() if requires_grad else t


def rand(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Numbers from [0, 1), all equally likely."""
    wanted = _floating("rand", dtype)
    shape = sizes_of(sizes if size is None else (size,))
    blank = _blank(device, shape, wanted, requires_grad)
    if blank is not None:
        return blank
    drawn = _shaped(shape, lambda count: source(generator).uniform(count, wanted))
    return _made(drawn, requires_grad) if out is None else _into(out, drawn)


def _shaped(shape: tuple[int, ...], draw: Callable[[int], np.ndarray]) -> np.ndarray:
    return draw(math.prod(shape)).reshape(shape)


def _into(out: Tensor, drawn: np.ndarray) -> Tensor:
    from minitorch.torch.functions.basic import store

    return store(out, wrap(drawn), "out")


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Numbers of the normal distribution with mean 0 and variance 1."""
    wanted = _floating("randn", dtype)
    shape = sizes_of(sizes if size is None else (size,))
    blank = _blank(device, shape, wanted, requires_grad)
    if blank is not None:
        return blank
    drawn = _shaped(shape, lambda count: source(generator).normal(count, wanted))
    return _made(drawn, requires_grad) if out is None else _into(out, drawn)


def _empty_as(input: Tensor, wanted: Any) -> Tensor:
    """A tensor of the shape and the order in memory of another."""
    empty: Tensor = wrap(empty_like(input._array, wanted))
    return empty


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """`rand` of the shape and dtype of a tensor."""
    wanted = input.dtype if dtype is None else dtype
    if device is None and not is_meta(input._array) and not FAKING:
        t = _empty_as(input, _floating("rand_like", wanted))
        return _made(uniform_(t, generator=generator)._array, requires_grad)
    options = {"dtype": wanted, "device": _place(input, device), "requires_grad": requires_grad}
    return rand(input.shape, generator=generator, **options)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """`randn` of the shape and dtype of a tensor."""
    wanted = input.dtype if dtype is None else dtype
    if device is None and not is_meta(input._array) and not FAKING:
        t = _empty_as(input, _floating("randn_like", wanted))
        return _made(normal_(t, generator=generator)._array, requires_grad)
    options = {"dtype": wanted, "device": _place(input, device), "requires_grad": requires_grad}
    return randn(input.shape, generator=generator, **options)


def randint(
    *bounds: Any,
    low: int | None = None,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Integers from `low` (0) to before `high`, all equally likely: randint(low, high, size)."""
    given = list(bounds)
    if given and isinstance(given[-1], (tuple, list)):
        size = given.pop()
    if len(given) == 2:
        low, high = given
    elif len(given) == 1 and high is None:
        (high,) = given
    elif given:
        (low,) = given
    low = 0 if low is None else low
    if high is None or size is None:
        raise TypeError("randint() needs high and size: randint(low=0, high, size)")
    if low >= high:
        raise ShapeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    wanted = np.dtype(np.int64) if dtype is None else to_numpy_dtype(dtype)
    blank = _blank(device, sizes_of((size,)), wanted, requires_grad)
    if blank is not None:
        return blank
    shape = sizes_of((size,))
    drawn = _shaped(shape, lambda count: source(generator).integers(low, high, count))
    drawn = drawn.astype(wanted)
    return _made(drawn, requires_grad) if out is None else _into(out, drawn)


def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """`randint` of the shape and dtype of a tensor."""
    if high is None:
        low, high = 0, low
    wanted = input.dtype if dtype is None else dtype
    if device is None and not is_meta(input._array) and not FAKING:
        t = _empty_as(input, to_numpy_dtype(wanted))
        return _made(random_(t, low, high, generator=generator)._array, requires_grad)
    options = {"dtype": wanted, "device": _place(input, device)}
    return randint(low, high, input.shape, generator=generator, **options)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """The integers from 0 to n - 1 in random order."""
    if n < 0:
        raise ShapeError(f"n must be non-negative, got {n}")
    wanted = np.dtype(np.int64) if dtype is None else to_numpy_dtype(dtype)
    blank = _blank(device, (n,), wanted, requires_grad)
    if blank is not None:
        return blank
    drawn = source(generator).permutation(n).astype(wanted)
    return wrap(drawn) if out is None else _into(out, drawn)


def _chances(like: np.ndarray, p: Any, generator: Generator | None) -> np.ndarray:
    """True with probability `p`, a number or an array, at the places of `like`."""
    if not isinstance(p, np.ndarray) or not p.ndim:
        return in_order(like, lambda count: source(generator).chances(p, count))
    kind = np.float64 if p.dtype == np.float64 else np.float32
    drawn = in_order(like, lambda count: source(generator).uniform(count, kind))
    return np.asarray(drawn < p)


def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None) -> Any:
    """1 with the probability that each element says (or `p`), else 0."""
    array = input._array
    if p is None:
        if array.size and not is_meta(array) and not ((array >= 0) & (array <= 1)).all():
            raise ShapeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        p = array
    if is_meta(array):
        found = wrap(array.copy())
    else:
        # Drawn and laid out row by row, however the probabilities lie.
        row_by_row = np.empty(array.shape, array.dtype)
        drawn = _chances(row_by_row, getattr(p, "_array", p), generator)
        found = wrap(drawn.astype(array.dtype, order="C"))
    if input.requires_grad:
        node = recorder("zero", "BernoulliBackward0")(input)._node
        if node is not None:
            found._node, found._tracked = node, True
    return found


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Numbers of the normal distribution; tensors of means or deviations give one for each."""
    tensors = [each._array for each in (mean, std) if isinstance(each, Tensor)]
    spread = getattr(std, "_array", std)
    if not is_meta(spread) and np.size(spread) and np.min(spread) < 0:
        raise ShapeError(f"normal expects std >= 0.0, but found std {np.min(spread)}")
    if not tensors and size is None:
        raise TypeError("normal() with numbers needs a size: normal(mean, std, size)")
    shape = np.broadcast_shapes(*(a.shape for a in tensors)) if tensors else sizes_of((size,))
    wanted = tensors[0].dtype if tensors else _floating("normal", dtype)
    where = next((_place(t, device) for t in (mean, std) if isinstance(t, Tensor)), device)
    blank = _blank(where, shape, wanted, requires_grad)
    if blank is not None:
        return blank
    draw = source(generator).normal
    if tensors:
        array = _shaped(shape, lambda count: draw(count, wanted))
        array = np.asarray(array * spread + getattr(mean, "_array", mean), wanted)
    else:
        array = _shaped(shape, lambda count: draw(count, wanted, mean, std))
    return _made(array, requires_grad) if out is None else _into(out, array)


def poisson(input: Tensor, generator: Generator | None = None) -> Any:
    """Numbers of the Poisson distribution, of the rate that each element says."""
    if is_meta(input._array):
        return wrap(input._array.copy())
    rates = input._array
    if rates.size and not (rates >= 0).all():
        raise ShapeError("invalid Poisson rate, expected rate to be non-negative")
    return wrap(
        source(generator).poisson(rates.reshape(-1)).reshape(rates.shape).astype(rates.dtype)
    )


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Any = None,
) -> Any:
    """Places drawn with the weights of a vector, or of each row of a matrix: int64.

    replacement  whether a place may be drawn again. RuntimeError for negative weights, or if
                 there are too few to draw from.
    """
    weights = input._array
    if weights.ndim not in (1, 2):
        raise ShapeError(f"prob_dist must be 1 or 2 dim, got {weights.ndim}")
    if weights.dtype.kind != "f":
        raise ShapeError(f"multinomial only supports floating-point dtypes, got: {input.dtype}")
    if num_samples <= 0:
        raise ShapeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise ShapeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if is_meta(weights):
        return wrap(blank_like(weights, (*weights.shape[:-1], num_samples), np.int64))
    rows = np.atleast_2d(weights).astype(np.float64)
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise ShapeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (rows.sum(1) <= 0).any():
        raise ShapeError("invalid multinomial distribution (sum of probabilities <= 0)")
    kind = np.float64 if weights.dtype == np.float64 else np.float32
    if replacement and num_samples > 1:
        ends = np.cumsum(np.atleast_2d(weights).astype(kind), 1)
        ends /= ends[:, -1:]
        aims = source(generator).double(len(rows) * num_samples).reshape(len(rows), -1)
        found = np.stack([np.searchsorted(end, aim) for end, aim in zip(ends, aims, strict=True)])
        found = np.minimum(found, weights.shape[-1] - 1)
    else:
        # The first to arrive of exponential clocks, each as fast as its weight.
        clocks = source(generator).exponential(rows.size).reshape(rows.shape).astype(kind)
        with np.errstate(divide="ignore", invalid="ignore"):
            early = np.divide(rows, clocks, dtype=kind)
        found = np.argsort(-early, 1, kind="stable")[:, :num_samples]
        if (np.take_along_axis(rows, found, 1) <= 0).any():
            raise ShapeError(
                "invalid multinomial distribution (with replacement=False, not enough "
                "non-negative category to sample)"
            )
    drawn = found.reshape((num_samples,) if weights.ndim == 1 else found.shape).astype(np.int64)
    return wrap(drawn) if out is None else _into(out, drawn)


# ------------------------------------------------------------------------------ in place


def _filled(t: Tensor, draw: Callable[[int], np.ndarray]) -> Tensor:
    """`t` with random numbers in it; what was there does not count any more."""
    tracked = is_recorded(t, ())
    check_writable(t, "a random fill")
    node = _zero(alias(t))._node if tracked else None
    if is_meta(t._array):
        count_write(t)
    else:
        write(t, in_order(t._array, draw))
    if node is not None:
        set_history(t, node)
    return t


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Numbers of the normal distribution, in place."""
    mean, std = _number(mean), _number(std)
    if std < 0:
        raise ShapeError(f"normal expects std >= 0.0, but found std {std}")
    kind, dense = self._array.dtype, self._array.flags.c_contiguous
    draw = source(generator).normal
    return _filled(self, lambda count: draw(count, kind, mean, std, dense))


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def uniform_(
    self: Tensor,
    from_: float = 0.0,
    to: float = 1.0,
    *,
    generator: Generator | None = None,
    **more: Any,
) -> Tensor:
    """Numbers from [from, to), all equally likely, in place."""
    low, to = _number(more.get("from", from_)), _number(to)
    if low > to:
        raise ShapeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={to}"
        )
    draw, kind = source(generator).uniform, self._array.dtype
    return _filled(self, lambda count: draw(count, kind, low, to))


def random_(
    self: Tensor,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
    **more: Any,
) -> Tensor:
    """Integers from [from, to), in place; by default all that the dtype holds exactly."""
    from_ = more.get("from", from_)
    if to is None:
        low, high = 0, from_
    else:
        low, high = from_ or 0, to
    if high is None:
        kind = self._array.dtype
        if kind.kind == "f":
            high = (1 << (np.finfo(kind).nmant + 1)) + 1
        else:
            high = 2 if kind.kind == "b" else int(np.iinfo(kind).max) + 1
    elif low >= high:
        raise ShapeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    top = high
    return _filled(self, lambda count: source(generator).integers(low, top, count))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Numbers of the exponential distribution of this rate, in place."""
    if not lambd > 0:
        raise ShapeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _filled(self, lambda count: source(generator).exponential(count, lambd))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """1 with probability `p` (a number, or a tensor with one for each), else 0; in place."""
    chance = getattr(p, "_array", p)
    if np.size(chance) and not (np.min(chance) >= 0 and np.max(chance) <= 1):
        raise ShapeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    if isinstance(chance, np.ndarray) and chance.ndim:
        drawn = _chances(self._array, np.broadcast_to(chance, self._array.shape), generator)
        return _filled(self, lambda _: in_memory(self._array, drawn))
    return _filled(self, lambda count: source(generator).chances(chance, count))


def in_memory(array: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """`numbers`, of the shape of `array`, in the order of its memory: what `in_order` undoes."""
    if array.flags.c_contiguous:
        return numbers.reshape(-1)
    return numbers.transpose(outer_first(array)).reshape(-1)


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """exp of numbers of the normal distribution, in place."""
    draw = source(generator).few_normal
    return _filled(self, lambda count: np.exp(draw(count) * std + mean))


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Numbers of the Cauchy distribution, in place."""

    def draw(count: int) -> np.ndarray:
        return np.tan(math.pi * (source(generator).double(count) - 0.5)) * sigma + median

    return _filled(self, draw)


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """The number of trials up to the first success, in place."""
    if not 0 < p < 1:
        raise ShapeError(f"geometric_ expects p to be in (0, 1), but got p={p}")

    def draw(count: int) -> np.ndarray:
        return np.asarray(np.ceil(np.log(source(generator).double(count)) / math.log1p(-p)))

    return _filled(self, draw)


_METHODS: Sequence[Any] = (
    *(normal_, uniform_, random_, exponential_, bernoulli_, log_normal_, cauchy_, geometric_),
    *(bernoulli, multinomial),
)
for _function in _METHODS:
    setattr(Tensor, _function.__name__, _function)
