"""Dtypes: floats keep theirs forwards and backwards, integers and bools follow NumPy."""

import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest
from oracle import (
    NAMES,
    arguments,
    as_list,
    case,
    cotangents,
    is_tracked,
    run_ours,
    run_torch,
    shown,
)
from oracle_fft import COMPLEX

import minitorch
from minitorch import Tensor, ops
from minitorch.ops.declare import OPS, Op
from minitorch.ops.samples import Sample

DIFFERENTIABLE = [name for name in NAMES if name not in OPS or OPS[name].differentiable]
# These say themselves which dtype the result has.
CHOOSES = {"astype", "eig"}
# Sums of these stay in the dtype of their first input, bools too, and its means are whole.
STAYS = {"index_add", "index_put", "index_reduce", "put_flat", "scatter_reduce"}
STAYS |= {"avg_pool", "avg_pool_backward", "adaptive_avg_pool", "adaptive_avg_pool_backward"}
STAYS |= {"max_pool_backward", "pool_put", "unfold_backward"}
# These give the largest number that the dtype has, which is another in each.
OF_ITS_DTYPE = {"nan_to_num"}


def converted(value: Any, dtype: Any) -> Any:
    """Every floating array of an input or an option in another dtype."""
    if isinstance(value, list):
        return [converted(v, dtype) for v in value]
    return np.asarray(value, of_precision(value, dtype)) if is_tracked(value) else value


def of_precision(value: Any, dtype: Any) -> Any:
    """`dtype`, or for complex numbers the complex dtype of its precision."""
    return np.result_type(dtype, np.complex64) if value.dtype.kind == "c" else np.dtype(dtype)


def in_dtype(sample: Sample, dtype: Any) -> Sample:
    return Sample(
        tuple(converted(value, dtype) for value in sample.inputs),
        {key: converted(value, dtype) for key, value in sample.options.items()},
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name not in CHOOSES])
def test_a_float_dtype_is_kept_forwards_and_backwards(name: str, dtype: Any) -> None:
    if dtype == np.float16 and name in COMPLEX:
        dtype = np.float32
    it = case(name)
    tolerance = 2e-5 if dtype == np.float32 else 2e-2
    for sample in it.samples:
        narrow = in_dtype(sample, dtype)
        wide = in_dtype(narrow, np.float64)
        # The first has to come out of the second: only rounding lies between them.
        gs = cotangents(run_ours(it, wide.inputs, wide.options).values)
        gs = [g.astype(of_precision(g, dtype)) for g in gs]
        got = run_ours(it, narrow.inputs, narrow.options, gs)
        if name in OF_ITS_DTYPE:
            want = run_torch(it, narrow.inputs, it.complete(narrow), gs)
        else:
            want = run_ours(it, wide.inputs, wide.options, gs)
        for mine, exact in zip([*got.values, *got.grads], [*want.values, *want.grads], strict=True):
            assert mine.dtype == of_precision(exact, dtype), shown(it, narrow)
            np.testing.assert_allclose(
                mine.astype(of_precision(mine, np.float64)),
                exact,
                rtol=tolerance,
                atol=tolerance,
                err_msg=shown(it, narrow),
            )


SEVERAL = [
    name
    for name, op in OPS.items()
    if (len(op.differentiable) > 1 or (op.listed and op.formulas)) and name not in COMPLEX
]


@pytest.mark.parametrize("name", SEVERAL)
def test_each_input_gets_a_gradient_of_its_own_dtype(name: str) -> None:
    it = case(name)
    mixed = False
    for sample in it.samples:
        tracked: list[Tensor] = []

        def make(array: np.ndarray, track: bool, tracked: list[Tensor] = tracked) -> Tensor:
            if not track:
                return Tensor(array)
            # The second of two is single, the third half, and round again.
            dtype = (np.float64, np.float32, np.float16)[len(tracked) % 3]
            tracked.append(Tensor(array.astype(dtype), True))
            return tracked[-1]

        given = arguments(it, sample.inputs, make)
        outs = as_list(it.function(*given, **sample.options))
        wanted = np.result_type(*(t.data for t in tracked), np.float16)
        assert all(out.dtype == wanted for out in outs)
        ones = [np.ones(out.shape) for out in outs]
        found = minitorch.grad(outs, tracked, ones, allow_unused=True)
        assert [g.dtype for g in found] == [t.dtype for t in tracked], shown(it, sample)
        reduce(operator.add, (out.sum() for out in outs)).backward()
        assert [t.grad.dtype for t in tracked] == [t.dtype for t in tracked], shown(it, sample)
        mixed = mixed or len(tracked) > 1
    assert mixed


# ------------------------------------------------------------------------ half precision


@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_are_counted_in_more_than_half_precision(name: str) -> None:
    """70000 equal elements: their number is beyond float16, their share of 1 is not."""
    x = Tensor(np.ones(70_000, np.float16), True)
    getattr(ops, name)(x).backward()
    assert x.grad.dtype == np.float16
    np.testing.assert_array_equal(x.grad, np.full(70_000, 1 / 70_000, np.float16))


def test_half_precision_is_added_up_in_single() -> None:
    ones = np.full(4096, 1.0, np.float16)
    assert ops.sum(ones) == 4096
    assert ops.mean(np.full(70_000, 2.0, np.float16)) == 2
    x = Tensor(np.array([1.0], np.float16), True)
    ops.broadcast_to(x, (4096,)).sum().backward()
    np.testing.assert_array_equal(x.grad, np.array([4096], np.float16))
    row = Tensor(np.ones(3, np.float16), True)
    (row * np.ones((4096, 3), np.float16)).sum().backward()
    np.testing.assert_array_equal(row.grad, np.full(3, 4096, np.float16))
    reached = Tensor(np.ones(1, np.float16), True)
    ops.take(reached, np.zeros(4096, np.int64)).sum().backward()
    np.testing.assert_array_equal(reached.grad, np.array([4096], np.float16))


@pytest.mark.parametrize("name", ["var", "std", "logsumexp", "softmax", "log_softmax"])
def test_long_lanes_of_half_precision(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(70_000).astype(np.float16)
    function = getattr(ops, name)
    np.testing.assert_allclose(
        np.asarray(function(x), np.float64), function(x.astype(np.float64)), rtol=2e-3, atol=1e-4
    )


# ---------------------------------------------------------------------- integers and bools


def _sum_to(x: np.ndarray, shape: Any) -> Any:
    missing = x.ndim - len(shape)
    ones = tuple(k for k, n in enumerate(x.shape) if k >= missing and shape[k - missing] == 1 != n)
    return np.sum(x, axis=(*range(missing), *ones)).reshape(shape)


def _put_add(x: np.ndarray, index: Any, shape: Any, unique: bool) -> Any:
    target = np.zeros(shape, x.dtype)
    np.add.at(target, index, x)
    return target


def _scatter_add(x: np.ndarray, index: Any, src: Any, axis: int) -> Any:
    target = x.copy()
    for place in np.ndindex(index.shape):
        target[_aimed(place, index, axis)] += src[place]
    return target


def _gather(x: np.ndarray, index: Any, axis: int) -> Any:
    found = np.empty(index.shape, x.dtype)
    for place in np.ndindex(index.shape):
        found[place] = x[_aimed(place, index, axis)]
    return found


def _put_strided(x: np.ndarray, size: Any, stride: Any, places: Any) -> Any:
    memory = np.zeros(100, x.dtype)
    np.add.at(memory, strided(np.arange(100), *places), x)
    return strided(memory, size, stride)


def strided(memory: np.ndarray, size: Any, stride: Any, offset: int = 0) -> np.ndarray:
    steps = [s * memory.itemsize for s in stride]
    return np.lib.stride_tricks.as_strided(memory[offset:], size, steps)


def _aimed(place: tuple[int, ...], index: Any, axis: int) -> tuple[int, ...]:
    axis %= max(len(place), 1)
    return (*place[:axis], index[place], *place[axis + 1 :]) if place else ()


def _unless_0d(function: Any) -> Any:
    return lambda x, axis: function(x, axis) if x.ndim else function(x).reshape(())


# NumPy's counterparts by other names, or with other arguments.
NUMPY: dict[str, Any] = {
    "div": np.true_divide,
    "mul": np.multiply,
    "sub": np.subtract,
    "neg": np.negative,
    "abs": np.absolute,
    "pow": np.power,
    "permute": np.transpose,
    "unsqueeze": np.expand_dims,
    "transposed": lambda x: np.swapaxes(x, -1, -2),
    "getitem": lambda x, index: x[tuple(index) if isinstance(index, tuple) else index],
    "gather": _gather,
    "scatter_add": _scatter_add,
    "put_add": _put_add,
    "sum_to": _sum_to,
    "put_strided": _put_strided,
    "cat": np.concatenate,
    "stack": np.stack,
    "split_sizes": lambda x, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    "constant_pad": lambda x, pad_width, value: (
        np.pad(x, pad_width, constant_values=value) if x.ndim else x
    ),
    "linear": lambda x, weight, bias=None: x @ weight.T if bias is None else x @ weight.T + bias,
    "contract": lambda xs, labels, out_labels: np.einsum(f"{','.join(labels)}->{out_labels}", *xs),
    "clip": lambda x, min=None, max=None: np.clip(x, min, max),
    "cumsum": _unless_0d(np.cumsum),
    "cumprod": _unless_0d(np.cumprod),
    "relu": lambda x: np.maximum(x, 0),
    # Of numbers from 0 on: both roundings are the same.
    "div_rounded": lambda x, y, rounding_mode: np.floor_divide(x, y),
    # NumPy's reciprocal of an integer is an integer, 0 for all but 1 and -1; ours is a quotient.
    "reciprocal": lambda x: np.true_divide(1, x),
}
INTEGERS = [np.int64, np.int32, np.uint8, np.bool_]


# NumPy's functions of these names do something else, or take other options.
OTHERWISE = {"select", "place", "roll", "rot90"}


def numpy_counterpart(op: Op) -> Any:
    if isinstance(op.forward, np.ufunc):
        return op.forward
    theirs = NUMPY.get(op.name) or getattr(np, op.name, None)
    return None if op.name in OTHERWISE else theirs


def kind_of(error: Exception) -> type[Exception]:
    return next(k for k in (TypeError, ValueError, OverflowError) if isinstance(error, k))


def whole(value: Any, dtype: Any, then: Any = None) -> Any:
    """Every floating array of an input as small integers, or as bools; `then` in another dtype."""
    if isinstance(value, list):
        return [whole(v, dtype, then) for v in value]
    if not is_tracked(value):
        return value
    steps = np.minimum(np.abs(np.round(np.nan_to_num(value) * 3)), 5)
    return np.asarray(steps % 2 if dtype == np.bool_ else steps).astype(dtype).astype(then or dtype)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", [name for name in OPS if name not in CHOOSES | STAYS | COMPLEX])
def test_integers_have_numpys_dtypes_and_no_gradient(name: str, dtype: Any) -> None:
    """The oracle is the NumPy function; where there is none, the same op on floats: its result
    is exact, or floating and as near as its dtype can be."""
    it, op = case(name), OPS[name]
    theirs = numpy_counterpart(op)
    worked = False
    for sample in it.samples:
        inputs = [whole(value, dtype) for value in sample.inputs]
        options = it.complete(sample)
        if theirs is None:
            call = it.function
            exact = [whole(value, dtype, np.float64) for value in sample.inputs]
        else:
            call, exact = theirs, inputs
        given = arguments(it, inputs, lambda a, _: Tensor(a))
        with np.errstate(all="ignore"):
            try:
                wanted = as_list(call(*exact, **options))
            except (TypeError, ValueError, OverflowError) as error:
                # NumPy refuses the negative of a bool, or an integer to a negative power.
                with pytest.raises(kind_of(error)):
                    it.function(*given, **sample.options)
                worked = True
                continue
            outputs = as_list(it.function(*given, **sample.options))
        for out, want in zip(outputs, wanted, strict=True):
            worked = True
            assert not out.requires_grad, shown(it, sample)
            assert out.op is None, shown(it, sample)
            if theirs is not None:
                assert out.dtype == np.asarray(want).dtype, shown(it, sample)
            tolerance = 0.0 if out.dtype.kind in "iub" else 16 * float(np.finfo(out.dtype).eps)
            np.testing.assert_allclose(
                out.data.astype(np.float64),
                np.asarray(want, np.float64),
                rtol=tolerance,
                atol=tolerance,
                err_msg=shown(it, sample),
            )
    assert worked


@pytest.mark.parametrize("dtype", [np.int64, np.bool_], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", SEVERAL)
def test_an_integer_beside_a_float_stays_without_gradient(name: str, dtype: Any) -> None:
    """Of the tracked inputs only the first is floating: it alone has a gradient, the same as
    beside floats of the same values."""
    it = case(name)
    for sample in it.samples:
        results = []
        for then in (dtype, np.float64):
            tracked: list[Tensor] = []
            others: list[Tensor] = []

            def make(
                array: np.ndarray,
                track: bool,
                then: Any = then,
                tracked: Any = tracked,
                others: Any = others,
            ) -> Tensor:
                if track and not tracked:
                    tracked.append(Tensor(array, True))
                    return tracked[0]
                others.append(Tensor(whole(array, dtype, then)))
                return others[-1]

            given = arguments(it, sample.inputs, make)
            with np.errstate(all="ignore"):
                outs = as_list(it.function(*given, **sample.options))
                reduce(operator.add, (out.sum() for out in outs)).backward()
            assert tracked[0].grad.dtype == np.float64
            assert all(other.grad is None for other in others)
            results.append((*(out.data for out in outs), tracked[0].grad))
        for mine, want in zip(*results, strict=True):
            np.testing.assert_allclose(mine, want, rtol=1e-12, err_msg=shown(it, sample))


@pytest.mark.parametrize(
    "expression",
    [
        "a + i", "i + a", "a * i", "a / i", "a ** i", "i - a", "a @ i",
    ],
)  # fmt: skip
def test_a_float_and_an_integer_give_a_float(expression: str) -> None:
    values = {"a": np.array([1.5, 2.5], np.float32), "i": np.array([2, 3], np.int8)}
    got = eval(expression, {}, {k: Tensor(v, v.dtype.kind == "f") for k, v in values.items()})
    want = eval(expression, {}, values)
    assert got.dtype == want.dtype == np.float32
    np.testing.assert_array_equal(got.data, want)
    assert got.requires_grad


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "**"])
@pytest.mark.parametrize("number", [2, 2.5, True, np.float32(2), np.int64(3)])
def test_a_number_does_not_widen_a_tensor(symbol: str, number: Any) -> None:
    """A Python number is of any dtype; a NumPy one counts as NumPy counts it."""
    function = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "**": operator.pow,
    }[symbol]
    x = np.array([1.5, 2.5], np.float32)
    for swapped in (False, True):
        pair = (number, x) if swapped else (x, number)
        mine = (number, Tensor(x, True)) if swapped else (Tensor(x, True), number)
        got, want = function(*mine), function(*pair)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.data, want)
