"""The NumPy face: debug mode checks every contribution and catches a mutated saved array."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.engine.mode import ambient
from minitorch.ops.declare import OPS


def T(values: Any, dtype: Any = np.float64) -> Tensor:
    return Tensor(np.asarray(values, dtype), requires_grad=True)


@pytest.fixture(autouse=True)
def debug_is_off_again() -> Iterator[None]:
    assert not ambient.get().debug
    yield
    mt.debug(False)


WRONG: dict[str, Any] = {
    "too long": lambda g: np.ones(4),
    "too short": lambda g: np.ones(1),
    "an axis short": lambda g: np.ones(()),
    "another axis": lambda g: np.ones((3, 2)),
    "integer": lambda g: np.ones(3, np.int64),
    "boolean": lambda g: np.ones(3, bool),
    "a Python number": lambda g: 1.0,
}


@pytest.mark.parametrize("what", WRONG)
def test_debug_asserts_the_shape_and_dtype_of_every_contribution(make_op: Any, what: str) -> None:
    wrong = make_op("test_wrong", lambda x: x * 1.0, {"x": WRONG[what]})
    x = T([1.0, 2.0, 3.0])
    with (
        mt.debug(True),
        pytest.raises(RuntimeError, match=r"test_wrong.*formula gave.*float64 \(3,\).*[Cc]orrect"),
    ):
        (wrong(x) * 2).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("what", ["too long", "too short", "an axis short", "another axis"])
def test_a_gradient_that_does_not_fit_names_the_op_without_debug_too(
    make_op: Any, what: str
) -> None:
    wrong = make_op("test_wrong", lambda x: x * 1.0, {"x": WRONG[what]})
    with pytest.raises(RuntimeError, match=r"test_wrong.*formula gave.*float64 \(3,\)"):
        wrong(T([1.0, 2.0, 3.0])).sum().backward()


@pytest.mark.parametrize("count", [1, 3])
def test_debug_counts_the_gradients_of_a_joint_formula(make_op: Any, count: int) -> None:
    wrong = make_op("test_few", lambda x, y: x + y, {"x, y": lambda g: (g,) * count})
    with (
        mt.debug(True),
        pytest.raises(RuntimeError, match=f"test_few.*gave {count} gradients for 2 inputs"),
    ):
        wrong(T(1.0), T(2.0)).backward()


def test_a_wrong_op_is_removed_from_the_table_again() -> None:
    assert [name for name in OPS if name.startswith("test_")] == []
    assert [name for name in vars(Tensor) if name.startswith("test_")] == []


def test_debug_accepts_what_the_edge_undoes() -> None:
    # Wider shapes are summed back and wider dtypes cast: neither is a mistake.
    x, b = T(np.ones((2, 3)), np.float32), T([1.0, 2.0, 3.0], np.float16)
    with mt.debug(True):
        ((x * b + np.float64(2.0)) @ np.ones((3, 4))).sum().backward()
        parts = mt.split(x, 3, axis=1)
        (parts[0] * parts[2]).sum().backward()
    assert x.grad.dtype == np.float32
    assert b.grad.dtype == np.float16


SAVING: list[tuple[str, Any]] = [
    ("mul", lambda x, y: x * y),
    ("exp", lambda x, y: y.exp()),
    ("matmul", lambda x, y: x @ y),
    ("softmax", lambda x, y: y.softmax()),
    ("getitem", lambda x, y: x[y_index]),
    ("class_cross_entropy", lambda x, y: mt.cross_entropy(y, target)),
    ("contract", lambda x, y: mt.einsum("i,i->i", x, y)),
    ("where", lambda x, y: mt.where(mask, x, y)),
]
y_index = np.array([0, 0, 2])
target = np.array(1)
mask = np.array([True, False, True])


@pytest.mark.parametrize(("name", "fn"), SAVING, ids=[name for name, _ in SAVING])
def test_mutation_of_a_saved_array_is_caught_with_the_name_of_the_op(name: str, fn: Any) -> None:
    x, y = T([1.0, 2.0, 3.0]), T([0.5, 1.5, 2.5])
    index, labels, condition = y_index.copy(), target.copy(), mask.copy()
    with mt.debug(True):
        out = fn(x, y)
        x.data[:] += 1.0
        y.data[:] += 1.0
        out.data[...] += 1.0
        y_index[:], target[...], mask[:] = 1, 2, False
        try:
            with pytest.raises(
                mt.MutationError, match=rf"^{name}: an array of shape .* changed.*backward\(\)"
            ):
                out.sum().backward()
        finally:
            y_index[:], target[...], mask[:] = index, labels, condition
    assert x.grad is y.grad is None


def test_mutation_is_caught_by_hand_and_by_grad_too() -> None:
    x = T([1.0, 2.0])
    with mt.debug(True):
        out = (x * x).sum()
        (product,) = out._prev
        x.data[0] = 9.0
        with pytest.raises(RuntimeError, match=r"^mul: an array"):
            mt.grad(out, x)
        with pytest.raises(RuntimeError, match=r"^mul: an array"):
            mt.grad(out, x, create_graph=True)
        product.grad = np.ones(2)
        with pytest.raises(RuntimeError, match=r"^mul: an array"):
            product._backward()
    assert x.grad is None


def test_mutation_in_an_op_with_several_outputs_is_caught(make_op: Any) -> None:
    pair = make_op(
        "test_pair",
        lambda x: (x * x, x + 0),
        {"x": lambda g, x: 2 * x * g[0] if g[1] is None else 2 * x * g[0] + g[1]},
        outputs=2,
    )
    x = T([1.0, 2.0])
    with mt.debug(True):
        square, _ = pair(x)
        x.data[0] = 9.0
        with pytest.raises(mt.MutationError, match=r"^test_pair: an array"):
            square.sum().backward()


def test_without_debug_a_mutation_goes_unseen() -> None:
    x = T([1.0, 2.0])
    out = (x * x).sum()
    x.data[0] = 9.0
    out.backward()
    np.testing.assert_array_equal(x.grad, [18.0, 4.0])


def test_updating_after_backward_is_no_mutation() -> None:
    p = T([1.0, 2.0])
    with mt.debug(True):
        for _ in range(3):
            loss = (p * p).sum()
            p.grad = None
            loss.backward()
            p.data -= 0.1 * p.grad


def test_nan_in_a_saved_array_is_not_taken_for_a_mutation() -> None:
    x = T([np.nan, 2.0])
    with mt.debug(True):
        (x * x).sum().backward()
    assert np.isnan(x.grad[0])


def test_debug_gives_the_same_gradients() -> None:
    found = []
    for on in (False, True):
        x = T([[0.5, 1.5], [2.5, 0.1]])
        with mt.debug(on):
            left, right = mt.split(x.tanh(), 2)
            (left @ right.T + mt.cross_entropy(x, np.array([0, 1]))).sum().backward()
        found.append(x.grad)
    np.testing.assert_array_equal(*found)


def test_debug_as_a_function_holds_from_now_on() -> None:
    mt.debug(True)
    assert ambient.get().debug
    x = T(2.0)
    out = x * x
    x.data[...] = 3.0
    with pytest.raises(mt.MutationError):
        out.backward()
    mt.debug(False)
    assert not ambient.get().debug


def test_debug_as_a_block_ends_with_it() -> None:
    with mt.debug(True):
        assert ambient.get().debug
        with mt.debug(False):
            assert not ambient.get().debug
        assert ambient.get().debug
    assert not ambient.get().debug
    with mt.debug():
        assert ambient.get().debug
    with pytest.raises(KeyError), mt.debug(True):
        raise KeyError
    assert not ambient.get().debug


def test_debug_as_a_decorator() -> None:
    @mt.debug(True)
    def run() -> bool:
        return ambient.get().debug

    assert not ambient.get().debug
    assert run()
    assert not ambient.get().debug


def test_debug_leaves_the_grad_mode_alone() -> None:
    with mt.no_grad(), mt.debug(True):
        assert not mt.is_grad_enabled()


SCRIPT = """
import threading, numpy as np, minitorch as mt
def mutate():
    x = mt.Tensor(np.array([1.0]), requires_grad=True)
    y = x * x
    x.data[0] = 5.0
    try:
        y.backward()
    except mt.MutationError as error:
        print("caught", str(error)[:4])
    else:
        print("unseen")
mutate()
thread = threading.Thread(target=mutate)
thread.start()
thread.join()
"""


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("1", "caught mul:\n" * 2), ("0", "unseen\n" * 2), ("", "unseen\n" * 2)],
)
def test_the_environment_variable_is_for_the_whole_process(value: str, wanted: str) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "MINITORCH_DEBUG": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == (wanted, "")


def test_debug_of_one_thread_is_its_own() -> None:
    seen = []
    with mt.debug(True):
        thread = threading.Thread(target=lambda: seen.append(ambient.get().debug))
        thread.start()
        thread.join()
    assert seen == [False]
