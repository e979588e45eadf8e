"""`x[...]`, `x[...] = v`, and reading and writing at indices along a dimension or under a mask."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from side_by_side import chain, compare, compare_errors, same_gradients, same_value, sides

import minitorch.torch as mt

RNG = np.random.default_rng(1)
DATA = {
    "x": RNG.normal(size=(2, 3, 4)),
    "m": RNG.normal(size=(3, 3)),
    "v": RNG.normal(size=3),
    "s": np.array(2.0),
    "w": RNG.normal(size=4),
    "i": np.array([0, 2, 0]),
    "j": np.array([1, -1, 0]),
    "k": np.array([[0, 1, 2], [2, 1, 0]]),
    "one": np.array(1),
    "mask": np.array([True, False, True]),
    "m2": np.array([[True, False, True], [True, True, False]]),
    "yes": np.array(True),
    "z": np.arange(12).reshape(3, 4),
}
TRACKED = "x m v s w"

READS = """
x[0] | x[-1] | x[0, 1] | x[0, 1, 2] | x[0:1] | x[:] | x[:, 1:] | x[0, 1:] | x[..., 0] | x[..., 1:]
x[None] | x[:, None] | x[0, ..., 1:3] | x[()] | x[...] | x[:, :] | x[::2] | x[..., ::2] | x[1:1]
x[-5:1] | x[5:] | x[2:1] | x[:, -2:] | x[..., None] | x[..., 0, None] | x[None, 0, None] | s[None]
s[...] | s[()] | x[0, ..., ...] | x[0:one] | x[one:] | x[np.int64(1)] | x[one, 0] | x[one]
m[[0, 1]] | m[i] | x[:, [0, 1]] | x[0, [0, 1]] | x[x > 0] | m[m > 0] | m[mask] | m[[True, False, True]]
m[True] | m[False] | m[yes] | m[:, True] | m[0, True] | m[True, False] | m[:, None, [0, 1]]
m[[0, 1], 1:] | m[mask, [0]] | m[i, j] | m[None, i] | m[i, None] | x[m2] | x[m2, 1:] | x[m2, ..., 1:]
x[m2, 0] | x[:, mask, 1:] | x[0, mask] | x[[0, 1], :, [0, 1]] | x[..., i, 0] | x[..., [0, 1], 0]
x[k[:, :2] % 2, i[:2]] | x[k % 2] | x[:, k] | x[one, i] | x[i % 2, one] | x[[]] | x[i[:0]]
x[(0, 1)] | x[(0, 1),] | x[0, (0, 1)] | x[range(2)] | x[np.array([0, 1])] | x[np.array(1)]
x[:, np.array([True, False, True])] | x[[[0, 1], [1, 2]]] | x[[slice(0, 1)]] | x[[None, 0]]
x[[0, one]] | x[i % 2, :, j] | x[None, i % 2, None, j] | x[1, [0, 1], None] | m[[1.5]]
m.gather(0, k[:1]) | m.gather(1, k) | torch.gather(x, 2, k[:, :, None]) | v.gather(0, i)
m.index_select(0, i) | m.index_select(1, i[:0]) | torch.index_select(x, dim=-1, index=i)
s.index_select(0, i[:1]) | m.masked_select(m > 0) | torch.masked_select(m, mask)
m.take(k) | torch.take(x, j) | torch.take_along_dim(m, k[:1], 0) | torch.take_along_dim(m, i[None])
torch.take_along_dim(m, m.argsort(1), dim=1) | torch.take_along_dim(v, i)
x.unbind(1)[1][0] | x[0].t()[1:] | list(m)[1]
"""
WRITES = """
m.scatter(0, k[:1], m[:1]) | m.scatter(1, k, m[:2]) | m.scatter(0, k[:1], 1.5)
torch.scatter(m, dim=0, index=k[:1], value=2.0)
m.scatter_add(0, k, m[:2]) | m.scatter_add(1, k[:, :0], m[:2, :0])
m.scatter_reduce(0, k, m[:2], "sum") | m.scatter_reduce(1, k, m[:2], "prod")
m.scatter_reduce(0, k, m[:2], "mean") | m.scatter_reduce(0, k, m[:2], "amax")
m.scatter_reduce(0, k, m[:2], "amin", include_self=False)
m.scatter_reduce(0, k, m[:2], "mean", include_self=False)
m.index_add(0, i, m) | m.index_add(1, i[:2], m[:, :2], alpha=2) | v.index_add(0, i, v)
m.index_copy(0, i[:2], m[:2])
m.index_copy(1, i[:2], m[:, :2]) | v.index_copy(0, i[:1], s)
m.index_fill(0, i, 1.5) | m.index_fill(1, i[:1], s) | m.index_fill(0, j, 2) | s.index_fill(0, i[:1], 1)
m.index_put((i[:2],), m[:2]) | m.index_put((i,), v, accumulate=True) | m.index_put((mask,), s)
m.index_put((i, j), v, accumulate=True)
torch.index_put(m, (m > 0,), s)
m.masked_fill(m > 0, 1.5) | m.masked_fill(mask, s) | v.masked_fill(m > 0, 0.0) | m.masked_fill(yes, 2)
m.masked_scatter(m > 0, x) | m.masked_scatter(mask, m) | torch.fill(m, 2.0) | torch.fill(m, s)
"""
PLAIN = """
z[1] | z[:, 1:] | z[z > 3] | z[i, j] | z[[0]] | z.nonzero() | z.nonzero(as_tuple=True)
torch.argwhere(z > 5) | s.detach().nonzero() | s.detach().nonzero(as_tuple=True) | mask.nonzero()
torch.nonzero(z % 2) | z.take(j) | z.gather(1, k.long() % 4) | mask[i] | z.masked_fill(z > 3, 9)
z.index_fill(0, i, 5) | z.scatter_add(0, k, z[:2]) | z.scatter_reduce(0, k, z[:2], "mean")
z.index_add(0, i, z) | z.masked_select(z > 3)
"""


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


@pytest.mark.parametrize("code", rows(READS))
def test_reading(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


@pytest.mark.parametrize("code", rows(READS))
def test_reading_without_gradients(code: str) -> None:
    compare(code, DATA)


@pytest.mark.parametrize("code", rows(WRITES))
def test_writing_out_of_place(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


@pytest.mark.parametrize("code", rows(PLAIN))
def test_integers(code: str) -> None:
    ours, theirs = sides(DATA)
    same_value(ours.run(code), theirs.run(code), code)


# ---------------------------------------------------------------------------- assignment

PLACES = (
    *("0", "-1", "0, 1", "0, 1, 2", "slice(None)", "slice(0, 1)", "(slice(None), slice(None))"),
    *("...", "()", "None", "True", "False", "(0, slice(1, None))", "(..., 0)", "(slice(None), 1)"),
    *("[0]", "i % 2", "(0, [0, 1])", "(slice(None), i)", "m2", "x0 > 0", "(m2, 0)", "one"),
    *("(slice(None), mask)", "(i % 2, j)", "(..., [1])", "(None, 0)", "(slice(None), None, 0)"),
    "np.array([1])",
)
VALUES = ("1.5", "2", "True", "s", "w", "w[None, None]", "torch.tensor(3.0)", "s.double()", "x0[0]")


@pytest.mark.parametrize("base", ["x.clone()", "x.detach().clone()", "x.clone().transpose(0, 1)"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", PLACES)
def test_assignment(place: str, value: str, base: str) -> None:
    code = f"x0 = x.detach().clone()\nc = {base}\nc[{place}] = {value}\nc"
    ours, theirs = sides(DATA, TRACKED)
    try:
        other = theirs.run(code)
    except Exception:
        compare_errors(code, DATA, TRACKED)
        return
    mine = ours.run(code)
    same_value(mine, other, code)
    assert chain(mine.grad_fn) == chain(other.grad_fn), code
    assert mine._version == other._version, code
    same_gradients(ours, theirs, [mine], [other], code)


@pytest.mark.parametrize(
    "code",
    [
        "c = z.clone()\nc[0] = 1.7\nc",
        "c = z.clone()\nc[[1]] = 2.5\nc",
        "c = z.clone()\nc[1] = torch.tensor(1.5)\nc",
        "c = z.clone()\nc[:, 0] = v\nc",
        "c = z.clone()\nc[z > 3] = -1\nc",
        "c = mask.clone()\nc[0] = 0\nc",
        "c = m.clone()\nc[0] = w[:3]\nc",
        "c = m.clone()\nc[1:] = 0\nc[1:] += v\nc",
        "c = m.clone()\nc[0][1] = 5\nc",
        "c = m.clone()\nc.t()[0] = v\nc",
        "c = m.clone()\nc[c > 0] *= 2\nc",
        "c = m.clone()\nc[i] += 1\nc",
        "c = m.clone()\nc.diagonal()[:] = 0\nc",
        "c = m.clone()\nc.view(-1)[::2] = s\nc",
        "c = torch.zeros(3, 3).double()\nc[0] = v\nc[1] = v * 2\nc[2, :2] = s\nc",
    ],
)
def test_assignment_in_programs(code: str) -> None:
    compare(code, DATA, TRACKED)


ERRORS = """
m[5] | m[0, 5] | m[-4] | m[0, 0, 0] | m[::-1] | m[[5]] | m[torch.tensor([5])] | m[1.5]
m[[0, 1], [0, 1, 2]] | m[None, None, 0, 0, 0] | m[torch.tensor(1.0)] | s[0] | s[:] | m[[True, False]]
m[mask, mask, mask] | m[torch.zeros(2, dtype=torch.bool)] | m[torch.zeros(3, 2, dtype=torch.bool)]
m[slice(1.5)] | m[0:2:0] | m[i, i, i] | m[torch.tensor([1.5])] | m[{}] | m["a"]
m.gather(0, torch.tensor([[5]])) | m.gather(0, i) | m.gather(0, torch.zeros(4, 4, dtype=torch.long))
m.gather(0, m) | m.gather(5, k) | m.gather(0, torch.tensor([[-1]])) | m.index_select(0, torch.tensor([5]))
m.index_select(0, k) | m.index_select(0, v) | m.index_select(3, i) | m.take(torch.tensor([50])) | m.take(v)
m.scatter(0, torch.tensor([[5]]), 1.0) | m.scatter(0, k, m.float())
m.index_add(0, i, m[:2]) | m.index_add(0, i[:1], m[:1, :2])
m.index_add(0, torch.tensor([5]), m[:1]) | m.index_add(0, i, m.float()) | m.index_add(0, i, s)
m.index_copy(0, i, m[:2]) | m.index_copy(0, i[:1], v) | m.index_copy(0, i[:1], m[:1, :2])
m.index_copy(0, torch.tensor([-1]), m[:1]) | m.index_fill(0, torch.tensor([5]), 1.0)
m.index_fill(0, i, v) | m.masked_fill(m, 1.0) | m.masked_fill(mask, v) | m.masked_select(m)
m.masked_scatter(m > -9, v) | m.masked_scatter(mask, m.float()) | m.index_put((i,), m.float())
m.index_put((i, i, i), v) | m.index_put((i,), torch.zeros(2).double()) | torch.take_along_dim(m, i, 0)
"""
WORDS_DIFFER = {'m["a"]'}


@pytest.mark.parametrize("code", rows(ERRORS))
def test_errors(code: str) -> None:
    compare_errors(code, DATA, words=code not in WORDS_DIFFER)


@pytest.mark.parametrize(
    "change",
    [
        "c[0] = torch.ones(4)",
        "c[0, 0] = torch.ones(2).double()",
        "c[0] = torch.ones(2, 3).double()",
        "c[[0, 1]] = torch.ones(4).double()",
        "c[[0]] = torch.ones(3)",
        "c[0] = 'a'",
        "c[0] = [1.0, 2.0, 3.0]",
        "c[0] = 1j",
        "c[0] = None",
        "c[0] = np.ones(3)",
        "c[5] = 1.0",
        "c[::-1] = 1.0",
        "c[[7]] = 1.0",
        "c[0] = c[:, 0, None, None]",
        "m[0] = 1.0",
        "m[:] = m",
        "m[[0]] = 1.0",
        "m[...] = 1.0",
        "torch.zeros(1, 3).expand(2, 3)[:] = v.detach().float()",
    ],
)
def test_errors_of_assignment(change: str) -> None:
    compare_errors(f"c = m.detach().clone()\n{change}\nc", DATA, TRACKED)


def test_a_refused_assignment_changes_nothing() -> None:
    for lib in (mt, torch):
        c = lib.zeros(3, 3)
        with pytest.raises(RuntimeError):
            c[0] = lib.ones(4)
        assert c._version == 0
        assert c.sum().item() == 0


def test_indexing_by_bytes_is_deprecated() -> None:
    for lib in (mt, torch):
        with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
            found = lib.arange(3.0)[lib.tensor([1, 0, 1], dtype=lib.uint8)]
        assert found.tolist() == [0.0, 2.0]


def test_repeated_indices_add_up() -> None:
    x = mt.ones(3, requires_grad=True)
    (x[[0, 0, 1]] * mt.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 0.0]


def test_filling_a_buffer_joins_the_graph() -> None:
    a, b = mt.ones(2, 2, requires_grad=True), mt.zeros(4, 4)
    b[:2, :2] = a
    b.sum().backward()
    assert a.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


# -------------------------------------------------------------------- any index whatever


@st.composite
def indices(draw: st.DrawFn) -> tuple[tuple[int, ...], str]:
    """A shape, and an index that may or may not fit it, as text."""
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    seed = draw(st.integers(0, 99))
    whole = st.integers(-3, 3)
    slices = st.tuples(st.none() | whole, st.none() | whole, st.sampled_from([None, 1, 2]))
    part = st.one_of(
        whole.map(str),
        slices.map(lambda s: f"slice{s}"),
        st.sampled_from(["None", "...", "True"]),
        st.lists(st.integers(-2, 2), min_size=1, max_size=3).map(lambda n: f"torch.tensor({n})"),
        st.sampled_from(
            ["torch.tensor([[0], [1]])", "[0, 1]", f"some({seed}, 1)", f"some({seed}, 2)"]
        ),
    )
    # What a second ... stands for PyTorch does not say.
    parts = draw(st.lists(part, min_size=1, max_size=4).filter(lambda p: p.count("...") < 2))
    return shape, "(" + ", ".join(parts) + ",)"


MANY = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
@MANY
@given(indices())
def test_any_index_reads_and_writes_as_in_pytorch(drawn: tuple[tuple[int, ...], str]) -> None:
    shape, index = drawn
    data = {"x": np.random.default_rng(0).normal(size=shape)}
    for code in (f"x[{index}]", f"c = x.clone()\nc[{index}] = 1.5\nc"):
        ours, theirs = sides(data, "x")
        for side in (ours, theirs):

            def some(seed: int, dims: int, lib: object = side.lib) -> object:
                picked = np.random.default_rng(seed).uniform(size=shape[:dims]) > 0.5
                return lib.tensor(picked)  # type: ignore[attr-defined]

            side.names["some"] = some
        try:
            other = theirs.run(code)
        except (IndexError, RuntimeError, ValueError) as error:
            with pytest.raises((IndexError, RuntimeError, ValueError)) as found:
                ours.run(code)
            assert isinstance(found.value, IndexError) == isinstance(error, IndexError), code
            continue
        mine = ours.run(code)
        same_value(mine, other, f"{shape} {code}")
        assert chain(mine.grad_fn) == chain(other.grad_fn), f"{shape} {code}"
        same_gradients(ours, theirs, [mine], [other], f"{shape} {code}")
