"""`torch.save` and `torch.load`: PyTorch's own file format, both ways.

A file is a zip archive: `data.pkl` describes the object in a pickle in which tensors are calls of
`torch._utils._rebuild_tensor_v2` on storages, and each storage's bytes are an entry of their own.
Pickles can name any function to be called. With `weights_only=True`, the default, only those that
build tensors and containers are; another is refused with its name, before anything was called.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import sys
import uuid
import zipfile
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from minitorch.files import replacing
from minitorch.ops.arrays import owner
from minitorch.ops.meta import is_meta
from minitorch.torch import dtypes
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import Size
from minitorch.torch.dtypes import device as Device
from minitorch.torch.dtypes import dtype as DType
from minitorch.torch.nn.parameter import Buffer, Parameter

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

THEIRS, OURS = "torch", "minitorch.torch"
_KINDS = {
    "FloatStorage": dtypes.float32,
    "DoubleStorage": dtypes.float64,
    "HalfStorage": dtypes.float16,
    "LongStorage": dtypes.int64,
    "IntStorage": dtypes.int32,
    "ShortStorage": dtypes.int16,
    "CharStorage": dtypes.int8,
    "ByteStorage": dtypes.uint8,
    "BoolStorage": dtypes.bool_,
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
}
_NAMES = {kind.name: name for name, kind in _KINDS.items()}


class _Kind:
    """PyTorch's class of storages of one dtype: `torch.FloatStorage`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = _KINDS[name]


_STORAGES = {name: _Kind(name) for name in _KINDS}


class _Storage:
    """Memory in a file: all that tensors which share it are views of."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


# -------------------------------------------------------------------------------------- saving


class _Global:
    """A function or class of PyTorch's, by name, to be written into a pickle."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        raise TypeError(f"{self.module}.{self.name} is a name, to be written")  # pickle asks


_TENSOR = _Global("torch._utils", "_rebuild_tensor_v2")
_PARAMETER = _Global("torch._utils", "_rebuild_parameter")
_PARAMETER_WITH_STATE = _Global("torch._utils", "_rebuild_parameter_with_state")
_FROM_TYPE = _Global("torch._tensor", "_rebuild_from_type_v2")
_PurePickler: Any = pickle._Pickler  # the one in Python, whose parts can be replaced


class _Pickler(_PurePickler):  # type: ignore[misc]
    """Writes tensors as PyTorch does, and what is ours under PyTorch's names."""

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol=protocol)
        self.storages: dict[int, tuple[str, np.ndarray, DType]] = {}
        self._keep: list[Any] = []  # pickle knows by its id what it has written

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, _Storage):
            return None
        key, whole, kind = self.storages[id(obj.array)]
        if kind.name not in _NAMES:
            raise NotImplementedError(
                f"torch.save of {kind} tensors is not there; convert them, as to torch.int64"
            )
        return "storage", _Global(THEIRS, _NAMES[kind.name]), key, "cpu", whole.size

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return self._reduced(obj)
        if isinstance(obj, FunctionType) and f"{obj.__module__}.".startswith(f"{OURS}."):
            return obj.__qualname__  # through save_global
        if isinstance(obj, Size):
            return _Global(THEIRS, "Size"), (tuple(obj),)
        if isinstance(obj, Device):
            parts = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return _Global(THEIRS, "device"), parts
        return NotImplemented

    def save(self, obj: Any, save_persistent_id: bool = True) -> Any:
        if isinstance(obj, _Global):
            return self._write_global(obj.module, obj.name, obj)
        if isinstance(obj, DType):
            return self._write_global(THEIRS, obj.name, obj)
        return super().save(obj, save_persistent_id)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None) or ""
        if module == OURS or module.startswith(OURS + "."):
            # Make sure that it is found again, as pickle itself does.
            name = name or getattr(obj, "__qualname__", obj.__name__)
            self._write_global(_public(obj, module, name), name, obj)
        else:
            super().save_global(obj, name)

    def _write_global(self, module: str, name: str, obj: Any) -> None:
        known = self.memo.get(id(obj)) or self.memo.get(id((module, name)))
        if known is not None:
            self.write(self.get(known[0]))
            return
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def _reduced(self, t: Tensor) -> Any:
        from minitorch.torch.copying import attributes

        if isinstance(t, Parameter):
            state = attributes(t)
            plain = wrap(t._array)
            parts: Any = (plain, t.requires_grad, OrderedDict())
            self._keep.append(plain)
            return (_PARAMETER_WITH_STATE, (*parts, state)) if state else (_PARAMETER, parts)
        found = _TENSOR, (*self._placed(t), t.requires_grad and t.is_leaf, OrderedDict())
        state = attributes(t)
        if (type(t) is Tensor and not state) or isinstance(t, Buffer):
            return found
        return _FROM_TYPE, (found[0], type(t), found[1], state)

    def _placed(self, t: Tensor) -> tuple[Any, ...]:
        array = t._array
        if is_meta(array):
            raise NotImplementedError(
                "torch.save: a tensor on device meta has no data to be saved; make one with data "
                "(torch.zeros_like(t, device='cpu'))."
            )
        whole, kind = owner(array), t.dtype
        known = self.storages.get(id(whole))
        if known is not None and known[2] is not kind:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types: clone() one of them."
            )
        if known is None:
            self.storages[id(whole)] = str(len(self.storages)), whole, kind
        first = whole.__array_interface__["data"][0]
        offset = (array.__array_interface__["data"][0] - first) // array.itemsize
        storage = _Storage(whole)
        self._keep.append(storage)
        return storage, int(offset), tuple(array.shape), tuple(t.stride())


_FUNCTIONAL = f"{OURS}.nn.functional"


def _public(obj: Any, module: str, name: str) -> str:
    """PyTorch's module of a class or function of ours.

    Layers and optimisers live in files of the same names. Other things do not: they go by the
    outermost package that has them; functions of `nn.functional` by that, though `torch` has
    some of them too.
    """
    parts = module.split(".")
    packages = [".".join(parts[:k]) for k in range(2, len(parts) + 1)]
    if module.startswith(_FUNCTIONAL):
        packages = [_FUNCTIONAL, *packages]
    layered = module.startswith((f"{OURS}.nn.modules.", f"{OURS}.optim."))
    for package in [module] if layered else packages:
        found: Any = importlib.import_module(package)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is obj:
            return THEIRS + package.removeprefix(OURS)
    raise pickle.PicklingError(f"Can't pickle {obj!r}: it's not the same object as {module}.{name}")


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object (a state dict, a dict of such, a module) to a file that PyTorch reads too.

    f  a path, which is replaced at once when all is written, so that nobody ever finds half a file;
       or something to `write` to

    Tensors that share memory share it again when they are loaded.
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError(
            "torch.save: the old format (_use_new_zipfile_serialization=False) is not there; the "
            "zip format is read by every PyTorch since 1.4."
        )
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute, got "
            f"{f!r}"
        )
    described = io.BytesIO()
    pickler = _Pickler(described, pickle_protocol)
    pickler.dump(obj)
    storages = [(key, whole) for key, whole, _ in pickler.storages.values()]
    if isinstance(f, (str, os.PathLike)):
        path = Path(f)
        if not path.parent.is_dir():
            raise RuntimeError(f"Parent directory {path.parent} does not exist.")
        with replacing(path) as file:
            _write_archive(file, path.stem or "archive", described.getvalue(), storages)
    elif hasattr(f, "seek") and hasattr(f, "tell") and f.seekable():
        _write_archive(f, "archive", described.getvalue(), storages)
    else:
        buffer = io.BytesIO()
        _write_archive(buffer, "archive", described.getvalue(), storages)
        f.write(buffer.getvalue())


_ALIGNMENT = 64


def _write_archive(
    file: Any, name: str, described: bytes, storages: Sequence[tuple[str, np.ndarray]]
) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def put(record: str, content: Any) -> None:
            info = zipfile.ZipInfo(f"{name}/{record}")
            # Entries begin at multiples of 64 bytes, so that they can be mapped into memory.
            start = file.tell() + 30 + len(info.filename.encode()) + 4
            padding = -start % _ALIGNMENT
            info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
            archive.writestr(info, content)

        put("data.pkl", described)
        put(".format_version", b"1")
        put(".storage_alignment", str(_ALIGNMENT).encode())
        put("byteorder", sys.byteorder.encode())
        for key, whole in storages:
            memory: Any = np.ascontiguousarray(whole.ravel("K"))
            put(f"data/{key}", memoryview(memory).cast("B") if whole.size else b"")
        put("version", b"3\n")
        put(".data/serialization_id", str(uuid.uuid4().int).zfill(40)[:40].encode())


# ------------------------------------------------------------------------------------- loading


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save`, here or in PyTorch, has written.

    f             a path, or something to `read` and `seek` in
    map_location  where tensors go: 'cpu' or 'meta', or a function or dict of these. What was saved
                  on another device comes to the CPU only if this says so
    weights_only  True by default: tensors, containers and numbers only. A file that wants more
                  raises UnpicklingError with the name of what it wants; allow it by
                  `add_safe_globals`, or pass False if you trust whoever made the file

    RuntimeError for a file of another format or a damaged one.
    """
    restricted = True if weights_only is None else weights_only
    if restricted and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    opened: Any = contextlib.nullcontext(f)
    if isinstance(f, (str, os.PathLike)):
        opened = open(f, "rb")  # noqa: SIM115 - it is the context manager
    elif not hasattr(f, "read"):
        raise AttributeError(f"expected 'f' to be string, path, or a file-like object, got {f!r}")
    with opened as file:
        if not hasattr(file, "seek"):
            file = io.BytesIO(file.read())
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise RuntimeError(
                "torch.load: this is not a file in PyTorch's zip format, or it was cut off. Files "
                "of PyTorch before 1.4 have to be saved anew by PyTorch: "
                "torch.save(torch.load(f), f)."
            ) from error
        with archive:
            return _read_archive(archive, map_location, restricted)


def _read_archive(archive: zipfile.ZipFile, map_location: Any, restricted: bool) -> Any:
    names = archive.namelist()
    found = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
    if not found:
        raise RuntimeError(
            "PytorchStreamReader failed locating file data.pkl: not a file of save()"
        )
    folder = found[0].removesuffix("data.pkl")
    order = "little"
    if folder + "byteorder" in names:
        order = archive.read(folder + "byteorder").decode()
    storages: dict[str, _Storage] = {}

    def storage(identifier: Any) -> _Storage:
        kind, of, key, location, count = identifier
        if kind != "storage" or not isinstance(of, _Kind):
            raise pickle.UnpicklingError(f"an unknown kind of object is referred to: {kind!r}")
        if key not in storages:
            where = _location(map_location, location)
            if where == "meta":
                array: Any = np.empty(count, of.dtype.numpy)
            else:
                array = _bytes_of(archive, f"{folder}data/{key}", of.dtype.numpy, int(count))
                if order != sys.byteorder:
                    array.byteswap(inplace=True)
            storages[key] = _Storage(array)
        return storages[key]

    unpickler = _Unpickler(io.BytesIO(archive.read(found[0])), restricted, storage)
    return unpickler.load()


def _bytes_of(archive: zipfile.ZipFile, record: str, dtype: Any, count: int) -> np.ndarray:
    array = np.empty(count, dtype)
    try:
        info = archive.getinfo(record)
    except KeyError as error:
        raise RuntimeError(
            f"PytorchStreamReader failed reading file {record}: it is not there"
        ) from error
    if info.file_size != array.nbytes:
        raise RuntimeError(
            f"PytorchStreamReader failed reading file {record}: it has {info.file_size} bytes, and "
            f"should have {array.nbytes}"
        )
    memory: Any = array.view(np.uint8)
    view = memoryview(memory) if count else memoryview(b"")
    done = 0
    with archive.open(info) as source:
        while done < len(view):
            read = source.readinto(view[done:])  # type: ignore[attr-defined]
            if not read:
                raise RuntimeError(f"PytorchStreamReader failed reading file {record}: cut off")
            done += read
    return array


def _location(map_location: Any, saved: str) -> str:
    """The device a storage goes to."""
    if isinstance(map_location, dict):
        wanted = map_location.get(saved, saved)
    elif map_location is None:
        wanted = saved
    elif callable(map_location) and not isinstance(map_location, Device):
        wanted = "cpu"  # it is given a storage on the CPU, and there is no other place here
    else:
        wanted = map_location
    kind = wanted.type if isinstance(wanted, Device) else str(wanted).partition(":")[0]
    if kind not in ("cpu", "meta"):
        raise RuntimeError(
            f"Attempting to deserialize object on the device {kind!r}, which is not there. Please "
            "use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    return kind


# ------------------------------------------------------------------------------- what is called


def _rebuild_tensor(
    storage: _Storage,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool = False,
    backward_hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    whole = storage.array
    last = offset + sum((s - 1) * t for s, t in zip(size, stride, strict=True))
    if 0 not in size and not 0 <= offset <= last < whole.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are "
            f"out of bounds for storage of {whole.size} elements"
        )
    steps = tuple(step * whole.itemsize for step in stride)
    if 0 in size:
        array: Any = np.empty(tuple(size), whole.dtype)
    else:
        array = np.lib.stride_tricks.as_strided(whole[offset:], tuple(size), steps)
    t: Tensor = wrap(array)
    t._tracked = bool(requires_grad)
    return t


def _rebuild_tensor_v3(
    storage: _Storage,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    typed = _Storage(storage.array.view(dtype.numpy))
    return _rebuild_tensor(typed, offset, size, stride, requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any = None) -> Parameter:
    made: Parameter = Parameter(data, requires_grad)
    return made


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any
) -> Parameter:
    made = _rebuild_parameter(data, requires_grad)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def _rebuild_from_type(function: Callable[..., Any], kind: Any, args: Any, state: Any) -> Any:
    made = function(*args)
    if isinstance(kind, type) and issubclass(kind, Tensor) and type(made) is not kind:
        made = wrap(made._array, kind)
    for name, value in (state[0] if isinstance(state, tuple) else state).items():
        setattr(made, name, value)
    return made


_CALLED: dict[str, Any] = {
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type,
    "torch.Size": Size,
    "torch.device": Device,
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.parameter.Buffer": Buffer,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "collections.defaultdict": defaultdict,
    "collections.deque": deque,
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    "builtins.bytearray": bytearray,
    "builtins.complex": complex,
    "builtins.dict": dict,
    "builtins.list": list,
    "builtins.int": int,
    "builtins.float": float,
    "_codecs.encode": __import__("_codecs").encode,
    **{f"torch.{name}": kind for name, kind in _STORAGES.items()},
    **{f"torch.{kind.name}": kind for kind in dtypes.ALL},
    "torch.bool": dtypes.bool_,
}
"""All that a file may call with weights_only=True."""
_allowed: list[Any] = []


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Allow classes and functions, or (one, "name in the file") pairs, for weights_only loading."""
    _allowed.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """What was allowed by `add_safe_globals`."""
    return list(_allowed)


def clear_safe_globals() -> None:
    """Allow no more than at the beginning."""
    _allowed.clear()


class safe_globals:
    """A block in which classes and functions are allowed for weights_only loading."""

    def __init__(self, safe_globals: Sequence[Any]) -> None:
        self._added = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._added)

    def __exit__(self, *error: object) -> None:
        _allowed[:] = self._before


def _full_name(thing: Any) -> tuple[str, Any]:
    if isinstance(thing, tuple):
        return thing[1], thing[0]
    module = thing.__module__
    if module == OURS or module.startswith(OURS + "."):
        module = THEIRS + module.removeprefix(OURS)
    return f"{module}.{thing.__qualname__}", thing


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, restricted: bool, storage: Callable[[Any], _Storage]) -> None:
        super().__init__(file, encoding="utf-8")
        self._restricted = restricted
        self._storage = storage
        self._more = dict(map(_full_name, _allowed))

    def persistent_load(self, pid: Any) -> Any:
        return self._storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        full = f"{'builtins' if module == '__builtin__' else module}.{name}"
        if full in _CALLED:
            return _CALLED[full]
        if full in self._more:
            return self._more[full]
        inside = module == THEIRS or module.startswith(THEIRS + ".")
        if self._restricted and inside and self._more:
            # A function goes by several names: what was allowed is the thing, not a name.
            with contextlib.suppress(AttributeError):
                found = _ours(module, name)
                if any(found is allowed for allowed in self._more.values()):
                    return found
        if self._restricted:
            raise pickle.UnpicklingError(
                f"Weights only load failed. The file wants to call {full}, which is not among what "
                "files of weights may call; nothing was called. If you trust whoever made the "
                f"file, allow it by torch.serialization.add_safe_globals([{name}]), or load with "
                "weights_only=False, which runs any code that the file contains."
            )
        if inside:
            return _ours(module, name)
        return super().find_class(module, name)


def _ours(module: str, name: str) -> Any:
    try:
        found: Any = importlib.import_module(OURS + module.removeprefix(THEIRS))
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise AttributeError(
            f"torch.load: the file wants {module}.{name}, which minitorch.torch does not have."
        ) from error
    return found
