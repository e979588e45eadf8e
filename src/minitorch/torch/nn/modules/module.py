"""`Module`: what a network is made of."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from types import NoneType
from typing import Any, Self

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import dtype as DType
from minitorch.torch.nn.modules.calls import (
    EVERYWHERE,
    Calls,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from minitorch.torch.nn.modules.members import Members
from minitorch.torch.nn.modules.state import EXTRA as _EXTRA_STATE_KEY_SUFFIX
from minitorch.torch.nn.modules.state import IncompatibleKeys as _IncompatibleKeys
from minitorch.torch.nn.modules.state import State
from minitorch.torch.nn.parameter import Parameter

__all__ = [
    "_EXTRA_STATE_KEY_SUFFIX",
    "Module",
    "_IncompatibleKeys",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# The same registries under the names by which programs look for them here, to clear them.
_global_backward_pre_hooks = EVERYWHERE.backward_pre
_global_backward_hooks = EVERYWHERE.backward
_global_forward_pre_hooks = EVERYWHERE.forward_pre
_global_forward_hooks = EVERYWHERE.forward
_global_forward_hooks_with_kwargs = EVERYWHERE.with_kwargs
_global_forward_hooks_always_called = EVERYWHERE.always
_global_parameter_registration_hooks = EVERYWHERE.parameter_registered
_global_buffer_registration_hooks = EVERYWHERE.buffer_registered
_global_module_registration_hooks = EVERYWHERE.module_registered


def _fresh() -> dict[str, Any]:
    return {
        "training": True,
        "_parameters": {},
        "_buffers": {},
        "_non_persistent_buffers_set": set(),
        "_backward_pre_hooks": OrderedDict(),
        "_backward_hooks": OrderedDict(),
        "_is_full_backward_hook": None,
        "_forward_hooks": OrderedDict(),
        "_forward_hooks_with_kwargs": OrderedDict(),
        "_forward_hooks_always_called": OrderedDict(),
        "_forward_pre_hooks": OrderedDict(),
        "_forward_pre_hooks_with_kwargs": OrderedDict(),
        "_state_dict_hooks": OrderedDict(),
        "_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_post_hooks": OrderedDict(),
        "_modules": {},
    }


def _missing_forward(self: Any, *input: Any) -> None:
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module(Calls, State, Members):
    """The base of all layers and networks: parameters, buffers and modules within modules.

    A subclass calls `super().__init__()`, assigns parameters and modules to attributes, and has a
    `forward`. `modules/members.py` has registration and listing, `calls.py` calling and hooks,
    `state.py` saving and loading.
    """

    dump_patches = False
    call_super_init = False
    training: bool
    forward: Callable[..., Any] = _missing_forward

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            what = (
                f"got an unexpected keyword argument '{next(iter(kwargs))}'"
                if kwargs
                else (f"takes 1 positional argument but {len(args) + 1} were given")
            )
            raise TypeError(f"{type(self).__name__}.__init__() {what}")
        for name, value in _fresh().items():
            object.__setattr__(self, name, value)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name, value in _fresh().items():
            self.__dict__.setdefault(name, value)  # of an older version

    # ------------------------------------------------------------------------------ converting

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Put `fn(t)` in the place of every parameter, its gradient, and every buffer."""
        from minitorch.torch import __future__, no_grad

        anew = (
            __future__.get_overwrite_module_params_on_conversion()
            and not __future__.get_swap_module_params_on_conversion()
        )
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with no_grad():
                new, old = fn(parameter), parameter.grad
                changed: Any = None if old is None else fn(old)
            if anew:
                made = self._parameters[name] = Parameter(new, parameter.requires_grad)
                if old is not None:
                    made.grad = changed.requires_grad_(old.requires_grad)
                continue
            if new is not parameter:
                parameter.data = new
            if old is not None and changed is not old:
                old.data = changed
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Any], None]) -> Self:
        """Call `fn` with every module within and then with this one: to initialise weights."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers in place: to a device, and those that are floating to a
        dtype. TypeError for a dtype that is not floating or complex."""
        device, dtype, _, _ = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )

        def convert(t: Any) -> Any:
            wanted = dtype if t.is_floating_point() or t.is_complex() else None
            return t.to(device=device, dtype=wanted)

        return self._apply(convert)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype, in place."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert those that are floating to float32, in place."""
        return self._apply(_if_floating(lambda t: t.float()))

    def double(self) -> Self:
        """Convert those that are floating to float64, in place."""
        return self._apply(_if_floating(lambda t: t.double()))

    def half(self) -> Self:
        """Convert those that are floating to float16, in place."""
        return self._apply(_if_floating(lambda t: t.half()))

    def bfloat16(self) -> Self:
        """NotImplementedError, if one is floating: NumPy has no bfloat16."""
        return self._apply(_if_floating(lambda t: t.bfloat16()))

    def cpu(self) -> Self:
        """Itself: everything is on the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """RuntimeError or AssertionError: there is no such device."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying what is in the tensors."""
        from minitorch.torch import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self) -> Self:
        """Move parameters and buffers into memory that other processes see, in place."""
        return self._apply(lambda t: t.share_memory_())

    # --------------------------------------------------------------------------------- training

    def train(self, mode: bool = True) -> Self:
        """Set training mode (dropout, batch norm) here and in all modules within."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """`train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let all parameters require gradients, or none."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters: to None, or to zeros."""
        for parameter in self.parameters():
            if parameter._grad is None:
                continue
            if set_to_none:
                parameter._grad = None
            else:
                parameter._grad.detach_() if parameter._grad.grad_fn is not None else (
                    parameter._grad.requires_grad_(False)
                )
                parameter._grad.zero_()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """As `torch.compile`: runs as it is, and says so once."""
        from minitorch import torch

        torch.compile(self, *args, **kwargs)

    def _replicate_for_data_parallel(self) -> Any:
        replica = self.__new__(type(self))
        replica.__dict__ = {**self.__dict__, "_parameters": {}, "_is_replica": True}
        replica.__dict__["_buffers"] = dict(self._buffers)
        replica.__dict__["_modules"] = dict(self._modules)
        return replica

    # --------------------------------------------------------------------------------- as text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands in the parentheses: to be overridden."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not inner:
            return f"{self._get_name()}({extra})"
        if not lines and not inner:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join([*lines, *inner]) + "\n)"


def _if_floating(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda t: fn(t) if t.is_floating_point() else t


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The device and dtype in what `to` was given: to(device), to(dtype), to(device, dtype),
    to(tensor)."""
    from minitorch.torch.dtypes import device as device_of

    first = args[0] if args else None
    names: tuple[str, ...] = ("non_blocking", "copy")
    if isinstance(first, Tensor):
        names = ("tensor", *names)
    elif isinstance(first, DType):
        names = ("dtype", *names)
    else:
        names = ("device", "dtype", *names)
    given = dict(zip(names, args, strict=False))
    kinds: dict[str, Any] = {
        "tensor": Tensor,
        "device": (str, int, device_of, NoneType),
        "dtype": (DType, NoneType),
        "non_blocking": bool,
        "copy": bool,
        "memory_format": object,
    }
    both = {**given, **kwargs}
    if (
        len(args) > len(names)
        or given.keys() & kwargs.keys()
        or not all(isinstance(v, kinds.get(k, ())) for k, v in both.items())
        or isinstance(both.get("device"), bool)
    ):
        kinds_given = ", ".join(
            [
                *(type(v).__name__ for v in args),
                *(f"{k}={type(v).__name__}" for k, v in kwargs.items()),
            ]
        )
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({kinds_given}), but "
            "expected (device, dtype, non_blocking), (dtype, non_blocking) or (tensor, "
            "non_blocking)"
        )
    device, dtype = both.get("device"), both.get("dtype")
    if "tensor" in both:
        device, dtype = both["tensor"].device, both["tensor"].dtype
    if device is not None:
        device = device_of(device)
    return device, dtype, both.get("non_blocking", False), both.get("memory_format")


def warn_deprecated(message: str) -> None:
    """A FutureWarning at the place of the caller's caller."""
    warnings.warn(message, FutureWarning, stacklevel=3)
