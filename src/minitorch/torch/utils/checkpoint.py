"""Memory for time: what a function's backward needs is not kept but computed again.

Two ways. *Reentrant*: the function runs without being recorded; its one node runs it again, and
does a backward of its own. *Not reentrant* (the better one): the function is recorded, and
saved-tensor hooks keep nothing but a number for each tensor; at the first that is asked for,
the function runs again, and its saved tensors take the places of the former ones.
"""

from __future__ import annotations

import enum
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import numpy as np

from minitorch.engine.mode import Ambient, ambient, enable_grad
from minitorch.engine.node import next_seq
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.absent import refusing
from minitorch.torch.autograd.engine import backward
from minitorch.torch.autograd.function import Function
from minitorch.torch.autograd.graph import saved_tensors_hooks

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """A recomputation that does not do what the forward pass did."""


class CheckpointPolicy(enum.Enum):
    """What a selective checkpoint is to do with an operation's result."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


create_selective_checkpoint_contexts = refusing(
    "torch.utils.checkpoint.create_selective_checkpoint_contexts",
    "a function of one operation at a time cannot be asked here; checkpoint the parts that are to "
    "be computed again, and leave out those that are to be kept",
)


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing: the default for the forward pass and the recomputation."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, whose backward computes again what it would have saved.

    use_reentrant  which way (see the module); False is better, and has to be said: None warns and
                   means True. The reentrant way takes no kwargs, and no `autograd.grad`
    context_fn     makes two contexts, for the forward pass and for the recomputation
    determinism_check  "default": saved tensors must have the same shapes and dtypes again, or
                   CheckpointError; "none": not checked
    early_stop     end the recomputation when all that is needed is there
    preserve_rng_state=True  random numbers come again as they came

    Any tensor of any shape may be among the arguments; other values are handed through.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if debug:
        raise NotImplementedError(
            "checkpoint: debug=True is not supported; a CheckpointError names the tensor, and "
            "torch.autograd.detect_anomaly() the lines."
        )
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    return _recorded(function, args, kwargs, preserve, context_fn, determinism_check, early_stop)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """The functions (or a Sequential of modules) one after the other, in so many checkpointed
    segments; the last one is not, as its backward comes first."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not "
            "passed. use_reentrant=False is recommended, but if you need to preserve the current "
            "default behavior, you can pass use_reentrant=True.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size, begin = len(steps) // segments, 0

    def run(part: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for step in part:
                value = step(value)
            return value

        return forward

    for _ in range(segments - 1):
        input = checkpoint(
            run(steps[begin : begin + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
        begin += size
    return run(steps[begin:])(input)


class set_checkpoint_early_stop(Ambient):
    """Whether recomputations end as soon as all that is needed is there, for a block."""

    def __init__(self, enable: bool) -> None:
        super().__init__(early_stop=enable)


# ------------------------------------------------------------------------------ random state


def _random_state() -> Any:
    from minitorch.torch.random import get_rng_state

    return get_rng_state()


@contextmanager
def _as_at(state: Any) -> Iterator[None]:
    """Random numbers as they came when the state was taken; afterwards as if nothing had been."""
    if state is None:
        yield
        return
    from minitorch.torch.random import get_rng_state, set_rng_state

    now = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(now)


# --------------------------------------------------------------------------------- reentrant


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn if none of the inputs requires grad: a reentrant checkpoint has no gradient then."""
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None",
            UserWarning,
            stacklevel=2,
        )


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors among the inputs as leaves that require grad where they did."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(_detached(each) for each in inputs)


def _detached(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    t = value.detach()
    t.requires_grad = value.requires_grad
    return t


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the tensors and the states of their generators: none, as the CPU's is another
    matter (`torch.get_rng_state`)."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Undo what changed since `get_device_states`; RuntimeError for a device: there is none."""
    for each in devices:
        raise RuntimeError(f"minitorch computes on the CPU: there is no device {each}")


class CheckpointFunction(Function):
    """The node of a reentrant checkpoint: it keeps the arguments only."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = _random_state() if preserve_rng_state else None
        ctx.others = [None if isinstance(each, Tensor) else each for each in args]
        ctx.save_for_backward(*(each if isinstance(each, Tensor) else None for each in args))
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if ambient.get().task.partial:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        saved = ctx.saved_tensors
        args = [o if t is None else t for t, o in zip(saved, ctx.others, strict=True)]
        args = list(detach_variable(tuple(args)))
        with _as_at(ctx.state), enable_grad():
            found = ctx.run_function(*args)
        outs = found if isinstance(found, tuple) else (found,)
        pairs = [
            (out, g)
            for out, g in zip(outs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([out for out, _ in pairs], [g for _, g in pairs])
        return None, None, *(t.grad if isinstance(t, Tensor) else None for t in args)


# ----------------------------------------------------------------------------- not reentrant


class _Handle:
    """What is kept in the place of one tensor."""

    __slots__ = ("__weakref__", "facts", "number")

    def __init__(self, number: int, facts: dict[str, Any]) -> None:
        self.number = number
        self.facts = facts


class _Enough(Exception):
    """Ends a recomputation: all that is needed is there."""


class _Arguments(Function):
    """Saves the arguments of a checkpoint, as any operation does: so that an enclosing checkpoint
    computes them again."""

    @staticmethod
    def forward(ctx: Any, dummy: Tensor, *args: Any) -> Tensor:
        ctx.others = [None if isinstance(each, Tensor) else each for each in args]
        ctx.save_for_backward(*(each if isinstance(each, Tensor) else None for each in args))
        return wrap(np.zeros(()))  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("the arguments of a checkpoint have no gradient of their own")


class _Region:
    """One call of a checkpointed function.

    arguments  the node that saved the arguments
    handles    what was given out for saved tensors, in their order, weakly
    again      for each walk that has asked, what was computed again, by the handles' numbers
    """

    def __init__(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.names = tuple(kwargs)
        dummy: Tensor = wrap(np.zeros(()))
        dummy._tracked = True
        self.arguments = _Arguments.apply(dummy, *args, *kwargs.values()).grad_fn
        self.handles: list[weakref.ref[_Handle]] = []
        self.again: dict[int, dict[int, Tensor]] = {}
        self.state: Any = None
        self.context: AbstractContextManager[Any] = nullcontext()
        self.check = self.early_stop = True

    def pack(self, t: Tensor) -> _Handle:
        handle = _Handle(len(self.handles), _facts(t))
        self.handles.append(weakref.ref(handle))
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        task = ambient.get().task
        number = next_seq() if task is None else task.number
        if number not in self.again:
            # Other walks' are of no more use, or would have been taken by now.
            self.again = {number: self._recompute()}
        found = self.again[number]
        if handle.number not in found:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was either "
                "never recomputed, or already unpacked once. If you are calling ctx.saved_tensors "
                "in backward, make sure to do so only once. Otherwise please open an issue with "
                "details on your use case."
            )
        return found.pop(handle.number)

    def _recompute(self) -> dict[int, Tensor]:
        node = self.arguments
        count = len(node.others) - len(self.names)
        values = [
            other if t is None else t
            for t, other in zip(node.saved_tensors, node.others, strict=True)
        ]
        args, kwargs = values[:count], dict(zip(self.names, values[count:], strict=True))
        found: dict[int, Tensor] = {}
        total = 0

        def keep(t: Tensor) -> Tensor:
            nonlocal total
            number, total = total, total + 1
            if number >= len(self.handles):
                if self.early_stop:
                    return t
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                    "during the original forward pass."
                )
            if self.handles[number]() is not None:
                found[number] = t.detach()
            if self.early_stop and number == len(self.handles) - 1:
                raise _Enough
            return t

        hooks = saved_tensors_hooks(keep, lambda t: t)
        # The hooks around the backward are not those of this computation, nor is its grad mode.
        outside = Ambient(hooks=None)
        with outside, _as_at(self.state), self.context, enable_grad(), hooks, suppress(_Enough):
            self.function(*args, **kwargs)
        self._compare(found, total)
        return found

    def _compare(self, found: dict[int, Tensor], total: int) -> None:
        if total != len(self.handles):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.handles)}\n"
                f"Number of tensors saved during recomputation: {total}.\n{_ADVICE}"
            )
        if not self.check:
            return
        wrong = ""
        for number, t in found.items():
            handle = self.handles[number]()
            if handle is not None and _facts(t) != handle.facts:
                wrong += (
                    f"tensor at position {number}:\nsaved metadata: {handle.facts}\n"
                    f"recomputed metadata: {_facts(t)}\n"
                )
        if wrong:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{wrong}{_ADVICE}"
            )


_ADVICE = (
    "The function has to do the same each time it is called: let it not depend on state that "
    "changes in between."
)


def _facts(t: Tensor) -> dict[str, Any]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


def _recorded(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    preserve: bool,
    context_fn: Callable[[], Contexts],
    determinism_check: str,
    early_stop: bool,
) -> Any:
    forward_context, recompute_context = context_fn()
    state = ambient.get()
    if not state.grad:
        with forward_context:
            return function(*args, **kwargs)
    region = _Region(function, args, kwargs)
    region.state = _random_state() if preserve else None
    region.context = recompute_context
    region.check = determinism_check == "default"
    region.early_stop = early_stop and state.early_stop
    with saved_tensors_hooks(region.pack, region.unpack), forward_context:
        return function(*args, **kwargs)
