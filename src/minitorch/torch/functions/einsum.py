"""`einsum`: sums of products by index labels, as PyTorch takes them apart into products."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.face import recorder
from minitorch.torch.functions.linalg import _bmm, _mul
from minitorch.torch.functions.parts import diagonal
from minitorch.torch.functions.reduce import sum as total
from minitorch.torch.functions.shape import _permute, _squeeze_some, _view, reshape, unsqueeze

__all__ = ["einsum"]

_sum = recorder("sum", "SumBackward1")
ELLIPSIS = 52


class EinsumError(RuntimeError, ValueError):
    """An equation that does not fit its operands."""


def einsum(equation: Any, *operands: Any) -> Any:
    """Sums of products by index labels: einsum("ij,jk->ik", x, y) is a matrix product.

    Letters name dimensions, "..." those that broadcast; without "->" the result has the labels
    that occur once, in order. RuntimeError where labels and shapes disagree.
    """
    if not isinstance(equation, str):
        equation, operands = _from_lists(equation, operands)
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    terms, arrow, output = equation.replace(" ", "").partition("->")
    labels = [_labels(term) for term in terms.split(",")]
    _check_counts(labels, operands)
    hidden = _hidden(labels, operands)
    places, used = _places(labels, arrow, output, hidden)
    ready = [
        _arranged(x, names, places, used, hidden, number)
        for number, (x, names) in enumerate(zip(operands, labels, strict=True))
    ]
    _check_sizes(labels, operands, places, hidden)
    kept = len([label for label in places if places[label] < used[0]])
    return _contracted(ready, used[0], used[1], kept)


def _from_lists(first: Any, rest: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as an equation."""

    def letters(numbers: Any) -> str:
        return "".join(
            "..." if n is Ellipsis else chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)
            for n in numbers
        )

    given = [first, *rest]
    operands = given[0 : len(given) - len(given) % 2 : 2]
    equation = ",".join(letters(given[k]) for k in range(1, len(given), 2))
    if len(given) % 2:
        equation += "->" + letters(given[-1])
    return equation, tuple(operands)


def _labels(term: str) -> list[str]:
    """The labels of one operand; "..." is one."""
    found: list[str] = []
    place = 0
    while place < len(term):
        if term[place] == ".":
            if term[place : place + 3] != "..." or "..." in found:
                raise EinsumError(
                    "einsum(): found '.' for operand that is not part of any ellipsis"
                )
            found.append("...")
            place += 3
            continue
        if not (term[place].isascii() and term[place].isalpha()):
            raise EinsumError(
                f"einsum(): invalid subscript given at index {place} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        found.append(term[place])
        place += 1
    return found


def _check_counts(labels: list[list[str]], operands: tuple[Any, ...]) -> None:
    if not operands:
        raise EinsumError("einsum(): must provide at least one operand")
    if len(operands) < len(labels):
        raise EinsumError("einsum(): fewer operands were provided than specified in the equation")
    if len(operands) > len(labels):
        raise EinsumError("einsum(): more operands were provided than specified in the equation")
    for number, (names, x) in enumerate(zip(labels, operands, strict=True)):
        if not isinstance(x, Tensor):
            raise TypeError(f"einsum(): operand {number} must be Tensor, not {type(x).__name__}")
        own = len([name for name in names if name != "..."])
        if "..." not in names and own != x._array.ndim:
            raise EinsumError(
                f"einsum(): the number of subscripts in the equation ({own}) does not match the "
                f"number of dimensions ({x._array.ndim}) for operand {number} and no ellipsis was "
                "given"
            )
        if own > x._array.ndim:
            raise EinsumError(
                f"einsum(): the number of subscripts in the equation ({own}) is more than the "
                f"number of dimensions ({x._array.ndim}) for operand {number}"
            )


def _hidden(labels: list[list[str]], operands: tuple[Any, ...]) -> int:
    """How many dimensions an ellipsis stands for, at most."""
    return max(
        (
            x._array.ndim - len(names) + 1
            for x, names in zip(operands, labels, strict=True)
            if "..." in names
        ),
        default=0,
    )


def _places(
    labels: list[list[str]], arrow: str, output: str, hidden: int
) -> tuple[dict[str, int], tuple[int, int]]:
    """For each label its dimension in the common order, that of the result first; and how many
    dimensions the result has, and all together."""
    counts: dict[str, int] = {}
    for names in labels:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    if arrow:
        wanted = _labels(output)
        for name in wanted:
            if wanted.count(name) > 1:
                raise EinsumError(
                    f"einsum(): output subscript {name} appears more than once in the output"
                )
            if name not in counts and name != "...":
                raise EinsumError(
                    f"einsum(): output subscript {name} does not appear in the equation for any "
                    "input operand"
                )
    else:
        wanted = ["..."] if "..." in counts else []
        wanted += sorted(name for name in counts if counts[name] == 1 and name != "...")
    places: dict[str, int] = {}
    at = 0
    for name in wanted:
        places[name] = at
        at += hidden if name == "..." else 1
    shown = at
    if "..." in counts and "..." not in places:
        places["..."] = at
        at += hidden
    for name in sorted(set(counts) - set(places)):
        places[name] = at
        at += 1
    return places, (shown, at)


def _arranged(
    x: Any,
    names: list[str],
    places: dict[str, int],
    used: tuple[int, int],
    hidden: int,
    number: int,
) -> Any:
    """An operand with all dimensions of the common order, of size 1 where it has none."""
    order = [-1] * used[1]
    dim = 0
    for name in names:
        if name == "...":
            own = x._array.ndim - (len(names) - 1)
            # Fewer dimensions than the widest ellipsis: they stand at its end.
            for k in range(hidden - own, hidden):
                order[places[name] + k] = dim
                dim += 1
            continue
        place = places[name]
        if order[place] >= 0:
            shape = x._array.shape
            if shape[order[place]] != shape[dim]:
                raise EinsumError(
                    f"einsum(): subscript {name} is repeated for operand {number} but the sizes "
                    f"don't match, {shape[dim]} != {shape[order[place]]}"
                )
            first = order[place]
            x = diagonal(x, 0, first, dim)
            last = x._array.ndim - 1
            back = list(range(last))
            back.insert(first, last)
            x = _permute(x, tuple(back))
        else:
            order[place] = dim
            dim += 1
    for place, have in enumerate(order):
        if have < 0:
            order[place] = dim
            x = unsqueeze(x, dim)
            dim += 1
    return _permute(x, tuple(order))


def _check_sizes(
    labels: list[list[str]], operands: tuple[Any, ...], places: dict[str, int], hidden: int
) -> None:
    seen: dict[str, int] = {}
    for number, (names, x) in enumerate(zip(labels, operands, strict=True)):
        shape = x._array.shape
        dim = 0
        for name in names:
            if name == "...":
                dim += len(shape) - (len(names) - 1)
                continue
            size = shape[dim]
            if seen.get(name, 1) == 1:
                seen[name] = size
            elif size not in (1, seen[name]):
                raise EinsumError(
                    f"einsum(): subscript {name} has size {size} for operand {number} which does "
                    f"not broadcast with previously seen size {seen[name]}"
                )
            dim += 1


def _contracted(operands: list[Any], shown: int, ndim: int, kept: int) -> Any:
    """The operands multiplied from left to right; what only they had is summed on the way."""
    last_use = [0] * ndim
    for number, x in enumerate(operands):
        for dim, size in enumerate(x._array.shape):
            if size != 1:
                last_use[dim] = number
    result = operands[0]
    done: set[int] = set()
    if len(operands) == 1:
        return _alone(result, tuple(range(shown, ndim)))
    for number in range(1, len(operands)):
        other = operands[number]
        gone = []
        early = []
        for dim in range(shown, ndim):
            if dim in done:
                continue
            if last_use[dim] < number:
                early.append(dim)
            elif last_use[dim] == number:
                gone.append(dim)
        sum_left = [d for d in early if result._array.shape[d] != 1]
        done.update(early)
        if sum_left:
            result = _summed(result, sum_left)
        result = _pair(result, other, gone)
        done.update(gone)
    if shown < ndim:
        shape = result._array.shape
        result = (
            _view(result, shape[:shown])
            if result._base is not None
            else _squeeze_some(result, tuple(range(shown, ndim)))
        )
    return result


def _alone(x: Any, dims: tuple[int, ...]) -> Any:
    """The sum over dimensions, if there are any."""
    if not dims:
        return x
    return total(x, dims) if x._array.dtype.kind in "iub" else _sum(x, dims, False)


def _summed(x: Any, dims: list[int]) -> Any:
    """The sum over dimensions, kept; integers add up in int64."""
    if x._array.dtype.kind in "iub":
        return total(x, dims, True)
    return _sum(x, tuple(dims), True)


def _pair(left: Any, right: Any, gone: list[int]) -> Any:
    """The sum over the dimensions `gone` of the product of two operands, those kept as size 1."""
    a, b = left._array.shape, right._array.shape
    lone_left = [d for d in gone if a[d] != 1 and b[d] == 1]
    lone_right = [d for d in gone if b[d] != 1 and a[d] == 1]
    if lone_left:
        left = _summed(left, lone_left)
    if lone_right:
        right = _summed(right, lone_right)
    both = [d for d in gone if a[d] != 1 and b[d] != 1]
    if not both:
        return _mul(left, right)
    a, b = left._array.shape, right._array.shape
    rest = [d for d in range(len(a)) if d not in both]
    batch = [d for d in rest if a[d] != 1 and b[d] != 1]
    rows = [d for d in rest if a[d] != 1 and b[d] == 1]
    columns = [d for d in rest if a[d] == 1]

    def count(shape: Any, dims: list[int]) -> int:
        found = 1
        for d in dims:
            found *= shape[d]
        return found

    x = reshape(
        _permute(left, (*batch, *rows, *both, *columns)),
        (count(a, batch), count(a, rows), count(a, both)),
    )
    y = reshape(
        _permute(right, (*batch, *both, *columns, *rows)),
        (count(b, batch), count(b, both), count(b, columns)),
    )
    order = [*batch, *rows, *both, *columns]
    shape = tuple(
        1 if d in both else max(a[d], b[d]) if 0 not in (a[d], b[d]) else 0 for d in order
    )
    back = tuple(order.index(d) for d in range(len(a)))
    return _permute(_view(_bmm(x, y), shape), back)
