"""`torch.library.opcheck`: each way an operator can break its word, found by both libraries."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from test_torch_library import LIBS, fresh, hinted, make, sine, x_of

import minitorch.torch as mt

DEFAULT = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)


def outcome(t: Any, op: Any, args: Any, **options: Any) -> dict[str, Any]:
    """The result of each test: "SUCCESS", or the kind of the error and its first words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, of what it finds on the way
        found = t.library.opcheck(op, args, raise_exception=False, **options)
    return {
        name: result
        if result == "SUCCESS"
        else (type(result).__name__, str(getattr(result, "reason", result)).split(" (with")[0])
        for name, result in found.items()
    }


def agree(call: Callable[[Any], Any]) -> dict[str, Any]:
    """What both libraries find; equal but for advice that follows PyTorch's words."""
    theirs, ours = call(torch), call(mt)
    assert list(ours) == list(theirs)
    for name, result in theirs.items():
        if result == "SUCCESS":
            assert ours[name] == "SUCCESS", name
        else:
            assert ours[name][0] == result[0], name
            assert ours[name][1] == result[1], name
    return theirs


def test_an_operator_that_keeps_its_word() -> None:
    def call(t: Any) -> Any:
        return outcome(t, sine(t), (x_of(t),))

    assert agree(call) == dict.fromkeys(DEFAULT, "SUCCESS")
    for t in LIBS:
        op = sine(t, "minitorch_tests::good")
        for form in (op, t.ops.minitorch_tests.good, t.ops.minitorch_tests.good.default):
            assert t.library.opcheck(form, (x_of(t),)) == dict.fromkeys(DEFAULT, "SUCCESS")
        found = t.library.opcheck(op, (), {"x": x_of(t)}, test_utils="test_schema")
        assert found == {"test_schema": "SUCCESS"}


def test_an_undeclared_mutation() -> None:
    def kernel(x: Any) -> Any:
        x.sin_()
        return x * 2

    def call(t: Any) -> Any:
        op = make(t, kernel)
        op.register_fake(lambda x: t.empty_like(x))
        return outcome(t, op, (t.ones(3),))

    assert agree(call)["test_schema"] == (
        "RuntimeError",
        "Argument x is not defined as mutable but was mutated",
    )


def test_a_declared_mutation_is_fine_and_the_arguments_stay_as_they_were() -> None:
    def kernel(x: Any, y: Any) -> Any:
        x.add_(y)
        return y * 2

    def call(t: Any) -> Any:
        op = make(t, kernel, {"x"})
        op.register_fake(lambda x, y: t.empty_like(y))
        x = t.ones(2)
        found = outcome(t, op, (x, t.ones(2)))
        assert x.tolist() == [1.0, 1.0]
        return found

    assert set(agree(call).values()) == {"SUCCESS"}


def test_an_undeclared_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    # PyTorch is stricter where the environment says CI; what users get is compared.
    monkeypatch.setattr(torch._functorch.config, "error_on_custom_op_aliasing", False)
    name = fresh("alias")

    def call(t: Any) -> Any:
        t.library.define(name, "(Tensor x) -> Tensor")
        t.library.impl(name, "cpu", lambda x: x.view(-1))
        t.library.register_fake(name, lambda x: t.empty_like(x))
        op = getattr(t.ops.minitorch_tests, name.partition("::")[2])
        return outcome(t, op.default, (t.ones(3),))

    found = agree(call)
    assert found["test_schema"][1] == "Argument x is not defined to alias output but was aliasing"
    assert "outputs_alias_inputs" in found["test_faketensor"][1]


@pytest.mark.parametrize("what", ["shape", "dtype", "strides", "second"])
def test_a_fake_that_does_not_look_like_the_real_one(what: str) -> None:
    name = fresh("mismatch")

    def wrong(t: Any, x: Any) -> Any:
        if what == "shape":
            return x.new_empty(4, 2)
        if what == "dtype":
            return t.empty_like(x, dtype=t.float16)
        return t.empty(x.shape[::-1], dtype=x.dtype).t()

    def call(t: Any) -> Any:
        if what == "second":
            function = hinted(t, lambda x: (x * 2, x * 3), return_=tuple[t.Tensor, t.Tensor])
            op = t.library.custom_op(name, function, mutates_args=())
            op.register_fake(lambda x: (t.empty_like(x), t.empty_like(x)[:1]))
        else:
            op = t.library.custom_op(name, hinted(t, lambda x: x * 2), mutates_args=())
            op.register_fake(lambda x: wrong(t, x))
        return outcome(t, op, (t.ones(3, 2),))

    assert agree(call)["test_faketensor"][0] == "MetadataMismatchError"


def test_a_missing_fake_and_a_missing_formula() -> None:
    name = fresh("bare")

    def call(t: Any) -> Any:
        def plain(x: Any) -> Any:
            return x * 2

        op = t.library.custom_op(name, hinted(t, plain), mutates_args=())
        first = outcome(t, op, (t.ones(3),), test_utils=("test_schema", "test_faketensor"))
        op.register_fake(lambda x: t.empty_like(x))
        second = outcome(t, op, (t.ones(3, requires_grad=True),), test_utils=DEFAULT[2:])
        return {**first, "second": ("", str(second))}

    found = agree(call)
    assert "There was no fake impl registered" in found["test_faketensor"][1]
    assert "no autograd formula was registered" in found["second"][1]


def test_failures_are_raised_by_default() -> None:
    name = fresh("raises")
    for t in LIBS:
        op = t.library.custom_op(name, hinted(t, lambda x: x.sin_() * 2), mutates_args=())
        with pytest.raises(Exception) as info:
            t.library.opcheck(op, (t.ones(3),))
        assert info.type.__name__ == "OpCheckError"
        assert str(info.value) == (
            "opcheck(op, ...): test_schema failed with Argument x is not defined as mutable but "
            "was mutated (scroll up for stack trace)"
        )
        assert isinstance(info.value.__cause__, RuntimeError)


def test_what_cannot_be_checked() -> None:
    for t in LIBS:
        with pytest.raises(ValueError, match=r"op must be instance of torch\._ops\.OpOverload"):
            t.library.opcheck("sin", (t.ones(3),))
        with pytest.raises(ValueError, match="expected test_utils to be subset of"):
            t.library.opcheck(sine(t), (x_of(t),), test_utils="test_nothing")


def test_a_wrong_gradient_is_found_by_gradcheck_alone() -> None:
    def call(t: Any) -> Any:
        op = make(t, lambda x: x * 2)
        op.register_fake(lambda x: t.empty_like(x))
        op.register_autograd(lambda ctx, g: g * 3)
        with pytest.raises(Exception, match="Jacobian mismatch for output 0 with respect to input"):
            t.autograd.gradcheck(op, (x_of(t),))
        return outcome(t, op, (x_of(t),))

    assert set(agree(call).values()) == {"SUCCESS"}
    op = make(mt, lambda x: x * 2)
    op.register_autograd(lambda ctx, g: g * 3)
    found = mt.library.opcheck(op, (x_of(mt),), test_utils="test_gradcheck", raise_exception=False)
    assert "Jacobian mismatch" in str(found["test_gradcheck"])
    op.register_autograd(lambda ctx, g: g * 2)
    found = mt.library.opcheck(op, (x_of(mt),), test_utils="test_gradcheck")
    assert found == {"test_gradcheck": "SUCCESS"}
    with pytest.raises(mt.library.OpCheckError, match="nothing to check"):
        mt.library.opcheck(op, (x_of(mt).detach(),), test_utils="test_gradcheck")
