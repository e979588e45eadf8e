"""no_grad, enable_grad, set_grad_enabled, inference_mode, in every form; inference tensors."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from same_log import both_raise, same

import minitorch.torch as mt


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


MODES = ("no_grad", "enable_grad", "inference_mode")


def state(t: Any) -> tuple[bool, bool]:
    return t.is_grad_enabled(), t.is_inference_mode_enabled()


@pytest.fixture(autouse=True)
def everything_is_as_before() -> Iterator[None]:
    yield
    assert state(mt) == (True, False)
    assert state(torch) == (True, False)


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_nested_blocks(outer: str, inner: str) -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        with getattr(t, outer)():
            log(state(t), (x * 2).requires_grad)
            with getattr(t, inner)():
                y = x * 2
                log(state(t), y.requires_grad, y.is_inference(), y.is_leaf)
            log(state(t))
            with t.set_grad_enabled(True):
                log(state(t), (x * 2).requires_grad)
            t.set_grad_enabled(False)
            log(state(t))
        log(state(t))

    same(program)


def test_blocks_that_fail() -> None:
    def program(t: Any, log: Any) -> Any:
        for mode in MODES:
            with pytest.raises(KeyError), getattr(t, mode)():
                raise KeyError
            log(state(t))

    same(program)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("called", [False, True])
def test_decorators_with_and_without_parentheses(mode: str, called: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        decorator = getattr(t, mode)

        def function(x: Any, k: Any = 2) -> Any:
            """Doubles."""
            log(state(t), (x * k).requires_grad)
            return x * k

        decorated = (decorator() if called else decorator)(function)
        x = leaf(t, 1.0)
        with t.no_grad():
            decorated(x)
        decorated(x, k=3)
        log(decorated.__name__, decorated.__doc__, state(t))

    same(program)


def test_set_grad_enabled_as_a_decorator() -> None:
    def program(t: Any, log: Any) -> Any:
        @t.set_grad_enabled(False)  # type: ignore[untyped-decorator]
        def function() -> Any:
            log(state(t))

        log(state(t))
        function()
        log(state(t))

    same(program)


@pytest.mark.parametrize("mode", MODES)
def test_generators_keep_their_mode_and_leave_the_callers(mode: str) -> None:
    def program(t: Any, log: Any) -> Any:
        @getattr(t, mode)()  # type: ignore[untyped-decorator]
        def counting() -> Any:
            log("begin", state(t))
            try:
                got = yield 1
                log("got", got, state(t))
                yield 2
            finally:
                log("end", state(t))

        numbers = counting()
        with t.no_grad():
            log(next(numbers), state(t))
        log(numbers.send("this"), state(t))
        numbers.close()
        log(state(t))

    same(program)


def test_inference_mode_off() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        with t.inference_mode():
            with t.inference_mode(False):
                log(state(t), (x * 2).requires_grad, (x * 2).is_inference())
            with t.inference_mode(mode=True):
                log(state(t))
        with t.no_grad(), t.inference_mode(False):
            log(state(t))

        @t.inference_mode(mode=False)  # type: ignore[untyped-decorator]
        def function() -> Any:
            log(state(t))

        with t.inference_mode():
            function()

    same(program)


def test_inference_tensors() -> None:
    def program(t: Any, log: Any) -> Any:
        x, n = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
        with t.inference_mode():
            made = t.ones(2, dtype=t.float64)
            own = t.tensor([1.0], dtype=t.float64, requires_grad=True)
            for v in (made, made * 2, x * 2, own, own * 2, n.clone(), made.reshape(2, 1)):
                log(v.is_inference(), t.is_inference(v), v.requires_grad)
            for v in (n, n.reshape(2, 1), n.detach(), x.data, x, n[:1]):
                log(v.is_inference())
            made.add_(1)
            n.add_(1)
            log(n._version, made)
            n.mul_(made)
        for v in (made, made[:1], made.detach(), made.clone(), made * 2, n):
            log(v.is_inference())
        log(x + made, n)
        log((x + made).sum().backward(), x.grad)

    same(program)


@pytest.mark.parametrize(
    "use",
    [
        lambda t, x, made: x * made,
        lambda t, x, made: made.add_(1),
        lambda t, x, made: made[:1].add_(1),
        lambda t, x, made: made.requires_grad_(),
        lambda t, x, made: made._version,
        lambda t, x, made: x**made,
        lambda t, x, made: made.backward(),
    ],
)
def test_what_inference_tensors_cannot_do(use: Any) -> None:
    def program(t: Any, log: Any) -> Any:
        with t.inference_mode():
            made = t.ones(2, dtype=t.float64)
        use(t, leaf(t, 1.0, 2.0), made)

    in_place = "add_" in use.__code__.co_names
    words = "Inplace update to inference tensor outside InferenceMode is not allowed"
    both_raise(program, words if in_place else "")


def test_a_view_made_in_inference_mode() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0) * 1
        with t.inference_mode():
            view = x.view(2)
        view.add_(1)

    both_raise(program, "A view was created in inference mode and is being modified inplace")


def test_every_thread_has_modes_of_its_own() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        seen: list[Any] = []

        def work() -> None:
            seen.append((state(t), (x * 2).requires_grad, t.ones(1).is_inference()))
            with t.no_grad():
                seen.append((state(t), (x * 2).requires_grad))

        for mode in MODES:
            with getattr(t, mode)():
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
                seen.append(state(t))
        log(seen)

    same(program)


def test_a_backward_in_another_thread() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = (x * x).sum()
        with t.no_grad():
            thread = threading.Thread(target=y.backward)
            thread.start()
            thread.join()
        log(x.grad)

    same(program)


def test_a_backward_under_no_grad() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = (x * x * x).sum()
        with t.no_grad():
            y.backward(retain_graph=True)
            (g,) = t.autograd.grad(y, x, create_graph=True)
        log(x.grad, g.requires_grad)
        y.register_hook(lambda g: log(state(t)))
        y.backward()

    same(program)


def test_the_names_are_where_pytorch_has_them() -> None:
    for t in (torch, mt):
        assert t.autograd.no_grad is t.no_grad
        assert t.autograd.grad_mode.no_grad is t.no_grad
        assert t.autograd.inference_mode is t.inference_mode
        assert t.autograd.grad_mode.set_grad_enabled is t.set_grad_enabled
        with t.autograd.set_multithreading_enabled(False):
            assert (leaf(t, 1.0) * 2).requires_grad


def test_variable() -> None:
    def program(t: Any, log: Any) -> Any:
        data = t.ones(2)
        v = t.autograd.Variable(data, requires_grad=True)
        log(v, isinstance(v, t.autograd.Variable), isinstance(data, t.autograd.Variable))
        log(isinstance(3, t.autograd.Variable), t.autograd.Variable(data))
        (v * 2).sum().backward()
        log(v.grad, data.grad)

    same(program)
