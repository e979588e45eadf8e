"""The errors that people search for: PyTorch's words, and what to do. docs/errors.md lists them."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from same_log import both_raise, kinds

import minitorch.torch as mt

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def not_a_scalar(t: Any, log: Any) -> Any:
    (leaf(t, 1.0, 2.0) * 2).backward()


def twice(t: Any, log: Any) -> Any:
    y = leaf(t, 1.0, 2.0).exp().sum()
    y.backward()
    y.backward()


def changed(t: Any, log: Any) -> Any:
    y = leaf(t, 0.0, 1.0).sigmoid()
    y.add_(1.0)
    y.sum().backward()


def nothing_requires_grad(t: Any, log: Any) -> Any:
    t.tensor([1.0]).backward()


def leaf_changed(t: Any, log: Any) -> Any:
    leaf(t, 1.0).add_(1)


def to_numpy(t: Any, log: Any) -> Any:
    leaf(t, 1.0).numpy()


def unused(t: Any, log: Any) -> Any:
    t.autograd.grad(leaf(t, 1.0) * 2, leaf(t, 1.0))


def wrong_gradient(t: Any, log: Any) -> Any:
    body = {
        "forward": staticmethod(lambda ctx, x: x * 3),
        "backward": staticmethod(lambda ctx, g: g * 2),
    }
    fn = type("Wrong", (t.autograd.Function,), body)
    t.autograd.gradcheck(fn.apply, leaf(t, 1.0, 2.0))


def integers(t: Any, log: Any) -> Any:
    t.tensor([1, 2], requires_grad=True)


CASES = {
    not_a_scalar: (
        "grad can be implicitly created only for scalar outputs",
        "Reduce it (.sum(), .mean()) or pass gradient= of that shape.",
    ),
    twice: (
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward.",
        "adding the losses and calling backward once does too.",
    ),
    changed: (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.DoubleTensor [2]], which is output 0 of Sigmoid, is at version 1; "
        "expected version 0 instead.",
        "use the out-of-place form",
    ),
    nothing_requires_grad: (
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "call requires_grad_() on the leaves first.",
    ),
    wrong_gradient: (
        "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor(",
        "else correct its backward.",
    ),
    leaf_changed: (
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "torch.no_grad()",
    ),
    to_numpy: (
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "",
    ),
    unused: (
        "appears to not have been used in the graph. Set allow_unused=True if this is the desired "
        "behavior.",
        "",
    ),
    integers: ("Tensors of floating point and complex dtype can require gradients", "float"),
}


@pytest.mark.parametrize("program", CASES, ids=lambda p: p.__name__)
def test_the_words_and_the_cure(program: Any) -> None:
    words, advice = CASES[program]
    both_raise(program, words, advice)


def test_the_change_in_place_names_who_saved_it() -> None:
    error = both_raise(changed, "modified by an inplace operation")
    assert "SigmoidBackward0 saved it for its derivative" in str(error)
    assert "set_detect_anomaly(True, check_nan=False)" in str(error)


def test_the_second_backward_names_the_first_node_that_was_freed() -> None:
    error = both_raise(twice, "Trying to backward through the graph a second time")
    assert "ExpBackward0" in str(error)


# --------------------------------------------------------------------------------- the page

BLOCKS = re.findall(
    r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL
)


def test_the_page_has_a_program_for_each_error() -> None:
    assert len(BLOCKS) >= 5
    page = " ".join(PAGE.read_text().split())
    for words, _ in CASES.values():
        first = words.split("\n", maxsplit=1)[0].split(". ")[0].split(": [")[0].split(" (")[0]
        assert " ".join(first.split()) in page


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_programs_of_the_page_raise_what_it_says_here_and_in_pytorch(number: int) -> None:
    program, words = BLOCKS[number]
    begin = " ".join(words.split()).split("…")[0].strip()
    for t in (mt, torch):
        text = program.replace("import minitorch.torch as torch\n", "")
        with pytest.raises(Exception) as caught:
            exec(text, {"torch": t})
        said = " ".join(str(caught.value).split())
        assert said.startswith(begin), said
        assert kinds(caught.value) in ("RuntimeError", "ValueError", "TypeError")


CURES = re.findall(r"```python\n# cure\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(CURES)))
def test_the_cures_of_the_page_run(number: int) -> None:
    assert len(CURES) >= 5
    for t in (mt, torch):
        exec(CURES[number].replace("import minitorch.torch as torch\n", ""), {"torch": t})
