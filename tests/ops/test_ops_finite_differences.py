"""First and second derivatives of every op agree with central differences.

The oracle says that ours are PyTorch's; this says that they are derivatives, and is all there is
for second orders.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import NAMES, Case, arguments, as_list, case, is_tracked, leaves, shown

from minitorch import Tensor
from minitorch.check import gradcheck, gradgradcheck
from minitorch.ops.declare import OPS
from minitorch.ops.elementwise.special import POLYNOMIALS, WITHOUT_GRADIENT
from minitorch.ops.samples import Sample


def as_function(it: Case, sample: Sample) -> tuple[Callable[..., Any], list[Tensor]]:
    """The call as a function of its tracked arrays alone, and those as tensors."""

    def call(*tensors: Tensor) -> Any:
        rest = iter(tensors)
        given = arguments(it, sample.inputs, lambda a, track: next(rest) if track else Tensor(a))
        return tuple(as_list(it.function(*given, **sample.options)))

    call.__name__ = it.name
    return call, [Tensor(a, True) for a in leaves(it, sample.inputs)]


def checked(it: Case) -> list[Sample]:
    """The samples without a kink nearby that have anything to differentiate."""
    return [
        sample
        for sample in it.samples
        if sample.smooth and any(a.size for a in leaves(it, sample.inputs))
    ]


DIFFERENTIABLE = [name for name in NAMES if name not in OPS or OPS[name].differentiable]
# PyTorch's gradient of these is that for what they are always called on the result of.
FOR_WHAT_IS_BEHIND = {"ctc"}  # log_softmax
# No loss may depend on the phase of an eigenvector, and those of finite differences do.
OF_ANY_PHASE = {"eig"}
# PyTorch takes the gradient of these for a constant: its second derivatives are none.
ONCE = {"chunked_cross_entropy"}
FIRST = [n for n in DIFFERENTIABLE if n not in FOR_WHAT_IS_BEHIND | OF_ANY_PHASE]


@pytest.mark.parametrize("name", FIRST)
def test_first_derivatives(name: str) -> None:
    it = case(name)
    assert checked(it), f"{name} has no smooth sample that is not empty"
    for sample in checked(it):
        function, tensors = as_function(it, sample)
        assert gradcheck(function, tensors, atol=1e-7, rtol=1e-6), shown(it, sample)


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n not in ONCE | OF_ANY_PHASE])
def test_second_derivatives(name: str) -> None:
    it = case(name)
    for sample in checked(it):
        function, tensors = as_function(it, sample)
        assert gradgradcheck(function, tensors, atol=1e-6, rtol=1e-5), shown(it, sample)


@pytest.mark.parametrize("name", [name for name in OPS if not OPS[name].differentiable])
def test_what_has_no_formula_has_no_gradient(name: str) -> None:
    it = case(name)
    for sample in it.samples:
        given = arguments(it, sample.inputs, lambda a, _: Tensor(a, is_tracked(a)))
        assert any(isinstance(t, Tensor) and t.requires_grad for t in given)
        out = it.function(*given, **sample.options)
        assert not out.requires_grad
        assert out.op is None
        # Places and truths; and functions that PyTorch does not differentiate either.
        assert out.dtype in (np.bool_, np.int64) or name in (*WITHOUT_GRADIENT, *POLYNOMIALS)
