"""Reported wants, class W: platforms and tools."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.graph import to_dot, to_svg, to_text, trace
from minitorch.ops.declare import OPS

ROOT = Path(__file__).parents[2]


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


class Counted(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library: a formula does nothing to it but operators and ufuncs."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)
        self.shape, self.dtype = self.array.shape, self.array.dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        bare = [x.array if isinstance(x, Counted) else x for x in inputs]
        return Counted(getattr(ufunc, method)(*bare, **options))


NEUTRAL = ["add", "sub", "mul", "div", "neg", "reciprocal", "square", "exp", "expm1", "sqrt"]


@pytest.mark.parametrize("name", NEUTRAL)
def test_r47_formulas_are_written_against_the_arrays_own_operators(name: str) -> None:
    """R47: HIPS/autograd #46, PR 411: a declared formula runs on any array of NumPy's manners."""
    op = OPS[name]
    values = {x: Counted([0.5, 1.5]) for x in op.inputs}
    with np.errstate(all="ignore"):
        out = op.forward(*(v.array for v in values.values()))
    known = {**values, "out": Counted(out)}
    for formula, needs in zip(op.formulas.values(), op.saved, strict=True):
        g = formula(Counted([1.0, 1.0]), *(known[need] for need in needs))
        assert isinstance(g, Counted)


def test_r48_a_pure_wheel_with_no_compiled_requirement_but_numpy_and_scipy() -> None:
    """R48: pyodide #1625, #6433, PR 609; pyscript #85."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {line.split(">=")[0] for line in project["project"]["dependencies"]}
    assert names == {"numpy", "scipy", "typer", "rich"}
    assert not [p for p in (ROOT / "src").rglob("*") if p.suffix in {".c", ".pyx", ".so", ".pyd"}]


def test_r48_importing_starts_no_thread_and_no_process() -> None:
    """R48: pyodide #1625, #6433: in a browser there are neither threads nor processes."""
    code = (
        "import sys, threading, numpy\n"
        "before = set(sys.modules)\n"
        "import minitorch, minigrad, minitorch.graph\n"
        "new = set(sys.modules) - before\n"
        "bad = {'subprocess', 'multiprocessing', 'concurrent.futures', 'asyncio', 'scipy'}\n"
        "print(sorted(bad & new), threading.active_count())"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.stdout.strip(), result.stderr) == ("[] 1", "")


def test_r50_pictures_need_no_graphviz_and_show_shapes_dtypes_and_names() -> None:
    """R50: pytorchviz #69, PR 49, PR 33; torchview #97; pytorch #3778, #919."""
    w, b = T(np.ones((3, 2))), T(np.zeros(2))
    loss = ((np.ones((4, 3)) @ w + b) ** 2).mean()
    names = {"w": w, "b": b}
    for text in (to_text(loss, names), to_dot(loss, names), to_svg(loss, names)):
        for wanted in ("w", "b", "(3, 2)", "float64", "matmul", "mean"):
            assert wanted in text
    assert to_svg(loss, names).startswith("<svg")


def test_r50_the_same_operand_twice_draws_two_edges() -> None:
    """R50: pytorchviz #69: nodes are not merged by accident, nor are edges."""
    x = T(2.0)
    assert len(trace(x * x).edges) == 2
    assert to_dot(x * x).count("->") == 2
    a, b = T([1.0]), T([1.0])
    assert len(trace(mt.cat([a, b, a])).nodes) == 3
    assert len(trace(mt.cat([a, b, a])).edges) == 3
