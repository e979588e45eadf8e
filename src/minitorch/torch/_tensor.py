"""The PyTorch face's Tensor: memory, a place in the graph, and nothing else.

    _array    the ndarray; views share its memory
    _node     the node that made it (PyTorch's grad_fn), None for a leaf
    _tracked  whether it requires grad
    _counter  the count of in-place changes, shared by all views of one memory; None until needed
    _base     for a view the tensor that owns the memory

What is rare lives in the instance's dict: `_grad`, hooks, the base of a view, attributes of users.
Methods are attached by the modules that define the functions (`functions`, `inplace`, ...).
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient
from minitorch.engine.node import PORT, Node, next_seq
from minitorch.engine.storage import Counter
from minitorch.ops.arrays import owner
from minitorch.ops.declare import OPS
from minitorch.ops.meta import is_meta
from minitorch.torch.devices import no_numpy
from minitorch.torch.dtypes import (
    CPU,
    Size,
    default_numpy,
    device,
    dtype,
    from_numpy_dtype,
    strided,
    to_numpy_dtype,
)
from minitorch.torch.inference import INFERENCE, INFERRING, mark_inference
from minitorch.torch.node import (
    AccumulateGrad,
    LeafHooks,
    Port,
    RemovableHandle,
    TorchNode,
    leaf_hooks,
    leaf_node,
    node_in_use,
    output_hooks,
)

if TYPE_CHECKING:
    from minitorch.torch.methods import Methods
else:
    Methods = object


class Tensor(Methods):
    """A tensor as PyTorch has it. `torch.tensor(...)` makes one from data; `Tensor(2, 3)` is an
    uninitialised float32 one, as in PyTorch."""

    __slots__ = ("__dict__", "__weakref__", "_array", "_base", "_counter", "_node", "_tracked")

    _array: np.ndarray
    _base: Tensor | None
    _node: TorchNode | None
    _tracked: bool
    _counter: Counter | None
    _grad: Tensor | None = None
    _acc: Any = None
    """The AccumulateGrad of a leaf, or what gives it when called: see `leaf_node`."""
    _hooks: LeafHooks
    _made: Any = None
    """For a view: the state of its base when its node was made, see `views`."""
    _device: device = CPU

    def __new__(cls, *args: Any, dtype: Any = None, device: Any = None) -> Any:
        t = object.__new__(cls)
        t._node = t._counter = t._base = None
        t._tracked = False
        if len(args) == 1 and type(args[0]) is not int:
            source = args[0]
            if isinstance(source, Size):
                t._array = np.zeros(source, default_numpy())
            elif isinstance(source, Tensor):
                t._array, t._counter = source._array, version_of(source)
            elif isinstance(source, np.integer):
                t._array = np.zeros(source, default_numpy())
            else:
                t._array = _sequence(source)
        else:
            if any(size < 0 for size in args):
                raise RuntimeError(
                    "Trying to create tensor with negative dimension "
                    f"{next(size for size in args if size < 0)}: {list(args)}"
                )
            t._array = np.zeros(args or (0,), default_numpy())
        return t

    # ---------------------------------------------------------------------------- what it is

    @property
    def shape(self) -> Size:
        return Size(self._array.shape)

    @property
    def dtype(self) -> dtype:
        return from_numpy_dtype(self._array.dtype)

    @property
    def device(self) -> device:
        array = self._array
        return self._device if not is_meta(array) else device(array.device)

    @property
    def layout(self) -> Any:
        return strided

    @property
    def ndim(self) -> int:
        return self._array.ndim

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self._array.shape[self._dim(dim)]

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    @property
    def itemsize(self) -> int:
        return self._array.itemsize

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """For each dimension how many elements of memory one step along it goes."""
        array = self._array
        strides = tuple(step // array.itemsize for step in array.strides)
        if array.size == 0 or 1 in array.shape:
            strides = _natural(array.shape, strides)
        return strides if dim is None else strides[self._dim(dim)]

    def storage_offset(self) -> int:
        """Elements from the beginning of the memory to this tensor's first one."""
        array: Any = self._array
        if is_meta(array):
            return int(array.offset // array.itemsize)
        base = owner(array)
        if base is self._array or not self._array.size:
            return 0
        first = self._array.__array_interface__["data"][0]
        return int((first - base.__array_interface__["data"][0]) // self._array.itemsize)

    def data_ptr(self) -> int:
        """The address of the first element."""
        if is_meta(self._array):
            return 0
        return int(self._array.__array_interface__["data"][0])

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory in order (that of the format), without gaps."""
        if memory_format is not None:
            from minitorch.torch.functions.shape import in_format

            return in_format(self._array, memory_format)
        return self._array.flags.c_contiguous

    def is_floating_point(self) -> bool:
        """Whether the dtype is floating."""
        return self._array.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self._array.dtype.kind == "c"

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self._array.dtype.kind in "fci"

    is_cuda = is_sparse = is_quantized = is_mps = is_xpu = is_mkldnn = False

    @property
    def is_meta(self) -> bool:
        return self.device.type == "meta"

    def get_device(self) -> int:
        """-1: the CPU."""
        return -1

    def _dim(self, dim: int) -> int:
        most = max(self._array.ndim, 1)
        if not -most <= dim < most:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but "
                f"got {dim})"
            )
        return dim % most

    # ----------------------------------------------------------------------------- the graph

    @property
    def requires_grad(self) -> bool:
        return self._tracked or (self._base is not None and late(self))

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value, _name="requires_grad")

    def requires_grad_(self, requires_grad: bool = True, _name: str = "") -> Tensor:
        """Start (or stop) recording what happens to this leaf, in place."""
        if self._node is not None and not requires_grad:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if requires_grad and self._array.dtype.kind not in "fc":
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients; this one is "
                f"{self.dtype}. Convert it (x.float()) or make it from floats."
            )
        if requires_grad and self._counter is INFERENCE and not ambient.get().inference:
            raise GraphError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed. Make a clone() to get a normal tensor."
            )
        self._tracked = bool(requires_grad) or self._node is not None
        return self

    @property
    def grad_fn(self) -> TorchNode | None:
        if self._base is not None:
            refresh(self)
        node = self._node
        if node is not None and node.op is PORT:
            return node.edges[0]  # type: ignore[return-value]
        return node

    @property
    def output_nr(self) -> int:
        node = self._node
        return int(node.args) if node is not None and node.op is PORT else 0

    @property
    def is_leaf(self) -> bool:
        if self._base is not None:
            if not self.requires_grad:
                return True
            refresh(self)
        return self._node is None or not self._tracked

    @property
    def grad(self) -> Tensor | None:
        if self._grad is None and self._node is not None and not self.retains_grad:
            warn_non_leaf()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got {type(value)}"
                )
            if value is self:
                raise RuntimeError("can't assign Tensor as its own grad")
            if value._array.shape != self._array.shape:
                raise RuntimeError(
                    "assigned grad has data of a different size: expected "
                    f"{list(self.shape)}, got {list(value.shape)}"
                )
            if value._array.dtype != self._array.dtype:
                raise RuntimeError(
                    f"assigned grad has data of a different type: expected {self.dtype}, got "
                    f"{value.dtype}"
                )
            array: Any = value._array
            if type(array) is np.ndarray and not array.flags.writeable:
                value._array = array.copy()  # hooks are shown gradients that others still use
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def data(self) -> Tensor:
        """A tensor of the same memory that the graph does not see; nor do version counters."""
        cls = type(self) if type(self).__new__ is Tensor.__new__ else Tensor
        t: Tensor = wrap(self._array, cls)
        t._counter = INFERENCE if self._counter is INFERENCE else None
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._tracked and value._array.dtype.kind not in "fc":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        self._array = value._array
        node = node_in_use(self)
        if node is not None:
            node.like = self._array

    @property
    def _version(self) -> int:
        if self._counter is INFERENCE:
            raise GraphError("Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter[0]

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode."""
        return self._counter is INFERENCE

    def detach(self) -> Tensor:
        """A tensor of the same memory outside the graph."""
        t: Tensor = wrap(self._array)
        t._counter = version_of(self)
        return t

    def detach_(self) -> Tensor:
        """Leave the graph, in place."""
        if self._base is not None and self._node is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
                "function."
            )
        self._node, self._tracked = None, False
        return self

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradients of the leaves this tensor was made from, adding to their `.grad`.

        See `torch.autograd.backward`.
        """
        if (
            gradient is inputs is None
            and not create_graph
            and self._base is None
            and type(self._array) is np.ndarray
            and self._array.size == 1
            and self._array.dtype.kind == "f"
            and self._node is not None
            and ambient.get().anomaly is None
        ):
            engine().backward_of_one(self, retain_graph)
        else:
            engine().backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in its `.grad` too."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is None:
            return
        if self._base is not None:
            refresh(self)
        if self._retains:
            return
        self._retains = True
        hooks, number = output_hooks(self)
        reference = weakref.ref(self)

        def retain(g: Any) -> None:
            from minitorch.torch.calls import copy_of

            t = reference()
            if t is not None and g is not None:
                new = wrap(g) if not isinstance(g, Tensor) else g
                if t._grad is None:
                    t._grad = copy_of(g) if new is g else wrap(np.array(g))
                else:
                    t._grad = t._grad + new

        hooks.retain[number] = retain

    _retains = False

    @property
    def retains_grad(self) -> bool:
        return self._retains

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is computed; a returned tensor replaces it.

        RuntimeError for a tensor that does not require grad.
        """
        if not self.requires_grad:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient; set "
                "requires_grad_() first"
            )
        if self._node is None:
            return leaf_hooks(self).tensor.register(hook)
        if self._base is not None:
            refresh(self)
        hooks, number = output_hooks(self)
        return hooks.of_output(number).register(hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(leaf)` after a gradient was added to this leaf's `.grad`."""
        if not self._tracked:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is not None:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        return leaf_hooks(self).after.register(hook)

    def fit(self, shape: tuple[int, ...], dtype: Any) -> Tensor:
        """A recorded gradient brought to the shape and NumPy dtype of its value."""
        t: Tensor = self
        if t._array.shape != shape:
            t = OPS["sum_to"].recorders[Tensor](t, shape)
        if t._array.dtype != dtype:
            t = OPS["astype"].recorders[Tensor](t, dtype)
        return t

    # -------------------------------------------------------------------------- as a number

    def item(self) -> Any:
        """The only element as a Python number."""
        if self._array.size != 1 and not is_meta(self._array):
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar"
            )
        return self._array.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self._array.tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The ndarray; it shares this tensor's memory."""
        if is_meta(self._array):
            raise no_numpy(self._array)
        if not force and ambient.get().grad and self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __bool__(self) -> bool:
        if self._array.size != 1:
            what = "no values" if not self._array.size else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._array)

    def __float__(self) -> float:
        return float(self._real_item())

    def __int__(self) -> int:
        return int(self._real_item())

    def _real_item(self) -> Any:
        value = self.item()
        if type(value) is not complex:
            return value
        if value.imag:
            raise RuntimeError(
                "value cannot be converted to type double without overflow: it is complex; take "
                ".real or abs()"
            )
        return value.real

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        return bool((self._array == getattr(value, "_array", value)).any())

    __hash__ = object.__hash__

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        if is_meta(self._array):
            from minitorch.torch.fake import text

            return text(self)
        from minitorch.torch.printing import tensor_text

        return tensor_text(self)

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0 and not self.is_meta:
            return format(self._array.item(), spec)
        return format(str(self), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        from minitorch.torch.copying import deepcopy_tensor

        return deepcopy_tensor(self, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from minitorch.torch.copying import reduce_tensor

        return reduce_tensor(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        # An ndarray on the left: its operator becomes ours, with the array as a tensor.
        name = UFUNCS.get(ufunc.__name__, ufunc.__name__)
        op = OPS.get(name)
        if method != "__call__" or options or op is None:
            # Without derivative; `numpy` refuses tensors that require grad.
            arrays = [x.numpy() if isinstance(x, Tensor) else x for x in inputs]
            out = options.get("out", ())
            if any(isinstance(x, Tensor) for x in out):
                options["out"] = tuple(x.numpy() if isinstance(x, Tensor) else x for x in out)
            found = getattr(ufunc, method)(*arrays, **options)
            if out:
                return out[0] if len(out) == 1 else out
            return wrap(np.asarray(found)) if isinstance(found, (np.ndarray, np.generic)) else found
        return op.recorders[Tensor](*inputs)


UFUNCS = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "power": "pow",
    "negative": "neg",
    "absolute": "abs",
}


def _sequence(data: Any) -> np.ndarray:
    """The data of `Tensor(data)` in the default dtype; PyTorch's TypeError for a lone number."""
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(data, "__len__") or (isinstance(data, np.ndarray) and not data.ndim):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    if isinstance(data, (list, tuple)) and _holds_tensors(data):
        data = _plain(data)
    try:
        return np.array(data, default_numpy())
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise TypeError("must be real number, not str") from None


def _natural(shape: tuple[int, ...], given: tuple[int, ...]) -> tuple[int, ...]:
    """Strides where NumPy's say nothing: of an empty array, and of axes of size 1."""
    if 0 in shape:
        strides, step = [], 1
        for size in reversed(shape):
            strides.append(step)
            step *= max(size, 1)
        return tuple(reversed(strides))
    return given


@cache
def engine() -> Any:
    """`torch.autograd`'s own backward; it imports this module."""
    return importlib.import_module("minitorch.torch.autograd.engine")


def wrap(array: np.ndarray, cls: Any = Tensor) -> Any:
    """A tensor of this array outside the graph."""
    t = object.__new__(cls)
    t._array = array
    t._node = t._counter = t._base = None
    t._tracked = False
    if INFERRING:
        mark_inference(t)
    return t


def version_of(t: Tensor) -> Counter:
    """The counter of in-place changes of a tensor's memory, made when first asked for."""
    version = t._counter
    if version is None:
        version = t._counter = [0]
    return version


def as_variable(maker: Any, array: np.ndarray) -> Tensor:
    """A saved array as the tensor it was: with the node that made it."""
    if not maker.edges and isinstance(maker, AccumulateGrad):
        leaf: Tensor = maker.variable
        if leaf._array is array:
            return leaf
        # Not the leaf's own memory; its gradient is the leaf's all the same.
        t: Tensor = wrap(array)
        t._tracked, t._acc = True, (lambda: maker)
        return t
    t = wrap(array)
    t._node, t._tracked = maker, True
    return t


def node_of(t: Tensor) -> Any:
    """The node behind a tensor that requires grad."""
    if t._base is not None:
        refresh(t)
    return t._node if t._node is not None else leaf_node(t)


def refresh(t: Tensor) -> None:
    """Bring the node of a view up to date with in-place changes of its base; see `views`."""
    from minitorch.torch.views import refresh as refresh_view

    refresh_view(t)


def late(t: Tensor) -> bool:
    """Whether a view's base requires grad by now; see `views`."""
    from minitorch.torch.views import late as is_late

    return is_late(t)


def as_array(value: Any, dtype: Any = None) -> np.ndarray:
    """Data as an array of PyTorch's dtypes: Python floats in the default dtype, ints int64."""
    wanted = to_numpy_dtype(dtype)
    if isinstance(value, Tensor):
        return value._array if wanted is None else value._array.astype(wanted, copy=False)
    if isinstance(value, (list, tuple)) and _holds_tensors(value):
        value = _plain(value)
    array = np.asarray(value)
    if (
        wanted is None
        and array.dtype == np.float64
        and not isinstance(value, (np.ndarray, np.generic))
        and not _holds_numpy(value)
    ):
        wanted = default_numpy()
    if (
        wanted is None
        and array.dtype == np.complex128
        and not isinstance(value, (np.ndarray, np.generic))
    ):
        wanted = np.dtype(np.complex128 if default_numpy() == np.float64 else np.complex64)
    if wanted is None and array.size == 0 and isinstance(value, (list, tuple)):
        wanted = default_numpy()
    return array if wanted is None else array.astype(wanted, copy=False)


def _holds_tensors(value: Any) -> bool:
    if set(map(type, value)) <= {float, int}:
        return False
    return any(
        isinstance(each, Tensor) or (isinstance(each, (list, tuple)) and _holds_tensors(each))
        for each in value
    )


def _holds_numpy(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (np.ndarray, np.generic))


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array.tolist() if value._array.ndim == 0 else value._array
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def meta_of(array: np.ndarray) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return array.shape, array.dtype


_warned: list[bool] = []


def warn_non_leaf() -> None:
    import warnings

    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead.",
        UserWarning,
        stacklevel=3,
    )


def port(hub: Node, number: int, array: np.ndarray) -> Tensor:
    """The tensor that is output `number` of a node with several."""
    t: Tensor = wrap(array)
    if array.dtype.kind in "fc":
        node = Port()
        node.op, node.edges, node.args, node.seq = PORT, (hub,), number, next_seq()
        node.like = meta_of(array)
        t._node, t._tracked = node, True
    return t
