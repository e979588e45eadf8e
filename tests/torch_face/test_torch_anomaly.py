"""Anomaly mode: the forward line of the operation that failed, and of the first that made NaN."""

import inspect
import threading
import warnings
from typing import Any

import pytest
import torch
from same_log import both_raise, grows, same

import minitorch.torch as mt

pytestmark = pytest.mark.filterwarnings(
    "ignore:Anomaly Detection has been enabled", "ignore:Error detected in"
)


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def line_of(words: str) -> int:
    """The line of this file with these words in it."""
    lines, _ = inspect.getsourcelines(inspect.getmodule(line_of))  # type: ignore[arg-type]
    (found,) = (n for n, line in enumerate(lines, 1) if words in line and "line_of" not in line)
    return found


def first_nan(t: Any, log: Any) -> Any:
    with t.autograd.detect_anomaly():
        x = leaf(t, 1.0, 4.0)
        y = t.sqrt(x - 2)  # the first NaN
        z = t.sqrt(y)
        z.sum().backward()


@pytest.mark.filterwarnings("ignore:invalid value")
def test_the_first_operation_that_made_nan() -> None:
    error = both_raise(first_nan, "Function 'SqrtBackward0' returned nan values in its 0th output.")
    text = str(error)
    first = text[text.index("The first operation whose result held nan") :]
    assert f"line {line_of('# the first NaN')}, in first_nan" in first
    assert "y = t.sqrt(x - 2)" in first
    assert "SqrtBackward0: inputs [(2,)], outputs [(2,)]" in first
    assert "z = t.sqrt(y)" in text[: text.index("The first operation")]


def branch(t: Any, log: Any) -> Any:
    with t.autograd.detect_anomaly():
        x = leaf(t, 0.0)
        t.where(x < 1, x, t.sqrt(x)).sum().backward()


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_scalar_that_is_nan() -> None:
    def program(t: Any, log: Any) -> Any:
        with t.autograd.detect_anomaly():
            x = t.tensor(1.0, dtype=t.float64, requires_grad=True)
            t.sqrt(t.sqrt(x - 2)).backward()

    both_raise(program, "Function 'SqrtBackward0' returned nan values in its 0th output.")


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_branch_that_was_not_chosen() -> None:
    """Its gradient is 0 * inf: the error names sqrt."""
    error = both_raise(branch, "Function 'SqrtBackward0' returned nan values in its 0th output.")
    assert "t.where(x < 1, x, t.sqrt(x))" in str(error)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_loss_that_is_nan_is_reported() -> None:
    """PyTorch says nothing if only gradients are numbers."""
    x = leaf(mt, -1.0, 1.0)
    with mt.autograd.detect_anomaly():
        y = x.log().detach() + x
        with pytest.raises(RuntimeError, match="begins at a value that is nan") as caught:
            y.sum().backward()
    assert "AddBackward0" in str(caught.value)
    with mt.autograd.set_detect_anomaly(True, check_nan=False):
        (x.log().detach() + x).sum().backward()


def changed_in_place(t: Any, log: Any) -> Any:
    with t.autograd.set_detect_anomaly(True, check_nan=False):
        x = leaf(t, 0.0, 1.0)
        y = t.sigmoid(x)  # what saves
        y.add_(1.0)  # what changes
        y.sum().backward()


def test_a_change_in_place_with_both_lines() -> None:
    error = both_raise(changed_in_place, "is at version 1; expected version 0 instead.")
    text = str(error)
    made, changed = text.split("and what it saved was changed here")
    assert f"line {line_of('# what saves')}," in made
    assert "y = t.sigmoid(x)" in made
    assert f"line {line_of('# what changes')}," in changed
    assert "y.add_(1.0)" in changed


def test_an_error_in_a_backward_tells_where_the_forward_was() -> None:
    class Failing(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ZeroDivisionError("in backward")

    with mt.autograd.detect_anomaly(), pytest.raises(ZeroDivisionError) as caught:
        Failing.apply(leaf(mt, 1.0)).backward()
    (note,) = caught.value.__notes__
    assert "Failing.apply(leaf(mt, 1.0)).backward()" in note
    assert "FailingBackward: inputs [(1,)], outputs [(1,)]" in note


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_forward_outside_of_the_mode() -> None:
    x = leaf(mt, -1.0)
    y = x.sqrt()
    with mt.autograd.detect_anomaly(), pytest.raises(RuntimeError) as caught:
        y.backward()
    assert "Function 'SqrtBackward0' returned nan values" in str(caught.value)
    assert "No forward pass information available" in str(caught.value)


def test_nan_of_functions_and_several_outputs() -> None:
    def program(t: Any, log: Any) -> Any:
        body = {
            "forward": staticmethod(lambda ctx, x, y: (x * 1, y * 1)),
            "backward": staticmethod(lambda ctx, a, b: (a, b * float("nan"))),
        }
        fn = type("MyFn", (t.autograd.Function,), body)
        with t.autograd.detect_anomaly():
            a, b = fn.apply(leaf(t, 1.0), leaf(t, 2.0))
            (a + b).backward()

    both_raise(program, "Function 'MyFnBackward' returned nan values in its 1th output.")


def test_without_anomalies_nothing_changes() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        with t.autograd.detect_anomaly():
            y = (x * x).exp()
            a, b = y.unbind()
            z = a * b
            z.backward(retain_graph=True)
            (g,) = t.autograd.grad(z, x, create_graph=True)
            g.sum().backward()
        log(z.detach(), x.grad)

    same(program)


def test_the_switches() -> None:
    def program(t: Any, log: Any) -> Any:
        def state() -> tuple[bool, bool]:
            return t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()

        log(state())
        with t.autograd.detect_anomaly():
            log(state())
            with t.autograd.set_detect_anomaly(False):
                log(state())
            log(state())
        with t.autograd.detect_anomaly(check_nan=False):
            log(state())
        t.autograd.set_detect_anomaly(True, check_nan=False)
        log(state())
        t.autograd.set_detect_anomaly(False)
        log(state())

    same(program)
    for t in (torch, mt):
        with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
            t.autograd.detect_anomaly()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with t.autograd.set_detect_anomaly(True):
                pass


def test_a_thread_of_its_own_is_not_watched() -> None:
    seen: list[bool] = []
    with mt.autograd.set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(mt.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_anomaly_mode_leaves_nothing_behind() -> None:
    x = leaf(mt, 0.1, 0.2)

    def step() -> None:
        with mt.autograd.set_detect_anomaly(True):
            y = (x * x).exp() * 1
            y.mul_(2)
            y.sum().backward()
        x.grad = None

    assert grows(step) == 0
