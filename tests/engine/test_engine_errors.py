"""Wrong use raises, and the message names the function, what was given, and what to do."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.engine import errors


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def ones(*shape: int) -> Tensor:
    return T(np.ones(shape))


WRONG: list[tuple[str, Any, type[Exception], str]] = [
    (
        "backward of several elements",
        lambda: (ones(2) * 1).backward(),
        RuntimeError,
        r"backward: .*scalar outputs.*shape \(2,\)\. Reduce it \(\.sum\(\), .*gradient=",
    ),
    (
        "backward of a constant",
        lambda: Tensor(1.0).backward(),
        RuntimeError,
        r"backward: .*does not require grad.*Tensor\(\.\.\., requires_grad=True\)",
    ),
    (
        "gradient of another shape",
        lambda: ones(2).backward(np.ones(3)),
        ValueError,
        r"backward: gradient must have shape \(2,\), got \(3,\)",
    ),
    (
        "integers that require grad",
        lambda: Tensor([1, 2], requires_grad=True),
        TypeError,
        r"Tensor: only floating.*int64 \(2,\).*1\.0 instead of 1.*dtype=",
    ),
    (
        "shapes that do not broadcast",
        lambda: ones(2, 3) + ones(4),
        ValueError,
        r"add: shapes \(2, 3\) and \(4,\) do not broadcast.*add\(float64 \(2, 3\), float64 \(4,\)\)"
        ".*reshape or unsqueeze",
    ),
    (
        "an array that does not broadcast",
        lambda: np.ones((5, 2)) * ones(3),
        ValueError,
        r"mul: shapes \(5, 2\) and \(3,\) do not broadcast",
    ),
    (
        "where of three shapes",
        lambda: mt.where(np.ones(2, bool), ones(3), ones(4)),
        ValueError,
        r"where: shapes \(2,\) and \(3,\) and \(4,\) do not broadcast",
    ),
    (
        "maximum",
        lambda: mt.maximum(ones(2), ones(3)),
        ValueError,
        r"maximum: shapes \(2,\) and \(3,\) do not broadcast",
    ),
    (
        "comparison",
        lambda: ones(2) < ones(3),
        ValueError,
        r"less: shapes \(2,\) and \(3,\) do not broadcast",
    ),
    (
        "broadcast_to",
        lambda: ones(2, 3).broadcast_to(2, 4),
        ValueError,
        r"broadcast_to: .*\(2, ?3\).*\(2, ?4\)",
    ),
    (
        "axis too large",
        lambda: ones(2, 3).sum(axis=2),
        ValueError,
        r"sum: axis 2 is out of range for 2 dimensions; use -2 to 1\. Got sum\(float64 \(2, 3\)",
    ),
    (
        "axis too small",
        lambda: ones(2, 3).mean(-3),
        ValueError,
        r"mean: axis -3 is out of range for 2 dimensions; use -2 to 1",
    ),
    (
        "one of several axes",
        lambda: ones(2, 3).max(axis=(0, 5)),
        ValueError,
        "max: axis 5 is out of range",
    ),
    (
        "an axis twice",
        lambda: ones(2, 3).sum(axis=(1, -1)),
        ValueError,
        r"sum: axis \(1, -1\) names the same axis twice",
    ),
    (
        "an axis that is no integer",
        lambda: ones(2, 3).sum(axis=1.0),
        TypeError,
        "sum: .*'float' object cannot be interpreted as an integer.*axis=1.0",
    ),
    (
        "an axis that is a truth value",
        lambda: ones(2, 3).sum(True),
        TypeError,
        "sum: axis must be an integer, not True",
    ),
    ("softmax axis", lambda: ones(2).softmax(1), ValueError, "softmax: axis 1 is out of range"),
    ("cumsum axis", lambda: ones(2).cumsum(3), ValueError, "cumsum: axis 3 is out of range"),
    ("flip axis", lambda: ones(2).flip(3), ValueError, "flip: axis 3 is out of range"),
    ("argmax axis", lambda: ones(2).argmax(3), ValueError, "argmax: axis 3 is out of range"),
    (
        "the largest of nothing",
        lambda: ones(0).max(),
        ValueError,
        r"max: zero-size array.*max\(float64 \(0,\)",
    ),
    (
        "reshape",
        lambda: ones(2, 3).reshape(4),
        ValueError,
        r"reshape: 6 elements of shape \(2, 3\) cannot take the shape \(4,\)",
    ),
    (
        "reshape with -1",
        lambda: ones(2, 3).reshape(-1, 4),
        ValueError,
        r"reshape: 6 elements of shape \(2, 3\) cannot take the shape \(-1, 4\)",
    ),
    (
        "reshape with two -1",
        lambda: ones(2, 3).reshape(-1, -1),
        ValueError,
        r"reshape: shape \(-1, -1\) may hold one -1",
    ),
    (
        "reshape of nothing",
        lambda: ones(0, 3).reshape(0, -1),
        ValueError,
        r"reshape: the -1 in shape \(0, -1\) could be anything",
    ),
    (
        "permute",
        lambda: ones(2, 3).permute(0),
        ValueError,
        "permute: axes 0 must name each of 2 dimensions once",
    ),
    (
        "squeeze",
        lambda: ones(2, 3).squeeze(0),
        ValueError,
        r"squeeze: axis 0 of shape \(2, 3\) has size 2, not 1",
    ),
    (
        "matmul of matrices",
        lambda: ones(2, 3) @ ones(2, 3),
        ValueError,
        r"matmul: the last size of \(2, 3\) and the last but one size of \(2, 3\) must be equal",
    ),
    (
        "matmul of a matrix and a vector",
        lambda: ones(2, 3) @ ones(2),
        ValueError,
        r"matmul: the last size of \(2, 3\) and the only size of \(2,\) must be equal",
    ),
    (
        "matmul of batches",
        lambda: ones(2, 3, 4) @ ones(5, 4, 3),
        ValueError,
        r"matmul: .*float64 \(2, 3, 4\), float64 \(5, 4, 3\)",
    ),
    ("matmul of a number", lambda: ones(2, 3) @ 2.0, ValueError, r"matmul: .*use \* for a number"),
    (
        "linear",
        lambda: mt.linear(ones(2, 3), ones(4, 2)),
        ValueError,
        r"linear: weight must be \(out, in\).*\(2, 3\), weight \(4, 2\)",
    ),
    (
        "linear's bias",
        lambda: mt.linear(ones(2, 3), ones(4, 3), ones(3)),
        ValueError,
        r"linear: bias must have shape \(4,\), not \(3,\)",
    ),
    ("trace", lambda: mt.trace(ones(2)), ValueError, r"trace: .*two dimensions, got shape \(2,\)"),
    ("tril", lambda: mt.tril(ones(2)), ValueError, "tril: needs at least two dimensions, got 1"),
    (
        "cat of other sizes",
        lambda: mt.cat([ones(2), ones(2, 2)]),
        ValueError,
        r"cat: .*cat\(float64 \(2,\), float64 \(2, 2\), axis=0\)",
    ),
    ("cat of nothing", lambda: mt.cat([]), ValueError, "cat: needs at least one array"),
    (
        "stack",
        lambda: mt.stack([ones(2), ones(1)]),
        ValueError,
        r"stack: all input arrays must have the same shape.*\(2,\), float64 \(1,\)",
    ),
    (
        "split",
        lambda: mt.split(ones(3), 2),
        ValueError,
        r"split: size 3 cannot be cut into 2 equal pieces\. Got shape \(3,\), axis=0",
    ),
    ("pad", lambda: mt.pad(ones(2), -1), ValueError, "pad: pad_width must hold integers from 0"),
    ("pad mode", lambda: mt.pad(ones(2), 1, "mean"), ValueError, "pad: mode 'mean'.*use constant"),
    (
        "clip",
        lambda: ones(2).clip(),
        ValueError,
        "clip: one of min and max must be given",
    ),
    (
        "gelu",
        lambda: ones(2).gelu("exact"),
        ValueError,
        "gelu: approximate must be 'none' or 'tanh', not 'exact'",
    ),
    (
        "layer_norm",
        lambda: mt.layer_norm(ones(2, 3), 4),
        ValueError,
        r"layer_norm: the last sizes of x must be normalized_shape=\(4,\), not \(3,\)",
    ),
    ("dropout", lambda: mt.dropout(ones(2), 1.5), ValueError, "dropout: p must be between 0 and 1"),
    # ---------------------------------------------------------------------------------- index
    (
        "an index out of range",
        lambda: ones(2, 3)[5],
        IndexError,
        r"getitem: index 5 is out of bounds for axis 0 with size 2\. Got getitem\(float64 \(2, 3\)",
    ),
    ("too many indices", lambda: ones(2)[0, 0], IndexError, "getitem: too many indices"),
    (
        "an index that is a float",
        lambda: ones(2)[1.5],
        IndexError,
        r"getitem: an index is made of integers, slices.*not 1\.5",
    ),
    (
        "an index of floats",
        lambda: ones(2)[np.array([0.0])],
        IndexError,
        "getitem: .*not an array of float64",
    ),
    (
        "an array of indices out of range",
        lambda: ones(2)[np.array([0, 7])],
        IndexError,
        "getitem: index 7 is out of bounds",
    ),
    (
        "a mask of another shape",
        lambda: ones(2)[np.array([True])],
        IndexError,
        "getitem: boolean index did not match",
    ),
    (
        "gather",
        lambda: mt.gather(ones(2), [[0]]),
        ValueError,
        "gather: index has 2 dimensions, but x has 1",
    ),
    (
        "gather of floats",
        lambda: mt.gather(ones(2), [0.5]),
        TypeError,
        "gather: index must be an integer array, not float",
    ),
    (
        "scatter_add",
        lambda: ones(3).scatter_add(np.array([0, 1]), ones(1)),
        ValueError,
        r"scatter_add: src of shape \(1,\) is smaller than index of shape \(2,\)",
    ),
    (
        "embedding",
        lambda: mt.embedding(ones(3, 2), np.array([0, 3])),
        IndexError,
        "embedding: index out of range.*rows 0 to 2",
    ),
    (
        "embedding of floats",
        lambda: mt.embedding(ones(3, 2), np.array([0.0])),
        TypeError,
        "embedding: indices must be integers, got float64",
    ),
    # ---------------------------------------------------------------------------------- losses
    (
        "a class out of range",
        lambda: mt.cross_entropy(ones(2, 3), np.array([0, 3])),
        IndexError,
        r"cross_entropy: Target 3 is out of bounds: class numbers go from 0 to 2.* at \(1,\)",
    ),
    (
        "a negative class",
        lambda: mt.cross_entropy(ones(2, 3), np.array([-1, 0])),
        IndexError,
        "cross_entropy: Target -1 is out of bounds",
    ),
    (
        "classes that are floats",
        lambda: mt.cross_entropy(ones(2, 3), np.array([0.0, 1.0])),
        TypeError,
        r"cross_entropy: target must hold class numbers.*float64 \(2,\)\. Use target\.astype",
    ),
    (
        "classes of another shape",
        lambda: mt.cross_entropy(ones(2, 3), np.array([0, 1, 1])),
        ValueError,
        r"cross_entropy: scores of shape \(2, 3\) want a target of shape \(2,\), got \(3,\)",
    ),
    (
        "scores of no axes",
        lambda: mt.cross_entropy(T(1.0), np.array(0)),
        ValueError,
        r"cross_entropy: scores must be \(N, C, \.\.\.\) or \(C,\)",
    ),
    (
        "class weights",
        lambda: mt.cross_entropy(ones(2, 3), np.array([0, 1]), np.ones(2)),
        ValueError,
        r"cross_entropy: weight must hold one number a class, got shape \(2,\)",
    ),
    (
        "a reduction",
        lambda: mt.cross_entropy(ones(2, 3), np.array([0, 1]), reduction="average"),
        ValueError,
        "cross_entropy: reduction must be mean, sum or none, not 'average'",
    ),
    (
        "label smoothing",
        lambda: mt.cross_entropy(ones(2, 3), np.array([0, 1]), label_smoothing=2),
        ValueError,
        r"cross_entropy: label_smoothing must be in \[0, 1\], got 2",
    ),
    (
        "nll_loss",
        lambda: mt.nll_loss(ones(2, 3), np.array([0, 5])),
        IndexError,
        "nll_loss: Target 5 is out of bounds",
    ),
    (
        "mse_loss's reduction",
        lambda: mt.mse_loss(ones(2), ones(2), reduction="no"),
        ValueError,
        "mse_loss: reduction must be",
    ),
    (
        "no probabilities",
        lambda: mt.binary_cross_entropy(T([2.0]), T([1.0])),
        ValueError,
        "all elements of x should be between 0 and 1.*with_logits",
    ),
    (
        "probabilities of another shape",
        lambda: mt.binary_cross_entropy(T([0.5]), T([1.0, 0.0])),
        ValueError,
        r"binary_cross_entropy: x of shape \(1,\) and target of shape \(2,\)",
    ),
    # ---------------------------------------------------------------------------------- einsum
    (
        "einsum sizes",
        lambda: mt.einsum("ij,jk", ones(2, 3), ones(4, 3)),
        ValueError,
        r"einsum: label 'j' of 'ij,jk' has sizes 3 and 4; got shapes \[\(2, 3\), \(4, 3\)\]",
    ),
    (
        "einsum operands",
        lambda: mt.einsum("ij,jk", ones(2, 3)),
        ValueError,
        "einsum: 'ij,jk' has 2 operands, but 1 were given",
    ),
    (
        "einsum letters",
        lambda: mt.einsum("i1", ones(2, 3)),
        ValueError,
        "einsum: '1' in 'i1' is not a letter",
    ),
    (
        "einsum axes",
        lambda: mt.einsum("i", ones(2, 3)),
        ValueError,
        "einsum: 'i' in 'i' names 1 axes, but the operand has 2",
    ),
    (
        "einsum result",
        lambda: mt.einsum("i->k", ones(2)),
        ValueError,
        "einsum: label 'k' of the result of 'i->k'",
    ),
    (
        "einsum diagonal",
        lambda: mt.einsum("ii", ones(2, 3)),
        ValueError,
        r"einsum: label 'i' .*sizes (2 and 3|3 and 2)",
    ),
]


@pytest.mark.parametrize(
    ("call", "kind", "message"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG]
)
def test_wrong_use_raises_and_says_what_to_do(
    call: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(mt.MinitorchError, match=message) as caught:
        call()
    assert isinstance(caught.value, kind)


@pytest.mark.parametrize("call", [row[1] for row in WRONG], ids=[row[0] for row in WRONG])
def test_the_message_is_the_same_under_no_grad(call: Any) -> None:
    with pytest.raises(mt.MinitorchError) as tracked:
        call()
    with mt.no_grad(), pytest.raises(mt.MinitorchError) as untracked:
        call()
    assert type(tracked.value) is type(untracked.value)
    if "backward" not in str(tracked.value):
        assert str(tracked.value) == str(untracked.value)


def test_an_unknown_option_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'dim'"):
        ones(2).sum(dim=0)


def test_an_unknown_name_of_the_package() -> None:
    with pytest.raises(AttributeError, match="module 'minitorch' has no attribute 'softsign'"):
        mt.softsign(1.0)


def test_the_tree_of_errors() -> None:
    builtin = {
        errors.ShapeError: (ValueError, RuntimeError),
        errors.DTypeError: (TypeError, RuntimeError),
        errors.IndexingError: (IndexError,),
        errors.GraphError: (RuntimeError,),
        errors.MutationError: (errors.GraphError, RuntimeError),
        errors.FaceError: (TypeError,),
        errors.GradcheckError: (RuntimeError,),
    }
    for error, kinds in builtin.items():
        assert issubclass(error, errors.MinitorchError)
        for kind in kinds:
            assert issubclass(error, kind)
        assert getattr(mt, error.__name__) is error


def test_what_is_nobodys_mistake_stays_what_it_was(make_op: Any) -> None:
    def forward(x: Any) -> Any:
        raise MemoryError("too large")

    op = make_op("test_memory", forward, {"x": lambda g: g})
    with pytest.raises(MemoryError, match="too large"):
        op(ones(2))


def test_the_cause_is_kept() -> None:
    with pytest.raises(ValueError, match="reshape") as caught:
        ones(2).reshape(3)
    assert isinstance(caught.value.__cause__, ValueError)
    assert "cannot take the shape" in str(caught.value.__cause__)


def test_long_values_are_shortened_and_arrays_are_described() -> None:
    assert errors.describe(np.zeros((2, 3), np.float32)) == "float32 (2, 3)"
    assert errors.describe([np.zeros(2), np.ones(1, int)]) == "[float64 (2,), int64 (1,)]"
    assert len(errors.describe(list(range(1000)))) == 60
    assert errors.describe(None) == "None"
