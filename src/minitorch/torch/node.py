"""Nodes of the PyTorch face: one class an operation, with PyTorch's name, and hooks.

A node knows its inputs' nodes and what it saved; never its output. A leaf has no node of its own
but an `AccumulateGrad`, made when an operation first needs it, which knows the leaf weakly.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch.engine.errors import MutationError
from minitorch.engine.node import MORE, PORT, Node, next_seq, pull
from minitorch.engine.storage import Counter

if TYPE_CHECKING:
    from minitorch.torch._tensor import Tensor


@cache
def calls() -> Any:
    """The functions that know both nodes and tensors; they import this module."""
    return importlib.import_module("minitorch.torch.calls")


LATEST = 1 << 62
"""Sequence numbers of AccumulateGrad start here: it runs as soon as it is ready."""


class Hooks(dict[int, Callable[..., Any]]):
    """Hooks in the order of registration; can be referred to weakly."""

    __slots__ = ("__weakref__",)

    def register(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Add a hook; the handle takes it away again."""
        return hooked(self, hook)


class RemovableHandle:
    """What registering a hook returns: `remove()` takes it away again; also a context manager.

    hooks_dict  the hooks, of any mapping that can be referred to weakly
    extra_dict  others (or several) that have an entry under the same `id`
    """

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        others = () if extra_dict is None else extra_dict
        others = others if isinstance(others, (list, tuple)) else (others,)
        self._hooks = [weakref.ref(each) for each in (hooks_dict, *others)]
        self.id = next_seq()

    @property
    def hooks_dict_ref(self) -> weakref.ref[Any]:
        """A weak reference to the hooks."""
        return self._hooks[0]

    def remove(self) -> None:
        """Take the hook away; harmless if it is gone already."""
        for reference in self._hooks:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def hooked(
    hooks: Any, hook: Callable[..., Any], *, prepend: bool = False, extra_dict: Any = None
) -> RemovableHandle:
    """Add a hook to a mapping of them, an ordered one if it is to `prepend`; the handle takes it
    away again, with what `extra_dict` (see RemovableHandle) has under its `id`."""
    handle = RemovableHandle(hooks, extra_dict=extra_dict)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Extra:
    """What few nodes have.

    hooks   of the tensors it made and of the node itself
    packed  what saved-tensor hooks made of the saved arrays
    trace   where it was made, in anomaly mode
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
        hooks = None if self.extra is None else self.extra.hooks
        return g if hooks is None else hooks.arrive(g)

    def capture(self, g: Any) -> Any:
        hooks = None if self.extra is None else self.extra.hooks
        return g if hooks is None else hooks.look(g)

    def step(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        idle = g is None or all(edge is None for edge in edges)
        grads: Sequence[Any] = (None,) * len(edges) if idle else self.derive(g, record, edges)
        return self.after(grads, g)

    def after(self, grads: Sequence[Any], g: Any) -> Sequence[Any]:
        """What the hooks that follow the node make of its gradients."""
        hooks = None if self.extra is None else self.extra.hooks
        if hooks is None or not hooks.post:
            return grads
        return calls().run_posthooks(self, hooks.post, grads, g)  # type: ignore[no-any-return]

    def derive(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        """The gradients by the formulas, with what was saved taken back from saved-tensor hooks."""
        packed = None if self.extra is None else self.extra.packed
        if packed is None:
            return pull(self, g, record, edges)
        kept = self.args
        self.args = packed.unpack(self)
        try:
            return pull(self, g, record, edges)
        finally:
            self.args = kept

    def prepare(self) -> None:
        """Check the versions of what was saved, for a step outside a walk."""
        if self.versions:
            self.check_versions()

    def check_versions(self) -> None:
        """Raise if an array that this node saved was changed in place since."""
        versions = self.versions
        for place in range(0, len(versions), 2):
            if versions[place][0] != versions[place + 1]:
                self._mutated(versions[place], versions[place + 1])

    def _mutated(self, version: Counter, expected: int) -> None:
        place = 0
        for array, name in zip(self.args or (), self._names(), strict=False):
            if name not in (*self.op.inputs, "out") or not isinstance(array, np.ndarray):
                continue
            place += 2
            if place > len(self.versions) or self.versions[place - 2] is not version:
                continue
            maker, number = None, 0
            if name == "out":
                maker = self
            elif name in self.op.differentiable and not self.op.listed:
                at = self.op.differentiable.index(name)
                maker, number = function_and_number(self.edges[at])
                word = word_now(maker, version)
                raise mutation(self, version, expected, array, maker, number, word)
            raise mutation(self, version, expected, array, maker, number)
        # Those that say where (indices, masks) come after all others.
        for array in where_arrays(self):
            place += 2
            if place <= len(self.versions) and self.versions[place - 2] is version:
                raise mutation(self, version, expected, array)
        raise mutation(self, version, expected)

    def _names(self) -> list[str]:
        return [name for names in self.op.saved for name in names]

    def release(self) -> None:
        """Free what was saved: after a backward that does not retain the graph."""
        self.args = None
        self.versions = ()
        if self.extra is not None:
            self.extra.packed = None

    def stand_for(self, maker: Node, port: int, array: np.ndarray) -> Tensor:
        from minitorch.torch._tensor import as_variable

        return as_variable(maker, array)

    # -------------------------------------------------------------------------- the user

    def name(self) -> str:
        """PyTorch's name of the node: `MulBackward0`."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in INTERNAL else name

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

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *calls().saved_attributes(self)]


INTERNAL = frozenset({"AccumulateGrad", "CopyBackwards", "CopySlices", "Error"})
"""Nodes that PyTorch names with the namespace that they come from."""

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
    "uint16": "UInt16Tensor",
    "uint32": "UInt32Tensor",
    "uint64": "UInt64Tensor",
    "complex64": "ComplexFloatTensor",
    "complex128": "ComplexDoubleTensor",
}


def mutation(
    node: Any,
    version: Counter,
    expected: int,
    array: np.ndarray | None = None,
    maker: Any = None,
    number: int = 0,
    word: str = "",
) -> MutationError:
    """The error for an array that `node` saved and that was changed in place since.

    array, maker, number  which one, and which output of which node it was
    word  the maker's name where it is another one by now
    """
    what = ""
    if array is not None:
        kind = KINDS.get(array.dtype.name, "Tensor")
        what = f" [torch.{kind} [{', '.join(map(str, array.shape))}]]"
        if maker is not None and not isinstance(maker, AccumulateGrad):
            what += f", which is output {number} of {word or op_word(maker)},"
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation:{what} is at version {version[0]}; expected version {expected} instead. "
        f"{node.name()} saved it for its derivative. What to do: use the out-of-place form (add "
        "instead of add_), clone() before changing it, or call backward() first. "
    )
    trace = None if node.extra is None else node.extra.trace
    if trace is None:
        return MutationError(
            f"{text}Hint: enable anomaly detection to find the operation that failed to compute "
            "its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    text += f"Hint: the backtrace further below shows it.\n{node.name()} was made here:\n{trace}"
    if len(version) > 2:
        text += f"and what it saved was changed here:\n{version[2]}"
    return MutationError(text)


def where_arrays(node: Any) -> list[np.ndarray]:
    """The arrays among a node's saved options: indices and masks."""
    found: list[np.ndarray] = []
    for value, name in zip(node.args or (), node._names(), strict=False):
        if name not in (*node.op.inputs, "out", "aux"):
            parts = value if isinstance(value, tuple) else (value,)
            found += [part for part in parts if isinstance(part, np.ndarray)]
    return found


def word_now(maker: Any, version: Counter) -> str:
    """What PyTorch calls the node of a saved input after its memory was written to: that of the
    change itself, and of a view the one that was made anew; "" where it is as it was."""
    op = getattr(maker, "op", None)
    if op is not None and getattr(op, "view", False) and not maker.name().startswith("Unsafe"):
        return "AsStrided"
    return str(version[1]) if len(version) > 1 else ""


def op_word(node: Any) -> str:
    """A node's name as PyTorch writes it in messages: `Sigmoid`, not `SigmoidBackward0`; but
    `Prod1`."""
    name = str(node.name())
    stem = name.rstrip("0123456789")
    if not stem.endswith("Backward"):
        return name
    return stem.removesuffix("Backward") + name[len(stem) :].removesuffix("0")


def function_and_number(edge: Any) -> tuple[Any, int]:
    """An edge as PyTorch shows it: a node, and which of its outputs it leads to."""
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

    def stand_for(self, maker: Node, port: int, array: np.ndarray) -> Tensor:
        if maker is not self:
            return super().stand_for(maker, port, array)
        from minitorch.torch._tensor import port as output

        return output(self, port, array)

    def _all(self, g: Any) -> Any:
        """What arrived from the ports as a tuple with None for outputs that were not used."""
        if type(g) is dict:
            return tuple([g.get(number) for number in range(len(self.metas))])
        return (None,) * len(self.metas) if g is None else g

    def arrive(self, g: Any, keep: bool) -> Any:
        return super().arrive(self._all(g), keep)

    def capture(self, g: Any) -> Any:
        return super().capture(self._all(g))

    def step(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        if type(g) is tuple and all(each is None for each in g):
            return self.after((None,) * len(edges), g)
        return super().step(g, record, edges)


class LeafHooks:
    """The hooks of a leaf: on its gradient, and after that was accumulated."""

    __slots__ = ("__weakref__", "after", "tensor")

    def __init__(self) -> None:
        self.tensor = Hooks()
        self.after = Hooks()


class AccumulateGrad(TorchNode):
    """Where the gradient of a leaf ends: it is added to the leaf's `.grad`.

    It refers to the leaf weakly, or `leaf.grad`, if it has a graph, would close a circle. If the
    leaf is gone, `variable` is a stand-in of the same memory.

    reached  whether a gradient has arrived before
    left     the hooks of a leaf that went before one has
    kept     the stand-in, once it has a gradient
    """

    __slots__ = ("_leaf", "kept", "left", "reached")
    _leaf: weakref.ref[Tensor]
    left: LeafHooks | None
    kept: Tensor | None
    # One is made for each parameter in each step: what is the same for all is the class's.
    edges: Any = ()
    args: Any = None
    op: Any = None
    versions: Any = ()

    def __init__(self, leaf: Tensor) -> None:
        self.extra = self.left = self.kept = None
        self.reached = False
        self.seq = LATEST + next_seq()
        self.like = leaf._array
        if "_hooks" not in leaf.__dict__:
            self._leaf = weakref.ref(leaf)
        else:
            self.belong_to(leaf)

    def belong_to(self, leaf: Tensor) -> None:
        """Take `leaf` for the leaf; if it goes before a gradient arrives, take over its hooks."""
        if "_hooks" not in leaf.__dict__:
            self._leaf = weakref.ref(leaf)
            return
        mine, hooks = weakref.ref(self), weakref.ref(leaf._hooks)

        def take(_: object) -> None:
            node = mine()
            if node is not None and not node.reached:
                node.left = hooks()

        self._leaf = weakref.ref(leaf, take)

    @property
    def variable(self) -> Any:
        """The leaf, or a tensor of the same memory if that is gone."""
        leaf = self._leaf()
        if leaf is None:
            leaf = self.kept if self.kept is not None else calls().stand_in(self)
        return leaf

    @property
    def special(self) -> bool:  # type: ignore[override]
        return self.hooks is not None or self.extra is not None

    @property
    def hooks(self) -> LeafHooks | None:
        """The leaf's hooks."""
        leaf = self._leaf()
        return self.left if leaf is None else leaf.__dict__.get("_hooks")

    def arrive(self, g: Any, keep: bool) -> Any:
        return self.capture(g)

    def capture(self, g: Any) -> Any:
        hooks = self.hooks
        return calls().run_tensor_hooks(hooks.tensor, g) if hooks and hooks.tensor else g

    def accumulate(self, g: Any, owned: bool = False) -> None:
        leaf = self._leaf()
        if leaf is None or g is None or self.extra is not None or "_hooks" in leaf.__dict__:
            calls().accumulate(self, g, owned)
            return
        # Nobody is to be called: by far the most common case.
        self.reached = True
        if leaf._tracked:
            calls().add_gradient(leaf, g, owned)

    def release(self) -> None:
        pass

    def rare(self) -> Extra:
        if self.extra is None:
            leaf = self._leaf()
            if leaf is not None and leaf._acc is self:
                leaf._acc = weakref.ref(self)
        return super().rare()


def leaf_node(leaf: Tensor) -> AccumulateGrad:
    """The AccumulateGrad of a leaf that requires grad: the one in use, else a new one.

    The leaf keeps it for the next graph, so that a training step need not make one for each
    parameter. But hooks go with the graph that they were registered in, as in PyTorch: a node
    with hooks, and that of a leaf with hooks, is only remembered weakly.
    """
    found = leaf._acc
    if type(found) is AccumulateGrad:
        found.like = leaf._array
        return found
    node: AccumulateGrad | None = None if found is None else found()
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._acc = node if "_hooks" not in leaf.__dict__ else weakref.ref(node)
    return node


def node_in_use(leaf: Tensor) -> AccumulateGrad | None:
    """The AccumulateGrad of a leaf, if there is one."""
    node = leaf._acc
    return node if node is None or type(node) is AccumulateGrad else node()


def leaf_hooks(leaf: Tensor) -> LeafHooks:
    """The hooks of a leaf, made when first asked for."""
    if "_hooks" not in leaf.__dict__:
        leaf._hooks = LeafHooks()
        node = node_in_use(leaf)
        if node is not None:
            node.belong_to(leaf)
            leaf._acc = weakref.ref(node)
    return leaf._hooks


class NodeHooks:
    """Everything that is called when a gradient reaches a node, in PyTorch's order.

    tensor  for each of its outputs that has hooks, in the order of registration, its number and
            the hooks
    retain  for an output what notes its gradient
    """

    __slots__ = ("post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: list[tuple[int, Hooks]] = []
        self.retain: dict[int, Callable[[Any], None]] = {}
        self.pre = Hooks()
        self.post = Hooks()

    def of_output(self, number: int) -> Hooks:
        """The hooks on an output's gradient."""
        for at, hooks in self.tensor:
            if at == number:
                return hooks
        hooks = Hooks()
        self.tensor.append((number, hooks))
        return hooks

    def look(self, g: Any) -> Any:
        """Call the hooks of the outputs: they run even if the node itself is not walked."""
        for number, hooks in self.tensor:
            if not hooks:
                continue
            if type(g) is tuple:
                new = calls().run_tensor_hooks(hooks, g[number])
                g = (*g[:number], new, *g[number + 1 :])
            else:
                g = calls().run_tensor_hooks(hooks, g)
        for number, retain in self.retain.items():
            retain(g[number] if type(g) is tuple else g)
        return g

    def arrive(self, g: Any) -> Any:
        g = self.look(g)
        return calls().run_prehooks(self.pre, g) if self.pre else g


def node_hooks(node: TorchNode) -> NodeHooks:
    """The hooks of a node, made when first asked for."""
    extra = node.rare()
    if extra.hooks is None:
        extra.hooks = NodeHooks()
        make_special(node)
    return extra.hooks


def output_hooks(t: Tensor) -> tuple[NodeHooks, int]:
    """The hooks of the node that made `t`, and which of its outputs that is."""
    node, number = function_and_number(t._node)
    return node_hooks(node), number


_special: dict[type, type] = {}


def make_special(node: TorchNode) -> None:
    """Let the walk go through `step`: the node gets the special class of its class."""
    cls = type(node)
    if isinstance(node, AccumulateGrad) or cls.special:
        return
    found = _special.get(cls)
    if found is None:
        body = {"__slots__": (), "special": True, "frees": MORE, "__module__": cls.__module__}
        found = _special[cls] = type(cls.__name__, (cls,), body)
    node.__class__ = found
