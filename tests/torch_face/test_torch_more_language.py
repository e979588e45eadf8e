"""What language models and agents that others wrote ask of the library: nests of tensors made into
one, complex random numbers, inference mode, names of dtypes that NumPy lacks, keywords of methods,
scans, and attention whose mask is a function."""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from same_program import alike, said, same

import minitorch.torch as mt
from minitorch.running import Finder

LIBRARIES = (torch, mt)


def part(T: Any, name: str) -> Any:
    """A module of a library."""
    return importlib.import_module(f"{T.__name__}.{name}")


def gives_the_same(program: Callable[[Any], Any]) -> None:
    """`alike`, but for what PyTorch says of its speed, once in a process."""
    (ours, _), (theirs, _) = said(program, mt), said(program, torch)
    if isinstance(theirs, Exception):
        alike(program)
    elif isinstance(ours, Exception):
        raise ours
    else:
        same(ours, theirs)


# ------------------------------------------------------------------------- nests of tensors


NESTS: list[Callable[[Any], Any]] = [
    lambda T: [T.tensor([1.0])],
    lambda T: [T.tensor([1.0]), T.tensor([2.0])],
    lambda T: [[T.tensor([1.0])], [T.tensor([2.0])]],
    lambda T: [T.tensor([[1.0]])],
    lambda T: [T.tensor([1.0]), 2.0],
    lambda T: [2.0, T.tensor([1.0])],
    lambda T: [T.tensor([1.0, 2.0]), T.tensor([1.0, 2.0])],
    lambda T: [T.tensor([])],
    lambda T: ((T.tensor([1]),), (T.tensor([2]),)),
    lambda T: [T.ones(1, 1, 1), T.ones(1, 1, 1)],
    lambda T: [False, T.tensor([1.0])],
    lambda T: [T.tensor([True]), T.tensor([False])],
    lambda T: [T.tensor([1]), T.tensor([2.0])],
    lambda T: [T.tensor(1.0, dtype=T.float64), 2.0],
    lambda T: [2.0, T.tensor(1.0, dtype=T.float64)],
    lambda T: [T.tensor(1.0, dtype=T.float16), T.tensor(1, dtype=T.int32)],
    lambda T: [T.tensor(1, dtype=T.uint8), T.tensor(1, dtype=T.int8)],
    lambda T: [T.tensor(1, dtype=T.int32), True],
    lambda T: [T.tensor(1, dtype=T.int32), 3],
    lambda T: [T.tensor(1.0, dtype=T.float64), 2.5j],
    lambda T: [[1.0, 3.0], T.tensor([1.0, 2.0])],
    lambda T: [T.tensor([1.0, 2.0]), [1.0, 3.0]],
    lambda T: [T.tensor([1.0]), [1.0]],
    lambda T: [T.tensor([1.0]), [T.tensor([2.0])]],
    lambda T: [[T.tensor(1.0)], [2.0, 3.0]],
    lambda T: [[1.0, 3.0], np.array([1.0, 2.0])],
    lambda T: [np.array([1, 2]), [1.0, 3.0]],
    lambda T: [np.float32(1), 2.0],
    lambda T: [np.float64(1), 2.0],
    lambda T: [np.int32(1), 3],
    lambda T: [np.float16(1), np.float32(2)],
    lambda T: [np.array([1.0]), np.array([3.0])],
    lambda T: [T.tensor([1 + 2j])],
    lambda T: [range(3), range(3)],
    lambda T: [T.ones(1), "a"],
]


@pytest.mark.parametrize("nest", NESTS)
def test_a_tensor_among_numbers_is_the_number_in_it(nest: Callable[[Any], Any]) -> None:
    gives_the_same(lambda T: T.tensor(nest(T)))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_a_nest_of_tensors_in_a_dtype(dtype: str) -> None:
    for nest in NESTS[:12]:
        alike(lambda T, nest=nest: T.tensor(nest(T), dtype=getattr(T, dtype)))
    alike(lambda T: T.tensor([T.tensor([1 + 2j])], dtype=getattr(T, dtype)))


@pytest.mark.parametrize(
    "program",
    [
        lambda T: T.FloatTensor([T.tensor([1.0]), T.tensor([2.0])]),
        lambda T: T.LongTensor([[T.ones(1, 1).long(), 3], [T.tensor([2]), 4]]),
        lambda T: T.as_tensor([T.tensor([1.0]), T.tensor([2.0])]),
        lambda T: T.zeros(2).new_tensor([T.tensor([1.0]), T.tensor([2.0])]),
    ],
)
def test_other_ways_to_read_a_nest(program: Callable[[Any], Any]) -> None:
    alike(program)


# -------------------------------------------------------------------- complex random numbers


@pytest.mark.parametrize("size", [(3,), (7,), (8,), (20,), (4, 5)])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_random_numbers(dtype: str, size: tuple[int, ...]) -> None:
    alike(lambda T: T.randn(size, dtype=getattr(T, dtype)))
    alike(lambda T: T.rand(size, dtype=getattr(T, dtype)))
    alike(lambda T: T.randn_like(T.zeros(size, dtype=getattr(T, dtype))))
    alike(lambda T: T.rand_like(T.zeros(size, dtype=getattr(T, dtype))))
    alike(lambda T: T.zeros(size, dtype=getattr(T, dtype)).normal_(1, 2))
    alike(lambda T: T.zeros(size, dtype=getattr(T, dtype)).uniform_(-1, 3))
    alike(lambda T: T.nn.init.normal_(T.zeros(size, dtype=getattr(T, dtype)), std=0.1))
    alike(lambda T: (T.randn(size, dtype=getattr(T, dtype)), T.randn(3)))


# ---------------------------------------------------------------------------- inference mode


def _grid(T: Any) -> Any:
    return T.arange(12.0).reshape(3, 4).clone()


def _set_where(T: Any) -> Any:
    x = _grid(T)
    x[x > 5] = -1
    return x


def _set_at(T: Any) -> Any:
    x = _grid(T)
    x[T.tensor([0, 1])] = 7.0
    x[[0, 1], [1, 2]] += 1
    x[:, T.tensor([True, False, True, False])] = T.ones(3, 2)
    return x


def _set_slice(T: Any) -> Any:
    x = _grid(T)
    x[0] = 3
    x[..., 1] = 2
    x[0, 0] = T.tensor(5.0)
    x[1][x[1] == 4] = 9
    x.diagonal()[:] = 8
    return x


def _rearranged(T: Any) -> Any:
    x = _grid(T)
    x.t_()
    x.transpose_(0, 1)
    x.unsqueeze_(0)
    return x.squeeze_()


def _filled(T: Any) -> Any:
    x = _grid(T)
    x.zero_().add_(1)
    x.masked_fill_(x > 0, 3.0)
    x.index_put_((T.tensor([1]),), T.tensor(4.0), accumulate=True)
    return x.scatter_(1, T.zeros(3, 1, dtype=T.long), 9.0)


def _layers(T: Any) -> Any:
    norm = T.nn.BatchNorm1d(2)
    layer = T.nn.Linear(2, 2)
    T.nn.init.zeros_(layer.weight)
    return norm(T.ones(3, 2)), norm.running_mean, layer(T.ones(1, 2)).shape


def _of_a_leaf(T: Any) -> Any:
    x = T.zeros(2, requires_grad=True) * 2
    x[x == 0] = 1
    return x, x.requires_grad


@pytest.mark.parametrize(
    "program", [_set_where, _set_at, _set_slice, _rearranged, _filled, _layers, _of_a_leaf]
)
def test_inference_tensors_are_changed_in_place(program: Callable[[Any], Any]) -> None:
    def inferring(T: Any) -> Any:
        with T.inference_mode():
            return program(T)

    alike(inferring)


def test_inference_tensors_are_still_refused_where_a_graph_needs_them() -> None:
    def program(T: Any) -> Any:
        with T.inference_mode():
            x = T.ones(2)
            x[x > 0] = 2
        return x * T.ones(2, requires_grad=True)

    alike(program)


# -------------------------------------------------------------------------- names of dtypes


def _limits(T: Any, name: str) -> Any:
    info = T.finfo(getattr(T, name))
    facts = (info.bits, info.eps, info.max, info.min, info.tiny, info.smallest_normal)
    return facts, info.resolution, info.dtype, repr(info)


DTYPES = sorted(
    name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype) and name != "int"
)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_has_its_name_and_its_facts(name: str) -> None:
    def facts(T: Any) -> Any:
        kind = getattr(T, name)
        return repr(kind), kind.itemsize, kind.is_floating_point, kind.is_complex

    alike(facts)
    alike(lambda T: getattr(T, name).is_signed)
    alike(lambda T: repr(getattr(T, name).to_real()))
    if getattr(torch, name).is_floating_point or getattr(torch, name).is_complex:
        if name != "float4_e2m1fn_x2":  # PyTorch's own limits of it are not there
            alike(lambda T: _limits(T, name))
        if name.startswith(("float8", "float4")):
            with pytest.raises(RuntimeError, match="Unknown Complex ScalarType"):
                getattr(mt, name).to_complex()
        else:
            alike(lambda T: repr(getattr(T, name).to_complex()))
        alike(lambda T: T.iinfo(getattr(T, name)).max)
    else:
        alike(lambda T: T.finfo(getattr(T, name)).max)


def test_there_are_no_tensors_of_the_dtypes_that_numpy_lacks() -> None:
    for name in ("bfloat16", "float8_e4m3fn", "complex32", "qint8", "int4", "bits8"):
        with pytest.raises(NotImplementedError, match="NumPy has no such dtype"):
            mt.zeros(2, dtype=getattr(mt, name))
    alike(lambda T: T.iinfo(T.bool))


# ------------------------------------------------------------------------------- keywords


X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "program",
    [
        lambda T, x: x.split(split_size=1),
        lambda T, x: x.split(split_size=[1, 2], dim=1),
        lambda T, x: T.split(tensor=x, split_size_or_sections=2, dim=1),
        lambda T, x: T.true_divide(input=x, other=x + 1),
        lambda T, x: x.random_(**{"from": 1, "to": 5}),
        lambda T, x: x.clamp(min=1, max=T.tensor(2.0)),
        lambda T, x: x.clip(T.tensor(1), 4.0),
        lambda T, x: x.clamp(1, T.tensor([2.0, 3.0, 4.0])),
        lambda T, x: x.clamp(1, T.tensor(2.0, requires_grad=True)),
        lambda T, x: x.clamp(1, T.tensor(2.0, dtype=T.float64)),
    ],
)
def test_arguments_by_name_and_of_other_kinds(program: Callable[[Any, Any], Any]) -> None:
    def call(T: Any) -> Any:
        try:
            return program(T, T.from_numpy(X.copy()))
        except TypeError as error:
            return type(error).__name__

    alike(call)


@pytest.mark.parametrize("name", ["FloatTensor", "DoubleTensor", "LongTensor", "BoolTensor"])
def test_sizes_that_are_numbers_of_numpy(name: str) -> None:
    two, three = np.int64(2), np.int32(3)
    for args in ((two,), (two, three), (2, three), (np.array(2),), (np.array([1, 0]),)):
        alike(lambda T, args=args: tuple(getattr(T, name)(*args).shape))
    for data in (2.5, True):
        alike(lambda T, data=data: getattr(T, name)(data))


@pytest.mark.parametrize("name", ["rand", "randn", "zeros", "ones"])
def test_sizes_by_name(name: str) -> None:
    alike(lambda T: getattr(T, name)(size=(2, 3)))
    alike(lambda T: getattr(T, name)(size=[np.int64(2)], dtype=T.float64))
    alike(lambda T: getattr(T, name)(np.int64(2), 3))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool", "float16", "float64"])
def test_clamping_integers_between_fractions_gives_the_default_dtype(dtype: str) -> None:
    for low, high in ((1, 2.5), (0.5, 2), (None, 2.5), (0.5, None), (1.0, 2.0), (True, 2)):
        alike(lambda T, a=low, b=high: T.tensor([0, 1, 3]).to(getattr(T, dtype)).clamp(a, b))


# ---------------------------------------------------------------------- scans and attention


def _affine(left: Any, right: Any) -> Any:
    return left[0] * right[0], right[0] * left[1] + right[1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_associative_scan(dim: int, reverse: bool) -> None:
    def program(T: Any) -> Any:
        scan = part(T, "_higher_order_ops.associative_scan").associative_scan
        x = T.from_numpy(X + 1).requires_grad_()
        y = T.from_numpy(X / 7).requires_grad_()
        both = scan(_affine, (x, y), dim, reverse=reverse, combine_mode="generic")
        return both, T.autograd.grad(both[1].sum(), (x, y))

    alike(program)


def test_associative_scan_of_matrices_and_its_errors() -> None:
    def scan(T: Any, *args: Any, **kwargs: Any) -> Any:
        return part(T, "_higher_order_ops.associative_scan").associative_scan(*args, **kwargs)

    def product(a: Any, b: Any) -> Any:
        return a @ b

    cube = np.arange(12.0).reshape(3, 2, 2)
    alike(lambda T: scan(T, product, T.from_numpy(cube), 0, combine_mode="generic"))
    alike(lambda T: scan(T, product, T.from_numpy(cube), 0, combine_mode="other"))
    alike(lambda T: scan(T, product, T.from_numpy(cube), 0))
    alike(lambda T: scan(T, product, T.zeros(2, 0), 1, combine_mode="generic"))


def test_what_scans_and_maps_give() -> None:
    scan = part(mt, "_higher_order_ops.scan").scan
    x = mt.from_numpy(X).requires_grad_()
    carry, rows = scan(lambda c, row: (c + row, c * 2), mt.zeros(3, dtype=mt.float64), x)
    assert carry.tolist() == X.sum(0).tolist()
    assert rows.tolist() == [[0.0] * 3, (2 * X[0]).tolist()]
    rows.sum().backward()
    assert x.grad.tolist() == [[2.0] * 3, [0.0] * 3]
    _, back = scan(
        lambda c, col: (c + col, c), mt.zeros(2, dtype=mt.float64), x, dim=1, reverse=True
    )
    assert back.tolist() == [[3.0, 2.0, 0.0], [9.0, 5.0, 0.0]]
    mapped = part(mt, "_higher_order_ops.map").map(lambda row, y: row.sum() + y, x, mt.ones(2))
    assert mapped.tolist() == [[4.0, 4.0], [13.0, 13.0]]


DOCUMENTS = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 2, 2]])


def _causal(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


def _near(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q - k < 3


def _flex(T: Any, *, track: bool = False, **how: Any) -> Any:
    generator = np.random.default_rng(5)
    arrays = [generator.normal(size=(2, 4, 6, 8)) for _ in range(3)]
    q, k, v = (T.from_numpy(each).requires_grad_(track) for each in arrays)
    out = part(T, "nn.attention.flex_attention").flex_attention(q, k, v, **how)
    if track:
        out.square().sum().backward()
        return out, q.grad, k.grad, v.grad
    return out


def _mask(T: Any, function: Any, batch: int | None = None) -> Any:
    fx = part(T, "nn.attention.flex_attention")
    return fx.create_block_mask(function, batch, None, 6, 6, device="cpu", BLOCK_SIZE=2)


ATTENTION: list[Callable[[Any], Any]] = [
    lambda T: {},
    lambda T: {"scale": 0.3},
    lambda T: {"score_mod": lambda s, b, h, q, k: s + (q - k)},
    lambda T: {"score_mod": lambda s, b, h, q, k: s * T.arange(4)[h] - b},
    lambda T: {"score_mod": lambda s, b, h, q, k: 2 * T.tanh(s / 2)},
    lambda T: {"score_mod": lambda s, b, h, q, k: T.where(q >= k, s, -float("inf"))},
    lambda T: {"block_mask": _mask(T, _causal)},
    lambda T: {"block_mask": _mask(T, _causal), "return_lse": True},
    lambda T: {"block_mask": _mask(T, lambda b, h, q, k: (q < 3) & (k >= 0)), "return_lse": True},
    lambda T: {
        "block_mask": _mask(
            T, lambda b, h, q, k: T.from_numpy(DOCUMENTS)[b, q] == T.from_numpy(DOCUMENTS)[b, k], 2
        )
    },
    lambda T: {
        "block_mask": _mask(T, part(T, "nn.attention.flex_attention").and_masks(_causal, _near)),
        "score_mod": lambda s, b, h, q, k: s + h,
    },
]


@pytest.mark.parametrize("how", ATTENTION)
def test_attention_of_functions_of_places(how: Callable[[Any], Any]) -> None:
    gives_the_same(lambda T: _flex(T, **how(T)))


def test_the_gradient_of_attention_of_functions_is_that_of_attention() -> None:
    # PyTorch has no backward of it on the CPU: its other attention has.
    ours = _flex(mt, track=True, block_mask=_mask(mt, _causal))
    generator = np.random.default_rng(5)
    arrays = [generator.normal(size=(2, 4, 6, 8)) for _ in range(3)]
    leaves = [torch.from_numpy(each).requires_grad_() for each in arrays]
    out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=True)
    out.square().sum().backward()
    theirs = (out.detach(), *(each.grad for each in leaves))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other, 1e-9, 1e-12)


def test_grouped_heads_in_attention_of_functions() -> None:
    def program(T: Any, **how: Any) -> Any:
        x = T.from_numpy(np.random.default_rng(2).normal(size=(1, 4, 5, 8)))
        flex = part(T, "nn.attention.flex_attention").flex_attention
        return flex(x, x[:, :2], x[:, 1:3], **how)

    gives_the_same(lambda T: program(T, enable_gqa=True))
    with pytest.raises(ValueError, match="same number of heads"):
        program(mt)


@pytest.mark.parametrize("separate", [True, False])
@pytest.mark.parametrize("lengths", [(8, 8), (7, 5), (4, 9)])
def test_the_blocks_of_a_mask(lengths: tuple[int, int], separate: bool) -> None:
    def program(T: Any) -> Any:
        fx = part(T, "nn.attention.flex_attention")
        mask = fx.create_block_mask(
            lambda b, h, q, k: q - h >= k,
            2,
            3,
            *lengths,
            device="cpu",
            BLOCK_SIZE=(2, 3),
            separate_full_blocks=separate,
        )
        counts = (mask.kv_num_blocks, mask.kv_indices, mask.q_num_blocks, mask.q_indices)
        full = (mask.full_kv_num_blocks, mask.full_kv_indices, mask.full_q_num_blocks)
        again = fx.BlockMask.from_kv_blocks(mask.kv_num_blocks, mask.kv_indices, BLOCK_SIZE=(2, 3))
        return (
            *(counts, full, mask.to_dense(), mask.shape, mask.numel(), mask.sparsity()),
            *(repr(mask), again.q_indices, again.shape, again.seq_lengths),
        )

    alike(program)


def test_masks_of_attention_from_functions() -> None:
    def mask(T: Any, make: Callable[[Any], Any], *sizes: Any) -> Any:
        fx = part(T, "nn.attention.flex_attention")
        return fx.create_mask(make(fx), *sizes, device="cpu")

    makers: list[Callable[[Any], Any]] = [
        lambda fx: _causal,
        lambda fx: fx.noop_mask,
        lambda fx: fx.or_masks(lambda b, h, q, k: q == k, lambda b, h, q, k: k == 0),
        lambda fx: fx.and_masks(_causal, _near),
        lambda fx: fx.or_masks(),
        lambda fx: fx.and_masks(),
        lambda fx: lambda s, b, h, q, k: s.masked_fill(q < k, -float("inf")),
        lambda fx: lambda b: b,
        lambda fx: fx.and_masks(3),
    ]
    for make, sizes in itertools.product(makers, [(2, 3, 4, 5), (None, None, 3, 3)]):
        alike(lambda T, make=make, sizes=sizes: mask(T, make, *sizes))


# ----------------------------------------------------------- names that programs only mention


def test_names_of_what_a_processor_alone_has_not() -> None:
    def stream(T: Any) -> Any:
        with T.cuda.StreamContext(None) as found:
            return found

    def broken(name: str) -> Callable[[Any], Any]:
        return lambda T: getattr(T.cuda, name)()

    alike(stream)
    alike(lambda T: T.cuda._initialized)
    alike(lambda T: T.cuda.graph(None))
    for name in ("CUDAGraph", "Stream", "is_current_stream_capturing", "graph_pool_handle"):
        alike(broken(name))


def test_device_states_of_reversible_networks() -> None:
    alike(lambda T: part(T, "utils.checkpoint").get_device_states(T.ones(2), 3))
    alike(lambda T: part(T, "utils.checkpoint").set_device_states([], []))
    with pytest.raises(RuntimeError, match="no device"):
        part(mt, "utils.checkpoint").set_device_states([0], [None])


def test_tensors_in_several_processes_are_asked_for_only() -> None:
    def program(T: Any) -> Any:
        tensor = part(T, "distributed.tensor")
        places = (tensor.Shard(1), tensor.Replicate(), tensor.Partial())
        return (
            isinstance(T.ones(2), tensor.DTensor),
            [repr(each) for each in places],
            [(each.is_shard(), each.is_replicate(), each.is_partial()) for each in places],
            tensor.Shard(1) == tensor.Shard(1) != tensor.Shard(0),
        )

    alike(program)
    with pytest.raises(NotImplementedError, match="one process"):
        part(mt, "distributed.tensor").DTensor()


def test_what_is_set_for_a_compiler_is_of_no_effect() -> None:
    def program(T: Any) -> Any:
        dynamo = part(T, "_dynamo")

        def one(x: Any) -> Any:
            return x + 1

        wrapped = [dynamo.assume_constant_result(one), dynamo.allow_in_graph(one)]
        dynamo.mark_dynamic(T.ones(2), 0)
        dynamo.mark_static(T.ones(2))
        dynamo.graph_break()
        with part(T, "compiler").set_stance("default"):
            index = part(T, "_dynamo._trace_wrapped_higher_order_op").TransformGetItemToIndex
            with index():
                return [each(1) for each in wrapped], T.arange(3)[T.tensor(1)]

    alike(program)


def test_the_ending_of_the_keys_of_what_else_a_module_saves() -> None:
    alike(lambda T: part(T, "nn.modules.module")._EXTRA_STATE_KEY_SUFFIX)


def test_the_package_torch_has_a_version_where_ours_stands_for_it() -> None:
    class Context:
        name: str | None = "torch"

    (found,) = Finder().find_distributions(Context())
    assert (found.metadata["Name"], found.version) == ("torch", str(mt.__version__))
    assert found.version.split("+")[0] == torch.__version__.split("+")[0]
    Context.name = "numpy"
    assert Finder().find_distributions(Context()) == []
