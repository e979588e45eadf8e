"""Layers that take sizes from their first input."""

from __future__ import annotations

from typing import Any, ClassVar

from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.parameter import is_lazy


class LazyModuleMixin(Module):
    """Before its first call a layer has `UninitializedParameter`s; the call asks
    `initialize_parameters(*args)` to give them sizes, and the layer becomes a `cls_to_become`.

    class LazyLinear(LazyModuleMixin, Linear): ...
    """

    cls_to_become: ClassVar[Any] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register_forward_pre_hook(_infer, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters sizes that suit the input. To be overridden."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no size yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for own in (self._parameters, self._buffers):
            for name, value in own.items():
                if value is not None and name not in self._non_persistent_buffers_set:
                    as_is = keep_vars or is_lazy(value)
                    destination[prefix + name] = value if as_is else value.detach()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            given: Any = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                value.materialize(given.shape)  # type: ignore[union-attr]
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _infer(module: Any, args: Any, kwargs: Any) -> None:
    """The hook before the first forward. It is no method: a module that holds a method of its own
    is a cycle."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(
            f"module {module._get_name()} has not been fully initialized: initialize_parameters "
            "has to materialize() all parameters and buffers"
        )
    for number, hook in list(module._forward_pre_hooks.items()):
        if hook is _infer:
            del module._forward_pre_hooks[number]
            module._forward_pre_hooks_with_kwargs.pop(number, None)
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
