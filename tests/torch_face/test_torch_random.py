"""The same random numbers as PyTorch after the same seed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

import minitorch.torch as mt

# One program a row; each is run after the same seed in both libraries.
PROGRAMS = {
    "rand": lambda T: T.rand(1000),
    "rand float64": lambda T: T.rand(3, 50, dtype=T.float64),
    "rand float16": lambda T: T.rand(50, dtype=T.float16),
    "rand of no elements": lambda T: T.rand(0, 3),
    "uniform_": lambda T: T.empty(333).uniform_(-0.3, 0.7),
    "uniform_ float64": lambda T: T.empty(333, dtype=T.float64).uniform_(-0.3, 0.7),
    "uniform_ in columns": lambda T: T.empty(4, 8).t().uniform_(2, 5),
    "uniform_ every second": lambda T: T.zeros(4, 8)[:, ::2].uniform_(),
    "randint": lambda T: T.randint(3, 40, (100,)),
    "randint of many": lambda T: T.randint(0, 2**40, (100,)),
    "randint negative": lambda T: T.randint(-7, 5, (2, 9), dtype=T.int32),
    "randint float": lambda T: T.randint(10, (5,), dtype=T.float32),
    "randint_like": lambda T: T.randint_like(T.zeros(7), 3, 9),
    "randperm": lambda T: T.randperm(1000),
    "randperm of one": lambda T: T.randperm(1),
    "randperm of none": lambda T: T.randperm(0),
    "randn 5": lambda T: T.randn(5),
    "randn 15, 3": lambda T: T.cat([T.randn(15), T.randn(3)]),
    "randn 16": lambda T: T.randn(16),
    "randn 17": lambda T: T.randn(17),
    "randn 1000": lambda T: T.randn(10, 100),
    "randn 100003": lambda T: T.randn(100003),
    "randn after few": lambda T: T.cat([T.randn(3), T.randn(40), T.randn(2)]),
    "randn float64 few": lambda T: T.randn(7, dtype=T.float64),
    "normal_": lambda T: T.empty(64).normal_(2, 0.02),
    "normal_ few": lambda T: T.empty(6).normal_(2, 0.02),
    "normal_ in columns": lambda T: T.empty(4, 8).t().normal_(),
    "normal with a size": lambda T: T.normal(1.0, 3.0, (40,)),
    "normal of tensors": lambda T: T.normal(T.arange(20.0), T.ones(20) * 2),
    "normal of a mean": lambda T: T.normal(T.arange(3.0)),
    "rand_like in columns": lambda T: T.rand_like(T.ones(4, 8).t()),
    "randn_like in columns": lambda T: T.randn_like(T.ones(4, 8).t()),
    "bernoulli_": lambda T: T.empty(100).bernoulli_(0.3),
    "bernoulli_ of a tensor": lambda T: T.empty(100).bernoulli_(T.full((100,), 0.3)),
    "bernoulli_ of columns": lambda T: (
        T.empty(4, 8).t().bernoulli_(T.linspace(0, 1, 32).view(8, 4))
    ),
    "bernoulli": lambda T: T.bernoulli(T.full((10, 10), 0.3)),
    "bernoulli float64": lambda T: T.bernoulli(T.full((99,), 0.3, dtype=T.float64)),
    "bernoulli of p": lambda T: T.bernoulli(T.zeros(50), 0.25),
    "exponential_": lambda T: T.empty(100).exponential_(2.0),
    "cauchy_": lambda T: T.empty(60).cauchy_(1, 2),
    "geometric_": lambda T: T.empty(60).geometric_(0.3),
    "log_normal_": lambda T: T.empty(60).log_normal_(0.5, 0.2),
    "random_ float32": lambda T: T.empty(20).random_(),
    "random_ float64": lambda T: T.empty(20, dtype=T.float64).random_(),
    "random_ int64": lambda T: T.empty(20, dtype=T.int64).random_(),
    "random_ int32": lambda T: T.empty(20, dtype=T.int32).random_(),
    "random_ uint8": lambda T: T.empty(20, dtype=T.uint8).random_(),
    "random_ bool": lambda T: T.empty(20, dtype=T.bool).random_(),
    "random_ to": lambda T: T.empty(20, dtype=T.int64).random_(17),
    "random_ from to": lambda T: T.empty(20, dtype=T.int64).random_(5, 17),
    "multinomial": lambda T: T.multinomial(T.tensor([0.1, 0.2, 0.3, 0.4]), 3),
    "multinomial of one": lambda T: T.multinomial(T.tensor([[0.1, 0.9], [0.5, 0.5]]), 1),
    "multinomial again": lambda T: T.multinomial(T.tensor([[3.0, 1, 2], [0, 1, 5]]), 50, True),
    "multinomial float64": lambda T: T.multinomial(
        T.ones(9, dtype=T.float64), 20, replacement=True
    ),
    "poisson": lambda T: T.poisson(T.tensor([0.0, 0.5, 3.0, 9.9, 10.0, 35.5, 200.0] * 5)),
    "poisson of columns": lambda T: T.poisson(T.arange(12.0).view(3, 4).t()),
    "binomial": lambda T: T.binomial(
        T.tensor([0.0, 5, 10, 100, 50, 20, 30] * 9),
        T.tensor([0.3, 0.9, 0.5, 0.01, 0.9, 0.5, 1] * 9),
    ),
    "binomial float64": lambda T: T.binomial(
        T.tensor([5.0, 1000, 1e6, 50] * 9, dtype=T.float64),
        T.tensor([0.3, 0.9, 0.4, 0.0] * 9, dtype=T.float64),
    ),
    "gamma": lambda T: T._standard_gamma(T.tensor([0.1, 0.5, 1.0, 3.0, 20.0, 1e-3] * 9)),
    "gamma float64": lambda T: T._standard_gamma(
        T.tensor([0.1, 0.5, 1.0, 3.0, 20.0, 1e-3] * 9, dtype=T.float64)
    ),
    "dirichlet": lambda T: T._sample_dirichlet(T.tensor([[0.1, 0.5, 1.0], [3.0, 20.0, 1e-3]])),
    **{
        f"{name} {how}": lambda T, place=place, like=like: like(T, place(T))
        for how, place in {
            "of columns": lambda T: T.full((4, 6), 0.5).t(),
            "repeated": lambda T: T.full((3,), 0.5).expand(5, 3),
            "repeated inside": lambda T: T.full((2, 1, 3), 0.5).expand(2, 4, 3),
            "repeated columns": lambda T: T.full((2, 3), 0.5).t().expand(4, 3, 2),
        }.items()
        for name, like in {
            "bernoulli": lambda T, x: T.bernoulli(x),
            "bernoulli of p": lambda T, x: T.bernoulli(x, 0.3),
            "rand_like": lambda T, x: T.rand_like(x),
            "randint_like": lambda T, x: T.randint_like(x, 9),
            "dropout": lambda T, x: T.nn.functional.dropout(x, 0.4),
            "uniform_": lambda T, x: T.empty_like(x).uniform_(),
            "clone": lambda T, x: x.clone().normal_(),
        }.items()
    },
    "dropout": lambda T: T.nn.functional.dropout(T.ones(100), 0.3),
    "dropout in columns": lambda T: T.nn.functional.dropout(T.ones(6, 5).t(), 0.3),
    "dropout2d": lambda T: T.nn.functional.dropout2d(T.ones(4, 5, 2, 2), 0.4),
    "alpha_dropout": lambda T: T.nn.functional.alpha_dropout(T.ones(40), 0.4, True),
    "rrelu": lambda T: T.nn.functional.rrelu(-T.ones(40), training=True),
    "gumbel_softmax": lambda T: T.nn.functional.gumbel_softmax(T.zeros(3, 5)),
}

COMPUTED_WITH = {"rrelu", "gumbel_softmax"}
"""What is made of the random numbers goes on through functions that round in their own ways."""


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", [0, 42, 2**40 + 3, -1])
def test_after_the_same_seed_come_the_same_numbers(name: str, seed: int) -> None:
    results = []
    for library in (torch, mt):
        library.manual_seed(seed)
        drawn = PROGRAMS[name](library)
        results.append((str(drawn.dtype), drawn.stride(), drawn.numpy(), library.rand(2).numpy()))
    (dtype, stride, want, after), (our_dtype, our_stride, got, ours_after) = results
    assert (our_dtype, our_stride) == (dtype, stride)
    if want.dtype.kind == "f" and want.size:
        ulp = np.abs(got - want) / np.spacing(np.maximum(np.abs(want), np.finfo(want.dtype).tiny))
        if name in COMPUTED_WITH:
            assert ulp.max() <= 8
        else:
            assert ulp.max() <= 1
            assert np.mean(ulp == 0) >= 0.4  # most are equal bit by bit
    else:
        np.testing.assert_array_equal(got, want)
    # Just as many words were taken.
    np.testing.assert_array_equal(ours_after, after)


def test_normal_numbers_of_float32_are_equal_bit_by_bit() -> None:
    torch.manual_seed(11)
    mt.manual_seed(11)
    np.testing.assert_array_equal(mt.randn(100_000).numpy(), torch.randn(100_000).numpy())
    want = torch.empty(5000).normal_(-3, 0.37).numpy()
    np.testing.assert_array_equal(mt.empty(5000).normal_(-3, 0.37).numpy(), want)


def test_states_are_pytorchs_byte_by_byte() -> None:
    for draws in (0, 1, 3, 311, 312, 313, 624, 1000):
        torch.manual_seed(5)
        mt.manual_seed(5)
        for _ in range(draws):
            torch.rand(1)
            mt.rand(1)
        torch.randn(3)
        mt.randn(3)
        want = torch.get_rng_state().numpy()
        np.testing.assert_array_equal(mt.get_rng_state().numpy(), want)
        mt.manual_seed(0)
        mt.set_rng_state(mt.tensor(want))
        np.testing.assert_array_equal(mt.randn(5).numpy(), torch.randn(5).numpy())


def test_a_generator_of_ones_own() -> None:
    theirs, ours = torch.Generator(), mt.Generator()
    assert ours.initial_seed() == theirs.initial_seed()
    assert ours.manual_seed(9) is ours
    theirs.manual_seed(9)
    mt.manual_seed(1)
    before = mt.get_rng_state()
    drawn = [
        [T.rand(2, generator=g), T.randperm(5, generator=g), T.randn(3, generator=g)]
        for T, g in ((torch, theirs), (mt, ours))
    ]
    for a, b in zip(*drawn, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    np.testing.assert_array_equal(
        mt.get_rng_state().numpy(), before.numpy()
    )  # the default one rests
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.get_state().numpy(), theirs.get_state().numpy())
    copy = ours.clone_state()
    np.testing.assert_array_equal(
        mt.rand(3, generator=copy).numpy(), mt.rand(3, generator=ours).numpy()
    )


def test_fork_rng_gives_the_state_back() -> None:
    mt.manual_seed(3)
    with mt.random.fork_rng():
        mt.manual_seed(8)
        mt.rand(100)
    torch.manual_seed(3)
    np.testing.assert_array_equal(mt.rand(4).numpy(), torch.rand(4).numpy())


@pytest.mark.parametrize(
    "bad", [lambda T: T.tensor([1, 2]), lambda T: T.zeros(10, dtype=T.uint8), lambda T: "state"]
)
def test_a_state_that_is_none_is_refused_and_nothing_changes(bad: object) -> None:
    mt.manual_seed(4)
    with pytest.raises((TypeError, RuntimeError)) as ours:
        mt.set_rng_state(bad(mt))
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        torch.set_rng_state(bad(torch))
    if not isinstance(bad(mt), str):
        assert ours.type is theirs.type
    torch.manual_seed(4)
    np.testing.assert_array_equal(mt.rand(4).numpy(), torch.rand(4).numpy())


@pytest.mark.parametrize("seed", [1 << 64, -(1 << 63) - 1])
def test_a_seed_of_more_than_64_bits_is_refused(seed: int) -> None:
    for T in (torch, mt):
        with pytest.raises(ValueError, match="Overflow"):
            T.manual_seed(seed)
