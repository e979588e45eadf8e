"""Parameters and buffers: tensors that a module recognises when they are assigned to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch.tensor import Tensor, version_of, wrap


class _Recognised(type(Tensor)):  # type: ignore[misc]
    """`isinstance(t, Parameter)` also for tensors of other classes that are marked as such."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return (
            cls is Parameter and isinstance(instance, Tensor) and "_is_param" in instance.__dict__
        )


class Parameter(Tensor, metaclass=_Recognised):
    """A leaf that belongs to a module: `parameters()` lists it, an optimizer changes it.

    data           a tensor, whose memory it shares; an empty one if None
    requires_grad  True by default. RuntimeError for a dtype that cannot require gradients.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = wrap(np.empty(0, np.float32))
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter: data must be a Tensor, got {type(data).__name__}; "
                "torch.tensor(...) makes one."
            )
        if type(data) not in (Tensor, Parameter) and not isinstance(data, Buffer):
            # A tensor subclass keeps its class, and is marked.
            t = data.detach().requires_grad_(requires_grad)
            if type(t) is type(data):
                t.__dict__["_is_param"] = True
                return t
        made = super().__new__(cls)
        made._array = data._array
        made._counter = version_of(data)
        return made.requires_grad_(requires_grad) if requires_grad else made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, **options: Any) -> str:
        return "Parameter containing:\n" + super().__repr__(**options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _parameter, (type(self), self._array, self.requires_grad, _user_attributes(self))


class Buffer(Tensor):
    """A tensor that belongs to a module and is not trained: running statistics, masks.

    persistent  whether `state_dict` has it
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = super().__new__(cls)
        source = wrap(np.empty(0, np.float32)) if data is None else data
        made._array = source._array
        made._counter = version_of(source)
        made.persistent = persistent
        if source.requires_grad:
            made.requires_grad_()
        return made

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        pass

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _parameter, (type(self), self._array, self.requires_grad, _user_attributes(self))


def _user_attributes(t: Tensor) -> dict[str, Any]:
    from minitorch.torch.copying import attributes

    return attributes(t)


def _parameter(cls: Any, array: Any, requires_grad: bool, state: dict[str, Any]) -> Any:
    made: Tensor = wrap(array, cls)
    made._tracked = requires_grad
    for name, value in state.items():
        setattr(made, name, value)
    return made


def is_lazy(param: Any) -> bool:
    """Whether a parameter has no shape yet; there are none such here."""
    return False
