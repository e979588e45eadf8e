"""Parametrisation: a parameter or buffer that a module computes from others.

`register_parametrization(linear, "weight", module)` moves the weight to
`linear.parametrizations.weight.original`; from then on `linear.weight` is what the module makes of
it, at each access. The module's class becomes a subclass of its own with a property for each.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from minitorch.engine.mode import no_grad
from minitorch.torch._tensor import Tensor
from minitorch.torch.nn.modules.container import ModuleDict, ModuleList
from minitorch.torch.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A block in which each parametrised tensor is computed once. Blocks nest."""
    global _cache_enabled, _cache  # noqa: PLW0603 - one cache for all modules
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _register_parameter_or_buffer(module: Any, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _changes(what: str, names: tuple[str, str], before: Any, after: Any) -> ValueError:
    return ValueError(
        f"Registering a parametrization may not change the {what} of the tensor, unless "
        f"{'the ' if '.' in names[0] else ''}`unsafe` flag is enabled.\n"
        f"{names[0]} {what}: {before}\n{names[1]} {what}: {after}"
    )


def _set(destination: Any, source: Any) -> None:
    """Let a tensor hold the elements of another, and stay the object that an optimiser knows."""
    if destination is not source:
        destination.data = source.detach()


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, and the tensor or tensors that they begin with.

    original                 if the first takes one tensor, else
    original0, original1 ... what its `right_inverse` gave
    unsafe   the result may have another shape or dtype
    """

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            with no_grad():
                _set(original, new)
            _register_parameter_or_buffer(self, "original", original)
        else:
            self._register_several(new, original)
        if not unsafe:
            self._check(shape, dtype)

    def _register_several(self, tensors: Sequence[Any], original: Any) -> None:
        for number, each in enumerate(tensors):
            if not isinstance(each, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {number} of the sequence with type "
                    f"{type(each).__name__}."
                )
            if isinstance(original, Parameter):
                each = Parameter(each, original.requires_grad)
            each.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{number}", each)

    def _check(self, shape: Any, dtype: Any) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(
                f"A parametrization must return a tensor. Got {type(result).__name__}."
            )
        names = ("unparametrized", "parametrized")
        if result.dtype != dtype:
            raise _changes("dtype", names, dtype, result.dtype)
        if result.shape != shape:
            raise _changes("shape", names, shape, result.shape)

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the result is `value`.

        RuntimeError if one of the parametrisations has no `right_inverse`.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                    )
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while "
                        f"`original` has dtype {self.original.dtype}"
                    )
                _set(self.original, value)
                return
            if not isinstance(value, Sequence):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors. "
                    f"Got {type(value).__name__}."
                )
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for number, each in enumerate(value):
                _set(getattr(self, f"original{number}"), each)

    def forward(self) -> Any:
        first, *others = self
        if self.is_tensor:
            x = first(self.original)
        else:
            x = first(*(getattr(self, f"original{number}") for number in range(self.ntensors)))
        for module in others:
            x = module(x)
        return x


def _refuse_pickle(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    found = memo.get(id(self))
    if found is not None:
        return found
    replica = self.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return replica


def _inject_new_class(module: Any) -> None:
    cls = type(module)
    body: dict[str, Any] = {"__getstate__": _refuse_pickle}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module: Any, tensor_name: str) -> None:
    def get(self: Any) -> Any:
        parametrization = self.parametrizations[tensor_name]
        if not _cache_enabled:
            return parametrization()
        key = (id(self), tensor_name)
        found = _cache.get(key)
        if found is None:
            found = _cache[key] = parametrization()
        return found

    def put(self: Any, value: Any) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get, put))


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Let a parameter or buffer of a module be computed by another module; gives the first.

    If it is parametrised already, the new module takes what the last one gives. A `right_inverse`
    of the new module says what to begin with: a tensor, or several.
    unsafe  the result may have another shape or dtype
    ValueError for a name that the module does not have, and for a result that does not fit.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        own = module.parametrizations[tensor_name]
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        own.append(parametrization)
        own.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        own = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = own
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_further(module: Any, name: str, parametrization: Any) -> None:
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    names = (f"module.{name}", f"parametrization(module.{name})")
    if after.dtype != before.dtype:
        raise _changes("dtype", names, before.dtype, after.dtype)
    if after.shape != before.shape:
        raise _changes("shape", names, before.shape, after.shape)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    names = (f"module.{name}", f"parametrization.right_inverse(module.{name})")
    if back.dtype != before.dtype:
        raise _changes("dtype", names, before.dtype, back.dtype)
    if back.shape != before.shape:
        raise _changes("shape", names, before.shape, back.shape)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrised tensor, or whether this one is."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a parametrised tensor a plain one again; gives the module.

    leave_parametrized  with the value that was computed; False: with the original's
    ValueError if it is not parametrised, or without original: if it was several tensors.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    own = module.parametrizations[tensor_name]
    if own.is_tensor:
        original = own.original
        if leave_parametrized:
            with no_grad():
                _set(original, getattr(module, tensor_name))
    elif leave_parametrized:
        computed = getattr(module, tensor_name)
        original = Parameter(computed.detach()) if computed.requires_grad else computed
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before it was parametrised."""
    cls: type = type(module)
    return cls.__bases__[0] if is_parametrized(module) else cls


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Parametrise one module as another, with copies of the same modules and the same originals.

    tensor_name  of this tensor only
    """
    if not is_parametrized(from_module):
        return to_module
    own = from_module.parametrizations
    for name in [tensor_name] if tensor_name is not None else list(own):
        if not is_parametrized(from_module, name):
            continue
        if not hasattr(to_module, name):
            setattr(to_module, name, copy.deepcopy(getattr(from_module, name)))
        for each in own[name]:
            register_parametrization(to_module, name, copy.deepcopy(each), unsafe=True)
        others = to_module.parametrizations[name]
        names = (
            ["original"]
            if own[name].is_tensor
            else [f"original{number}" for number in range(own[name].ntensors)]
        )
        for part in names:
            setattr(others, part, getattr(own[name], part))
    return to_module
