"""Calling a module: forward, and the hooks around it and around its backward."""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.node import RemovableHandle, hooked

Hook = Callable[..., Any]


class Everywhere:
    """The hooks of all modules."""

    def __init__(self) -> None:
        self.backward_pre: OrderedDict[int, Hook] = OrderedDict()
        self.backward: OrderedDict[int, Hook] = OrderedDict()
        self.full_backward: bool | None = None
        self.forward_pre: OrderedDict[int, Hook] = OrderedDict()
        self.forward: OrderedDict[int, Hook] = OrderedDict()
        self.with_kwargs: OrderedDict[int, bool] = OrderedDict()
        self.always: OrderedDict[int, bool] = OrderedDict()
        self.parameter_registered: OrderedDict[int, Hook] = OrderedDict()
        self.buffer_registered: OrderedDict[int, Hook] = OrderedDict()
        self.module_registered: OrderedDict[int, Hook] = OrderedDict()

    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.backward_pre or self.backward or self.forward_pre or self.forward)


EVERYWHERE = Everywhere()


class Calls:
    """`module(...)`: `forward` with hooks. The base of `Module`, of which it is a part."""

    forward: Callable[..., Any]
    _backward_pre_hooks: OrderedDict[int, Hook]
    _backward_hooks: OrderedDict[int, Hook]
    _is_full_backward_hook: bool | None
    _forward_hooks: OrderedDict[int, Hook]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]

    # ---------------------------------------------------------------------------- registration

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the module's backward; what it returns takes the
        place of grad_output."""
        return hooked(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs
        are there; what it returns takes the place of grad_input."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        return hooked(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """The old form of `register_full_backward_hook`: sees the last operation's gradients."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        return hooked(self._backward_hooks, hook)

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns takes the place of args.

        with_kwargs  `hook(module, args, kwargs)`, which returns None or both
        """
        named = self._forward_pre_hooks_with_kwargs
        handle = hooked(self._forward_pre_hooks, hook, prepend=prepend, extra_dict=named)
        if with_kwargs:
            named[handle.id] = True
        return handle

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns takes the place of the
        output.

        with_kwargs  `hook(module, args, kwargs, output)`
        always_call  also when forward raises
        """
        named, always = self._forward_hooks_with_kwargs, self._forward_hooks_always_called
        handle = hooked(self._forward_hooks, hook, prepend=prepend, extra_dict=[named, always])
        if with_kwargs:
            named[handle.id] = True
        if always_call:
            always[handle.id] = True
        return handle

    # --------------------------------------------------------------------------------- the call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or EVERYWHERE.any()
        ):
            return _with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    _call_impl = __call__


def _with_hooks(module: Any, args: Any, kwargs: Any) -> Any:
    called: set[int] = set()
    try:
        return _around(module, args, kwargs, called)
    except Exception:
        _always_called(module, args, kwargs, called)
        raise


def _around(module: Any, args: Any, kwargs: Any, called: set[int]) -> Any:  # noqa: PLR0912
    for number, hook in _all(EVERYWHERE.forward_pre, module._forward_pre_hooks):
        if number in module._forward_pre_hooks_with_kwargs:
            result = hook(module, args, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, "
                        f"new_kwargs), but got {result}."
                    )
                args, kwargs = result
        else:
            result = hook(module, args)
            if result is not None:
                args = result if isinstance(result, tuple) else (result,)
    backward, old = _backward(module)
    boundary = None
    if backward or EVERYWHERE.backward_pre or module._backward_pre_hooks:
        from minitorch.torch.utils.hooks import BackwardHook

        pre = [*EVERYWHERE.backward_pre.values(), *module._backward_pre_hooks.values()]
        boundary = BackwardHook(module, backward, pre)
        args = boundary.setup_input_hook(args)
    result = module.forward(*args, **kwargs)
    for number, hook in _all(EVERYWHERE.forward, module._forward_hooks):
        called.add(number)
        if number in module._forward_hooks_with_kwargs or number in EVERYWHERE.with_kwargs:
            changed = hook(module, args, kwargs, result)
        else:
            changed = hook(module, args, result)
        if changed is not None:
            result = changed
    if boundary is not None:
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple "
                f"of Tensors but received {type(result)}",
                stacklevel=4,
            )
        result = boundary.setup_output_hook(result)
    if old:
        _on_last_node(module, old, args, result)
    return result


def _backward(module: Any) -> tuple[list[Hook], list[Hook]]:
    """The full backward hooks, and those of the old form."""
    full: list[Hook] = []
    old: list[Hook] = []
    (full if EVERYWHERE.full_backward is not False else old).extend(EVERYWHERE.backward.values())
    (full if module._is_full_backward_hook is not False else old).extend(
        module._backward_hooks.values()
    )
    return full, old


def _always_called(module: Any, args: Any, kwargs: Any, called: set[int]) -> None:
    for number, hook in _all(EVERYWHERE.forward, module._forward_hooks):
        if number in called:
            continue
        if number not in module._forward_hooks_always_called and number not in EVERYWHERE.always:
            continue
        try:
            if number in module._forward_hooks_with_kwargs or number in EVERYWHERE.with_kwargs:
                hook(module, args, kwargs, None)
            else:
                hook(module, args, None)
        except Exception as error:
            warnings.warn(
                "module forward hook with ``always_call=True`` raised an exception that was "
                f"silenced as another error was raised in forward: {error!s}",
                stacklevel=4,
            )


def _all(*places: OrderedDict[int, Hook]) -> Iterator[tuple[int, Hook]]:
    return iter(list(itertools.chain.from_iterable(place.items() for place in places)))


def _on_last_node(module: Any, hooks: list[Hook], args: Any, result: Any) -> None:
    """Hooks of the old form: they are called after the operation that made the (first) result."""
    value = result
    while not isinstance(value, Tensor):
        value = next(v for v in (value.values() if isinstance(value, dict) else value))
    node = value.grad_fn
    if node is None:
        return
    _warn_of_what_is_missed(args, result, node)
    for hook in hooks:
        node.register_hook(
            lambda grad_inputs, grad_outputs, hook=hook: hook(module, grad_inputs, grad_outputs)
        )


def _warn_of_what_is_missed(args: Any, result: Any, node: Any) -> None:
    """Hooks of the old form see one node, which need not be all of the module."""
    case, what = "", "some of the grad_input"
    given = (args,) if isinstance(args, Tensor) else args
    found = (result,) if isinstance(result, Tensor) else result
    if not _all_tensors(found):
        case, what = (
            "on a Module that does not return a single Tensor or a tuple of Tensors",
            "some of the grad_output",
        )
    elif not _all_tensors(given):
        case = "on a Module that does not take as input a single Tensor or a tuple of Tensors"
    else:
        made = {each.grad_fn for each in found if each.grad_fn is not None}
        before = {each.grad_fn for each in given if each.grad_fn is not None}
        if made != {node}:
            case, what = (
                "when outputs are generated by different autograd Nodes",
                "some grad_output",
            )
        elif before != {behind for behind, _ in node.next_functions}:
            case = "when the forward contains multiple autograd Nodes"
    if case:
        warnings.warn(
            f"Using a non-full backward hook {case} is deprecated and will be removed in future "
            f"versions. This hook will be missing {what}. Please use register_full_backward_hook "
            "to get the documented behavior.",
            FutureWarning,
            stacklevel=5,
        )


def _all_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(each, Tensor) for each in values)


# --------------------------------------------------------------------------- for all modules


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """`register_forward_pre_hook` on every module."""
    return hooked(EVERYWHERE.forward_pre, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`register_forward_hook` on every module."""
    extra = [EVERYWHERE.with_kwargs, EVERYWHERE.always]
    handle = hooked(EVERYWHERE.forward, hook, extra_dict=extra)
    if with_kwargs:
        EVERYWHERE.with_kwargs[handle.id] = True
    if always_call:
        EVERYWHERE.always[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """`register_full_backward_pre_hook` on every module."""
    return hooked(EVERYWHERE.backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """`register_full_backward_hook` on every module."""
    return _backward_everywhere(hook, True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """`register_backward_hook` on every module."""
    return _backward_everywhere(hook, False)


def _backward_everywhere(hook: Hook, full: bool) -> RemovableHandle:
    if EVERYWHERE.full_backward is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    EVERYWHERE.full_backward = full
    return hooked(EVERYWHERE.backward, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` for each parameter that any module is given; what it
    returns, unless None, is registered in its place."""
    return hooked(EVERYWHERE.parameter_registered, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` for each buffer that any module is given; what it returns,
    unless None, is registered in its place."""
    return hooked(EVERYWHERE.buffer_registered, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, submodule)` for each submodule that any module is given; what it
    returns, unless None, is registered in its place."""
    return hooked(EVERYWHERE.module_registered, hook)
