"""Nodes of the PyTorch face: one class an operation, with PyTorch's name, and hooks.

A node knows its inputs' nodes and what it saved; never its output. A leaf has no node of its own
but an `AccumulateGrad`, made when an operation first needs it, which knows the leaf; the leaf
remembers it weakly.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch.engine.errors import MutationError
from minitorch.engine.node import PORT, Node, next_seq
from minitorch.engine.storage import Counter

if TYPE_CHECKING:
    from minitorch.torch.tensor import Tensor


_calls: list[Any] = []


def calls() -> Any:
    """The functions that know both nodes and tensors; they import this module."""
    if not _calls:
        _calls.append(importlib.import_module("minitorch.torch.calls"))
    return _calls[0]


LATEST = 1 << 62
"""Sequence numbers of AccumulateGrad start here: it runs as soon as it is ready."""


class Hooks(dict[int, Callable[..., Any]]):
    """Hooks in the order of registration; can be referred to weakly."""

    __slots__ = ("__weakref__",)

    def register(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Add a hook; the handle takes it away again."""
        handle = RemovableHandle(self)
        self[handle.id] = hook
        return handle


class RemovableHandle:
    """What registering a hook returns: `remove()` takes it away again; also a context manager."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = weakref.ref(hooks)
        self.id = next_seq()

    def remove(self) -> None:
        """Take the hook away; harmless if it is gone already."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Extra:
    """What few nodes have.

    hooks   of the tensors it made and of the node itself
    packed  what saved-tensor hooks made of the saved arrays
    trace   the stack of the forward call, in anomaly mode
    """

    __slots__ = ("hooks", "metadata", "packed", "trace")

    def __init__(self) -> None:
        self.hooks: NodeHooks | None = None
        self.packed: Any = None
        self.trace: Any = None
        self.metadata: dict[str, Any] = {}


class TorchNode(Node):
    """A node as PyTorch shows it. Subclasses, one for each name, have `op` as a class attribute.

    versions  the version counters of the saved arrays, each followed by its count at the time
    extra     what few nodes have; None for most
    """

    __slots__ = ("extra", "like", "versions")

    like: Any
    versions: tuple[Any, ...]
    extra: Extra | None

    def __init__(self) -> None:
        self.extra = None
        self.versions = ()

    def rare(self) -> Extra:
        """The extras, made when first asked for."""
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    # -------------------------------------------------------------------------- the walk

    def arrive(self, g: Any, keep: bool) -> Any:
        extra = self.extra
        if extra is not None:
            if extra.hooks is not None:
                g = extra.hooks.arrive(self, g, keep)
            if extra.packed is not None:
                self.args = extra.packed.unpack()
        return g

    def prepare(self) -> None:
        """Make ready what was saved, for a step outside a walk: check versions, unpack."""
        if self.extra is not None and self.extra.packed is not None:
            self.args = self.extra.packed.unpack()
        if self.versions:
            self.check_versions()

    def check_versions(self) -> None:
        """Raise if an array that this node saved was changed in place since."""
        versions = self.versions
        for place in range(0, len(versions), 2):
            if versions[place][0] != versions[place + 1]:
                self._mutated(versions[place], versions[place + 1])

    def _mutated(self, version: Counter, expected: int) -> None:
        what = ""
        own = self.name().removesuffix("0")
        for array, name in zip(self.args or (), self._names(), strict=False):
            if isinstance(array, np.ndarray) and self._version_of(name) is version:
                kind = KINDS.get(array.dtype.name, "Tensor")
                shape = ", ".join(map(str, array.shape))
                what = f" [torch.{kind} [{shape}]]"
                if name == "out":
                    what += f", which is output 0 of {own},"
                break
        raise MutationError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation:{what} is at version {version[0]}; expected version {expected} instead. "
            f"{own} saved it for its derivative. What to do: use the out-of-place form (add instead "
            "of add_), clone() before changing it, or call backward() first. Hint: enable anomaly "
            "detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )

    def _names(self) -> list[str]:
        return [name for names in self.op.saved for name in names]

    def _version_of(self, name: str) -> Any:
        arrays = [each for each in self._names() if each in (*self.op.inputs, "out")]
        if len(arrays) * 2 == len(self.versions) and name in arrays:
            return self.versions[2 * arrays.index(name)]
        return self.versions[0]

    def release(self) -> None:
        """Free what was saved: after a backward that does not retain the graph."""
        self.args = None
        self.versions = ()
        if self.extra is not None:
            self.extra.packed = None

    def variable(self, maker: Node, port: int, array: np.ndarray) -> Tensor:
        from minitorch.torch.tensor import as_variable

        return as_variable(maker, array)

    # -------------------------------------------------------------------------- the user

    def name(self) -> str:
        """PyTorch's name of the node: `MulBackward0`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """For each input its node and which of that node's outputs it was; (None, 0) if it
        needs no gradient."""
        return tuple(map(function_and_number, self.edges))

    @property
    def metadata(self) -> dict[str, Any]:
        """Anything the user wants to note here."""
        return self.rare().metadata

    def __call__(self, *grads: Any) -> Any:
        """The gradients of the inputs for these of the outputs: one step of a backward."""
        return calls().call_node(self, grads)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; what it returns replaces the
        former."""
        return node_hooks(self).post.register(hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node; what it returns replaces them."""
        return node_hooks(self).pre.register(hook)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            return calls().saved_value(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *calls().saved_attributes(self)]


KINDS = {
    "float16": "HalfTensor",
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
    "int64": "LongTensor",
    "int32": "IntTensor",
    "int16": "ShortTensor",
    "int8": "CharTensor",
    "uint8": "ByteTensor",
    "bool": "BoolTensor",
    "complex64": "ComplexFloatTensor",
    "complex128": "ComplexDoubleTensor",
}


def function_and_number(edge: Any) -> tuple[Any, int]:
    """An edge as PyTorch shows it: a node with several outputs is named with the output's number."""
    if edge is None:
        return None, 0
    return (edge.edges[0], edge.args) if edge.op is PORT else (edge, 0)


class Port(TorchNode):
    """One output of a node with several; its edge leads to that node."""

    __slots__ = ()


class Several(TorchNode):
    """Base of nodes with several outputs; `metas` are their shapes and dtypes."""

    __slots__ = ("metas",)
    metas: tuple[tuple[Any, Any], ...]

    def arrive(self, g: Any, keep: bool) -> Any:
        if type(g) is dict:
            g = tuple(g.get(port) for port in range(len(self.metas)))
        return super().arrive(g, keep)


class AccumulateGrad(TorchNode):
    """Where the gradient of a leaf ends: it is added to the leaf's `.grad`."""

    __slots__ = ("variable_",)
    variable_: Tensor

    def __init__(self, leaf: Tensor) -> None:
        super().__init__()
        self.edges, self.args = (), None
        self.op = None
        self.variable_ = leaf
        self.seq = LATEST + next_seq()
        self.like = leaf._array

    @property
    def variable(self) -> Any:  # type: ignore[override]
        """The leaf."""
        return self.variable_

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def arrive(self, g: Any, keep: bool) -> Any:
        hooks = self.variable_.__dict__.get("_hooks")
        return calls().run_tensor_hooks(hooks, g) if hooks else g

    def accumulate(self, g: Any, owned: bool = False) -> None:
        calls().accumulate(self, g, owned)

    def release(self) -> None:
        pass


def leaf_node(leaf: Tensor) -> AccumulateGrad:
    """The AccumulateGrad of a leaf that requires grad: the one in use, else a new one."""
    reference = leaf._acc
    node = None if reference is None else reference()
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._acc = weakref.ref(node)
    return node


class NodeHooks:
    """Everything that is called when a gradient reaches a node, in PyTorch's order."""

    def __init__(self) -> None:
        self.tensor = Hooks()
        self.pre = Hooks()
        self.post = Hooks()
        self.retain: Any = None

    def arrive(self, node: TorchNode, g: Any, keep: bool) -> Any:
        if self.tensor and type(g) is not tuple:
            g = calls().run_tensor_hooks(self.tensor, g)
        if self.retain is not None:
            self.retain(g)
        if self.pre:
            g = calls().run_prehooks(self.pre, g)
        return g


def node_hooks(node: TorchNode) -> NodeHooks:
    """The hooks of a node, made when first asked for."""
    extra = node.rare()
    if extra.hooks is None:
        extra.hooks = NodeHooks()
        if node.op is not None and node.op is not PORT:
            # The op is the class's: this one node gets a class of its own.
            cls = type(node)
            more = {
                "__slots__": (),
                "op": HookedOp(node.op, extra.hooks),
                "__module__": cls.__module__,
            }
            node.__class__ = type(cls.__name__, (cls,), more)
    return extra.hooks


class HookedOp:
    """An op whose node has post-hooks: they see gradients of inputs and outputs."""

    def __init__(self, op: Any, hooks: NodeHooks) -> None:
        self._op = op
        self._hooks = hooks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)

    def pull(self, g: Any, args: Any, edges: Any) -> Sequence[Any]:
        grads = self._op.pull(g, args, edges)
        return self._after(grads, g) if self._hooks.post else grads  # type: ignore[no-any-return]

    def pull_recorded(self, g: Any, node: Node) -> Sequence[Any]:
        grads = self._op.pull_recorded(g, node)
        return self._after(grads, g) if self._hooks.post else grads  # type: ignore[no-any-return]

    def _after(self, grads: Sequence[Any], g: Any) -> Sequence[Any]:
        return calls().run_posthooks(self._hooks.post, grads, g)
