"""`vmap`: a function for one example, called for each of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.func.trees import tree_leaves, tree_map
from minitorch.torch.functions import stack
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.random import get_rng_state, set_rng_state


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that calls `func` for each slice of its arguments and stacks what it returns.

    It is a loop: as fast as one written by hand, and `func` may look at values.

    in_dims     along which dimension of each argument; None: the whole argument each time
    out_dims    where the new dimension goes, for each result
    randomness  "error": RuntimeError if `func` draws random numbers; "different" or "same" for
                each slice. The numbers are drawn slice by slice.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if not isinstance(in_dims, (int, tuple, list, dict)):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int "
            "or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        dims = _spread(in_dims if not isinstance(in_dims, int) else (in_dims,) * len(args), args)
        named = tree_map(lambda t: 0 if isinstance(t, Tensor) else None, kwargs)
        pairs = [*_pairs(args, dims), *_pairs(kwargs, named)]
        count = _count(func, in_dims, pairs)
        results = []
        state = get_rng_state()
        for place in range(count):
            if randomness == "same":
                set_rng_state(state)
            results.append(
                func(
                    *tree_map2(_slice(place), args, dims), **tree_map2(_slice(place), kwargs, named)
                )
            )
            if not place and randomness == "error" and not bool((get_rng_state() == state).all()):
                raise RuntimeError(
                    "vmap: called random operation while in randomness error mode. Please either "
                    "use the 'same' or 'different' randomness flags on vmap or perform the "
                    "randomness operation out of vmap"
                )
        return _stacked(func, results, out_dims)

    return batched


def _name(func: Any) -> str:
    return str(getattr(func, "__name__", func))


def _spread(dims: Any, tree: Any) -> Any:
    """`dims` with one entry for each leaf: an int or None of a nest counts for all in it."""
    if isinstance(tree, dict):
        return {
            key: _spread(dims[key] if isinstance(dims, dict) else dims, tree[key]) for key in tree
        }
    if isinstance(tree, (tuple, list)):
        each = dims if isinstance(dims, (tuple, list)) else [dims] * len(tree)
        return [_spread(dim, part) for dim, part in zip(each, tree, strict=True)]
    return dims


def tree_map2(function: Callable[..., Any], tree: Any, dims: Any) -> Any:
    """`tree_map` of a tree and its dimensions, which are lists where the tree has tuples."""
    if isinstance(tree, dict):
        return {key: tree_map2(function, tree[key], dims[key]) for key in tree}
    if isinstance(tree, (tuple, list)):
        found = [tree_map2(function, *each) for each in zip(tree, dims, strict=True)]
        return type(tree)(*found) if hasattr(tree, "_fields") else type(tree)(found)
    return function(tree, dims)


def _pairs(tree: Any, dims: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    tree_map2(lambda value, dim: found.append((value, dim)), tree, dims)
    return found


def _count(func: Any, in_dims: Any, pairs: list[tuple[Any, Any]]) -> int:
    sizes = []
    for value, dim in pairs:
        if dim is None:
            continue
        if not isinstance(value, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an "
                f"input but the input is of type {type(value)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if not -value.dim() <= dim < value.dim():
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some "
                f"input, but that input is a Tensor of dimensionality {value.dim()} so expected "
                f"in_dim to satisfy -{value.dim()} <= in_dim < {value.dim()}."
            )
        sizes.append(value.size(dim))
    if not sizes:
        raise ValueError(f"vmap({_name(func)}): no input is to be mapped over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


def _slice(place: int) -> Callable[[Any, Any], Any]:
    return lambda value, dim: value if dim is None else value.select(dim, place)


def _stacked(func: Any, results: list[Any], out_dims: Any) -> Any:
    if not results:
        raise NotImplementedError("vmap over a dimension of size 0: what comes out is not known")
    for each in tree_leaves(results[0]):
        if not isinstance(each, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type "
                f"{type(each)}. Did you mean to set out_dims= to None for output?"
            )
    dims = _spread(out_dims, results[0])
    form = tree_map(lambda *slices: _Slices(slices), *results)
    return tree_map2(
        lambda slices, dim: slices.of[0] if dim is None else stack(slices.of, dim), form, dims
    )


class _Slices:
    """A leaf that holds the tensors of one result."""

    def __init__(self, of: tuple[Tensor, ...]) -> None:
        self.of = of


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of modules of one kind, each stacked along a new first
    dimension: for `vmap` over `functional_call`."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )

    def stacked(all_of: list[dict[str, Any]]) -> dict[str, Any]:
        made = {}
        for name, first in all_of[0].items():
            whole = stack([each[name].detach() for each in all_of])
            made[name] = whole.requires_grad_(first.requires_grad)
        return made

    return (
        stacked([dict(model.named_parameters()) for model in models]),
        stacked([dict(model.named_buffers()) for model in models]),
    )
