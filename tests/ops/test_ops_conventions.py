"""Every row of the tables in docs/conventions.md is executed, here and in PyTorch."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracle import RENAMED, oracle

from minitorch import Tensor, linalg, ops
from minitorch.ops.declare import OPS, REQUIRED

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"
# What an input of this name is: of the others, gradients are shown.
DTYPES = {"t": np.int64, "m": np.bool_, "w": np.float64}


def tables() -> list[dict[str, str]]:
    """The rows of every table that has a column `example`, as dicts by column."""
    found, columns = [], None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if columns is None:
            columns = cells
        elif "example" in columns and not set(line) <= set("|- "):
            found.append(dict(zip(columns, cells, strict=True)))
    return found


def evaluated(example: str, inputs: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The value of an example and the gradients of its sum, in this library and in PyTorch."""
    example, inputs = example.strip("`"), inputs.strip("`")
    words = {"nan": np.nan, "inf": np.inf, "__builtins__": {}}
    given = eval(f"dict({inputs})", {**words, "dict": dict})
    arrays = {name: np.array(v, DTYPES.get(name, np.float64)) for name, v in given.items()}
    tracked = [name for name in arrays if name not in DTYPES]

    tensors = {name: Tensor(a, name in tracked) for name, a in arrays.items()}
    with np.errstate(all="ignore"):
        functions = {name: getattr(ops, name) for name in ops.__all__}
        value = eval(example, {**words, **functions, "linalg": linalg}, tensors)
        value.sum().backward()
    ours = [value.data, *(tensors[name].grad for name in tracked)]

    theirs_in = {name: torch.tensor(a, requires_grad=name in tracked) for name, a in arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = eval(example, words, Theirs(theirs_in))
        out.sum().backward()
    theirs = [out.detach().numpy()]
    for name in tracked:
        theirs.append(theirs_in[name].grad.numpy())
    return ours, theirs


def _their(name: str) -> Any:
    function = oracle(name)
    options = OPS[name].options if name in OPS else {}
    known = {o: default for o, default in options.items() if default is not REQUIRED}

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("axis") == ():
            # What a reader of the page would write there.
            return getattr(torch, name)(*args, **{RENAMED.get(k, k): v for k, v in kwargs.items()})
        return function(*args, **{**known, **kwargs})

    return call


class Theirs(dict[str, Any]):
    """PyTorch's functions by our names, beside the inputs that it holds."""

    def __missing__(self, name: str) -> Any:
        return torch.linalg if name == "linalg" else _their(name)


def cell(arrays: list[np.ndarray]) -> str:
    """Arrays as the page shows them."""
    return "; ".join(f"`{shown(a.tolist())}`" for a in arrays)


def shown(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return f"{value:.4g}".replace("-0", "0") if value == 0 else f"{value:.4g}"


ROWS = tables()
SAME = [row for row in ROWS if "PyTorch" not in row]
OWN = [row for row in ROWS if "PyTorch" in row]


def test_the_page_has_its_tables() -> None:
    assert len(SAME) > 40
    assert len(OWN) > 3


@pytest.mark.parametrize("row", SAME, ids=lambda row: f"{row['example']} {row['inputs']}")
def test_the_page_says_what_happens_and_pytorch_does_it_too(row: dict[str, str]) -> None:
    ours, theirs = evaluated(row["example"], row["inputs"])
    assert cell(ours[:1]) == row["value"]
    assert cell(ours[1:]) == row["gradients"]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("row", OWN, ids=lambda row: f"{row['example']} {row['inputs']}")
def test_what_the_page_says_differs_does(row: dict[str, str]) -> None:
    ours, theirs = evaluated(row["example"], row["inputs"])
    assert cell(ours[:1]) == row["value"]
    assert cell(ours[1:]) == row["gradients"]
    assert f"{cell(theirs[:1])}, {cell(theirs[1:])}" == row["PyTorch"]
    assert [cell(ours[:1]), cell(ours[1:])] != [cell(theirs[:1]), cell(theirs[1:])]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['example']} {row['inputs']}")
def test_every_decision_has_a_reason(row: dict[str, str]) -> None:
    assert len(row["why"].split()) >= 2
    assert re.fullmatch(r"`[a-z_0-9.]+\(.*\)`", row["example"])
