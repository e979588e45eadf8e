"""torch.masked: values, dtypes and gradients are PyTorch's; what does not count has no part."""

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, compare_errors

import minitorch.torch as mt

RNG = np.random.default_rng(9)
DATA: dict[str, Any] = {
    "x": RNG.normal(size=(3, 4)),
    "y": RNG.normal(size=(3, 4)),
    "cube": RNG.normal(size=(2, 3, 4)),
    "v": RNG.normal(size=4),
    "n": np.array(0.7),
    "m": np.array([[True, False, True, True], [False] * 4, [False, True, True, False]]),
    "row": np.array([True, False, True, True]),
    "yes": np.array(True),
    "some": np.array([[True, False, True, True], [True, False, False, True], [False, True] * 2]),
    "ints": np.arange(12).reshape(3, 4) - 5,
    "bools": RNG.normal(size=(3, 4)) > 0,
    "wide": RNG.normal(size=(3, 4)).astype(np.float32),
}
TRACKED = "x y cube v n"
REDUCTIONS = ("sum", "prod", "amax", "amin", "mean", "logsumexp", "norm", "var", "std")


@pytest.mark.parametrize(
    "form",
    [
        "x, mask=m",
        "x, {}dim=1, mask=m",
        "x, {}dim=(0, 1), keepdim=True, mask=some",
        "x, {}dim=-1, keepdim=True, mask=row",
        "cube, {}dim=(0, 2), mask=some",
        "cube, {}dim=(), mask=yes",
        "n, mask=yes",
        "n, {}dim=0",
        "x, {}dim=0",
        "x.float().detach(), {}dim=1, mask=some, dtype=torch.float64",
    ],
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, form: str) -> None:
    if name in ("var", "std") and "n," in form:
        return
    if name in ("var", "std"):  # of nothing PyTorch's gradient is NaN, of what does not count
        form = form.replace("mask=m", "mask=some")
    ords = ["1.0, ", "2.0, ", "float('inf'), ", "-2.0, "] if name == "norm" else [""]
    for ord in ords:
        call = form.format(ord)
        if ord and "{}" not in form:
            call = call.replace("x,", f"x, {ord}").replace("n,", f"n, {ord}")
        compare(f"torch.masked.{name}({call})", DATA, TRACKED, nodes=False, strides=False)


@pytest.mark.parametrize(
    "code",
    [
        "torch.masked.var(x, 1, unbiased=False, mask=some)",
        "torch.masked.std(x, 1, correction=2, mask=some)",
        "torch.masked.var(ints, 1, mask=some)",
        "torch.masked.median(x, 1, mask=some)",
        "torch.masked.median(x, mask=m, keepdim=True)",
        "torch.masked.median(ints, 1, mask=some)",
        "torch.masked.cumsum(x, 1, mask=m)",
        "torch.masked.cumprod(x, 0, mask=row)",
        "torch.masked.cumsum(ints.int(), 1, mask=m)",
        "torch.masked.softmax(x, 1, mask=some)",
        "torch.masked.log_softmax(x, 1, mask=some)",
        "torch.masked.softmin(x, -1, mask=some)",
        "torch.masked.softmax(wide, 1, mask=some, dtype=torch.float64)",
        "torch.masked.softmax(x, 0)",
        "torch.masked.normalize(x, 2.0, 1, mask=m)",
        "torch.masked.normalize(x, 1.0, 0, eps=3.0, mask=row)",
        "torch.masked.logaddexp(x, y, input_mask=some, other_mask=row)",
        "torch.masked.logaddexp(x, y)",
        "torch.masked.sum(ints.int(), 1, mask=m)",
        "torch.masked.sum(bools, mask=m)",
        "torch.masked.prod(ints, (0, 1), mask=m)",
        "torch.masked.amax(ints.int(), 1, mask=m)",
        "torch.masked.amin(ints.byte(), 1, mask=m)",
        "torch.masked.amax(bools)",
        "torch.masked.mean(ints, 1, mask=m, dtype=torch.float32)",
        "torch.masked.argmax(ints, 1, mask=some)",
        "torch.masked.argmin(ints, mask=m)",
        "torch.masked.argmax(wide, 0, keepdim=True)",
        "torch.masked.argmax(wide, dtype=torch.int32)",
        "torch.masked.sum(x, 1, mask=ints)",
    ],
)
def test_the_others(code: str) -> None:
    compare(code, DATA, TRACKED, nodes=False, strides=False)


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "mean", "logsumexp", "norm", "var", "std"])
def test_what_does_not_count_may_be_anything(name: str) -> None:
    values = np.array([[0.5, np.nan, 1.5, -0.7], [np.inf, 2.0, -np.inf, 1.0]])
    mask = mt.tensor(np.isfinite(values))
    x = mt.tensor(values, requires_grad=True)
    found = getattr(mt.masked, name)(x, dim=1, mask=mask)
    assert bool(mt.isfinite(found).all())
    found.sum().backward()
    assert bool(mt.isfinite(x.grad).all())
    assert x.grad[~mask].tolist() == [0, 0, 0]


def test_second_derivatives() -> None:
    mask = mt.tensor(DATA["some"])
    x = mt.tensor(DATA["x"], requires_grad=True)
    for name in ("sum", "prod", "mean", "logsumexp", "norm", "var", "std"):
        function = getattr(mt.masked, name)
        assert mt.autograd.gradgradcheck(lambda t, f=function: f(t, dim=1, mask=mask), (x,))
    assert mt.autograd.gradgradcheck(lambda t: mt.masked.softmax(t, 1, mask=mask), (x,))


@pytest.mark.parametrize(
    "code",
    [
        "torch.masked.sum(v, mask=m)",
        "torch.masked.sum(x, mask=row[:2])",
        "torch.masked.sum(x, (0, 0))",
        "torch.masked.sum(x, 2)",
        "torch.masked.mean(ints)",
        "torch.masked.median(ints, 1, mask=m)",
        "torch.masked.amax(bools, mask=m)",
        "torch.masked.var(x, 1, unbiased=True, correction=1)",
        "torch.masked.softmax(ints, 1)",
        "torch.masked.argmax(ints, (0, 1))",
    ],
)
def test_what_is_refused(code: str) -> None:
    compare_errors(code, DATA, TRACKED, words=False)
