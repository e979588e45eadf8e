"""Functions from functions: gradients, Jacobians, products with them.

All of them are backward passes over the graph of one call. They nest: what an inner one gives is
part of the outer one's graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.engine.mode import enable_grad
from minitorch.torch.autograd import functional
from minitorch.torch.autograd.engine import grad as _grad
from minitorch.torch.creation import zeros_like
from minitorch.torch.func.trees import tree_leaves, tree_map
from minitorch.torch.functions import stack
from minitorch.torch.node import AccumulateGrad
from minitorch.torch.tensor import Tensor, node_of


def _fresh(t: Any) -> Any:
    """An input of its own: within an outer graph, if `t` is in one."""
    if not isinstance(t, Tensor) or not (t.is_floating_point() or t.is_complex()):
        return t
    return t.view_as(t) if t.requires_grad else t.detach().requires_grad_()


def _inputs(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> tuple[list[Any], Any]:
    """The arguments with those to be derived replaced by fresh ones, and the latter."""
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    new = list(args)
    for place in chosen:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
        new[place] = tree_map(_fresh, args[place])
    picked = tuple(new[place] for place in chosen)
    return new, picked[0] if isinstance(argnums, int) else picked


def _leaves(tree: Any) -> list[Any]:
    return [t for t in tree_leaves(tree) if isinstance(t, Tensor) and t.requires_grad]


def _settled(results: Any, args: Any, fresh: Any) -> Any:
    """Results outside the graph, unless there is something in it besides the inputs that were made
    for this call: an outer transform's, or parameters that the function uses."""
    if any(t.requires_grad for t in tree_leaves(args) if isinstance(t, Tensor)):
        return results
    own = {id(t) for t in _leaves(fresh)}
    todo = [node_of(t) for t in _leaves(results)]
    seen = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, AccumulateGrad) and id(node.variable) not in own:
            return results
        todo += [edge for edge in node.edges if edge is not None]
    return tree_map(lambda t: t.detach() if isinstance(t, Tensor) else t, results)


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives the gradient of `func` and its value, a scalar tensor.

    argnums  which arguments to derive by; each may be a nest of tensors
    has_aux  `func` returns (value, aux); the function then gives (gradient, (value, aux))
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            new, picked = _inputs(args, argnums)
            output = func(*new, **kwargs)
            aux = None
            if has_aux:
                if not isinstance(output, tuple) or len(output) != 2:
                    raise RuntimeError(
                        "grad_and_value(f)(*args): output of function f should be a tuple: "
                        "(output, aux) if has_aux is True"
                    )
                output, aux = output
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got "
                    f"{type(output)}"
                )
            if output.dim():
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got "
                    f"tensor with {output.dim()} dims. Maybe you wanted to use the vjp or jacrev "
                    "APIs instead?"
                )
            found = _gradients(output, picked)
        found, output, aux = _settled((found, output, aux), args, picked)
        return (found, (output, aux)) if has_aux else (found, output)

    return both


def _gradients(output: Tensor, inputs: Any, seed: Any = None) -> Any:
    """The gradient for every tensor of a nest: zeros where there is none."""
    leaves = _leaves(inputs)
    if output.requires_grad:
        given = _grad(output, leaves, seed, create_graph=True, allow_unused=True)
    else:
        given = (None,) * len(leaves)
    found = iter(given)

    def one(t: Any) -> Any:
        if not isinstance(t, Tensor) or not t.requires_grad:
            return None
        g = next(found)
        return zeros_like(t) if g is None else g

    return tree_map(one, inputs)


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives the gradient of `func`; see `grad_and_value`. With has_aux it gives
    (gradient, aux)."""
    both = grad_and_value(func, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """`func(*primals)` and the function that multiplies its Jacobian by a nest of tensors like the
    result from the left; it gives one result per primal, as a tuple."""
    with enable_grad():
        inputs = tuple(tree_map(_fresh, each) for each in primals)
        output = func(*inputs)
        aux = None
        if has_aux:
            output, aux = output

    def product(*cotangents: Any) -> Any:
        seeds = cotangents[0] if len(cotangents) == 1 else cotangents
        pairs = list(zip(tree_leaves(output), tree_leaves(seeds), strict=True))
        pairs = [(y, seed) for y, seed in pairs if y.requires_grad]
        leaves = _leaves(inputs)
        with enable_grad():
            found = iter(
                _grad(
                    [y for y, _ in pairs],
                    leaves,
                    [seed for _, seed in pairs],
                    create_graph=True,
                    allow_unused=True,
                )
                if pairs
                else [None] * len(leaves)
            )

        def one(t: Any) -> Any:
            if not isinstance(t, Tensor) or not t.requires_grad:
                return None
            g = next(found)
            return zeros_like(t) if g is None else g

        return _settled(tree_map(one, inputs), (primals, cotangents), inputs)

    shown = _settled(output, primals, inputs)
    return (shown, product, aux) if has_aux else (shown, product)


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """`func(*primals)` and its Jacobian times `tangents`, by two backward passes.

    NotImplementedError with has_aux.
    """
    if has_aux:
        raise NotImplementedError("torch.func.jvp with has_aux is not there")
    tracked = any(t.requires_grad for t in tree_leaves((primals, tangents)))
    return functional.jvp(func, tuple(primals), tuple(tangents), create_graph=tracked)


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func`, of shape output + input; for a nest of
    outputs or inputs a nest of them."""

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            new, picked = _inputs(args, argnums)
            output = func(*new, **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            found = tree_map(lambda y: _rows(y, picked), output)
        found, aux = _settled((found, aux), args, picked)
        return (found, aux) if has_aux else found

    return jacobian


def _rows(y: Tensor, inputs: Any) -> Any:
    rows = [_gradients(each, inputs) for each in y.reshape(-1)]
    if not rows:
        return tree_map(lambda t: zeros_like(t).expand(*y.shape, *t.shape), inputs)
    return tree_map(
        lambda first, *rest: stack((first, *rest)).reshape(*y.shape, *first.shape), *rows
    )


jacfwd = jacrev


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)
