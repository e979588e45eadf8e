"""`nn.init` gives PyTorch's values after the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

CALLS: dict[str, tuple[tuple[int, ...], Callable[[Any, Any], Any]]] = {
    "uniform_": ((3, 50), lambda i, t: i.uniform_(t, -1, 2)),
    "normal_": ((3, 50), lambda i, t: i.normal_(t, 1, 0.02)),
    "normal_ few": ((3, 2), lambda i, t: i.normal_(t)),
    "trunc_normal_": ((3, 50), lambda i, t: i.trunc_normal_(t, 0, 0.02)),
    "trunc_normal_ cut": ((3, 50), lambda i, t: i.trunc_normal_(t, 1, 2, -1, 1.5)),
    "trunc_normal_ of a tail": ((3, 50), lambda i, t: i.trunc_normal_(t, 0, 1, 1, 4)),
    "constant_": ((3,), lambda i, t: i.constant_(t, 0.3)),
    "ones_": ((3,), lambda i, t: i.ones_(t)),
    "zeros_": ((3,), lambda i, t: i.zeros_(t)),
    "eye_": ((3, 5), lambda i, t: i.eye_(t)),
    "dirac_": ((4, 3, 3, 5), lambda i, t: i.dirac_(t)),
    "dirac_ of groups": ((6, 2, 3), lambda i, t: i.dirac_(t, 2)),
    "xavier_uniform_": ((30, 20), lambda i, t: i.xavier_uniform_(t, 1.5)),
    "xavier_normal_": ((6, 5, 3, 3), lambda i, t: i.xavier_normal_(t)),
    "kaiming_uniform_": ((6, 5, 3), lambda i, t: i.kaiming_uniform_(t, 5**0.5)),
    "kaiming_normal_": (
        (30, 20),
        lambda i, t: i.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
    ),
    "orthogonal_ tall": ((30, 20), lambda i, t: i.orthogonal_(t, 2)),
    "orthogonal_ wide": ((5, 3, 4), lambda i, t: i.orthogonal_(t)),
    "sparse_": ((20, 6), lambda i, t: i.sparse_(t, 0.3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values(name: str) -> None:
    shape, call = CALLS[name]
    results = []
    for T in (torch, mt):
        T.manual_seed(3)
        t = T.nn.Parameter(T.full(shape, 7.0))
        assert call(T.nn.init, t) is t
        assert t.requires_grad
        assert t.grad_fn is None
        results.append((t.detach().numpy(), T.rand(1).item()))
    (want, after), (got, ours_after) = results
    # A float32 QR decomposition rounds as its library does: to a few ulp of the largest element.
    atol = 1e-6 if "orthogonal" in name else 1e-7
    np.testing.assert_allclose(got, want, rtol=3e-6, atol=atol)
    assert ours_after == after


MISTAKES: dict[str, Callable[[Any], Any]] = {
    "eye_": lambda T: T.nn.init.eye_(T.ones(3)),
    "dirac_": lambda T: T.nn.init.dirac_(T.ones(3)),
    "dirac_ of groups": lambda T: T.nn.init.dirac_(T.ones(3, 3, 3), 2),
    "xavier_uniform_": lambda T: T.nn.init.xavier_uniform_(T.ones(3)),
    "kaiming_normal_": lambda T: T.nn.init.kaiming_normal_(T.ones(3, 3), mode="fan"),
    "gain": lambda T: T.nn.init.calculate_gain("nothing"),
    "slope": lambda T: T.nn.init.calculate_gain("leaky_relu", True),
    "orthogonal_": lambda T: T.nn.init.orthogonal_(T.ones(3)),
    "sparse_": lambda T: T.nn.init.sparse_(T.ones(3), 0.1),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    with pytest.raises(ValueError, match=r".") as theirs:
        MISTAKES[name](torch)
    with pytest.raises(ValueError, match=r".") as ours:
        MISTAKES[name](mt)
    assert str(ours.value) == str(theirs.value)


def test_gains() -> None:
    for kind in (
        "linear",
        "conv2d",
        "conv_transpose1d",
        "sigmoid",
        "tanh",
        "relu",
        "leaky_relu",
        "selu",
    ):
        assert mt.nn.init.calculate_gain(kind) == torch.nn.init.calculate_gain(kind)
    assert mt.nn.init.calculate_gain("leaky_relu", 0.2) == torch.nn.init.calculate_gain(
        "leaky_relu", 0.2
    )


def test_old_names_say_that_they_are_old() -> None:
    for T in (torch, mt):
        with pytest.warns(FutureWarning, match=r"nn\.init\.xavier_uniform` is now deprecated"):
            T.nn.init.xavier_uniform(T.ones(3, 3))


def test_empty_weights_stay() -> None:
    for T in (torch, mt):
        with pytest.warns(UserWarning, match="zero-element"):
            T.nn.init.kaiming_uniform_(T.empty(0, 3))
