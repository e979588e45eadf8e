"""`swap_tensors`: two tensors become each other, wherever they are referred to."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.node import node_in_use

_PARTS = ("_array", "_base", "_counter", "_node", "_tracked")


def swap_tensors(t1: Any, t2: Any) -> None:
    """Let two tensors change places: class, elements, graph and attributes. Whoever has one of them
    then has the other's.

    TypeError for what is no tensor, or a class whose instances are laid out in another way.
    """
    for t in (t1, t2):
        if not isinstance(t, Tensor):
            raise TypeError(f"swap_tensors: expected two tensors, got {type(t).__name__}")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for name in _PARTS:
        place = Tensor.__dict__[name]
        mine, other = place.__get__(t1), place.__get__(t2)
        place.__set__(t1, other)
        place.__set__(t2, mine)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for t in (t1, t2):
        node = node_in_use(t)
        if node is not None:
            node.belong_to(t)
