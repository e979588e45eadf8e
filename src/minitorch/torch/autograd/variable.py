"""`torch.autograd.Variable`: what tensors that require grad were once wrapped in."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor


class _VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(t, requires_grad=True)` is a tensor of the memory of `t`; every tensor is one."""

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: Any = None) -> Any:
        t = data.detach()
        return t.requires_grad_() if requires_grad else t


__all__ = ["Variable"]
