"""Functions from functions: gradients, Jacobians, products with them.

All of them are backward passes over the graph of one call. They nest: what an inner one gives is
part of the outer one's graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from minitorch.engine.mode import enable_grad
from minitorch.torch._tensor import Tensor, node_of
from minitorch.torch.autograd.engine import grad as _grad
from minitorch.torch.creation import zeros_like
from minitorch.torch.func.trees import tree_leaves, tree_map, tree_structure
from minitorch.torch.functions import stack
from minitorch.torch.node import AccumulateGrad


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
    """Results outside the graph, unless somebody else will derive them."""
    return results if _others_in(results, args, fresh) else tree_map(_detached, results)


def _detached(t: Any) -> Any:
    return t.detach() if isinstance(t, Tensor) else t


def _others_in(results: Any, args: Any, fresh: Any) -> bool:
    """Whether there is something in the graph of the results besides the inputs that were made for
    this call: an outer transform's, or parameters that the function uses. If not, derivatives need
    not be recorded."""
    if any(t.requires_grad for t in tree_leaves(args) if isinstance(t, Tensor)):
        return True
    own = {id(t) for t in _leaves(fresh)}
    todo = [node_of(t) for t in _leaves(results)]
    seen = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, AccumulateGrad) and id(node.variable) not in own:
            return True
        todo += [edge for edge in node.edges if edge is not None]
    return False


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
            recorded = _others_in((output, aux), args, picked)
            found = _gradients(output, picked, recorded)
        if not recorded:
            output, aux = _detached(output), tree_map(_detached, aux)
        return (found, (output, aux)) if has_aux else (found, output)

    return both


def _gradients(output: Tensor, inputs: Any, recorded: bool, seed: Any = None) -> Any:
    """The gradient for every tensor of a nest: zeros where there is none. With a seed there may be
    another one."""
    leaves = _leaves(inputs)
    if output.requires_grad:
        given = _grad(
            output,
            leaves,
            seed,
            retain_graph=recorded or seed is not None,
            create_graph=recorded,
            allow_unused=True,
        )
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
        recorded = _others_in([y for y, _ in pairs], (primals, cotangents), inputs)
        with enable_grad():
            found = iter(
                _grad(
                    [y for y, _ in pairs],
                    leaves,
                    [seed for _, seed in pairs],
                    retain_graph=True,
                    create_graph=recorded,
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

        return tree_map(one, inputs)

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
    """`func(*primals)` and its Jacobian times `tangents`, which are nests like the primals, by two
    backward passes; with has_aux also what else `func` returns."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple):
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected {name} to be a tuple. E.g. it should be "
                "valid to call f(*primals)."
            )
    forms = tree_structure(primals), tree_structure(tangents)
    if forms[0] != forms[1]:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            "structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
            f"Got primals with structure {forms[0]} and tangents with structure {forms[1]}"
        )
    for x, v in zip(tree_leaves(primals), tree_leaves(tangents), strict=True):
        if x.shape != v.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                "original Tensor, this is not supported. Tensor is of size "
                f"{list(x.shape)} while the given forward gradient is of size {list(v.shape)}."
            )
    output, product, aux = _linear(func, primals, has_aux)
    found = product(tangents)
    return (output, found, aux) if has_aux else (output, found)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """`func(*primals)`, and the function that multiplies its Jacobian there by tangents, nests like
    the primals: `func` is called once, however often that is."""
    output, product, _ = _linear(func, primals, False)
    form = tree_structure(primals)

    def jvp_fn(*tangents: Any) -> Any:
        given = tree_structure(tangents)
        if given != form:
            raise RuntimeError(
                f"Expected the tangents {given} to have the same argspec as the primals {form}"
            )
        for place, (x, v) in enumerate(
            zip(tree_leaves(primals), tree_leaves(tangents), strict=True)
        ):
            for what in ("shape", "dtype"):
                own, wanted = getattr(v, what), getattr(x, what)
                if own != wanted:
                    raise RuntimeError(
                        f"tangent:{place} with {what} {own} in flattened pytree doesn't match the "
                        f"{what} {wanted} of the corresponding primal."
                    )
        return product(tangents)

    return output, jvp_fn


def _linear(
    func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, Callable[[Any], Any], Any]:
    """`func(*primals)`, the function that multiplies its Jacobian by tangents, and what else it
    gives.

    A gradient is linear in what it is seeded with: its own gradient by that is the product wanted.
    """
    with enable_grad():
        inputs = tuple(tree_map(_fresh, each) for each in primals)
        output = func(*inputs)
        aux = None
        if has_aux:
            output, aux = output
        places = [x.requires_grad for x in tree_leaves(inputs)]
        xs = _leaves(inputs)
        outs = _leaves(output)
        seeds = [zeros_like(y, requires_grad=True) for y in outs]
        pulled = (
            _grad(outs, xs, seeds, create_graph=True, allow_unused=True)
            if outs and xs
            else [None] * len(xs)
        )

    def product(tangents: Any) -> Any:
        given = [v for v, is_one in zip(tree_leaves(tangents), places, strict=True) if is_one]
        pairs = [
            (g, v) for g, v in zip(pulled, given, strict=True) if g is not None and g.requires_grad
        ]
        with enable_grad():
            found = (
                _grad(
                    [g for g, _ in pairs],
                    seeds,
                    [v for _, v in pairs],
                    retain_graph=True,
                    create_graph=True,
                    allow_unused=True,
                )
                if pairs
                else [None] * len(seeds)
            )
        following = iter(found)

        def one(y: Any) -> Any:
            if not isinstance(y, Tensor):
                return y
            g = next(following) if y.requires_grad else None
            return zeros_like(y) if g is None else g

        return _settled(tree_map(one, output), (primals, tangents), (inputs, seeds))

    return _settled(output, primals, inputs), product, _settled(aux, primals, inputs)


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func`, of shape output + input; for a nest of
    outputs or inputs a nest of them.

    It is computed row by row, or column by column where there are far more rows: `jacfwd` is the
    same function.
    """

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            new, picked = _inputs(args, argnums)
            output = func(*new, **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            recorded = _others_in(output, args, picked)
            by = _columns if _is_tall(output, picked) else _rows
            found = tree_map(lambda y: by(y, picked, recorded), output)
        return (found, _settled(aux, args, picked)) if has_aux else found

    return jacobian


def _is_tall(output: Any, inputs: Any) -> bool:
    """Whether columns take less time than rows: one is a backward pass of a backward pass."""
    both = [*tree_leaves(output), *_leaves(inputs)]
    if any(not isinstance(t, Tensor) or t.is_complex() for t in both):
        return False
    rows = sum(y.numel() for y in tree_leaves(output))
    columns = sum(x.numel() for x in _leaves(inputs))
    return bool(rows > 3 * columns)


def _rows(y: Tensor, inputs: Any, recorded: bool) -> Any:
    rows = [_gradients(y, inputs, recorded, seed) for seed in _units(y)]
    if not rows:
        return tree_map(lambda t: zeros_like(t).expand(*y.shape, *t.shape), inputs)
    return tree_map(
        lambda first, *rest: stack((first, *rest)).reshape(*y.shape, *first.shape), *rows
    )


def _columns(y: Tensor, inputs: Any, recorded: bool) -> Any:
    leaves = _leaves(inputs)
    pulled: Any = [None] * len(leaves)
    if y.requires_grad and leaves:
        seed: Any = zeros_like(y, requires_grad=True)
        pulled = _grad(y, leaves, seed, retain_graph=True, create_graph=True, allow_unused=True)
    blocks = []
    for x, g in zip(leaves, pulled, strict=True):
        found: Any = [None]
        if g is not None and g.requires_grad:
            found = [
                _grad(g, seed, unit, retain_graph=True, create_graph=recorded, allow_unused=True)[0]
                for unit in _units(x)
            ]
        if not found or found[0] is None:
            blocks.append(
                zeros_like(y).reshape(*y.shape, *(1,) * x.dim()).expand(*y.shape, *x.shape)
            )
        else:
            blocks.append(stack(found, -1).reshape(*y.shape, *x.shape))
    following = iter(blocks)
    return tree_map(
        lambda t: next(following) if isinstance(t, Tensor) and t.requires_grad else None, inputs
    )


def _units(t: Tensor) -> Iterator[Tensor]:
    """For each element of a tensor one like it, which is 1 there and 0 elsewhere."""
    for place in range(t.numel()):
        unit: Any = zeros_like(t, requires_grad=False)
        unit._array.flat[place] = 1
        yield unit


jacfwd = jacrev


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)
