"""`torch.utils.hooks`: handles, and the hooks of a module's backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.autograd.function import Function
from minitorch.torch.node import RemovableHandle

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook that need not be saved: serialising its tensor gives no warning."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn for each hook of a leaf that is about to be serialised without it."""
    hooks = tensor.__dict__.get("_hooks")
    for hook in () if hooks is None else hooks.tensor.values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                UserWarning,
                stacklevel=2,
            )


class BackwardHookFunction(Function):
    """The identity, of several tensors at once: its node is where a module's hooks are."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> tuple[Any, ...]:
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return grads


class BackwardHook:
    """Calls a module's hooks with the gradients of its inputs and outputs, together.

    The inputs pass through one node and the outputs through another. When the gradients of all
    outputs have arrived the pre-hooks run, and when those of the inputs have, the hooks.
    """

    def __init__(
        self, module: Any, user_hooks: Iterable[Any], user_pre_hooks: Iterable[Any] = ()
    ) -> None:
        self.module = module
        self.user_hooks = list(user_hooks)
        self.user_pre_hooks = list(user_pre_hooks)
        self.grad_outputs: Any = None
        self.places: list[int] = []
        self.count = 0

    def setup_input_hook(self, args: Any) -> Any:
        """The module's arguments, so that their gradients are seen."""
        single = not isinstance(args, tuple)
        given = (args,) if single else args
        places, tensors = _tracked(given)
        self.places, self.count = places, len(given)
        if not places:
            return args
        passed = BackwardHookFunction.apply(*tensors)

        likes = [np.zeros_like(v._array) if isinstance(v, Tensor) else None for v in given]

        def hook(grad_inputs: Sequence[Any], _: Any) -> Any:
            if self.grad_outputs is None:
                return None  # they came by another way: backward through a gradient of the module
            # As in PyTorch: zeros for a tensor that wants no gradient.
            whole = [None if like is None else wrap(like) for like in likes]
            for place, g in zip(places, grad_inputs, strict=True):
                whole[place] = g
            return self._finish(tuple(whole), places)

        passed[0].grad_fn.register_hook(hook)
        results = list(given)
        for place, t in zip(places, passed, strict=True):
            results[place] = t
        return results[0] if single else _as_before(args, results)

    def setup_output_hook(self, args: Any) -> Any:
        """The module's results, so that their gradients are seen."""
        single = not isinstance(args, tuple)
        given = (args,) if single else args
        places, tensors = _tracked(given)
        if not places:
            return args
        passed = BackwardHookFunction.apply(*tensors)

        def prehook(grads: Sequence[Any]) -> Any:
            whole: tuple[Any, ...] = (None,) * len(given)
            whole = tuple(
                grads[places.index(k)] if k in places else None for k in range(len(whole))
            )
            for user_hook in self.user_pre_hooks:
                result = user_hook(self.module, whole)
                if result is not None:
                    whole = result if isinstance(result, tuple) else (result,)
                if len(whole) != len(given):
                    raise RuntimeError(
                        "Backward pre hook returned an invalid number of grad_output, got "
                        f"{len(whole)}, but expected {len(given)}"
                    )
            self.grad_outputs = whole
            if not self.places:
                # No input wants a gradient, so that there is nothing to wait for.
                warnings.warn(
                    "Full backward hook is firing when gradients are computed with respect to "
                    "module outputs since no inputs require gradients. See torch.nn.Module."
                    "register_full_backward_hook for more details.",
                    UserWarning,
                    stacklevel=2,
                )
                self._finish((None,) * self.count, [])
            return tuple(whole[place] for place in places)

        passed[0].grad_fn.register_prehook(prehook)
        results = list(given)
        for place, t in zip(places, passed, strict=True):
            results[place] = t
        return results[0] if single else _as_before(args, results)

    def _finish(self, grad_inputs: tuple[Any, ...], places: Sequence[int]) -> Any:
        grad_outputs, self.grad_outputs = self.grad_outputs, None
        replaced = False
        for user_hook in self.user_hooks:
            result = user_hook(self.module, grad_inputs, grad_outputs)
            if result is None:
                continue
            grad_inputs = result if isinstance(result, tuple) else (result,)
            replaced = True
            if not places and any(each is not None for each in grad_inputs):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
            if len(grad_inputs) != self.count:
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, got "
                    f"{len(grad_inputs)}, but expected {self.count}"
                )
        return tuple(grad_inputs[place] for place in places) if replaced and places else None


def _as_before(before: Any, values: Sequence[Any]) -> Any:
    """The values as a tuple, a named one of the kind that came if that was one."""
    return type(before)(*values) if hasattr(before, "_fields") else tuple(values)


def _tracked(values: Sequence[Any]) -> tuple[list[int], list[Tensor]]:
    places = [k for k, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad]
    return places, [values[k] for k in places]
