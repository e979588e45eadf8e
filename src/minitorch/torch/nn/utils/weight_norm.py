"""Weight normalisation by a hook: the weight is computed before each call of the module.

Source: Salimans and Kingma, Weight Normalization, 2016.
"""

from __future__ import annotations

import warnings
from typing import Any

from minitorch.torch.nn.parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "norm_except_dim", "normed", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Any, pow: float = 2, dim: int = 0) -> Any:
    """The norm for each index of a dimension, which stays, with the others of size 1; as a whole,
    0-d, for -1."""
    if dim == -1:
        return v.norm(pow)
    rest = tuple(d for d in range(v.dim()) if d != dim)
    return v.norm(pow, rest, keepdim=True) if rest else v.abs()


def normed(v: Any, g: Any, dim: int) -> Any:
    """v of norm g: for each index of a dimension, or (-1) as a whole."""
    return v * (g / norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook: sets `name` to name_v of the norm name_g."""

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight from its two parts."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return normed(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Put the two parts in the place of a weight, and the hook before the module's calls.

        RuntimeError if there is such a hook already.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure "
                "to run the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        norms = norm_except_dim(weight, 2, fn.dim)
        module.register_parameter(name + "_g", Parameter(norms.data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replace a parameter by its direction (name_v) and its norm (name_g).

    dim  there is a norm for each index of this dimension; None: one for all
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`. ValueError if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
