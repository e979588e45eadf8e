"""Every op and every public function has PyTorch's values and gradients, to 1e-7 in float64."""

import numpy as np
import pytest
from oracle import COMPOSED, NAMES, assert_same, case, oracle, run_ours, run_torch, shown

import minitorch
from minitorch import ops
from minitorch.ops.declare import OPS


@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradients_are_pytorchs(name: str) -> None:
    it = case(name)
    for sample in it.samples:
        options = it.complete(sample)
        assert_same(
            run_ours(it, sample.inputs, options),
            run_torch(it, sample.inputs, options),
            shown(it, sample),
        )


@pytest.mark.parametrize("name", OPS)
def test_defaults_are_those_that_the_oracle_was_given(name: str) -> None:
    """The oracle is called with every option; here ours is called as the sample says."""
    it = case(name)
    for sample in it.samples:
        assert_same(
            run_ours(it, sample.inputs, sample.options),
            run_ours(it, sample.inputs, it.complete(sample)),
            shown(it, sample),
            rtol=0,
            atol=0,
        )


@pytest.mark.parametrize("name", OPS)
def test_on_bare_arrays_it_gives_the_same_arrays(name: str) -> None:
    it = case(name)
    for sample in it.samples:
        bare = it.function(*sample.inputs, **sample.options)
        for plain, recorded in zip(
            bare if isinstance(bare, tuple) else (bare,),
            run_ours(it, sample.inputs, sample.options).values,
            strict=True,
        ):
            assert not isinstance(plain, minitorch.Tensor)
            assert np.asarray(plain).dtype == recorded.dtype
            np.testing.assert_array_equal(plain, recorded)


def test_every_public_function_without_a_record_is_covered() -> None:
    public = {name for name in ops.__all__ if name not in OPS}
    assert public - {"manual_seed"} == set(COMPOSED)


def test_a_new_op_finds_its_counterpart_by_name() -> None:
    import torch

    x = torch.tensor([-1.0, 0.5])
    assert torch.equal(oracle("mish")(x), torch.nn.functional.mish(x))
    assert torch.equal(oracle("sinc")(x), torch.sinc(x))
    y = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.equal(oracle("nansum")(y, axis=None, keepdims=True), torch.tensor([[10.0]]))


def test_an_op_without_a_counterpart_fails() -> None:
    with pytest.raises(LookupError, match="OTHER"):
        oracle("no_such_function")
