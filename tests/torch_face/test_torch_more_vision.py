"""What programs about images ask for: names that their libraries import, bytes, layouts, subclasses."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt
from minitorch.torch import box_muller

LIBRARIES = (torch, mt)


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives; or the kind and text of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            kind = next(each for each in type(error).__mro__ if each.__module__ == "builtins")
            return RuntimeError if issubclass(type(error), RuntimeError) else kind, str(error)


def both(program: Callable[[Any], Any]) -> None:
    theirs, ours = (outcome(lambda T=T: program(T)) for T in LIBRARIES)  # type: ignore[misc]
    assert ours == theirs


# ------------------------------------------------------------------- what torchvision imports

NAMES = {
    "torch.hub": ("HASH_REGEX", "_get_torch_home", "load_state_dict_from_url", "tqdm", "urlparse"),
    "torch.utils.model_zoo": ("load_url", "tqdm"),
    "torch.fx": ("Graph", "GraphModule", "Node", "Proxy", "Tracer", "symbolic_trace", "wrap"),
    "torch.fx.node": ("Argument", "Node", "Target"),
    "torch.fx.proxy": ("Proxy",),
    "torch.fx.graph_module": ("_CodeOnlyModule", "_USER_PRESERVED_ATTRIBUTES_KEY", "_copy_attr"),
    "torch.ao.quantization": ("DeQuantStub", "QuantStub", "QuantWrapper", "fuse_modules"),
    "torch.jit.annotations": ("BroadcastingList2", "List"),
    "torch.jit": ("_overload_method", "_script_if_tracing"),
    "torch.onnx": ("register_custom_op_symbolic", "unregister_custom_op_symbolic"),
    "torch.onnx.symbolic_helper": ("parse_args",),
    "torch.onnx.symbolic_opset11": (),
    "torch._C": ("DispatchKey", "DispatchKeySet", "DisableTorchFunctionSubclass"),
    "torch._custom_ops": ("get_ctx",),
    "torch._dynamo.utils": ("is_compile_supported",),
    "torch.library": ("get_ctx",),
    "torch.distributed.nn": ("all_gather", "all_reduce", "functional"),
}


def test_the_names_that_libraries_of_images_import_are_there() -> None:
    lines = [
        f"from {module} import {', '.join(names)}" if names else f"import {module}"
        for module, names in NAMES.items()
    ]
    program = "\n".join(
        [
            "from minitorch import running; running.install()",
            *lines,
            "class Tracer(Tracer): pass",
            "class Module(GraphModule): pass",
            "keys = DispatchKeySet(DispatchKey.AutocastCPU) | DispatchKeySet(DispatchKey.CPU)",
            "print(keys.has(DispatchKey.CPU), keys.has(DispatchKey.Meta), issubclass(Module, "
            "__import__('torch').nn.Module), wrap(len) is len, BroadcastingList2[int])",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True False True True None\n"


@pytest.mark.parametrize(
    "refused",
    [
        lambda: mt.fx.symbolic_trace(mt.nn.ReLU()),
        lambda: mt.fx.Tracer(),
        lambda: mt.fx.GraphModule(mt.nn.ReLU(), None),
        lambda: mt.ao.quantization.fuse_modules(mt.nn.ReLU(), []),
        lambda: mt.library.get_ctx(),
    ],
)
def test_what_is_only_named_says_so_when_it_is_used(refused: Callable[[], Any]) -> None:
    with pytest.raises(NotImplementedError):
        refused()


def test_stubs_of_quantisation_give_what_they_get() -> None:
    def program(T: Any) -> Any:
        T.manual_seed(0)
        model = T.ao.quantization.QuantWrapper(T.nn.Linear(2, 3))
        return repr(model), list(model.state_dict()), model(T.ones(1, 2)).shape == (1, 3)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert program(mt) == program(torch)


def test_a_compiled_library_cannot_be_loaded_and_its_operators_wait() -> None:
    words = f"Could not load this library: {Path('nowhere.so').resolve()}"
    for T in LIBRARIES:
        with pytest.raises(OSError, match=re.escape(words)):
            T.ops.load_library("nowhere.so")
    name = "minitorch_vision_tests::halve"
    mt.library.register_fake(name, lambda x: x.new_empty(x.shape))
    assert not hasattr(mt.ops.minitorch_vision_tests, "halve")
    mt.library.define(name, "(Tensor x) -> Tensor")
    mt.library.impl(name, "default", lambda x: x / 2)
    halve = mt.ops.minitorch_vision_tests.halve
    assert halve(mt.ones(2)).tolist() == [0.5, 0.5]
    assert halve(mt.ones(2, device="meta")).shape == (2,)


def test_weights_are_read_where_they_lie_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert mt.hub._get_torch_home() == torch.hub._get_torch_home() == str(tmp_path)
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save({"weight": torch.ones(2)}, folder / "net-01ab.pth")
    url = "https://example.org/models/net-01ab.pth"
    for T in LIBRARIES:
        assert T.hub.load_state_dict_from_url(url)["weight"].tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match=r"other\.pth yourself"):
        mt.hub.load_state_dict_from_url("https://example.org/other.pth")


def test_a_bar_of_progress_counts() -> None:
    with mt.hub.tqdm(total=3, disable=True) as bar:
        bar.update(2)
    from minitorch.torch.hub import _Silent

    with _Silent(range(3), total=3) as bar:
        assert list(bar) == [0, 1, 2]
        bar.update(2)
        bar.set_description("x")
    assert bar.n == 2


CHECKS = (
    *("_check", "_check_index", "_check_value", "_check_type", "_check_not_implemented"),
    "_check_tensor_all",
)


@pytest.mark.parametrize("name", CHECKS)
def test_conditions_are_checked_as_pytorch_does(name: str) -> None:
    conditions: tuple[Callable[[Any], Any], ...] = (
        *(lambda T: True, lambda T: False, lambda T: 1),
        *(lambda T: T.tensor(True), lambda T: T.tensor([True, False]), lambda T: T.ones(2)),
    )
    for condition in conditions:
        both(lambda T, c=condition: getattr(T, name)(c(T)))  # type: ignore[misc]
        both(lambda T, c=condition: getattr(T, name)(c(T), lambda: 3))  # type: ignore[misc]
        both(lambda T, c=condition: getattr(T, name)(c(T), "text"))  # type: ignore[misc]
    both(lambda T: T._assert(T.tensor(False), "text"))
    both(lambda T: T._assert(1, "text"))


# ----------------------------------------------------------------------------------- numbers

BITS = ("__and__", "__or__", "__xor__", "__rand__", "__iand__", "bitwise_and", "bitwise_or_")


@pytest.mark.parametrize("number", [-32, -1, 255, 256, 300, 70000, -70000])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_whole_numbers_beyond_a_dtype_are_wrapped_or_refused(dtype: str, number: int) -> None:
    def program(T: Any, name: str) -> Any:
        x = T.tensor([0, 5, 100, 127], dtype=getattr(T, dtype))
        if name == "masked_fill":
            return x.masked_fill(x > 3, number).tolist()
        return getattr(x, name)(number).tolist()

    for name in (*BITS, "clamp_min", "clamp_max", "clamp", "masked_fill"):
        theirs, ours = (outcome(lambda T=T, n=name: program(T, n)) for T in LIBRARIES)  # type: ignore[misc]
        if isinstance(theirs, tuple):
            assert ours[0] is theirs[0]
            assert ours[1].startswith(theirs[1])
        else:
            assert ours == theirs


@pytest.mark.parametrize("target", ["float64", "int64", "int32", "bool"])
@pytest.mark.parametrize(
    "name", ["binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"]
)
def test_targets_of_another_kind_are_refused(name: str, target: str) -> None:
    if target == "float64" and name != "binary_cross_entropy":
        target = "int16"
    both(
        lambda T: getattr(T.nn.functional, name)(
            T.tensor([0.25, 0.5]), T.tensor([1, 0], dtype=getattr(T, target))
        ).item()
    )


def test_a_device_that_is_not_cuda_is_refused() -> None:
    both(lambda T: T.ones(2).cuda("cpu"))


def test_tensor_split_takes_either_keyword() -> None:
    both(lambda T: [x.tolist() for x in T.tensor_split(T.arange(5), indices=[1, 3])])
    both(lambda T: [x.tolist() for x in T.arange(5).tensor_split(sections=2)])


@pytest.mark.parametrize("shape", [(1, 1, 9, 11), (2, 3, 16, 13), (1, 5, 8, 8)])
@pytest.mark.parametrize("size", [(5, 20), (16, 16), (8, 8)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_bytes_are_resampled_to_the_last_bit(
    mode: str, size: tuple[int, int], shape: tuple[int, ...]
) -> None:
    array = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    for antialias in (False, True):
        theirs, ours = (
            T.nn.functional.interpolate(
                T.from_numpy(array), size, mode=mode, antialias=antialias
            ).numpy()
            for T in LIBRARIES
        )
        np.testing.assert_array_equal(ours, theirs)


def test_the_processor_is_called_what_pytorch_calls_it() -> None:
    assert mt.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")


@pytest.mark.parametrize("std", [1.0, 0.02, 1.5])
@pytest.mark.parametrize("mean", [0.0, -0.25])
def test_many_normal_numbers_are_pytorchs_bit_for_bit(mean: float, std: float) -> None:
    for count in (16, 17, 4 * box_muller.PAIRS + 16, 4 * box_muller.PAIRS + 7):
        for dtype in ("float32", "float64"):
            found = []
            for T in LIBRARIES:
                T.manual_seed(5)
                t = T.empty(count, dtype=getattr(T, dtype)).normal_(mean, std)
                found.append((t.numpy(), T.rand(1).item()))
            assert found[0][1] == found[1][1]
            if dtype == "float32":
                np.testing.assert_array_equal(found[1][0], found[0][0])
            else:
                np.testing.assert_allclose(found[1][0], found[0][0], 1e-14, 1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers_of_a_range_are_pytorchs_bit_for_bit(dtype: str) -> None:
    for low, high in ((0.0, 1.0), (-0.03, 0.03), (1.0, 7.0)):
        found = []
        for T in LIBRARIES:
            T.manual_seed(5)
            found.append(T.empty(20000, dtype=getattr(T, dtype)).uniform_(low, high).numpy())
        np.testing.assert_array_equal(found[1], found[0])


# ----------------------------------------------------------------------------------- layouts

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "channels last": lambda x: (
        x.to(memory_format=__import__("torch").channels_last)
        if isinstance(x, torch.Tensor)
        else x.to(memory_format=mt.channels_last)
    ),
    "permuted": lambda x: x.permute(0, 3, 1, 2),
    "transposed": lambda x: x.transpose(2, 3),
    "expanded": lambda x: x[:, :1].expand(-1, 3, -1, -1),
    "every other": lambda x: x[..., ::2],
}


@pytest.mark.parametrize("dim", [-1, 1, 0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_lie_in_memory_as_pytorchs_do(layout: str, dim: int) -> None:
    def program(T: Any) -> Any:
        F = T.nn.functional
        x = LAYOUTS[layout](T.arange(120.0).reshape(2, 3, 4, 5) / 60)
        results = (
            *(F.softmax(x, dim), F.log_softmax(x, dim), F.softmin(x, dim), F.gelu(x)),
            *(x.cumsum(dim), x.cumprod(dim), x.sum(dim), x.mean(dim), x.amax(dim), x.prod(dim)),
            *(x.var(dim), x.std(dim), T.logsumexp(x, dim)),
        )
        return [r.stride() for r in results], x.sum(dim, keepdim=True).is_contiguous()

    both(program)


def test_attention_with_mixed_heads_drops_what_pytorch_drops() -> None:
    found = []
    for T in LIBRARIES:
        T.manual_seed(0)
        q, mix = T.rand(2, 3, 4, 5, dtype=T.float64), T.rand(3, 3, dtype=T.float64)
        dots = T.einsum("bhid,bhjd->bhij", q, q)
        attention = T.einsum("bhij,hg->bgij", dots, mix).softmax(-1)
        found.append(T.nn.functional.dropout(attention, 0.5).numpy())
    np.testing.assert_allclose(found[1], found[0], 1e-12)


# ------------------------------------------------------------------------------- subclasses


def with_new(T: Any) -> Any:
    class Noted(T.Tensor):  # type: ignore[misc,name-defined]
        def __new__(cls, x: Any, note: str) -> Any:
            return super().__new__(cls, x)

        def __init__(self, x: Any, note: str) -> None:
            super().__init__()
            self.note = note

    t = Noted([1, 2, 3], "n")
    return t.note, t.shape == (3,), t.tolist(), repr(t)


def with_keyword(T: Any) -> Any:
    class Doubled(T.Tensor):  # type: ignore[misc,name-defined]
        def __new__(cls, x: Any, *, fmt: str) -> Any:
            t = T.as_tensor(x).mul(2).as_subclass(cls)
            t.fmt = fmt
            return t

    t = Doubled([[1, 2], [3, 4]], fmt="f")
    return t.fmt, t.tolist(), repr(t)


def with_init_only(T: Any) -> Any:
    class Kept(T.Tensor):  # type: ignore[misc,name-defined]
        def __init__(self, x: Any) -> None:
            self.more = 3

    t = Kept([1.0, 2.0])
    return t.more, t.tolist()


def of_a_parameter(T: Any) -> Any:
    class Tagged(T.nn.Parameter):  # type: ignore[misc,name-defined]
        def __new__(cls, data: Any = None, requires_grad: bool = True, tag: Any = None) -> Any:
            t = T.Tensor._make_subclass(cls, data, requires_grad)
            t.tag = tag
            return t

    module = T.nn.Module()
    module.p = Tagged(T.ones(2), tag="t")
    names = [name for name, _ in module.named_parameters()]
    return names, module.p.tag, module.p.requires_grad, isinstance(module.p, T.nn.Parameter)


@pytest.mark.parametrize("program", [with_new, with_keyword, with_init_only, of_a_parameter])
def test_subclasses_are_made_as_in_pytorch(program: Callable[[Any], Any]) -> None:
    both(program)


def test_a_subclass_without_such_an_argument_refuses_it() -> None:
    for T in LIBRARIES:
        with pytest.raises(TypeError):
            type("Plain", (T.Tensor,), {})([1.0], unknown=3)
