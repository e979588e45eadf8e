"""`gradcheck` and `gradgradcheck`: what passes, what fails, and in which words."""

from typing import Any

import pytest
from same_log import both_raise, same


def leaf(t: Any, *values: float, dtype: str = "float64") -> Any:
    return t.tensor(list(values), dtype=getattr(t, dtype), requires_grad=True)


def wrong(t: Any, forward: Any, backward: Any) -> Any:
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Wrong", (t.autograd.Function,), body).apply


def test_what_is_right_passes() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 0.5, 0.7)
        check, second = t.autograd.gradcheck, t.autograd.gradgradcheck
        for fn, inputs in [
            (lambda a: a.exp() * a, x),
            (lambda a, b: a * b, (x, w)),
            (lambda a, b: (a * b, a.sin(), 2 * b), [x, w]),
            (lambda a, k, b: a * k + b, (x, 3.0, w.detach())),
            (lambda a: a.sum(), (x.detach().reshape(2, 1).T.requires_grad_(),)),
            (lambda a: a * a, (t.eye(3, dtype=t.float64).T.requires_grad_(),)),
            (lambda a: (a * 2).unbind(), (x,)),
        ]:
            log(check(fn, inputs), second(fn, inputs))
        log(check(lambda a: a * a, x, fast_mode=True), check(lambda a: a * a, x, eps=1e-4))
        log(second(lambda a: a.exp(), x, leaf(t, 1.0, 2.0)))
        log(second(lambda a: a.exp(), x, gen_non_contig_grad_outputs=True))
        log(x, x.grad)

    same(program)


def test_a_wrong_gradient() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = wrong(t, lambda ctx, a: a * 3, lambda ctx, g: g * 2)
        log(t.autograd.gradcheck(fn, leaf(t, 1.0, 2.0), raise_exception=False))
        t.autograd.gradcheck(fn, leaf(t, 1.0, 2.0))

    words = (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[3.0000, 0.0000],\n"
        "        [0.0000, 3.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[2., 0.],\n"
        "        [0., 2.]], dtype=torch.float64)\n"
    )
    error = both_raise(program, words, "WrongBackward")
    assert "First at input index (0,), output index (0,)" in str(error)
    assert "analytical 2.0" in str(error)


def test_which_output_and_which_input() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = wrong(t, lambda ctx, a, b: (a * b, a + b), lambda ctx, g, h: (g * 0 + h, h))
        t.autograd.gradcheck(
            lambda a, b: fn(a, b)[1] * 1 + 0 * fn(a, b)[0].detach(), (leaf(t, 1.0), leaf(t, 2.0))
        )
        t.autograd.gradcheck(lambda a, b: (b * 2, fn(a, b)[0] * 2), (leaf(t, 1.0), leaf(t, 2.0)))

    both_raise(program, "Jacobian mismatch for output 1 with respect to input 0,\nnumerical:tensor")


def test_a_detached_result() -> None:
    both_raise(
        lambda t, log: t.autograd.gradcheck(lambda a: a.detach() * 2, leaf(t, 1.0)),
        "Numerical gradient for function expected to be zero",
    )
    same(lambda t, log: log(t.autograd.gradcheck(lambda a: a.detach() * 0, leaf(t, 1.0))))


def test_a_backward_that_differs_from_call_to_call() -> None:
    def program(t: Any, log: Any) -> Any:
        count = [0]

        def backward(ctx: Any, g: Any) -> Any:
            count[0] += 1
            return g * 3 + 1e-7 * count[0] * g

        t.autograd.gradcheck(wrong(t, lambda ctx, a: a * 3, backward), leaf(t, 1.0, 2.0))

    both_raise(program, "Backward is not reentrant, i.e., running backward with same input")


def test_a_backward_without_the_cotangent() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = wrong(t, lambda ctx, a: a * 3, lambda ctx, g: t.full_like(g, 3.0))
        t.autograd.gradcheck(fn, leaf(t, 1.0))

    both_raise(program, "backward not multiplied by grad_output")


def test_a_wrong_second_derivative() -> None:
    def program(t: Any, log: Any) -> Any:
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a * a

        # The right value, but a's part in it is hidden.
        fn = wrong(t, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0].detach())
        log(t.autograd.gradcheck(fn, leaf(t, 1.0, 2.0)))
        t.autograd.gradgradcheck(fn, leaf(t, 1.0, 2.0))

    both_raise(program, "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor")


@pytest.mark.filterwarnings("ignore:Input #")
def test_inputs_that_cannot_be_checked() -> None:
    both_raise(lambda t, log: t.autograd.gradcheck(lambda a: a, leaf(t, 1.0).expand(3)))
    both_raise(lambda t, log: t.autograd.gradcheck(lambda a: a, t.ones(2)))

    def single(t: Any, log: Any) -> Any:
        with pytest.warns(UserWarning, match="Input #1 requires gradient and is not a double"):
            t.autograd.gradcheck(
                lambda a, b: a * b.double(), (leaf(t, 1.0), leaf(t, 2.0, dtype="float32"))
            )

    both_raise(single, "Jacobian mismatch for output 0 with respect to input 1,\nnumerical:tensor")


def test_what_is_not_there_says_so() -> None:
    import minitorch.torch as mt

    x = leaf(mt, 1.0)
    for option in ("check_forward_ad", "check_batched_grad", "check_batched_forward_grad"):
        with pytest.raises(NotImplementedError, match="gradcheck: there is no"):
            mt.autograd.gradcheck(lambda a: a, x, **{option: True})
