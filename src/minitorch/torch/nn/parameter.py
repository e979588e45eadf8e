"""Parameters and buffers: tensors that a module recognises when they are assigned to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, version_of, wrap


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

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        text = super().__repr__(**options)
        plain = type(self) is Parameter or text.startswith("tensor(")
        return f"Parameter containing:\n{text if plain else f'Parameter({text})'}"

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


# ----------------------------------------------------------------------- not yet initialised

_MEMORY: Any = Tensor.__dict__["_array"]


def _of_data(name: str) -> Any:
    """A conversion of what is not there yet: a tensor of no elements, for its dtype."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.data, name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


class UninitializedTensorMixin(Tensor):
    """A tensor without a shape: `materialize(shape)` gives it one. ValueError for whatever needs
    its elements, RuntimeError for its shape."""

    cls_to_become: Any = Tensor

    @property
    def _array(self) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter or buffer. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{type(self).__name__}` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch "
            "functions"
        )

    @_array.setter
    def _array(self, array: Any) -> None:
        _MEMORY.__set__(self, array)

    @property
    def data(self) -> Tensor:
        return wrap(_MEMORY.__get__(self))  # type: ignore[no-any-return]

    @data.setter
    def data(self, value: Tensor) -> None:
        _MEMORY.__set__(self, value.data._array)

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def device(self) -> Any:
        return self.data.device

    def requires_grad_(self, requires_grad: bool = True, _name: str = "") -> Any:
        """Whether it is to require gradients, in place."""
        self._tracked = bool(requires_grad)
        return self

    def share_memory_(self) -> Any:
        """RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    float, double, half, bfloat16 = map(_of_data, ("float", "double", "half", "bfloat16"))
    type, to, cpu, cuda = map(_of_data, ("type", "to", "cpu", "cuda"))
    is_floating_point, is_complex = map(_of_data, ("is_floating_point", "is_complex"))

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of this shape, of undefined values, in place."""
        from minitorch.torch.creation import empty

        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        made = empty(sizes, device=device or self.device, dtype=dtype or self.dtype)
        _MEMORY.__set__(self, made._array)
        self.__class__ = self.cls_to_become

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            made: Any = type(self)
            memo[id(self)] = made(
                requires_grad=self.requires_grad, device=self.device, dtype=self.dtype
            )
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


def _without_shape(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    from minitorch.torch.creation import empty

    made: Any = wrap(empty(0, device=device, dtype=dtype)._array, cls)
    made._tracked = requires_grad
    return made


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape a layer takes from its first input."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _without_shape(cls, requires_grad, device, dtype)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin):
    """A buffer whose shape a layer takes from its first input."""

    persistent = True

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        made = _without_shape(cls, requires_grad, device, dtype)
        if not persistent:
            made.persistent = False
        return made

    def __init__(self, *args: Any, **options: Any) -> None:
        pass


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
