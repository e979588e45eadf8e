"""`torch.utils._pytree`: nests taken apart, put together and shown as PyTorch does."""

from __future__ import annotations

import dataclasses
import time
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any, NamedTuple

import pytest
import torch
import torch.utils._pytree

import minitorch.torch as mt
import minitorch.torch.utils._pytree

Pair = namedtuple("Pair", "a b")


class Named(NamedTuple):
    a: int


class Derived(Named):
    pass


class MyList(list):  # type: ignore[type-arg]
    pass


class MyTuple(tuple):  # type: ignore[type-arg]
    pass


def whole(T: Any) -> Any:
    return {
        "x": [1, (2, 3)],
        "y": Pair(1, OrderedDict(a=1)),
        "z": defaultdict(int, {3: 4}),
        "w": deque([1, 2], maxlen=3),
        "n": None,
        "s": T.Size([1, 2]),
        "e": [],
        "m": T.max(T.ones(2, 2), 0),
    }


def both(call: Any) -> None:
    """The same text, of the result or of the error."""
    found = []
    for T in (mt, torch):
        try:
            result = str(call(T, T.utils._pytree))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        found.append(result.replace("minitorch.torch", "torch"))
    assert found[0] == found[1]


CALLS = [
    lambda T, P: P.tree_flatten({**whole(T), "m": 0}),
    lambda T, P: P.tree_flatten(3),
    lambda T, P: P.tree_unflatten(range(13), P.tree_structure(whole(T))),
    lambda T, P: P.tree_leaves_with_path({**whole(T), "m": 0}),
    lambda T, P: [P.keystr(path) for path, _ in P.tree_leaves_with_path({**whole(T), "m": 0})],
    lambda T, P: [
        P.key_get({**whole(T), "m": 0}, path)
        for path, _ in P.tree_leaves_with_path({**whole(T), "m": 0})
    ],
    lambda T, P: P.treespec_pprint(P.tree_structure({**whole(T), "m": 0})),
    lambda T, P: P.treespec_dumps(P.tree_structure({"a": [1, 2], "b": (OrderedDict(c=1),)})),
    lambda T, P: P.treespec_loads(
        P.treespec_dumps(P.tree_structure({"a": [1, deque([2])], "b": (OrderedDict(c=1),)}))
    ),
    lambda T, P: P.treespec_dumps(P.tree_structure(Pair(1, 2)), protocol=7),
    lambda T, P: P.tree_structure(T.max(T.ones(2, 2), 0)),
    lambda T, P: P.tree_map(lambda t: t + 1, T.max(T.ones(2, 2), 0)),
    lambda T, P: P.tree_map(lambda a, b: a + b, [1, {"a": 2}], [3, {"a": 5}]),
    lambda T, P: P.tree_map(lambda a, b: (a, b), [1, 2], [[3], {"a": 5}]),
    lambda T, P: P.tree_map(lambda a, b: a + b, [1, 2], [1]),
    lambda T, P: P.tree_map(lambda a, b: a + b, [1, 2], (1, 2)),
    lambda T, P: P.tree_map(lambda a, b: a + b, {"a": 1}, {"b": 2}),
    lambda T, P: P.tree_map(lambda a, b: a + b, {"a": 1}, OrderedDict(a=2)),
    lambda T, P: P.tree_map(lambda a, b: a + b, Pair(1, 2), (1, 2)),
    lambda T, P: P.tree_map(lambda a, b: a + b, deque([1]), deque([2], maxlen=4)),
    lambda T, P: P.tree_map(1, 3),
    lambda T, P: P.tree_map(len, [(1, 2)], is_leaf=lambda each: type(each) is tuple),
    lambda T, P: P.tree_map_(lambda each: each.append(1), [[]], is_leaf=lambda each: each == []),
    lambda T, P: P.tree_map_with_path(
        lambda path, x, y: (P.keystr(path), x, y), [1, {"a": 2}], [3, {"a": 4}]
    ),
    lambda T, P: P.tree_map_only(int, lambda x: x + 1, [1, "a", 2.0]),
    lambda T, P: P.tree_map_only((int, str), lambda x: x * 2, [1, "a", 2.0]),
    lambda T, P: P.tree_map_only(int | str, lambda x: x * 2, [1, "a", 2.0]),
    lambda T, P: P.tree_map_only(lambda x: x == 1, lambda x: x + 1, [1, 2]),
    lambda T, P: P.tree_map_only(3, 4, 5),
    lambda T, P: (P.tree_all(bool, [1, 0]), P.tree_any(bool, [1, 0])),
    lambda T, P: (P.tree_all_only(int, bool, [1, "", 2]), P.tree_any_only(str, bool, [1, ""])),
    lambda T, P: P.tree_unflatten([1], P.tree_structure([1, 2])),
    lambda T, P: P.tree_unflatten([1], 3),
    lambda T, P: P.tree_structure([1, [2, 3]]).flatten_up_to([[1, 2], [3, 4]]),
    lambda T, P: P.arg_tree_leaves([1, 2], a=(3,)),
    lambda T, P: (P.treespec_leaf(), P.treespec_tuple([P.treespec_leaf()])),
    lambda T, P: P.treespec_dict([("q", P.treespec_leaf())], r=P.treespec_leaf()),
    lambda T, P: P.register_pytree_node(list, None, None),
    lambda T, P: P.tree_leaves([MyList([1]), MyTuple((1,)), Named(1), Derived(2)]),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_one_call(number: int) -> None:
    both(CALLS[number])


def test_what_is_a_named_tuple() -> None:
    for make in (
        lambda T: MyList([1]), lambda T: MyTuple((1,)), lambda T: Named(1), lambda T: Derived(2),
        lambda T: time.localtime(0), lambda T: T.max(T.ones(2, 2), 0), lambda T: Pair,
        lambda T: tuple, lambda T: 3, lambda T: None,
    ):  # fmt: skip
        both(
            lambda T, P, make=make: [
                getattr(P, name)(make(T))
                for name in (
                    "is_namedtuple", "is_structseq", "is_namedtuple_instance",
                    "is_structseq_instance", "tree_is_leaf",
                )
            ]
        )  # fmt: skip


def test_what_a_form_tells() -> None:
    def tells(T: Any, P: Any) -> Any:
        form = P.tree_structure(whole(T))
        return (
            form, form.num_leaves, form.num_nodes, form.num_children, form.type, form.context,
            form.children(), form.child(1), form.is_leaf(), form.child(4).is_leaf(),
        )  # fmt: skip

    both(tells)


def test_when_forms_are_equal() -> None:
    def equal(T: Any, P: Any) -> Any:
        forms = [
            P.tree_structure(each)
            for each in ({"b": 1, "a": 2}, {"a": 1, "b": 2}, {"b": 3, "a": []})
        ]
        again = P.tree_structure({"b": 5, "a": 6})
        return (
            [a == b for a in forms for b in forms],
            again == forms[0],
            hash(again) == hash(forms[0]),
        )

    both(equal)


def test_a_nest_stretched_to_a_form() -> None:
    for tree in (0, [1, 2], [1, (2, 3)], [1, [2, 3]], [1]):
        both(
            lambda T, P, tree=tree: P._broadcast_to_and_flatten(tree, P.tree_structure([1, (2, 3)]))
        )


def test_classes_that_are_registered() -> None:
    def program(T: Any, P: Any) -> Any:
        @dataclasses.dataclass
        class Data:
            a: Any
            b: Any
            c: Any = None

        class Box:
            def __init__(self, x: Any) -> None:
                self.x = x

            def __repr__(self) -> str:
                return f"Box({self.x})"

        P.register_dataclass(Data)
        P.register_pytree_node(Box, lambda box: ([box.x], "about"), lambda parts, _: Box(*parts))
        data = Data(1, [2])
        doubled = P.tree_map(lambda x: 2 * x, data)
        return [
            P.tree_leaves(data), P.tree_leaves_with_path(data), P.tree_structure(data).context,
            (doubled.a, doubled.b, doubled.c), P.tree_map(lambda x, y: x * y, Box(4), Box(5)),
            P.tree_structure(Box(4)), T.func.grad(lambda box: box.x**2)(Box(T.tensor(3.0))),
        ]  # fmt: skip

    both(program)

    def no_paths(T: Any, P: Any) -> Any:
        class Other:
            pass

        P.register_pytree_node(Other, lambda other: ([1], None), lambda parts, _: Other())
        return P.tree_leaves_with_path(Other())

    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
        no_paths(mt, mt.utils._pytree)


def test_the_public_names_are_pytorchs() -> None:
    for name in torch.utils._pytree.__all__:
        assert hasattr(minitorch.torch.utils._pytree, name), name
