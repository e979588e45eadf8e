"""`Optimizer`: parameter groups, state, hooks, and one loop for all kinds of steps.

An optimiser of ours says in `update` how one parameter changes, in arrays and in place: what is
written there is the formula of its paper. Nothing of it is recorded.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, overload

import numpy as np

from minitorch.engine.mode import enable_grad
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.inplace import check_memory, count_write
from minitorch.torch.node import RemovableHandle, hooked

ParamsT = Any
Hook = Callable[..., Any]


class _Required:
    """The mark of an option without a default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
_everywhere_before: OrderedDict[int, Hook] = OrderedDict()
_everywhere_after: OrderedDict[int, Hook] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimiser."""
    return hooked(_everywhere_before, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimiser."""
    return hooked(_everywhere_after, hook)


class Optimizer:
    """Changes parameters by their gradients.

    params    tensors, (name, tensor) pairs, or dicts with "params" and options of their own
    defaults  the options of groups that do not say otherwise

    Subclasses have `update`; or, as in PyTorch, a `step` of their own.
    """

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._before: OrderedDict[int, Hook] = OrderedDict()
        self._after: OrderedDict[int, Hook] = OrderedDict()
        self._saving: list[OrderedDict[int, Hook]] = [OrderedDict() for _ in range(4)]
        _give_hooks(type(self))
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}"
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    # ------------------------------------------------------------------------------- the step

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        """Change the memory of `p` by its gradient `g`. To be overridden."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a step(): change each p of self.param_groups in place"
        )

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], Any]) -> Any: ...

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        closure  computes the loss anew and calls backward; what it gives is returned
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        states = self.state
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                if any(map(group.get, ("differentiable", "capturable", "fused"))):
                    self._refuse(group)
                maximize = group.get("maximize", False)
                for p in group["params"]:
                    grad = p._grad
                    if grad is not None:
                        check_memory(p, "step")
                        g = grad._array
                        state = states.get(p)
                        fresh = state is None
                        if fresh:
                            state = {}
                        self.update(p, -g if maximize else g, state, group)
                        count_write(p)
                        if fresh and state:
                            states[p] = state
        return loss

    captured = "params and state_steps"
    """What would have to be on another device for a graph to be captured of a step."""
    capturing = "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']"

    def _refuse(self, group: dict[str, Any]) -> None:
        if group.get("differentiable"):
            raise NotImplementedError(
                f"{type(self).__name__}: differentiable=True is not there; write the step with "
                "out-of-place operations: p = p - lr * g"
            )
        if group.get("capturable"):
            raise AssertionError(
                f"If capturable=True, {self.captured} must be on supported devices: "
                f"{self.capturing}."
            )
        for p in group["params"]:
            if p._grad is not None and not p.is_floating_point():
                raise RuntimeError(
                    "`fused=True` requires all the params to be floating point Tensors of "
                    "supported devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', "
                    f"'privateuseone'] but {p.dtype} and {p.device.type}"
                )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset all gradients: to None, or to zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is None:
                    continue
                if set_to_none:
                    p._grad = None
                else:
                    if p._grad._node is not None:
                        p._grad.detach_()
                    else:
                        p._grad.requires_grad_(False)
                    p._grad.zero_()

    # ----------------------------------------------------------------------------- the groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own.

        TypeError for what are no tensors, ValueError for what are no leaves or are in a group
        already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params, names = _named(list(params))
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_kind(p)}"
                )
            if not (p.is_leaf or getattr(p, "retains_grad", False)):
                raise ValueError("can't optimize a non-leaf Tensor")
        group = {**param_group, "params": params}
        if names:
            group = {"params": params, "param_names": names, **group}
        if self.param_groups and ("param_names" in self.param_groups[0]) != bool(names):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if names else 'without'} names to the optimizer"
            )
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    + name
                )
            group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
                stacklevel=3,
            )
        known = set(chain.from_iterable(each["params"] for each in self.param_groups))
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines.append("\n" * bool(k) + f"Parameter Group {k}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ------------------------------------------------------------------------ saving, loading

    def state_dict(self) -> dict[str, Any]:
        """The state, by the number of the parameter, and the groups with numbers in the place of
        parameters. It shares memory with the optimiser's own."""
        for hook in list(self._saving[0].values()):
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {
            (numbers[id(key)] if isinstance(key, Tensor) else key): value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in list(self._saving[1].values()):
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the state and options of a `state_dict` of an optimiser of as many parameters.

        State of floating parameters is brought to their dtype. ValueError if groups do not match.
        """
        state_dict = dict(state_dict)
        for hook in list(self._saving[2].values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        given = deepcopy(state_dict["param_groups"])
        if len(given) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(ours["params"]) != len(theirs["params"])
            for ours, theirs in zip(self.param_groups, given, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = chain.from_iterable(group["params"] for group in given)
        params = chain.from_iterable(group["params"] for group in self.param_groups)
        behind = dict(zip(numbers, params, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            state[behind.get(key, key)] = _for_parameter(value, behind.get(key))
        for ours, theirs in zip(self.param_groups, given, strict=True):
            theirs["params"] = ours["params"]
            if "param_names" in ours and "param_names" not in theirs:
                theirs["param_names"] = ours["param_names"]
        self.__setstate__({"state": state, "param_groups": given})
        for hook in list(self._saving[3].values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_before", OrderedDict())
        self.__dict__.setdefault("_after", OrderedDict())
        self.__dict__.setdefault("_saving", [OrderedDict() for _ in range(4)])
        _give_hooks(type(self))
        for group in self.param_groups:
            for name, default in self.__dict__.get("defaults", {}).items():
                group.setdefault(name, default)

    # ---------------------------------------------------------------------------------- hooks

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step, with the optimizer as the first of
        args; it may return both anew."""
        return hooked(self._before, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return hooked(self._after, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`."""
        return hooked(self._saving[0], hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict`; it may return another."""
        return hooked(self._saving[1], hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; it may return another."""
        return hooked(self._saving[2], hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return hooked(self._saving[3], hook, prepend=prepend)


def _named(params: list[Any]) -> tuple[list[Any], list[str]]:
    """Parameters, and their names if they came as pairs."""
    pairs = [isinstance(p, tuple) for p in params]
    if params and all(pairs):
        return [p[1] for p in params], [p[0] for p in params]
    if any(pairs):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    return params, []


def _kind(value: Any) -> str:
    from minitorch.torch.nn.modules.members import type_name

    return type_name(value)


def _for_parameter(value: Any, p: Tensor | None, key: str = "") -> Any:
    """A copy of a part of a state, its floating tensors in the dtype of the parameter."""
    if isinstance(value, Tensor):
        array = value._array
        if key != "step" and p is not None and p.is_floating_point():
            return wrap(array.astype(p._array.dtype))
        return wrap(array.copy())
    if isinstance(value, dict):
        return {k: _for_parameter(v, p, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_for_parameter(v, p) for v in value)  # type: ignore[call-arg]
    return value


def _give_hooks(cls: Any) -> None:
    """Let the `step` of a class call the hooks; once."""
    step = cls.step
    if getattr(step, "hooked", False):
        return

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not (self._before or self._after or _everywhere_before or _everywhere_after):
            return step(self, *args, **kwargs)
        given: Any = (self, *args)  # as PyTorch's hooks see them
        for hook in [*_everywhere_before.values(), *self._before.values()]:
            changed = hook(self, given, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{changed}."
                    )
                given, kwargs = changed
        result = step(*given, **kwargs)
        for hook in [*self._after.values(), *_everywhere_after.values()]:
            hook(self, given, kwargs)
        return result

    hooked.hooked = True  # type: ignore[attr-defined]
    cls.step = hooked
