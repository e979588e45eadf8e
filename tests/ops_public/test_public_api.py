"""The public names: those that are promised are there, and each says what it does."""

import ast
import contextlib
import inspect
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigrad
import minitorch
from minitorch import Tensor, check, constructors, ops
from minitorch.engine import errors, mode


def words(text: str) -> list[str]:
    return text.split()


# What a user may build on: a name can be added here, and none may go.
NOT_OPERATIONS = words("""
    DTypeError FaceError GradcheckError GraphError IndexingError MinitorchError
    MutationError ShapeError Tensor __version__ arange check data debug enable_grad eye fft full
    full_like grad graph is_grad_enabled kernels linalg linspace no_grad ones ones_like ops rand
    randint randn randperm set_grad_enabled tensor zeros zeros_like
""")
NOT_OPERATIONS += words("""
    append array_split atleast_1d atleast_2d atleast_3d average broadcast_arrays column_stack
    concat concatenate corrcoef cov cross cumulative_prod cumulative_sum diag diagflat diff dot
    dsplit dstack ediff1d expand_dims fliplr flipud gradient hsplit hstack inner kron
    matrix_transpose median meshgrid nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nanvar percentile permute_dims ptp quantile ravel
    roll rollaxis rot90 sort take_along_axis tensordot trapezoid unstack vdot vecdot vsplit vstack
""")
OPERATIONS = words("""
    abs add all angle any argmax argmin astype binary_cross_entropy
    binary_cross_entropy_with_logits broadcast_to cat clip conj contract cos cosh cross_entropy
    cumprod cumsum diagonal div dropout einsum embedding equal erf exp expm1 flip gather
    gelu getitem greater greater_equal imag isfinite isinf isnan layer_norm leaky_relu less
    less_equal linear log log1p log_softmax logical_and logical_not logical_or logsumexp
    manual_seed matmul max maximum mean min minimum moveaxis mse_loss mul neg nll_loss
    not_equal outer pad permute pow prod put_add real reciprocal relu repeat reshape rsqrt
    scatter_add sigmoid sign silu sin sinh softmax softplus split sqrt square squeeze stack
    std sub sum sum_to swapaxes take tan tanh tile trace transpose tril triu unsqueeze var
    where
""")
METHODS = words("""
    abs add all angle any argmax argmin clip conj cos cosh cumprod cumsum div equal erf exp expm1
    flip
    gather gelu greater greater_equal isfinite isinf isnan leaky_relu less less_equal log
    log1p log_softmax logical_not logsumexp matmul max maximum mean min minimum mul neg
    not_equal pad pow prod reciprocal relu repeat rsqrt scatter_add sigmoid sign silu sin
    sinh softmax softplus split sqrt square squeeze std sub sum swapaxes take tan tanh tile
    tril triu unsqueeze var
""")
OWN = words("""
    T astype backward broadcast_to copy data detach dtype flatten grad imag item ndim numpy
    permute real requires_grad reshape shape size tolist transpose
""")


def stubs() -> dict[str, inspect.Signature]:
    """What operators.py declares for type checkers, as signatures."""
    source = Path(inspect.getfile(Tensor)).with_name("operators.py").read_text(encoding="utf-8")
    space: dict[str, Any] = {"Any": Any, "Tensor": Tensor}
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            exec(compile(ast.Module([node], []), "operators.py", "exec"), space)
            found[node.name] = inspect.signature(space[node.name])
    return found


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function that has been called: some are written at their first call."""
    with contextlib.suppress(TypeError):
        function()
    return inspect.signature(function)


STUBS = stubs()


@pytest.mark.parametrize("name", [*NOT_OPERATIONS, *OPERATIONS])
def test_a_promised_name_is_public(name: str) -> None:
    assert name in minitorch.__all__
    assert getattr(minitorch, name) is not None


def test_all_names_each_name_once_and_each_exists() -> None:
    assert len(set(minitorch.__all__)) == len(minitorch.__all__)
    for name in minitorch.__all__:
        assert hasattr(minitorch, name)


def test_all_is_sorted_the_operations_after_the_rest() -> None:
    rest = [name for name in minitorch.__all__ if name not in ops.__all__]
    assert rest == sorted(rest) == sorted(NOT_OPERATIONS)
    assert minitorch.__all__ == [*rest, *ops.__all__]


def test_all_of_a_family_is_sorted_and_its_own() -> None:
    # Not from `vars(ops)`: `ops.matmul` is the function, and hides the module.
    families = [m for name, m in sys.modules.items() if name.startswith("minitorch.ops.")]
    named = []
    for module in families:
        names = getattr(module, "__all__", [])
        assert len(names) == len(set(names)), module.__name__
        named += names
    assert sorted(named) == sorted(ops.__all__)


def test_no_public_name_of_the_package_is_missing_from_all() -> None:
    public = {
        name
        for name, value in vars(minitorch).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
        if getattr(value, "__module__", "").startswith("minitorch")
    }
    assert public - set(minitorch.__all__) - {"annotations"} == set()


def test_constructors_modes_and_errors_are_all_public() -> None:
    for module in (constructors, mode, errors):
        own = {
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
            if isinstance(value, type) or module is constructors
            if name.islower() or module is not mode  # a class for users is called like a function
        }
        assert own - set(minitorch.__all__) == set()


def test_star_import_gives_what_all_names() -> None:
    space: dict[str, Any] = {}
    exec("from minitorch import *", space)
    assert set(minitorch.__all__) <= set(space)


def test_lazy_modules_are_attributes() -> None:
    code = (
        "import sys, minitorch\n"
        "print('minitorch.check' in sys.modules, 'minitorch.graph' in sys.modules)\n"
        "print(minitorch.check.gradcheck.__name__, minitorch.graph.to_svg.__name__)\n"
        "print(minitorch.data.__name__)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert result.stdout.split() == [
        *("False", "False", "gradcheck", "to_svg", "minitorch.data"),
    ], result.stderr


@pytest.mark.parametrize("name", minitorch.__all__)
def test_every_public_name_says_what_it_is(name: str) -> None:
    value = getattr(minitorch, name)
    if name == "__version__":
        assert value.count(".") == 2
        return
    doc = inspect.getdoc(value) or ""
    assert len(doc) > 10


@pytest.mark.parametrize("name", ops.__all__)
def test_every_operation_has_named_parameters(name: str) -> None:
    parameters = list(signature(getattr(minitorch, name)).parameters.values())
    assert parameters
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            assert (name, parameter.name) in {("einsum", "operands")}
        assert parameter.kind is not parameter.VAR_KEYWORD


@pytest.mark.parametrize("name", METHODS)
def test_a_promised_method_exists_and_is_declared(name: str) -> None:
    assert callable(getattr(Tensor, name))
    assert name in STUBS


@pytest.mark.parametrize("name", OWN)
def test_what_a_tensor_has_of_its_own_is_documented(name: str) -> None:
    value = inspect.getattr_static(Tensor, name)
    assert name in vars(Tensor)
    if name not in {"shape", "dtype", "ndim", "size"}:
        assert inspect.getdoc(value)


@pytest.mark.parametrize("name", STUBS)
def test_what_is_declared_for_type_checkers_is_what_there_is(name: str) -> None:
    method = getattr(Tensor, name)
    assert method is not getattr(object, name, None)
    declared, real = STUBS[name], signature(method)
    wanted = list(declared.parameters.values())[1:]
    have = list(real.parameters.values())[1:]
    if name.startswith("__"):
        assert len(have) == len(wanted)
        return
    assert [p.name for p in have[: len(wanted)]] == [p.name for p in wanted]
    for given, there in zip(wanted, have, strict=False):
        assert given.default == there.default, given.name
        assert given.kind is not given.VAR_KEYWORD
        if given.default is not given.empty:
            assert there.kind in {there.POSITIONAL_OR_KEYWORD, there.KEYWORD_ONLY}
    # What is not declared may be left out.
    for extra in have[len(wanted) :]:
        assert extra.default is not extra.empty


def test_every_operator_of_the_tensor_is_declared() -> None:
    made = {
        name
        for name in vars(Tensor)
        if name.startswith("__") and callable(vars(Tensor)[name]) and not hasattr(object, name)
    }
    own = words("""
    __getitem__ __setitem__ __iter__ __len__ __bool__ __float__ __int__ __index__ __array__
    __array_ufunc__ __array_function__ __deepcopy__ __contains__ __format__
""")
    assert made - set(STUBS) - set(own) == set()
    for name in STUBS:
        if name.startswith("__"):
            assert name in vars(Tensor)


@pytest.mark.parametrize("module", [minigrad, check, minitorch.graph, minitorch.kernels])
def test_the_other_modules_document_what_they_offer(module: Any) -> None:
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    assert names
    for name in names:
        assert inspect.getdoc(getattr(module, name)), name
