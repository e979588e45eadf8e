"""`nn.utils.prune`: one program, run with PyTorch and here, gives the same."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
import torch
import torch.nn.utils.prune
from same_program import alike

import minitorch.torch as mt
import minitorch.torch.nn.utils.prune


def prune_of(T: Any) -> Any:
    return T.nn.utils.prune


def net(T: Any) -> Any:
    return T.nn.Sequential(
        T.nn.Conv2d(2, 6, 3), T.nn.ReLU(), T.nn.Flatten(), T.nn.Linear(24, 5)
    ).double()


def seen(module: Any) -> Any:
    """What pruning changes about a module."""
    return [
        dict(module.state_dict()),
        [name for name, _ in module.named_parameters()],
        [name for name, _ in module.named_buffers()],
        [type(hook).__name__ for hook in module._forward_pre_hooks.values()],
        repr(module),
    ]


FUNCTIONS: dict[str, list[tuple[Any, ...]]] = {
    "identity": [()],
    "random_unstructured": [(0.3,), (7,), (0,), (0.0,), (1.0,)],
    "l1_unstructured": [(0.3,), (7,), (0,), (1.0,)],
    "random_structured": [(0.5, 0), (2, 1), (1, -1), (0, 0), (0.0, 1)],
    "ln_structured": [(0.5, 2, 0), (2, 1, 1), (1, float("inf"), -1), (0, 2, 0), (1, 3, 0)],
}
CALLS = [(name, args) for name, each in FUNCTIONS.items() for args in each]


@pytest.mark.parametrize(("name", "args"), CALLS)
def test_one_parameter(name: str, args: tuple[Any, ...]) -> None:
    def program(T: Any) -> Any:
        prune, body = prune_of(T), net(T)
        given = getattr(prune, name)(body[3], "weight", *args)
        x = T.randn(3, 2, 4, 4, dtype=T.float64)
        loss = (body(x) ** 2).sum()
        loss.backward()
        return [
            given is body[3], *seen(body[3]), body[3].weight, loss, body[3].weight_orig.grad,
            prune.is_pruned(body), prune.is_pruned(body[0]), T.rand(2),
        ]  # fmt: skip

    alike(program)


@pytest.mark.parametrize(("name", "args"), CALLS)
@pytest.mark.parametrize("first", [("l1_unstructured", (0.4,)), ("ln_structured", (2, 2, 0))])
def test_pruned_twice_and_thrice(name: str, args: tuple[Any, ...], first: Any) -> None:
    def program(T: Any) -> Any:
        prune, conv = prune_of(T), T.nn.Conv2d(4, 6, 3).double()
        getattr(prune, first[0])(conv, "weight", *first[1])
        getattr(prune, first[0])(conv, "bias", 2) if first[0] == "l1_unstructured" else None
        try:
            getattr(prune, name)(conv, "weight", *args)
        except ValueError as error:
            return str(error), seen(conv)
        prune.random_unstructured(conv, "weight", amount=1)
        hook = next(h for h in conv._forward_pre_hooks.values() if h._tensor_name == "weight")
        return [
            *seen(conv), len(hook), [type(each).__name__ for each in hook], hook[0].PRUNING_TYPE,
            conv(T.ones(1, 4, 3, 3, dtype=T.float64)),
        ]  # fmt: skip

    alike(program)


def test_importance_scores_choose() -> None:
    def program(T: Any) -> Any:
        prune, found = prune_of(T), []
        for name, args in (("l1_unstructured", (5,)), ("ln_structured", (2, 1, 0))):
            linear = T.nn.Linear(4, 4)
            getattr(prune, name)(linear, "weight", *args, importance_scores=T.rand(4, 4))
            found.append(seen(linear))
        return found

    alike(program)


def test_all_together() -> None:
    def program(T: Any) -> Any:
        prune, body, found = prune_of(T), net(T), []
        both = ((body[0], "weight"), (body[3], "weight"))
        prune.l1_unstructured(body[0], "weight", 10)
        for method, more in (
            (prune.L1Unstructured, {"amount": 0.2}),
            (prune.RandomUnstructured, {"amount": 20}),
            (
                prune.L1Unstructured,
                {"amount": 3, "importance_scores": {both[0]: T.rand(6, 2, 3, 3)}},
            ),
        ):
            prune.global_unstructured(both, pruning_method=method, **more)
            found.append(seen(body))
        return found, body(T.ones(1, 2, 4, 4, dtype=T.float64))

    alike(program)


def test_a_training_run_that_prunes_and_makes_it_permanent() -> None:
    def program(T: Any) -> Any:
        prune, body, losses = prune_of(T), net(T), []
        optimizer = T.optim.SGD(body.parameters(), 0.05, momentum=0.9)
        x, y = T.randn(8, 2, 4, 4, dtype=T.float64), T.randint(5, (8,))
        for step in range(6):
            if step % 2 == 0:
                prune.ln_structured(body[0], "weight", 1, n=2, dim=0)
                prune.l1_unstructured(body[3], "weight", 0.2)
                prune.random_unstructured(body[3], "bias", 1)
            optimizer.zero_grad()
            loss = T.nn.functional.cross_entropy(body(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        for module, name in ((body[0], "weight"), (body[3], "bias"), (body[3], "weight")):
            own = getattr(module, name + "_orig")
            prune.remove(module, name)
            losses.append(own is getattr(module, name))
        return losses, seen(body), seen(body[3]), prune.is_pruned(body), body(x)

    alike(program)


def test_another_way_of_choosing() -> None:
    def program(T: Any) -> Any:
        prune = prune_of(T)

        class EveryOther(prune.BasePruningMethod):  # type: ignore[misc]
            PRUNING_TYPE = "unstructured"

            def compute_mask(self, t: Any, default_mask: Any) -> Any:
                mask = default_mask.clone()
                mask.view(-1)[::2] = 0
                return mask

        linear = T.nn.Linear(3, 4)
        hook = EveryOther.apply(linear, "bias")
        again = EveryOther.apply(linear, "bias")
        return [
            seen(linear), type(hook) is EveryOther, type(again).__name__, len(again),
            hook.prune(T.arange(5.0)), hook.prune(T.arange(4.0), T.tensor([1.0, 1, 0, 1])),
        ]  # fmt: skip

    alike(program)


def test_on_tensors_alone() -> None:
    def program(T: Any) -> Any:
        prune, x, found = prune_of(T), T.randn(4, 5), []
        for method in (
            prune.L1Unstructured(0.3), prune.RandomUnstructured(4), prune.LnStructured(2, 2, 0),
            prune.RandomStructured(0.4, 1), prune.Identity(),
            prune.CustomFromMask(T.ones(4, 5).bool()),
        ):  # fmt: skip
            found += [method.prune(x), method.prune(x, importance_scores=-x)]
            found.append(method.compute_mask(x, default_mask=T.ones(4, 5)))
        return found

    alike(program)


def test_the_copies_of_a_pruned_module() -> None:
    def program(T: Any) -> Any:
        prune, body = prune_of(T), net(T)
        prune.l1_unstructured(body[3], "weight", 9)
        try:
            copy.deepcopy(body)
            message = ""
        except RuntimeError as error:
            message = str(error)[:60]
        x = T.ones(1, 2, 4, 4, dtype=T.float64)
        with T.no_grad():
            body(x)
        twin = copy.deepcopy(body)
        loaded = pickle.loads(pickle.dumps(body))
        buffer = io.BytesIO()
        T.save(body.state_dict(), buffer)
        buffer.seek(0)
        other = net(T)
        prune.identity(other[3], "weight")
        other.load_state_dict(T.load(buffer))
        found = [message]
        for each in (twin, loaded, other):
            found += [seen(each[3]), each(x), prune.is_pruned(each)]
            prune.remove(each[3], "weight")
            found += [seen(each[3]), each(x)]
        return found, seen(body[3])

    alike(program)


def test_a_mask_of_ones_own() -> None:
    def program(T: Any) -> Any:
        prune, linear = prune_of(T), T.nn.Linear(3, 2)
        mask = T.tensor([[1, 0, 1], [0, 1, 1]])
        prune.custom_from_mask(linear, name="weight", mask=mask)
        prune.custom_from_mask(linear, "bias", T.tensor([True, False]))
        prune.custom_from_mask(linear, name="weight", mask=mask.flip(0))
        return seen(linear), linear(T.ones(3))

    alike(program)


MISTAKES = [
    lambda prune, m: prune.l1_unstructured(m, "weight", -1),
    lambda prune, m: prune.l1_unstructured(m, "weight", 1.5),
    lambda prune, m: prune.random_unstructured(m, "weight", "many"),
    lambda prune, m: prune.random_unstructured(m, "weight", 1000),
    lambda prune, m: prune.l1_unstructured(m, "weigth", 1),
    lambda prune, m: prune.ln_structured(m, "bias", 1, 2, 0),
    lambda prune, m: prune.random_structured(m, "weight", 1, 7),
    lambda prune, m: prune.random_structured(m, "weight", 100, 0),
    lambda prune, m: prune.custom_from_mask(m, "weight", m.bias),
    lambda prune, m: prune.l1_unstructured(m, "weight", 1, importance_scores=m.bias),
    lambda prune, m: prune.L1Unstructured(1).prune(m.weight, importance_scores=m.bias),
    lambda prune, m: prune.remove(m, "weight"),
    lambda prune, m: prune.global_unstructured(3, prune.L1Unstructured, amount=1),
    lambda prune, m: prune.global_unstructured(
        [(m, "weight")], prune.L1Unstructured, importance_scores=[m.weight], amount=1
    ),
    lambda prune, m: prune.global_unstructured([(m, "weight")], prune.LnStructured, amount=1, n=1),
    lambda prune, m: prune.PruningContainer(3, 4),
    lambda prune, m: prune.BasePruningMethod(),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_leave_the_module_as_it_was(number: int) -> None:
    def program(T: Any) -> Any:
        prune, linear = prune_of(T), T.nn.Linear(3, 4)
        try:
            MISTAKES[number](prune, linear)
        except Exception as error:
            kind = [
                each.__name__
                for each in (AssertionError, AttributeError, IndexError, TypeError, ValueError)
                if isinstance(error, each)
            ]
            return kind, str(error)[:60], seen(linear)
        return "no error"

    alike(program)


def test_a_container_for_one_parameter_only() -> None:
    def program(T: Any) -> Any:
        prune = prune_of(T)
        one, other = prune.L1Unstructured(1), prune.L1Unstructured(2)
        one._tensor_name, other._tensor_name = "weight", "bias"
        container = prune.PruningContainer(one)
        found = [len(container), container._tensor_name, container[0] is one]
        for wrong in (other, 3):
            try:
                container.add_pruning_method(wrong)
            except (TypeError, ValueError) as error:
                found.append((type(error).__name__, str(error)[:50]))
        return found

    alike(program)


def test_the_public_names_are_pytorchs() -> None:
    theirs = {
        name
        for name, value in vars(torch.nn.utils.prune).items()
        if getattr(value, "__module__", "") == "torch.nn.utils.prune" and not name.startswith("_")
    }
    assert theirs == set(minitorch.torch.nn.utils.prune.__all__)
    assert mt.nn.utils.prune is minitorch.torch.nn.utils.prune
