"""Nests of tensors as lists of nests of their slices, and back."""

from __future__ import annotations

from typing import Any

from minitorch.torch.functions.joining import stack
from minitorch.torch.utils._pytree import tree_flatten, tree_map, tree_unflatten


def in_slices(xs: Any, dim: int) -> list[Any]:
    """A nest for each place along `dim`; ValueError for tensors of several lengths there."""
    leaves, spec = tree_flatten(xs)
    if not leaves:
        return []
    lengths = {leaf.shape[dim] for leaf in leaves}
    if len(lengths) > 1:
        raise ValueError(f"all tensors must be of one length along dim {dim}, not {lengths}")
    parts = [leaf.unbind(dim) for leaf in leaves]
    return [tree_unflatten(each, spec) for each in zip(*parts, strict=True)]


def joined(nests: list[Any], dim: int) -> Any:
    """One nest of nests of one form: `torch.stack` of what they have at each place."""
    return tree_map(lambda *leaves: stack(leaves, dim), *nests)
