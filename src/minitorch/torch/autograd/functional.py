"""Derivatives of functions: `jacobian`, `hessian`, and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.mode import Ambient, ambient, enable_grad
from minitorch.torch._tensor import Tensor, meta_of, wrap
from minitorch.torch.autograd.engine import grad
from minitorch.torch.face import recorder

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`func(*inputs)`, and `v` times its Jacobian.

    func    from tensors to a tensor or a tuple of them
    inputs  a tensor or a tuple of them
    v       like the outputs; None for one output of one element: 1
    create_graph  let both be differentiated again
    strict  RuntimeError for an output that does not depend on an input, instead of zeros
    """
    with enable_grad():
        single, xs = _tuple(inputs, "inputs", "vjp")
        xs = _leaves(xs, create_graph)
        one, outs = _call(func, xs, "vjp")
        _check_tracked(outs, "outputs", strict)
        vs = _vector(v, outs, "the user-provided function returns", "vjp")
    with _recorded(create_graph):
        grads = _grads(outs, xs, vs, create_graph, strict, "back")
    return _given(_finished(outs, create_graph), one), _given(
        _finished(grads, create_graph), single
    )


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`func(*inputs)`, and its Jacobian times `v`, which is like the inputs.

    Computed by differentiating a vector-Jacobian product by its vector. Arguments as of `vjp`.
    """
    with enable_grad():
        single, xs = _tuple(inputs, "inputs", "jvp")
        xs = _leaves(xs, create_graph)
        vs = _vector(v, xs, "the input to the user-provided function is", "jvp", single)
        one, outs = _call(func, xs, "jvp")
        _check_tracked(outs, "outputs", strict)
        zeros = tuple(_zeros_like(o).requires_grad_() for o in outs)
        first = _grads(outs, xs, zeros, True, strict, "back")
        _check_tracked(first, "grad_inputs", strict)
    with _recorded(create_graph):
        products = _grads(first, zeros, vs, create_graph, strict, "back_trick")
    return _given(_finished(outs, create_graph), one), _given(
        _finished(products, create_graph), one
    )


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func`: for each output and input a tensor of the output's shape followed
    by the input's.

    One tensor for one output and input; a tuple for several of either, a tuple of tuples (by
    output, then input) for several of both. vectorize is accepted and makes no difference.
    """
    _check_strategy(strategy, "jacobian")
    with enable_grad():
        single, xs = _tuple(inputs, "inputs", "jacobian")
        xs = _leaves(xs, create_graph)
        one, outs = _call(func, xs, "jacobian")
        _check_tracked(outs, "outputs", strict)
        rows = tuple(_jacobian(out, k, xs, create_graph, strict) for k, out in enumerate(outs))
    rows = tuple(_finished(row, create_graph) for row in rows)
    return _given(tuple(_given(row, single) for row in rows), one)


def _jacobian(out: Tensor, k: int, xs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobian of one output by each input."""
    shape, dtype = meta_of(out._array)
    columns: list[list[Tensor]] = [[] for _ in xs]
    for element in range(out._array.size):
        seed = np.zeros(shape, dtype)
        seed.reshape(-1)[element] = 1
        found: Sequence[Tensor | None]
        if out.requires_grad:
            found = grad(
                out, xs, wrap(seed), retain_graph=True, create_graph=create_graph, allow_unused=True
            )
        else:
            found = [None] * len(xs)
        for place, (column, x, g) in enumerate(zip(columns, xs, found, strict=True)):
            if strict and g is None:
                raise RuntimeError(
                    f"Output {k} of the user-provided function is independent of input {place}. "
                    "This is not allowed in strict mode."
                )
            if strict and create_graph and g is not None and not g.requires_grad:
                raise RuntimeError(
                    "The jacobian of the user-provided function is independent of input "
                    f"{place}. This is not allowed in strict mode when create_graph=True."
                )
            column.append(_zeros_like(x) if g is None else g)
    results = []
    for column, x in zip(columns, xs, strict=True):
        whole = (*shape, *x._array.shape)
        if not column:
            results.append(wrap(np.zeros(whole, x._array.dtype)))
            continue
        results.append(recorder("reshape")(recorder("stack")(column, 0), shape=whole))
    return tuple(results)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of `func`, whose result has one element: for each two inputs a tensor of the
    first's shape followed by the second's; a tuple of tuples for several inputs."""
    _check_strategy(outer_jacobian_strategy, "hessian")
    single, xs = _tuple(inputs, "inputs", "hessian")

    def first(*args: Tensor) -> Any:
        out = _scalar(func(*args), "hessian")
        if strict:
            _check_tracked((out,), "outputs", strict)
        if not out.requires_grad:
            return tuple(_zeros_like(x) for x in args)
        found = _grads((out,), args, (_ones_like(out),), True, strict, "hessian")
        _check_tracked(found, "jacobian", strict)
        return found

    whole = jacobian(first, xs, create_graph=create_graph, strict=strict)
    return whole[0][0] if single else whole


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`func(*inputs)`, of one element, and `v`, like the inputs, times its Hessian."""
    with enable_grad():
        single, xs = _tuple(inputs, "inputs", "vhp")
        xs = _leaves(xs, create_graph)
        vs = _vector(v, xs, "the input to the user-provided function is", "vhp", single)
        out = _scalar(func(*xs), "vhp")
        _check_tracked((out,), "outputs", strict)
        first = _grads((out,), xs, (_ones_like(out),), True, strict, "back")
        _check_tracked(first, "jacobian", strict)
    with _recorded(create_graph):
        products = _grads(first, xs, vs, create_graph, strict, "double_back")
    (out,) = _finished((out,), create_graph)
    return out, _given(_finished(products, create_graph), single)


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`func(*inputs)`, of one element, and its Hessian times `v`: as `vhp`, the Hessian being
    symmetric, but by differentiating twice; prefer `vhp`."""
    with enable_grad():
        single, xs = _tuple(inputs, "inputs", "hvp")
        xs = _leaves(xs, create_graph)
        vs = _vector(v, xs, "the input to the user-provided function is", "hvp", single)
        out = _scalar(func(*xs), "hvp")
        _check_tracked((out,), "outputs", strict)
        first = _grads((out,), xs, (_ones_like(out),), True, strict, "back")
        _check_tracked(first, "jacobian", strict)
        zeros = tuple(_zeros_like(x).requires_grad_() for x in xs)
        second = _grads(first, xs, zeros, True, strict, "double_back")
        _check_tracked(second, "grad_inputs", strict)
    with _recorded(create_graph):
        products = _grads(second, zeros, vs, create_graph, strict, "double_back_trick")
    (out,) = _finished((out,), create_graph)
    return out, _given(_finished(products, create_graph), single)


# ---------------------------------------------------------------------------- what all share


def _check_strategy(strategy: str, name: str) -> None:
    if strategy == "forward-mode":
        raise NotImplementedError(
            f"{name}: there is no forward mode AD here; use the strategy 'reverse-mode'."
        )
    if strategy != "reverse-mode":
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )


def _tuple(values: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Whether it was one tensor, and a tuple of tensors; TypeError for anything else."""
    single = not isinstance(values, tuple)
    listed = (values,) if single else values
    for at, value in enumerate(listed):
        if isinstance(value, Tensor):
            continue
        if single:
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"given {what} has type {type(value)}."
            )
        raise TypeError(
            f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
            f"value at index {at} has type {type(value)}."
        )
    return single, listed


def _call(func: Callable[..., Any], xs: Tensors, name: str) -> tuple[bool, Tensors]:
    return _tuple(func(*xs), "outputs of the user-provided function", name)


def _scalar(out: Any, name: str) -> Tensor:
    single, (first, *others) = _tuple(out, "outputs of the user-provided function", name)
    if not single or others:
        raise RuntimeError(
            f"The function given to {name} should return a single Tensor. Let it return one of "
            "them, or their sum."
        )
    if first._array.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element."
            " Reduce it (.sum()), or take a jacobian."
        )
    if first._array.ndim:
        return recorder("reshape")(first, shape=())  # type: ignore[no-any-return]
    return first


def _leaves(xs: Tensors, create_graph: bool) -> Tensors:
    """The inputs so that gradients can be taken by them: part of the graph, or leaves of theirs."""
    if create_graph:
        return tuple(
            recorder("reshape", "ViewBackward0")(x, shape=x._array.shape)
            if x.requires_grad
            else x.detach().requires_grad_()
            for x in xs
        )
    return tuple(x.detach().requires_grad_() for x in xs)


def _vector(v: Any, likes: Tensors, where: str, name: str, single: bool = True) -> Tensors:
    if v is None:
        if len(likes) != 1 or likes[0]._array.size != 1:
            raise RuntimeError(
                f"The vector v can only be None if {where} a single Tensor with a single element."
            )
        return (_ones_like(likes[0]),)
    _, vs = _tuple(v, "v", name)
    if len(vs) != len(likes):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(likes)} but got {len(vs)}."
        )
    for at, (each, like) in enumerate(zip(vs, likes, strict=True)):
        if each._array.shape != like._array.shape:
            entry = f"Entry {at} in v" if len(vs) > 1 else "v"
            raise RuntimeError(
                f"{entry} has invalid size: should be {like.shape} but got {each.shape}."
            )
    return vs


def _ones_like(t: Tensor) -> Tensor:
    ones: Tensor = wrap(np.ones_like(t._array))
    return ones


def _zeros_like(t: Tensor) -> Tensor:
    zeros: Tensor = wrap(np.zeros_like(t._array))
    return zeros


_INDEPENDENT = {
    "outputs": "Output {k} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {k} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {k} is independent of the input. This is not allowed in "
    "strict mode. You should ensure that your function is twice differentiable and that the "
    "jacobian depends on the inputs (this would be violated by a linear function for example).",
}
_UNUSED = {
    "back": "The output of the user-provided function is independent of input {k}. This is not "
    "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {k} in the "
    "grad_outputs when using the double-backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {k}. This "
    "is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {k} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the "
    "double-backward trick to replace forward mode AD.",
    "hessian": "The output of the user-provided function is independent of input {k}. This is not "
    "allowed in strict mode.",
}


def _check_tracked(values: Tensors, what: str, strict: bool) -> None:
    for k, t in enumerate(values):
        if strict and not t.requires_grad:
            raise RuntimeError(_INDEPENDENT[what].format(k=k))


def _grads(
    outs: Tensors, xs: Sequence[Tensor], vs: Tensors, create_graph: bool, strict: bool, stage: str
) -> Tensors:
    """The gradients of those of `outs` that have any; zeros for what is not reached."""
    pairs = [(o, v) for o, v in zip(outs, vs, strict=True) if o.requires_grad]
    found: Sequence[Tensor | None] = [None] * len(xs)
    if pairs:
        found = grad(
            [o for o, _ in pairs],
            xs,
            [v for _, v in pairs],
            create_graph=create_graph,
            retain_graph=True,
            allow_unused=True,
        )
    results = []
    for k, (x, g) in enumerate(zip(xs, found, strict=True)):
        if g is None and strict:
            raise RuntimeError(_UNUSED[stage].format(k=k))
        results.append(_zeros_like(x) if g is None else g)
    return tuple(results)


def _recorded(create_graph: bool) -> Ambient:
    return Ambient(grad=create_graph or ambient.get().asked)


def _finished(values: Tensors, create_graph: bool) -> Tensors:
    return values if create_graph else tuple(t.detach() for t in values)


def _given(values: tuple[Any, ...], single: bool) -> Any:
    return values[0] if single else values
