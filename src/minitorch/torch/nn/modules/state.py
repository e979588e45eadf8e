"""`state_dict` and `load_state_dict`: a module's tensors by name, out and in again."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor
from minitorch.torch.nn.parameter import Parameter, is_lazy
from minitorch.torch.node import RemovableHandle, hooked

Hook = Callable[..., Any]
EXTRA = "_extra_state"
"""The key's end of what `get_extra_state` gives."""


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` did not find, and what it could not use."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, "
            f"unexpected_keys={self.unexpected_keys!r})"
        )

    def __str__(self) -> str:
        return repr(self)


class State:
    """Saving and loading. The base of `Module`, of which it is a part."""

    _version = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]
    _state_dict_hooks: OrderedDict[int, Hook]
    _state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]

    # ---------------------------------------------------------------------------------- hooks

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        return hooked(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`."""
        handle = hooked(self._state_dict_hooks, hook)
        hook._from_public_api = True  # type: ignore[attr-defined]
        return handle

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As the former, by which a returned dict takes the place of the one that was made.

        RuntimeError for a hook that was registered by the former already.
        """
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register a hook by _register_state_dict_hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return hooked(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before this module loads."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            hook = _WithModule(hook, self)
        return hooked(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after this module has loaded."""
        return hooked(self._load_state_dict_post_hooks, hook)

    # --------------------------------------------------------------------------------- saving

    def get_extra_state(self) -> Any:
        """What else is to be saved. To be overridden together with `set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Override "
            "it to save something beside parameters and buffers."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave. To be overridden together with it."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Override "
            "it together with get_extra_state()."
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in _tensors(self):
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _has_extra(self, "get_extra_state"):
            destination[prefix + EXTRA] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers by dotted name, in order. They share memory.

        keep_vars  with their place in the graph, not detached
        """
        if args:
            given: Any = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        own = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = own
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(self._state_dict_hooks.values()):
            changed = hook(self, destination, prefix, own)
            if getattr(hook, "_from_public_api", False):
                if changed is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif changed is not None:
                destination = changed
        return destination

    # -------------------------------------------------------------------------------- loading

    def _load_from_state_dict(  # noqa: PLR0912
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Copy this module's own tensors from `state_dict`, noting what is missing or wrong."""
        from minitorch.torch import no_grad

        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(
                *(state_dict, prefix, local_metadata, strict),
                *(missing_keys, unexpected_keys, error_msgs),
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = dict(_tensors(self))
        for name, tensor in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or '
                    f"Tensor-like object from checkpoint but received {type(given)}"
                )
                continue
            if is_lazy(tensor) and is_lazy(given):
                continue
            if tensor.dim() == 0 and given.dim() == 1 and given.numel() == 1:
                given = given[0]  # files of old versions have numbers as vectors
            if given.shape != tensor.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from "
                    f"checkpoint, the shape in current model is {tensor.shape}."
                )
                continue
            if is_meta(tensor._array) and not assign:
                if not is_meta(given._array):
                    _warn_of_nothing_copied(key)
                continue
            try:
                with no_grad():
                    if assign:
                        _put(self, name, tensor, given)
                    else:
                        tensor.copy_(given)
            except Exception as error:
                error_msgs.append(
                    f'While copying the parameter named "{key}", whose dimensions in the model are '
                    f"{tensor.size()} and whose dimensions in the checkpoint are {given.size()}, "
                    f"an exception occurred : {error.args}."
                )
        extra = prefix + EXTRA
        if _has_extra(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            known = {*own, *self._modules, EXTRA}
            unexpected_keys.extend(
                key
                for key in state_dict
                if key.startswith(prefix)
                and key != extra
                and key[len(prefix) :].split(".", 1)[0] not in self._modules
                and key[len(prefix) :] not in known
            )

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy tensors by name into this module and those in it.

        strict  RuntimeError if keys are missing or not known, instead of just telling them
        assign  put the given tensors in the place of those that are there
        RuntimeError for shapes that do not fit: it names all of them.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata  # type: ignore[attr-defined]

        _load(self, state, "", metadata, assign, IncompatibleKeys(missing, unexpected), errors)
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_listed(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_listed(missing)}. ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return IncompatibleKeys(missing, unexpected)


def _load(
    module: Any,
    given: Any,
    prefix: str,
    metadata: Any,
    assign: bool,
    found: IncompatibleKeys,
    errors: list[str],
) -> None:
    """Load into a module and those in it what `given` has under names with the prefix."""
    own = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        own = {**own, "assign_to_params_buffers": True}
    module._load_from_state_dict(given, prefix, own, True, *found, errors)
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            part = {k: v for k, v in given.items() if k.startswith(inner)}
            _load(child, part, inner, metadata, assign, found, errors)
    for hook in list(module._load_state_dict_post_hooks.values()):
        if hook(module, found) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace."
            )


def _warn_of_nothing_copied(key: str) -> None:
    warnings.warn(
        f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in "
        "the current model, which is a no-op. (Did you mean to pass `assign=True` to assign items "
        "in the state dictionary to their corresponding key in the module instead of copying them "
        "in place?)",
        stacklevel=4,
    )


def _has_extra(module: Any, method: str) -> bool:
    return getattr(type(module), method) is not getattr(State, method)


def _tensors(module: Any) -> Iterator[tuple[str, Tensor]]:
    """The parameters and persistent buffers of this module alone."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield name, parameter
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield name, buffer


def _put(module: Any, name: str, tensor: Tensor, given: Tensor) -> None:
    if isinstance(tensor, Parameter):
        if not isinstance(given, Parameter):
            given = Parameter(given, requires_grad=tensor.requires_grad)
        else:
            given.requires_grad_(tensor.requires_grad)
    setattr(module, name, given)


def _listed(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


class _WithModule:
    """A hook that is given its module first. It refers to it weakly: the module has the hook."""

    def __init__(self, hook: Hook, module: Any) -> None:
        import weakref

        self.hook = hook
        self.module: Any = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.hook(self.module(), *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["hook"], state["module"])  # type: ignore[misc]
