"""Pruning: a parameter times a mask of zeros and ones, put in its place before every call.

A pruned `weight` is no parameter any more: the module has the parameter `weight_orig`, the buffer
`weight_mask`, and `weight`, their product, which a hook computes anew.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from minitorch.torch.creation import ones_like, zeros_like
from minitorch.torch.dtypes import contiguous_format
from minitorch.torch.functions import kthvalue, norm, topk
from minitorch.torch.nn.utils.convert_parameters import parameters_to_vector
from minitorch.torch.random import rand, rand_like

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A way to choose what is pruned. A subclass has `PRUNING_TYPE` ("unstructured", "structured"
    with an attribute `dim`, or "global") and `compute_mask`; an instance is the hook."""

    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask for a tensor of scores, of zeros and ones; what `default_mask` has at 0 stays
        at 0."""

    def apply_mask(self, module: Any) -> Any:
        """The original parameter times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune a parameter; one that is pruned already is pruned further, among what is left.

        args, kwargs       for the class itself
        importance_scores  of the parameter's shape, to choose by them and not by its values

        Gives the hook: a `PruningContainer` from the second time on.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = _hook_taken_off(module, name)
        if earlier is not None:
            whole = earlier
            if not isinstance(earlier, PruningContainer):
                whole = PruningContainer(earlier)
            whole.add_pruning_method(method)
            method = whole
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {original.shape}"
            )
        if earlier is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            before = ones_like(original)
        else:
            before = getattr(module, name + "_mask").detach()
            before = before.clone(memory_format=contiguous_format)
        try:
            mask = method.compute_mask(importance_scores, default_mask=before)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if earlier is None:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A pruned copy of a tensor that belongs to no module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                "importance_scores should have the same shape as tensor t, got "
                f"{importance_scores.shape} vs {t.shape}"
            )
        if default_mask is None:
            default_mask = ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Make the pruned values the parameter, for good."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _hook_taken_off(module: Any, name: str) -> Any:
    """The pruning hook of a parameter, which the module then has no longer; None if there is
    none."""
    found = [
        number
        for number, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]
    if len(found) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. "
            "Use a PruningContainer."
        )
    return module._forward_pre_hooks.pop(found[0]) if found else None


class PruningContainer(BasePruningMethod):
    """Several ways, one after the other: each chooses among what the ones before have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a way at the end. TypeError for what is none, ValueError for another parameter's."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask` with what the last way prunes of it."""
        method: Any = self._pruning_methods[-1]
        left = _left(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype)
        partial = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = partial.to(dtype=mask.dtype)
        return mask


def _left(method: Any, t: Any, mask: Any) -> Any:
    """An index of what has not been pruned, whole channels for a structured way."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    everything: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` '
                "defined."
            )
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        everything[dim] = mask.sum(dim=[each for each in range(t.dim()) if each != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(everything)


class Identity(BasePruningMethod):
    """Prunes nothing, but puts mask and hook in their places."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask`."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        """Prune a parameter of a module; see `identity`."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes numbers at random places.

    amount  how many, or which share of them
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask` with zeros at places that are drawn."""
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=contiguous_format)
        if count:
            mask.view(-1)[topk(rand_like(t).view(-1), k=count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prune a parameter of a module; see `random_unstructured`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the numbers with the smallest absolute values.

    amount  how many, or which share of them
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask` with zeros where the scores are smallest."""
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=contiguous_format)
        if count:
            mask.view(-1)[topk(t.abs().view(-1), k=count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, importance_scores: Any = None
    ) -> Any:
        """Prune a parameter of a module; see `l1_unstructured`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prunes whole channels at random.

    amount  how many, or which share of them
    dim     the dimension that counts channels
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask` with zeros in channels that are drawn."""
        count = _count_of_channels(t, self.amount, self.dim)
        if not count:
            return default_mask
        drawn = rand(t.shape[self.dim])
        keep = drawn > kthvalue(drawn, k=count).values
        mask = _channels(t, self.dim, keep)
        mask *= default_mask.to(dtype=mask.dtype)
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        """Prune a parameter of a module; see `random_structured`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the channels with the smallest norms.

    amount  how many, or which share of them
    n       which norm: what `torch.norm` takes as `p`
    dim     the dimension that counts channels
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask` with zeros in the channels of the smallest norms."""
        count = _count_of_channels(t, self.amount, self.dim)
        kept = t.shape[self.dim] - count
        largest = topk(_compute_norm(t, self.n, self.dim), k=kept, largest=True)
        if not count:
            return default_mask
        mask = _channels(t, self.dim, largest.indices)
        mask *= default_mask.to(dtype=mask.dtype)
        return mask

    @classmethod
    def apply(  # type: ignore[override]
        cls,
        module: Any,
        name: str,
        amount: Any,
        n: Any,
        dim: int,
        importance_scores: Any = None,
    ) -> Any:
        """Prune a parameter of a module; see `ln_structured`."""
        return super().apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask has at 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask` times the mask."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:  # type: ignore[override]
        """Prune a parameter of a module; see `custom_from_mask`."""
        return super().apply(module, name, mask=mask)


# ------------------------------------------------------------------------ in a module, in place


def identity(module: Any, name: str) -> Any:
    """Put mask and hook in their places without pruning anything; gives the module, as the other
    functions do. AttributeError for a name that the module does not have."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune numbers at random places: so many, or (a float) this share of them."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the numbers that are smallest in absolute value, or by `importance_scores`."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune channels, counted by `dim`, at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the channels, counted by `dim`, whose n-norms are smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters as if they were one.

    parameters         pairs (module, name)
    pruning_method     an unstructured class, which is given `kwargs`
    importance_scores  {(module, name): tensor}; a parameter's own values where there is none
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores: Any = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    own = [getattr(module, name) for module, name in parameters]
    together = parameters_to_vector(
        [scores.get(pair, value) for pair, value in zip(parameters, own, strict=True)]
    )
    masks: list[Any] = [
        getattr(module, name + "_mask", ones_like(value))
        for (module, name), value in zip(parameters, own, strict=True)
    ]
    before = parameters_to_vector(masks)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    mask = PruningContainer(method).compute_mask(together, before)
    place = 0
    for (module, name), value in zip(parameters, own, strict=True):
        end = place + value.numel()
        custom_from_mask(module, name, mask=mask[place:end].view_as(value))
        place = end


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune what `mask`, of the parameter's shape, has at 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make the pruned values the parameter, and take off mask and hook; what is pruned stays so.
    ValueError if the parameter is not pruned."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Whether a parameter of the module, or of one within it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, inner in module.named_modules()
        for hook in inner._forward_pre_hooks.values()
    )


# --------------------------------------------------- checks and amounts, as subclasses call them


def _validate_pruning_amount_init(amount: Any) -> None:
    """TypeError for no number, ValueError for one below 0 or a share above 1."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and float(amount) > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """ValueError for more than there are."""
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to "
            f"prune={tensor_size}"
        )


def _validate_structured_pruning(t: Any) -> None:
    """ValueError for a tensor without channels."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t: Any, dim: int) -> None:
    """IndexError for a dimension that the tensor does not have."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many an amount is: a share is rounded."""
    if isinstance(amount, numbers.Integral):
        return int(amount)
    return round(float(amount) * tensor_size)


def _compute_norm(t: Any, n: Any, dim: int) -> Any:
    """The n-norm of each channel."""
    others = list(range(t.dim()))
    del others[dim]
    return norm(t, p=n, dim=others)


def _count(amount: Any, size: int) -> int:
    count = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(count, size)
    return count


def _count_of_channels(t: Any, amount: Any, dim: int) -> int:
    _validate_structured_pruning(t)
    _validate_pruning_dim(t, dim)
    return _count(amount, t.shape[dim])


def _channels(t: Any, dim: int, kept: Any) -> Any:
    """A mask with ones in the channels of an index, zeros in others."""
    mask = zeros_like(t)
    places: list[Any] = [slice(None)] * t.dim()
    places[dim] = kept
    mask[tuple(places)] = 1
    return mask
