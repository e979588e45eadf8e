"""What formulas may keep, share and write to.

A formula saves what it names and nothing else; its result may share memory with the cotangent,
never with what was saved; nothing that it was given is written to; and it is not called for an
input that wants no gradient.
"""

import dis
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from oracle import NAMES, arguments, as_list, case, cotangents, is_tracked, run_ours, shown

import minitorch
from minitorch import Tensor, kernels
from minitorch.engine.node import PORT, Node
from minitorch.ops.declare import OPS, Op

DIFFERENTIABLE = [name for name in OPS if OPS[name].differentiable]


def arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays(item)


def frozen(value: np.ndarray) -> np.ndarray:
    """A copy that raises when it is written to."""
    value = np.array(value)
    value.flags.writeable = False
    return value


def node_of(outputs: list[Tensor]) -> Node:
    """The node that holds what was saved: the tensor itself, or what its outputs share."""
    first = outputs[0]
    return first.edges[0] if first.op is PORT else first  # type: ignore[return-value]


def recorded(name: str, which: Callable[[int], bool] = lambda _: True) -> Iterator[Any]:
    """For each sample that can be differentiated: its inputs as read-only tensors, the outputs,
    the node and a cotangent as the walk gives it. `which` of the tracked arrays want gradients."""
    it = case(name)
    for sample in it.samples:
        count = itertools.count()
        given = arguments(
            it,
            sample.inputs,
            lambda a, track: Tensor(frozen(a), track and which(next(count))),  # noqa: B023
        )
        outputs = as_list(it.function(*given, **sample.options))
        if not outputs[0].requires_grad:
            continue
        for array in arrays([t.data for t in outputs]):
            array.flags.writeable = False
        gs = [frozen(g) for g in cotangents([t.data for t in outputs])]
        yield sample, given, outputs, node_of(outputs), gs[0] if OPS[name].outputs == 1 else gs


# --------------------------------------------------------------- sharing and writing


@pytest.mark.parametrize("off", [False, True], ids=["kernels", "formulas"])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_gradient_shares_memory_with_the_cotangent_at_most(name: str, off: bool) -> None:
    """And nothing that was given is written to: all of it is read-only here."""
    compared = 0
    for sample, given, outputs, node, g in recorded(name):
        saved = list(arrays(node.args))
        for array in saved:
            array.flags.writeable = False
        before = [array.copy() for array in saved]
        inputs = [t.data for t in flat(given) if isinstance(t, Tensor)]
        with np.errstate(all="ignore"):
            if off:
                with kernels.disabled():
                    found = node.op.pull(g, node.args, node.edges)
            else:
                found = node.op.pull(g, node.args, node.edges)
        for r in arrays(list(found)):
            for other in [*saved, *inputs, *(t.data for t in outputs)]:
                assert not np.shares_memory(r, other), shown(case(name), sample)
                compared += 1
        for array, was in zip(saved, before, strict=True):
            np.testing.assert_array_equal(array, was)
    assert compared


def flat(values: Any) -> list[Any]:
    return [v for value in values for v in (value if isinstance(value, list) else [value])]


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_pass_writes_to_nothing_that_it_was_given(name: str) -> None:
    """Inputs, cotangents and results are read-only from end to end, and gradients are the same."""
    it = case(name)
    for sample in it.samples:
        given = arguments(it, sample.inputs, lambda a, track: Tensor(frozen(a), track))
        leaves = [t for t in flat(given) if isinstance(t, Tensor) and t.requires_grad]
        outputs = as_list(it.function(*given, **sample.options))
        for t in outputs:
            t.data.flags.writeable = False
        pairs = [
            (t, frozen(g))
            for t, g in zip(outputs, cotangents([t.data for t in outputs]), strict=True)
            if t.requires_grad
        ]
        if not pairs:
            continue
        want = run_ours(it, sample.inputs, sample.options).grads
        found = minitorch.grad(
            [t for t, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True
        )
        for g, w in zip(found, want, strict=True):
            np.testing.assert_array_equal(0 * w if g is None else g.data, w)
            # A gradient is the caller's, to scale in place if it likes.
            assert g is None or g.data.flags.writeable or not g.size


@pytest.mark.parametrize("name", OPS)
def test_a_result_is_new_memory_unless_it_is_declared_a_view(name: str) -> None:
    it, op = case(name), OPS[name]
    shared = False
    for sample in it.samples:
        given = arguments(it, sample.inputs, lambda a, track: Tensor(a, track))
        tensors = [t for t in flat(given) if isinstance(t, Tensor)]
        for out in as_list(it.function(*given, **sample.options)):
            for t in tensors:
                meets = np.may_share_memory(out.data, t.data) and bool(out.size)
                assert op.view or not meets, shown(it, sample)
                shared = shared or meets
    assert shared or not op.view


# ------------------------------------------------------------------------------ saving

SAVED = {
    "add": {"x": (), "y": ()},
    "sub": {"x": (), "y": ()},
    "neg": {"x": ()},
    "mul": {"x": ("y",), "y": ("x",)},
    "where": {"x": ("condition",), "y": ("condition",)},
    "exp": {"x": ("out",)},
    "sqrt": {"x": ("out",)},
    "rsqrt": {"x": ("out",)},
    "reciprocal": {"x": ("out",)},
    "tanh": {"x": ("out",)},
    "sigmoid": {"x": ("out",)},
    "relu": {"x": ("out",)},
    "log": {"x": ("x",)},
    "sin": {"x": ("x",)},
    "sum": {"x": ("x_shape", "axis", "keepdims")},
    "mean": {"x": ("x_shape", "x_dtype", "axis", "keepdims")},
    "cumsum": {"x": ("x_shape", "axis")},
    "softmax": {"x": ("out", "axis")},
    "log_softmax": {"x": ("out", "axis")},
    "reshape": {"x": ("x_shape",)},
    "permute": {"x": ("axes",)},
    "broadcast_to": {"x": ()},
    "sum_to": {"x": ("x_shape",)},
    "getitem": {"x": ("x_shape", "index")},
    "cat": {"tensors": ("tensors_shapes", "axis")},
    "matmul": {"x": ("x_shape", "y"), "y": ("x", "y_shape")},
    "linear": {"x": ("weight",), "weight": ("x",), "bias": ()},
}


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved(name: str) -> None:
    op = OPS[name]
    assert dict(zip(op.formulas, op.saved, strict=True)) == SAVED[name]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_formula_uses_whatever_it_names(name: str) -> None:
    """A name that is not used would be kept alive for nothing."""
    for formula, names in zip(OPS[name].formulas.values(), OPS[name].saved, strict=True):
        used: set[str] = set()
        for instruction in dis.get_instructions(formula):
            if instruction.opname.startswith("LOAD"):
                value = instruction.argval
                used |= set(value) if isinstance(value, tuple) else {value}
        assert set(names) <= used, f"the formula does not use {set(names) - used}"


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_node_holds_what_its_formulas_name_and_nothing_else(name: str) -> None:
    """For each choice of inputs that want a gradient: what only the others need is not kept."""
    op = OPS[name]
    for wanted in choices(op):
        for _, given, outputs, node, _ in recorded(name, lambda k: wanted[k % len(wanted)]):  # noqa: B023
            kept = list(node.args)
            at = 0
            for key, names in zip(op.formulas, op.saved, strict=True):
                own, at = kept[at : at + len(names)], at + len(names)
                parents = [op.inputs.index(x) for x in inputs_of(key)]
                on = op.joint or any(wants(given, p) for p in parents)
                for what, value in zip(names, own, strict=True):
                    if not on:
                        assert value is None, f"{what} is kept for {key}, which wants no gradient"
                    elif what in op.inputs:
                        place = op.inputs.index(what)
                        expected = given[place] if place < len(given) else None
                        if isinstance(expected, list):
                            assert all(v is t.data for v, t in zip(value, expected, strict=True))
                        elif isinstance(expected, Tensor):
                            assert value is expected.data
                        else:
                            assert value is expected
                    elif what == "out" and op.outputs == 1:
                        assert value is outputs[0].data
                    elif what.endswith(("_shape", "_dtype", "_shapes")) or what == "needs":
                        assert not list(arrays(value))
            assert at == len(kept)


def inputs_of(key: str) -> list[str]:
    return [part.strip() for part in key.split(",")]


def wants(given: list[Any], place: int) -> bool:
    return place < len(given) and getattr(given[place], "requires_grad", False)


def choices(op: Op) -> list[tuple[bool, ...]]:
    count = 3 if op.listed else len(op.differentiable)
    return [c for c in itertools.product((True, False), repeat=count) if any(c)]


# --------------------------------------------------------------- only what is wanted


class Counting:
    """Puts counters before an op's formulas while a block runs."""

    def __init__(self, op: Op) -> None:
        self.op, self.calls = op, dict.fromkeys(op.formulas, 0)

    def __enter__(self) -> dict[str, int]:
        self.rules, self.formulas = self.op.rules, dict(self.op.formulas)
        self.op.use(
            [self._counted(k, rule) for k, rule in zip(self.calls, self.rules, strict=True)]
        )
        self.op.formulas = {k: self._counted(k, f) for k, f in self.formulas.items()}
        return self.calls

    def __exit__(self, *_: object) -> None:
        self.op.formulas = self.formulas
        self.op.use(self.rules)

    def _counted(self, key: str, rule: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.calls[key] += 1
            return rule(*args)

        return call


SEVERAL = [name for name in DIFFERENTIABLE if len(OPS[name].formulas) > 1]


@pytest.mark.parametrize("create_graph", [False, True], ids=["bare", "recorded"])
@pytest.mark.parametrize("name", SEVERAL)
def test_no_formula_runs_for_an_input_that_wants_no_gradient(name: str, create_graph: bool) -> None:
    op, it = OPS[name], case(name)
    seen = set()
    for wanted in choices(op):
        for sample in it.samples:
            flags = dict(zip(op.differentiable, wanted, strict=True))
            inputs = []
            for x, value in zip(op.inputs, sample.inputs, strict=False):
                flag = flags.get(x, False) and is_tracked(value)
                inputs.append(Tensor(value, flag) if isinstance(value, np.ndarray) else value)
            with Counting(op) as calls:
                out = it.function(*inputs, **sample.options)
                leaves = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
                if not leaves:
                    continue
                g = Tensor(np.ones(out.shape))
                minitorch.grad(out, leaves, g, create_graph=create_graph, allow_unused=True)
                on = {
                    x: isinstance(t, Tensor) and t.requires_grad
                    for x, t in zip(op.inputs, inputs, strict=False)
                }
            assert {key: bool(n) for key, n in calls.items()} == {
                key: on.get(key, False) for key in op.formulas
            }
            seen.add(wanted)
    assert len(seen) == len(choices(op))


@pytest.mark.parametrize("name", ["contract", "cat", "stack"])
def test_of_a_list_only_the_wanted_are_computed(name: str) -> None:
    for wanted in choices(OPS[name]):
        for _, given, _, node, g in recorded(name, lambda k: wanted[k % 3]):  # noqa: B023
            found = node.op.pull(g, node.args, node.edges)
            for t, r in zip(given[0], found, strict=True):
                # Pieces of the cotangent cost nothing; products do.
                free = r is None or np.shares_memory(r, g) or not r.size
                assert t.requires_grad or free


def test_a_constant_exponent_is_not_differentiated() -> None:
    """It would take the logarithm of the base, which warns where that is not positive."""
    x = Tensor(np.array([-2.0, 0.0, 3.0]), True)
    with np.errstate(all="raise"), Counting(OPS["pow"]) as calls:
        (x**2).sum().backward()
    np.testing.assert_array_equal(x.grad, [-4, 0, 6])
    assert calls == {"x": 1, "y": 0}
