"""Every kernel gives what the formula beside it gives, on whatever the formula takes."""

from typing import Any

import numpy as np
import pytest
from oracle import arguments, as_list, case
from test_ops_memory import node_of

from minitorch import Tensor, kernels
from minitorch.ops.declare import OPS

KERNELS = kernels.registered()
SHAPES = [(), (1,), (5,), (2, 3), (0,), (2, 0)]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-300, 800.0, -800.0, 0.5, 1.0, -1.0])


def calls(name: str, dtype: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The op's samples, and special values in many shapes where one array is all it takes."""
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    it = case(name)
    for sample in it.samples:
        found.append((sample.inputs, dict(sample.options)))
        for k, special in enumerate((np.nan, np.inf, -np.inf, 0.0)):
            for place in it.tracked:
                changed = list(sample.inputs)
                if place < len(changed) and np.size(changed[place]):
                    x = np.array(changed[place], np.float64)
                    x.reshape(-1)[k % x.size] = special
                    changed[place] = x
                    found.append((tuple(changed), dict(sample.options)))
    if len(OPS[name].inputs) == 1 and not OPS[name].options:
        found += [((np.resize(SPECIAL, shape),), {}) for shape in SHAPES]
        found += [((SPECIAL,), {}), ((SPECIAL[::-2],), {})]
    return [
        (
            tuple(
                v.astype(dtype) if isinstance(v, np.ndarray) and v.dtype.kind == "f" else v
                for v in inputs
            ),
            options,
        )
        for inputs, options in found
    ]


def test_there_are_kernels() -> None:
    assert KERNELS
    assert set(KERNELS) <= set(OPS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_equals_its_formula(name: str, dtype: Any) -> None:
    it, op = case(name), OPS[name]
    rng = np.random.default_rng(0)
    eps = float(np.finfo(dtype).eps)

    def plain(shape: Any) -> Any:
        return rng.uniform(-1.5, 1.5, shape)

    def special(shape: Any) -> Any:
        return np.resize(SPECIAL[[0, 1, 3, 9]], shape)

    def repeated(shape: Any) -> Any:
        return np.broadcast_to(plain(shape).reshape(-1)[:1].sum(), shape)

    for inputs, options in calls(name, dtype):
        with np.errstate(all="ignore"):
            given = arguments(it, list(inputs), lambda a, track: Tensor(a, track))
            outs = as_list(it.function(*given, **options))
            node = node_of(outs)
            for g in (plain, special, repeated):
                gs = [np.asarray(g(t.shape), dtype) for t in outs]
                given = gs[0] if op.outputs == 1 else tuple(gs)
                fast = op.pull(given, node.args, node.edges)
                with kernels.disabled():
                    assert op.rules == tuple(op.formulas.values())
                    slow = op.pull(given, node.args, node.edges)
                for a, b in zip(fast, slow, strict=True):
                    if a is None:
                        assert b is None  # an optional input that was left out
                        continue
                    assert np.shape(a) == np.shape(b)
                    assert np.asarray(a).dtype == np.asarray(b).dtype
                    np.testing.assert_allclose(a, b, rtol=16 * eps, atol=16 * eps)
        assert op.rules != tuple(op.formulas.values())


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_takes_what_its_formula_takes_or_is_refused(name: str) -> None:
    (key, *_) = KERNELS[name]
    before = OPS[name].rules
    with pytest.raises(TypeError, match="the kernel takes"):
        kernels.register(name, key, lambda g, something_else: g)
    assert OPS[name].rules == before


def test_disabled_blocks_nest() -> None:
    name = next(iter(KERNELS))
    op = OPS[name]
    formulas = tuple(op.formulas.values())
    with kernels.disabled():
        with kernels.disabled():
            assert op.rules == formulas
        assert op.rules == formulas
    assert op.rules != formulas
