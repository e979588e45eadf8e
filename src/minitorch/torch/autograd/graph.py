"""`torch.autograd.graph`: the graph as a program may touch it, and hooks on more than one thing."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch.engine.mode import Ambient, ambient
from minitorch.torch._tensor import Tensor, node_of, version_of
from minitorch.torch.autograd.engine import GradientEdge, get_gradient_edge
from minitorch.torch.node import AccumulateGrad, RemovableHandle, function_and_number
from minitorch.torch.node import TorchNode as Node

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change in place that was made behind the library's back: a backward that needs the
    former value raises then."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        version_of(t)[0] += 1


class saved_tensors_hooks(Ambient):
    """What operations save for their backward, for a block, is given to `pack_hook`; a backward
    gives what that returned to `unpack_hook`, and uses the tensor that this returns.

    The innermost block counts. Tensors that are results come to pack_hook without their grad_fn:
    a hook that keeps them would close a circle through the node that saves them.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        super().__init__(hooks=(pack_hook, unpack_hook))
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def again(self) -> Ambient:
        return saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __enter__(self) -> None:
        refusal = ambient.get().refusal
        if refusal is not None:
            raise RuntimeError(refusal)
        super().__enter__()


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU: here they are."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t, lambda t: t)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Let saved-tensor hooks raise RuntimeError(error_message), for a block or for a function."""
    if ambient.get().hooks is not None:
        raise RuntimeError(error_message)
    with Ambient(refusal=error_message):
        yield


class _AllowMutationOnSavedContext:
    """The tensors that were kept as they were."""

    def __init__(self) -> None:
        self.active = True

    def clear(self) -> None:
        """Accepted: copies go with the nodes that saved them."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Let what was saved be changed in place, for a block: what is saved in it is copied.

    The backward has to be within the block too.
    """
    context = _AllowMutationOnSavedContext()

    def unpack(t: Tensor) -> Tensor:
        if not context.active:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return t

    with saved_tensors_hooks(lambda t: t.detach().clone(), unpack):
        try:
            yield context
        finally:
            context.active = False


class _MultiHandle(RemovableHandle):
    """Handles of several hooks, removed together."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take all of the hooks away."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` when the gradients of several tensors have been computed.

    mode  "all": `fn(grads)` once all those that a backward computes are there, with None for the
          others; "any": `fn(grad)` at the first of them
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    watched = list(tensors)
    return _on_all(watched, fn) if mode == "all" else _on_any(watched, fn)


def _current() -> Any:
    task = ambient.get().task
    if task is None:
        raise RuntimeError("expected this hook to be called inside a backward call")
    return task


def _place(t: Tensor) -> Any:
    """What stands for a tensor's place in the graph: its node, or the leaf itself."""
    node = function_and_number(node_of(t))[0]
    return t if isinstance(node, AccumulateGrad) else node


def _executes(task: Any, place: Any) -> bool:
    node = node_of(place) if isinstance(place, Tensor) else place
    if task.partial and isinstance(node, AccumulateGrad) and not task.keeps:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported. Call backward(inputs=...)."
        )
    return node in task.nodes


def _on_all(tensors: list[Tensor], fn: Callable[..., None]) -> RemovableHandle:
    # Weakly: the hooks belong to what they refer to here.
    places = [weakref.ref(_place(t)) for t in tensors]
    lock = threading.Lock()
    seen: dict[int, list[Any]] = {}
    expected: dict[int, int] = {}

    def hook_of(place: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            task = _current()
            with lock:
                if task.number not in seen:
                    seen[task.number] = [None] * len(places)
                    expected[task.number] = sum(_executes(task, each()) for each in places)
                grads = seen[task.number]
                grads[place] = grad
                expected[task.number] -= 1
                complete = expected[task.number] == 0
                if complete:
                    del seen[task.number], expected[task.number]
            if complete:
                fn(grads)

        return hook

    return _MultiHandle([t.register_hook(hook_of(k)) for k, t in enumerate(tensors)])


def _on_any(tensors: list[Tensor], fn: Callable[..., None]) -> RemovableHandle:
    lock = threading.Lock()
    done: list[int] = []

    def hook(grad: Tensor) -> None:
        number = _current().number
        with lock:
            first = number not in done
            if first:
                # Walks are numbered upwards, and a walk that is over does not come back.
                done[:] = [*done[-7:], number]
        if first:
            fn(grad)

    return _MultiHandle([t.register_hook(hook) for t in tensors])
