"""How a function becomes a method of Tensor, and gets an in-place form.

    method(exp)              Tensor.exp
    method(exp, inplace=True)  and Tensor.exp_

A function is written with PyTorch's signature, `input` first. Its in-place form computes the same
and writes the result into the tensor's memory; see `inplace`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.inplace import composite_inplace, inplace


def method(
    function: Callable[..., Any],
    name: str | None = None,
    *,
    inplace: bool = False,
    composite: bool = False,
) -> Callable[..., Any]:
    """Attach `function` to Tensor under `name` (its own by default), and give it back.

    inplace    attach the in-place form, `name_`, too
    composite  the function records several operations (or none of its own kind)
    """
    name = name or function.__name__
    setattr(Tensor, name, function)
    if inplace:
        setattr(Tensor, name + "_", inplace_form(function, name + "_", composite))
    return function


def inplace_form(
    function: Callable[..., Any], name: str, composite: bool = False
) -> Callable[..., Any]:
    """`function` as an in-place method called `name`."""
    how = composite_inplace if composite else inplace

    @functools.wraps(function)
    def form(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return how(function, self, *args, **kwargs)

    form.__name__ = form.__qualname__ = name
    return form
