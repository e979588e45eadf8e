"""`gradcheck` and `gradgradcheck` with PyTorch's arguments, checks and messages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.check.gradcheck import as_reals, central_differences, index_of, real_seeds
from minitorch.engine.errors import GradcheckError
from minitorch.engine.mode import enable_grad, no_grad
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.autograd.engine import grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Jacobians = list[list[np.ndarray]]


@enable_grad()
def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of `func` agree with central differences; True, or GradcheckError.

    func     from the inputs to a tensor or a tuple of them
    inputs   tensors of any shape, those that require grad float64 or complex128, and anything else
    eps      the step; atol, rtol: |analytical - numerical| <= atol + rtol * |numerical|
    raise_exception  False: give False where else GradcheckError is raised
    nondet_tol       how much two backward passes may differ
    check_undefined_grad  also that missing cotangents are handled (as zeros, or None)
    fast_mode        accepted; the check is always of the whole Jacobian
    """
    if check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError(
            "gradcheck: there is no forward mode AD here; leave check_forward_ad out."
        )
    if check_batched_grad:
        raise NotImplementedError(
            "gradcheck: there is no vmap here; leave check_batched_grad out. "
            "torch.autograd.grad(..., is_grads_batched=True) loops over the cotangents."
        )
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        _check_inputs(given)
        if check_backward_ad:
            _check(func, given, eps, atol, rtol, nondet_tol, check_grad_dtypes)
            if check_undefined_grad:
                _check_undefined(func, given)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


@enable_grad()
def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the second derivatives of `func` agree with central differences of the first.

    grad_outputs  the cotangents, which are inputs of the check too; drawn if left out
    gen_non_contig_grad_outputs  draw them with gaps in memory

    Other arguments and errors as of `gradcheck`.
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = _differentiable(func(*given))
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        cotangents = []
        for out in outputs:
            shape = (*out._array.shape, 2) if gen_non_contig_grad_outputs else out._array.shape
            drawn = np.asarray(rng.uniform(-1, 1, shape), out._array.dtype)
            if drawn.dtype.kind == "c":
                drawn = drawn + 1j * rng.uniform(-1, 1, shape)
            cotangents.append(wrap(drawn[..., 0] if gen_non_contig_grad_outputs else drawn))
            cotangents[-1]._tracked = True
    else:
        cotangents = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    count = len(cotangents)
    places = [k for k, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]

    @enable_grad()
    def first(*args: Any) -> tuple[Tensor, ...]:
        xs, gs = args[: len(args) - count], args[len(args) - count :]
        xs = tuple(_tracked(x) if k in places else x for k, x in enumerate(xs))
        outs = _differentiable(func(*xs))
        found = grad(outs, [xs[k] for k in places], list(gs), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first,
        (*given, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _tracked(t: Tensor) -> Tensor:
    """`t`, or in its place, if numerical differences are being taken, a leaf of its memory."""
    return t if t.requires_grad else t.detach().requires_grad_()


def _check_inputs(given: Sequence[Any]) -> None:
    some = False
    for place, t in enumerate(given):
        if not isinstance(t, Tensor) or not t.requires_grad:
            continue
        some = True
        array = t._array
        if array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{place} requires gradient and is not a double precision floating point "
                "or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        if array.size and 0 in {
            s for s, n in zip(array.strides, array.shape, strict=True) if n > 1
        }:
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    if not some:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )


def _listed(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def _differentiable(outputs: Any) -> list[Tensor]:
    return [o for o in _listed(outputs) if isinstance(o, Tensor) and o.requires_grad]


def _numerical(func: Callable[..., Any], given: Sequence[Any], x: Tensor, eps: float) -> Any:
    def evaluate() -> list[np.ndarray]:
        with no_grad():
            return [o._array for o in _listed(func(*given)) if o._array.dtype.kind in "fc"]

    return central_differences(evaluate, x._array, eps)


def _analytical(
    out: Tensor, xs: Sequence[Tensor], same_dtype: bool, scale: float = 1.0
) -> list[np.ndarray]:
    """d out / d x for each x, (size of x, size of out), by one backward an element of `out`."""
    shape, dtype = out._array.shape, out._array.dtype
    count = as_reals(out._array).size
    found = [np.zeros((as_reals(x._array).size, count), x._array.real.dtype) for x in xs]
    for k, seed in enumerate(real_seeds(shape, dtype, scale)):
        grads = grad(out, xs, wrap(seed), retain_graph=True, allow_unused=True)
        for jacobian, x, g in zip(found, xs, grads, strict=True):
            if g is None:
                continue
            if same_dtype and g._array.dtype != x._array.dtype:
                raise GradcheckError("Gradient has dtype of another than its input")
            jacobian[:, k] = as_reals(g._array)
    return found


def _check(
    func: Callable[..., Any],
    given: Sequence[Any],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    same_dtype: bool,
) -> None:
    places = [k for k, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]
    xs = [given[k] for k in places]
    outs = _listed(func(*given))
    for out in outs:
        if not isinstance(out, Tensor):
            raise GradcheckError(
                f"gradcheck: the function returned {type(out).__name__}; it must return a Tensor "
                "or a tuple of Tensors."
            )
    outs = [o for o in outs if o._array.dtype.kind in "fc"]
    numerical = [_numerical(func, given, x, eps) for x in xs]
    if not any(o.requires_grad for o in outs):
        if any(np.any(np.abs(n) > atol) for per_input in numerical for n in per_input):
            raise GradcheckError(
                "Numerical gradient for function expected to be zero: its result does not require "
                "grad, yet changes with the inputs (was it detached?)."
            )
        return
    for number, out in enumerate(outs):
        if not out.requires_grad:
            continue
        analytical = _analytical(out, xs, same_dtype)
        for at, (place, exact) in enumerate(zip(places, analytical, strict=True)):
            _compare(numerical[at][number], exact, number, place, out, given[place], atol, rtol)
        again = _analytical(out, xs, same_dtype)
        for exact, second in zip(analytical, again, strict=True):
            if np.any(np.abs(exact - second) > nondet_tol):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {nondet_tol}. Find what differs from "
                    "call to call (random numbers, state), or pass nondet_tol=."
                )
        for g in _analytical(out, xs, same_dtype, 0.0):
            if np.any(g != 0):
                raise GradcheckError(
                    "backward not multiplied by grad_output: the gradient for a cotangent of zeros "
                    "is not zero"
                )


def _compare(
    numerical: np.ndarray,
    analytical: np.ndarray,
    number: int,
    place: int,
    out: Tensor,
    x: Tensor,
    atol: float,
    rtol: float,
) -> None:
    close = np.isclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return
    row, column = (int(k) for k in np.argwhere(~close)[0])
    at, to = index_of(row, x._array), index_of(column, out._array)
    made = out.grad_fn.name() if out.grad_fn is not None else "no operation"
    raise GradcheckError(
        f"Jacobian mismatch for output {number} with respect to input {place},\n"
        f"numerical:{wrap(numerical.astype(analytical.dtype))}\n"
        f"analytical:{wrap(analytical)}\n"
        f"First at input index {at}, output index {to} (of {made}): numerical "
        f"{float(numerical[row, column])!r}, analytical {float(analytical[row, column])!r}; "
        f"{int((~close).sum())} of {close.size} entries differ by more than atol={atol:g} + "
        f"rtol={rtol:g} * |numerical|. If the function has a kink or a tie nearby, move the input; "
        "else correct its backward."
    )


def _check_undefined(func: Callable[..., Any], given: Sequence[Any]) -> None:
    """That a backward for some results only gives something of it, and no error."""
    xs = [t for t in given if isinstance(t, Tensor) and t.requires_grad]
    outs = _differentiable(func(*given))
    if len(outs) < 2:
        return
    for out in outs:
        seed = wrap(np.ones(out._array.shape, out._array.dtype))
        try:
            grad(out, xs, seed, retain_graph=True, allow_unused=True)
        except TypeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: it failed where only "
                f"some results have a gradient ({error}). Without set_materialize_grads(False) "
                "backward gets zeros for the others."
            ) from error
