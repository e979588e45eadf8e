"""`autograd.functional`: jacobian, hessian, vjp, jvp, hvp, vhp."""

from typing import Any

import pytest
from same_log import both_raise, same

import minitorch.torch as mt


def vector(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64)


def api(t: Any) -> Any:
    return t.autograd.functional


def both_of(a: Any, b: Any) -> Any:
    return a * b.sum(), (a * a).sum() * b


def energy(a: Any, b: Any) -> Any:
    return (a * a * b).sum() + b.exp().sum()


def test_jacobians() -> None:
    def program(t: Any, log: Any) -> Any:
        x, y = vector(t, 1.0, 2.0), vector(t, 3.0, 4.0)
        jacobian = api(t).jacobian
        log(jacobian(lambda a: a * a, x), jacobian(lambda a: a.sum(), x))
        log(jacobian(both_of, (x, y)), jacobian(lambda a: both_of(a, a), x))
        log(jacobian(lambda a, b: a * b, (x, y)), jacobian(lambda a: (a * 2,), (x,)))
        log(jacobian(lambda a: a[:, None] * a, x).shape, jacobian(lambda a: a.sum(), x.sum()))
        log(jacobian(lambda a: vector(t, 1.0, 2.0), x), jacobian(lambda a: a.sum(1), x[:, None]))
        log(jacobian(lambda a: a * a, x, vectorize=True, strategy="reverse-mode"))
        log(x.requires_grad)

    same(program)


def test_hessians() -> None:
    def program(t: Any, log: Any) -> Any:
        x, y = vector(t, 1.0, 2.0), vector(t, 0.3, 0.4)
        hessian = api(t).hessian
        log(hessian(lambda a: (a**3).sum(), x), hessian(energy, (x, y)))
        log(hessian(lambda a: a.sum(), x), hessian(lambda a: (a**3).sum()[None], x, vectorize=True))

    same(program)


def test_products() -> None:
    def program(t: Any, log: Any) -> Any:
        x, y, v, w = (vector(t, a, b) for a, b in [(1, 2), (0.3, 0.4), (5, 6), (7, 8)])
        f = api(t)
        log(
            f.vjp(both_of, (x, y), (v, w)),
            f.vjp(lambda a: a.sum(), x),
            f.vjp(lambda a: a * a, x, v),
        )
        log(f.jvp(both_of, (x, y), (v, w)), f.jvp(lambda a: a * a, x, v))
        log(f.jvp(lambda a: a * 3, vector(t, 2.0)), f.vjp(lambda a: (a * 2,), (x,), (v,)))
        log(f.hvp(lambda a: (a**3).sum(), x, v), f.vhp(lambda a: (a**3).sum(), x, v))
        log(f.hvp(energy, (x, y), (v, w)), f.vhp(energy, (x, y), (v, w)))
        log(f.vhp(lambda a: (a**3).sum(), vector(t, 2.0)), f.hvp(lambda a: a.sum(), x, v))
        with t.no_grad():
            log(f.vjp(lambda a: a * a, x, v), f.jvp(lambda a: a * a, x, v))

    same(program)


def test_results_that_can_be_differentiated() -> None:
    def program(t: Any, log: Any) -> Any:
        x, v = vector(t, 1.0, 2.0).requires_grad_(), vector(t, 5.0, 6.0)
        f = api(t)
        found = [
            f.jacobian(lambda a: a * a * a, x, create_graph=True),
            f.hessian(lambda a: (a**4).sum(), x, create_graph=True),
            f.vjp(lambda a: a * a * a, x, v, create_graph=True)[1],
            f.jvp(lambda a: a * a * a, x, v, create_graph=True)[1],
            f.vhp(lambda a: (a**4).sum(), x, v, create_graph=True)[1],
            f.hvp(lambda a: (a**4).sum(), x, v, create_graph=True)[1],
        ]
        for each in found:
            log(each.detach(), each.requires_grad)
            log(t.autograd.grad(each.sum(), x))

    same(program)


SINGLE = lambda t: vector(t, 1.0, 2.0)  # noqa: E731
PAIR = lambda t: (vector(t, 1.0, 2.0), vector(t, 3.0, 4.0))  # noqa: E731


@pytest.mark.parametrize(
    "call",
    [
        lambda t, f: f.jacobian(lambda a: SINGLE(t), SINGLE(t), strict=True),
        lambda t, f: f.jacobian(lambda a, b: a * 2, PAIR(t), strict=True),
        lambda t, f: f.jacobian(lambda a: 3, SINGLE(t)),
        lambda t, f: f.jacobian(lambda a: (a, 3), SINGLE(t)),
        lambda t, f: f.jacobian(lambda a: a, 3),
        lambda t, f: f.jacobian(lambda a: a, SINGLE(t), strategy="some"),
        lambda t, f: f.hessian(lambda a: a, SINGLE(t)),
        lambda t, f: f.hessian(lambda a: (a.sum(), a.sum()), SINGLE(t)),
        lambda t, f: f.hessian(lambda a: a.sum(), SINGLE(t), strict=True),
        lambda t, f: f.vjp(both_of, PAIR(t)),
        lambda t, f: f.vjp(lambda a: a, SINGLE(t), vector(t, 1.0)),
        lambda t, f: f.vjp(both_of, PAIR(t), SINGLE(t)),
        lambda t, f: f.vjp(lambda a, b: a * 2, PAIR(t), SINGLE(t), strict=True),
        lambda t, f: f.jvp(both_of, PAIR(t), SINGLE(t)),
        lambda t, f: f.jvp(both_of, (SINGLE(t), 3), PAIR(t)),
        lambda t, f: f.jvp(both_of, PAIR(t), (SINGLE(t), vector(t, 1.0))),
        lambda t, f: f.jvp(lambda a: a.detach(), SINGLE(t), SINGLE(t), strict=True),
        lambda t, f: f.hvp(lambda a: a.sum(), SINGLE(t), SINGLE(t), strict=True),
        lambda t, f: f.hvp(lambda a: a, SINGLE(t), SINGLE(t)),
        lambda t, f: f.hvp(lambda a: a.sum(), SINGLE(t)),
        lambda t, f: f.vhp(lambda a: a, SINGLE(t), SINGLE(t)),
        lambda t, f: f.vhp(lambda a: a.sum(), SINGLE(t), SINGLE(t), strict=True),
    ],
)
def test_errors(call: Any) -> None:
    both_raise(lambda t, log: call(t, api(t)), "must be either" if _types(call) else "")


def _types(call: Any) -> bool:
    """Whether the message names a class, which is not the same in both libraries."""
    return 3 in call.__code__.co_consts or any(
        3 in getattr(each, "co_consts", ()) for each in call.__code__.co_consts
    )


def test_forward_mode_is_not_there_and_says_so() -> None:
    for function in ("jacobian", "hessian"):
        key = "strategy" if function == "jacobian" else "outer_jacobian_strategy"
        with pytest.raises(NotImplementedError, match="reverse-mode"):
            getattr(api(mt), function)(
                lambda a: a.sum(), SINGLE(mt), vectorize=True, **{key: "forward-mode"}
            )


def test_what_the_namespace_lacks_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"forward_ad.*functional\.jvp"):
        _ = mt.autograd.forward_ad
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mt.autograd.nonsense
