"""NumPy's functions under their names: its values, through its protocol too, and derivatives."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor, arrangement, calculus, check, statistics
from minitorch.numpy_calls import WITHOUT_GRADIENTS

RNG = np.random.default_rng(5)
A = {
    "number": np.array(1.5),
    "vector": RNG.permutation(np.linspace(-2, 2, 6)),
    "other": RNG.permutation(np.linspace(0.3, 3, 6)),
    "matrix": RNG.permutation(np.linspace(-2.1, 2, 12)).reshape(3, 4),
    "second": RNG.permutation(np.linspace(-1, 2.5, 12)).reshape(3, 4),
    "cube": RNG.permutation(np.linspace(-3, 3, 24)).reshape(2, 3, 4),
    "three": RNG.permutation(np.linspace(-1, 1, 6)).reshape(2, 3),
    "places": np.cumsum(RNG.uniform(0.2, 1, 4)),
    "ints": RNG.integers(-4, 5, (3, 4)),
    "float": RNG.normal(size=(3, 4)).astype(np.float32),
    "bools": RNG.uniform(size=(3, 4)) > 0.5,
    "holes": np.where(RNG.uniform(size=(3, 4)) > 0.7, np.nan, RNG.normal(size=(3, 4))),
    "empty": np.zeros((0, 4)),
}
A["holes"][1] = np.nan
W4 = np.array([0.5, 1.0, 0.25, 2.0])

# A name, the arrays, further arguments, options.
CALLS: list[tuple[str, tuple[str, ...], tuple[Any, ...], dict[str, Any]]] = [
    ("append", ("vector", "matrix"), (), {}),
    ("append", ("matrix", "second"), (1,), {}),
    ("array_split", ("vector",), (4,), {}),
    ("array_split", ("matrix",), ([1, 3], 1), {}),
    ("atleast_1d", ("number",), (), {}),
    ("atleast_2d", ("number", "vector", "matrix"), (), {}),
    ("atleast_3d", ("number", "vector", "matrix", "cube"), (), {}),
    ("average", ("matrix",), (), {}),
    ("average", ("matrix",), (0,), {"keepdims": True}),
    ("average", ("matrix",), (1, W4), {}),
    ("average", ("matrix",), (), {"weights": A["other"].sum() + A["second"]}),
    ("average", ("matrix",), (None, np.abs(A["second"])), {"returned": True}),
    ("average", ("cube",), ((0, 2), np.arange(1.0, 9).reshape(2, 4)), {}),
    ("average", ("ints",), (1,), {"returned": True}),
    ("broadcast_arrays", ("number", "matrix"), (), {}),
    ("corrcoef", ("matrix",), (), {}),
    ("corrcoef", ("vector",), (), {}),
    ("corrcoef", ("matrix", "second"), (), {}),
    ("corrcoef", ("matrix",), (), {"rowvar": False}),
    ("corrcoef", ("float",), (), {}),
    ("cov", ("matrix",), (), {}),
    ("cov", ("vector",), (), {"bias": True}),
    ("cov", ("matrix", "second"), (), {"ddof": 0}),
    ("cov", ("matrix",), (), {"fweights": np.array([1, 2, 1, 3])}),
    ("cov", ("matrix",), (), {"aweights": W4}),
    ("cov", ("matrix",), (), {"aweights": W4, "fweights": np.array([1, 2, 1, 3]), "ddof": 0}),
    ("cov", ("ints",), (), {}),
    ("cross", ("three", "three"), (), {}),
    ("cross", ("matrix", "second"), (), {"axis": 0}),
    ("cross", ("three", "three"), (), {"axisa": 1, "axisb": 1, "axisc": 0}),
    ("cumulative_prod", ("vector",), (), {}),
    ("cumulative_sum", ("matrix",), (), {"axis": 1, "include_initial": True}),
    ("diag", ("vector",), (-1,), {}),
    ("diag", ("matrix",), (1,), {}),
    ("diagflat", ("three",), (2,), {}),
    ("diff", ("vector",), (), {}),
    ("diff", ("matrix",), (2, 0), {}),
    ("diff", ("matrix",), (), {"prepend": 0.5, "append": np.ones((3, 2))}),
    ("diff", ("matrix",), (9,), {}),
    ("diff", ("bools",), (), {}),
    ("diff", ("ints",), (0,), {}),
    ("dot", ("number", "matrix"), (), {}),
    ("dot", ("vector", "other"), (), {}),
    ("dot", ("three", "matrix"), (), {}),
    ("dot", ("three", "cube"), (), {}),
    ("ediff1d", ("matrix",), (), {}),
    ("ediff1d", ("vector",), (), {"to_end": [9.0, 8.0], "to_begin": -1.0}),
    ("expand_dims", ("matrix",), ((0, 2),), {}),
    ("fliplr", ("matrix",), (), {}),
    ("flipud", ("vector",), (), {}),
    ("gradient", ("vector",), (), {}),
    ("gradient", ("vector",), (0.5,), {"edge_order": 2}),
    ("gradient", ("matrix",), (), {}),
    ("gradient", ("matrix",), (2.0, A["places"]), {"edge_order": 2}),
    ("gradient", ("matrix", "places"), (), {"axis": 1}),
    ("gradient", ("ints",), (), {"axis": 0}),
    ("gradient", ("three",), (), {"axis": 0}),
    ("hsplit", ("matrix",), (2,), {}),
    ("vsplit", ("matrix",), ([1],), {}),
    ("dsplit", ("cube",), (2,), {}),
    ("inner", ("matrix", "second"), (), {}),
    ("inner", ("number", "vector"), (), {}),
    ("kron", ("three", "matrix"), (), {}),
    ("kron", ("vector", "three"), (), {}),
    ("kron", ("number", "three"), (), {}),
    ("matrix_transpose", ("cube",), (), {}),
    ("median", ("matrix",), (), {}),
    ("median", ("cube",), ((0, 2),), {"keepdims": True}),
    ("median", ("three",), (1,), {}),
    ("median", ("ints",), (0,), {}),
    ("median", ("float",), (1,), {}),
    ("median", ("holes",), (0,), {}),
    ("meshgrid", ("vector", "number", "places"), (), {}),
    ("meshgrid", ("vector", "places"), (), {"indexing": "ij", "sparse": True}),
    ("nancumprod", ("holes",), (), {}),
    ("nancumsum", ("holes",), (1,), {}),
    ("nanmax", ("holes",), (0,), {}),
    ("nanmax", ("ints",), (), {}),
    ("nanmean", ("holes",), (), {}),
    ("nanmean", ("holes",), (0,), {"keepdims": True}),
    ("nanmean", ("float",), (1,), {}),
    ("nanmedian", ("holes",), (0,), {}),
    ("nanmin", ("holes",), (), {}),
    ("nanpercentile", ("holes",), ([20, 60], 0), {}),
    ("nanprod", ("holes",), (0,), {}),
    ("nanquantile", ("holes",), (0.3, 0), {}),
    ("nanstd", ("holes",), (0,), {}),
    ("nanvar", ("holes",), (), {"ddof": 1}),
    ("nanvar", ("holes",), (0,), {"keepdims": True}),
    ("percentile", ("matrix",), (35,), {}),
    ("percentile", ("matrix",), (np.array([[0, 50], [100, 33]]), 1), {}),
    ("permute_dims", ("cube",), ((1, 2, 0),), {}),
    ("ptp", ("matrix",), (), {}),
    ("ptp", ("cube",), (-1,), {"keepdims": True}),
    ("quantile", ("matrix",), ([0.1, 0.9], 0), {"keepdims": True}),
    ("quantile", ("cube",), (0.4, (0, 1)), {}),
    *(("quantile", ("vector",), (0.33,), {"method": how}) for how in statistics.METHODS),
    ("quantile", ("ints",), (0.5,), {}),
    ("quantile", ("float",), (np.float32(0.25), 1), {}),
    ("quantile", ("holes",), (0.5, 0), {}),
    ("ravel", ("cube",), (), {}),
    ("ravel", ("empty",), (), {}),
    ("roll", ("matrix",), (5,), {}),
    ("roll", ("matrix",), ((1, -1), (0, 1)), {}),
    ("roll", ("matrix",), (2, (0, 1)), {}),
    ("roll", ("cube",), (1,), {"axis": -1}),
    ("rollaxis", ("cube",), (2,), {}),
    ("rollaxis", ("cube",), (0, 3), {}),
    ("rot90", ("matrix",), (), {}),
    ("rot90", ("cube",), (-1, (2, 0)), {}),
    ("sort", ("matrix",), (), {}),
    ("sort", ("matrix",), (0,), {}),
    ("sort", ("matrix",), (None,), {}),
    ("sort", ("holes",), (), {}),
    ("take_along_axis", ("matrix",), (np.array([[0, -1], [2, 2], [1, 0]]), 1), {}),
    ("take_along_axis", ("matrix",), (np.array([[2, 0, 1, 1]]), 0), {}),
    ("tensordot", ("matrix", "second"), (), {}),
    ("tensordot", ("cube", "second"), (([1, 2], [0, 1]),), {}),
    ("tensordot", ("three", "cube"), (([1], [1]),), {}),
    ("trapezoid", ("matrix",), (), {}),
    ("trapezoid", ("matrix", "places"), (), {}),
    ("trapezoid", ("matrix", "second"), (), {"axis": 0}),
    ("trapezoid", ("vector",), (), {"dx": 0.5}),
    ("unstack", ("cube",), (), {"axis": 1}),
    ("vdot", ("matrix", "second"), (), {}),
    ("vecdot", ("matrix", "second"), (), {"axis": 0}),
]
# These take a sequence of arrays.
JOINED = [
    ("column_stack", ("vector", "other"), (), {}),
    ("concat", ("matrix", "second", "ints"), (1,), {}),
    ("concatenate", ("vector", "matrix"), (None,), {}),
    ("dstack", ("matrix", "second"), (), {}),
    ("hstack", ("vector", "other"), (), {}),
    ("hstack", ("matrix", "second"), (), {}),
    ("vstack", ("vector", "other"), (), {}),
    ("vstack", ("matrix", "second"), (), {}),
]
EVERY = [*((*row, False) for row in CALLS), *((*row, True) for row in JOINED)]
FIELDS = ("name", "which", "more", "options", "joined")


def called(function: Callable[..., Any], arrays: Any, more: Any, options: Any, joined: bool) -> Any:
    return function(arrays, *more, **options) if joined else function(*arrays, *more, **options)


def parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize(FIELDS, EVERY)
def test_values_are_numpys(name: str, which: Any, more: Any, options: Any, joined: bool) -> None:
    arrays = [A[each] for each in which]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of lanes of NaN alone
        wanted = parts(called(getattr(np, name), arrays, more, options, joined))
    tensors = [Tensor(each) for each in arrays]
    for function, inputs in (
        (getattr(mt, name), arrays),
        (getattr(mt, name), tensors),
        (getattr(np, name), tensors),
    ):
        found = parts(called(function, inputs, more, options, joined))
        assert len(found) == len(wanted)
        for got, want in zip(found, wanted, strict=True):
            # The sum of weights that are arrays is one.
            assert isinstance(got, Tensor) == (inputs is tensors) or got is found[1]
            assert got.dtype == np.asarray(want).dtype
            near = 1e-5 if got.dtype == np.float32 else 1e-9
            value = got.data if isinstance(got, Tensor) else got
            np.testing.assert_allclose(value, want, near, near, strict=True)


SMOOTH = [row for row in EVERY if not {"ints", "bools", "empty", "holes", "float"} & set(row[1])]


@pytest.mark.parametrize(FIELDS, SMOOTH)
def test_derivatives_are_those_of_finite_differences(
    name: str, which: Any, more: Any, options: Any, joined: bool
) -> None:
    function = getattr(mt, name)

    def call(*tensors: Tensor) -> Any:
        found = parts(called(function, tensors, more, options, joined))
        return sum((mt.sum(mt.sin(each)) for each in found), Tensor(0.0))

    tensors = [Tensor(A[each], True) for each in which]
    assert check.gradcheck(call, tensors)
    assert check.gradgradcheck(call, tensors)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("nanmax", (0,)),
        ("nanmean", (0,)),
        ("nanmedian", (0,)),
        ("nanprod", ()),
        ("nanquantile", (0.3, 0)),
        ("nanstd", (0,)),
        ("nancumsum", ()),
        ("nansum", ()),
    ],
)
def test_nan_takes_no_part_and_gets_no_gradient(name: str, more: Any) -> None:
    holes = np.array([[0.3, np.nan, -0.4, 0.9], [np.nan, 0.7, 1.1, -1.2], [2.0, 0.1, np.nan, 0.6]])
    x = Tensor(holes, True)
    getattr(np, name)(x, *more).sum().backward()
    assert (x.grad[np.isnan(holes)] == 0).all()
    kept = np.isfinite(holes)
    step, want = 1e-6, np.zeros_like(holes)
    for place in np.argwhere(kept):
        for sign in (1, -1):
            moved = holes.copy()
            moved[tuple(place)] += sign * step
            want[tuple(place)] += sign * np.sum(getattr(np, name)(moved, *more)) / (2 * step)
    np.testing.assert_allclose(x.grad[kept], want[kept], 1e-5, 1e-6)


def test_the_levels_of_a_quantile_have_a_gradient() -> None:
    q = Tensor([0.3, 0.71], True)
    x = Tensor(A["vector"])
    np.quantile(x, q).sum().backward()
    ordered = np.sort(A["vector"])
    assert q.grad is not None
    np.testing.assert_allclose(q.grad, np.diff(ordered)[[1, 3]] * 5, 1e-6)


@pytest.mark.parametrize("name", WITHOUT_GRADIENTS)
def test_what_has_no_gradient_runs_on_the_values(name: str) -> None:
    more: dict[str, tuple[Any, ...]] = {
        "allclose": (A["vector"],),
        "argpartition": (2,),
        "array_equal": (A["vector"],),
        "array_equiv": (A["vector"],),
        "digitize": (np.array([-1.0, 0, 1]),),
        "isclose": (A["other"],),
        "isin": (A["vector"][:2],),
        "searchsorted": (0.5,),
    }
    x = np.sort(A["vector"]) if name == "searchsorted" else A["vector"]
    x = np.arange(4) if name == "bincount" else x
    function = getattr(np, name)
    want, got = (parts(function(v, *more.get(name, ()))) for v in (x, Tensor(x)))
    for a, b in zip(got, want, strict=True):
        assert type(a) is type(b)
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda x: mt.diff(x, -1), mt.ShapeError, "order must be non-negative"),
        (lambda x: mt.diff(x[0, 0]), mt.ShapeError, "at least one dim"),
        (lambda x: mt.gradient(x, 1.0, 2.0, 3.0), mt.DTypeError, "number of arguments"),
        (lambda x: mt.gradient(x, edge_order=3), mt.ShapeError, "edge_order"),
        (lambda x: mt.gradient(x[:1]), mt.ShapeError, "too small"),
        (lambda x: mt.quantile(x, 1.5), mt.ShapeError, r"range \[0, 1\]"),
        (lambda x: mt.percentile(x, -1), mt.ShapeError, r"range \[0, 100\]"),
        (lambda x: mt.quantile(x, 0.5, method="weibull"), NotImplementedError, "weibull"),
        (lambda x: mt.average(x, weights=[1.0]), mt.DTypeError, "Axis must be specified"),
        (lambda x: mt.average(x, 0, [1.0, -1.0, 0.0]), ZeroDivisionError, "sum to zero"),
        (lambda x: mt.cov(mt.reshape(x, (1, 3, 4))), mt.ShapeError, "more than 2 dim"),
        (lambda x: mt.cross(x, x), mt.ShapeError, "3-dimensional"),
        (lambda x: mt.rot90(x, 1, (0, 0)), mt.ShapeError, "different"),
        (lambda x: mt.diag(mt.reshape(x, (1, 3, 4))), mt.ShapeError, "1- or 2-d"),
        (lambda x: mt.hsplit(x, 3), mt.ShapeError, "split"),
        (lambda x: mt.vsplit(x[0], 2), mt.ShapeError, "2 or more dimensions"),
        (lambda x: mt.meshgrid(x, indexing="no"), mt.ShapeError, "indexing"),
    ],
)
def test_a_mistake_says_what_is_wrong(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call(Tensor(A["matrix"]))


def test_every_function_is_tried_and_goes_through_numpys_protocol() -> None:
    names = {*arrangement.__all__, *calculus.__all__, *statistics.__all__}
    assert names == {row[0] for row in EVERY}
    assert all(callable(getattr(np, name)) for name in names)


def test_ufuncs_by_their_old_names() -> None:
    for name in ("arccos", "arcsin", "arctan", "arctanh", "degrees", "radians", "fabs", "rint"):
        x = np.array([0.2, -0.4])
        got = getattr(np, name)(Tensor(x, True))
        assert got.requires_grad
        np.testing.assert_allclose(got.data, getattr(np, name)(x), 1e-12)
