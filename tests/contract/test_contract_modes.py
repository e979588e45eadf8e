"""`no_grad`, `enable_grad`, `set_grad_enabled`: blocks, functions, generators, threads, tasks."""

import asyncio
import inspect
import threading
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor, enable_grad, is_grad_enabled, no_grad, set_grad_enabled


@pytest.fixture(autouse=True)
def recording_is_on_before_and_after() -> Generator[None]:
    assert is_grad_enabled()
    yield
    after = is_grad_enabled()
    set_grad_enabled(True)
    assert after


def leaf() -> Tensor:
    return Tensor(np.array([1.0, 2.0]), requires_grad=True)


def test_no_grad_records_nothing_and_leaves_leaves_alone() -> None:
    x = leaf()
    with no_grad():
        y = x * 2
        assert x.requires_grad
        assert Tensor([1.0], requires_grad=True).requires_grad
    assert not y.requires_grad
    assert (x * 2).requires_grad


def test_enable_grad_within_no_grad() -> None:
    x = leaf()
    with no_grad(), enable_grad():
        y = x * 2
    assert y.requires_grad


@pytest.mark.parametrize(
    ("block", "inside"),
    [
        (no_grad, False),
        (enable_grad, True),
        (lambda: set_grad_enabled(False), False),
        (lambda: set_grad_enabled(True), True),
    ],
)
def test_blocks_nest_and_restore_what_was_before(block: Any, inside: bool) -> None:
    for outer in (True, False):
        with set_grad_enabled(outer):
            with block():
                assert is_grad_enabled() is inside
                with no_grad():
                    assert is_grad_enabled() is False
                    with enable_grad():
                        assert is_grad_enabled() is True
                assert is_grad_enabled() is inside
            assert is_grad_enabled() is outer
            with pytest.raises(KeyError), block():
                raise KeyError
            assert is_grad_enabled() is outer


def test_set_grad_enabled_takes_effect_when_it_is_made() -> None:
    set_grad_enabled(False)
    assert not is_grad_enabled()
    assert not (leaf() * 2).requires_grad
    set_grad_enabled(True)
    assert is_grad_enabled()


def test_set_grad_enabled_inside_a_block_ends_with_the_block() -> None:
    with no_grad():
        set_grad_enabled(True)
        assert is_grad_enabled()
        with no_grad():
            pass
        assert is_grad_enabled()
    assert is_grad_enabled()
    set_grad_enabled(False)
    with enable_grad():
        set_grad_enabled(True)
    assert not is_grad_enabled()
    set_grad_enabled(True)


def test_one_object_can_be_entered_again_and_within_itself() -> None:
    block = no_grad()
    with block:
        with block:
            assert not is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with block:
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_one_object_in_two_threads_keeps_them_apart() -> None:
    block, turns, seen = no_grad(), threading.Barrier(2, timeout=10), {}

    def run(name: str, outside: bool) -> None:
        set_grad_enabled(outside)
        if name == "first":
            with block:
                turns.wait()  # the other enters now
                turns.wait()
            seen[name] = is_grad_enabled()
            turns.wait()
        else:
            turns.wait()
            with block:
                turns.wait()
                turns.wait()  # the first has left
            seen[name] = is_grad_enabled()

    threads = [threading.Thread(target=run, args=a) for a in (("first", True), ("second", False))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"first": True, "second": False}


def test_a_block_that_ends_where_it_did_not_begin_raises() -> None:
    block, errors = no_grad(), []

    def leave() -> None:
        try:
            block.__exit__(None, None, None)
        except RuntimeError as error:
            errors.append(str(error))

    with block:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert len(errors) == 1
    assert "no_grad: its block ends in a thread or task in which it did not begin" in errors[0]


@pytest.mark.parametrize("mode", [no_grad, lambda: set_grad_enabled(False)])
def test_decorated_functions(mode: Any) -> None:
    @mode()
    def double(x: Tensor, *, times: int = 2) -> Tensor:
        """Twice."""
        assert not is_grad_enabled()
        if times == 0:
            raise ValueError("nothing")
        return x * times

    assert is_grad_enabled()
    assert not double(leaf()).requires_grad
    assert double(leaf(), times=3).tolist() == [3.0, 6.0]
    with pytest.raises(ValueError, match="nothing"):
        double(leaf(), times=0)
    assert is_grad_enabled()
    assert (double.__name__, double.__doc__) == ("double", "Twice.")


def test_a_decorated_function_may_call_itself() -> None:
    @no_grad()
    def down(n: int) -> bool:
        return is_grad_enabled() if n == 0 else down(n - 1) or is_grad_enabled()

    assert down(5) is False


def test_a_decorated_method() -> None:
    class Model:
        @no_grad()
        def predict(self, x: Tensor) -> Tensor:
            return x * 2

    assert not Model().predict(leaf()).requires_grad


# ------------------------------------------------------------------------------ generators


@no_grad()
def watching(seen: list[Any]) -> Generator[int, Any, str]:
    try:
        for number in range(3):
            seen.append(is_grad_enabled())
            seen.append((yield number))
            seen.append(is_grad_enabled())
    except KeyError:
        seen.append(("caught", is_grad_enabled()))
        yield 99
    finally:
        seen.append(("closed", is_grad_enabled()))
    return "done"


def test_a_decorated_generator_is_one() -> None:
    assert inspect.isgeneratorfunction(watching)
    assert watching.__name__ == "watching"


def test_a_generator_has_its_state_at_each_resumption_and_gives_the_callers_back() -> None:
    seen: list[Any] = []
    items = []
    for item in watching(seen):
        items.append(item)
        assert is_grad_enabled()
    assert items == [0, 1, 2]
    assert seen == [False, None, False] * 3 + [("closed", False)]


def test_the_callers_state_may_differ_at_each_resumption() -> None:
    @enable_grad()
    def inner() -> Generator[bool]:
        while True:
            yield is_grad_enabled()

    generator = inner()
    with no_grad():
        assert next(generator) is True
        assert not is_grad_enabled()
    assert next(generator) is True
    assert is_grad_enabled()
    with no_grad():
        assert next(generator) is True
        generator.close()
        assert not is_grad_enabled()


def test_a_generator_is_sent_values_and_returns_one() -> None:
    seen: list[Any] = []

    def outer() -> Generator[int, Any, None]:
        seen.append((yield from watching(seen)))

    generator = outer()
    next(generator)
    generator.send("a")
    generator.send("b")
    with pytest.raises(StopIteration):
        generator.send("c")
    assert [x for x in seen if isinstance(x, str)] == ["a", "b", "c", "done"]


def test_an_exception_thrown_in_arrives_under_the_generators_state() -> None:
    seen: list[Any] = []
    generator = watching(seen)
    next(generator)
    assert generator.throw(KeyError()) == 99
    assert is_grad_enabled()
    with pytest.raises(StopIteration, match="done"):
        next(generator)
    assert seen == [False, ("caught", False), ("closed", False)]


def test_an_exception_that_is_not_caught_comes_out_again() -> None:
    seen: list[Any] = []
    generator = watching(seen)
    next(generator)
    with pytest.raises(ZeroDivisionError):
        generator.throw(ZeroDivisionError())
    assert is_grad_enabled()
    assert seen == [False, ("closed", False)]
    with pytest.raises(StopIteration):
        next(generator)


def test_closing_a_generator_runs_its_end_under_its_state() -> None:
    seen: list[Any] = []
    generator = watching(seen)
    next(generator)
    generator.close()
    assert seen == [False, ("closed", False)]
    assert is_grad_enabled()


def test_a_dropped_generator_is_closed_too() -> None:
    seen: list[Any] = []
    generator = watching(seen)
    next(generator)
    del generator
    assert seen == [False, ("closed", False)]
    assert is_grad_enabled()


def test_an_exception_raised_inside_comes_out_and_the_state_is_restored() -> None:
    @no_grad()
    def failing() -> Generator[int]:
        yield 1
        raise KeyError("inside")

    generator = failing()
    next(generator)
    with pytest.raises(KeyError, match="inside"):
        next(generator)
    assert is_grad_enabled()


def test_generators_interleave() -> None:
    @enable_grad()
    def on() -> Generator[bool]:
        while True:
            yield is_grad_enabled()

    @no_grad()
    def off() -> Generator[bool]:
        while True:
            yield is_grad_enabled()

    a, b = on(), off()
    assert [next(a), next(b), next(a), next(b)] == [True, False, True, False]
    assert is_grad_enabled()


def test_a_set_inside_a_generator_stays_inside() -> None:
    @no_grad()
    def changing() -> Generator[bool]:
        set_grad_enabled(True)
        yield is_grad_enabled()
        yield is_grad_enabled()

    with no_grad():
        generator = changing()
        assert next(generator) is True
        assert not is_grad_enabled()
        assert next(generator) is False


# -------------------------------------------------------------------------- threads and tasks


def test_threads_have_their_own_state() -> None:
    seen: dict[str, bool] = {}

    def run() -> None:
        seen["new thread"] = is_grad_enabled()
        with no_grad():
            inside.set()
            leave.wait(10)
        seen["after its block"] = is_grad_enabled()

    inside, leave = threading.Event(), threading.Event()
    with no_grad():
        thread = threading.Thread(target=run)
        thread.start()
        inside.wait(10)
    assert is_grad_enabled()
    leave.set()
    thread.join()
    assert seen == {"new thread": True, "after its block": True}


def test_tasks_have_their_own_state() -> None:
    async def under(block: Any, wanted: bool) -> list[bool]:
        seen = []
        with block():
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(is_grad_enabled() is wanted)
        seen.append(is_grad_enabled())
        return seen

    async def both() -> list[list[bool]]:
        return await asyncio.gather(under(no_grad, False), under(enable_grad, True))

    assert asyncio.run(both()) == [[True] * 4] * 2


def test_many_threads_record_into_graphs_of_one_leaf() -> None:
    x = leaf()
    results: list[np.ndarray] = []

    def run() -> None:
        for _ in range(50):
            (g,) = mt.grad((x * x).sum(), x)
            results.append(g.data)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(results, np.tile([2.0, 4.0], (200, 1)))
