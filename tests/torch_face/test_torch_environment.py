"""What programs touch on their way: devices, settings, amp, storages, transforms, and names that
are not there. On a CPU each says what PyTorch says."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt
from minitorch.torch import absent

LIBRARIES = (torch, mt)


def said(lib: Any, code: str, names: dict[str, Any] | None = None) -> tuple[str, list[str]]:
    """What an expression gives or raises, as text, and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = repr(
                eval(code, {"t": lib, "np": np, "a": lib.tensor([1.0, 2.0, 3.0]), **(names or {})})
            )
        except Exception as error:
            text = f"{type(error).__qualname__}: {error}"
    text = re.sub(
        r"0x[0-9a-f]+",
        "0x",
        text.replace("minitorch.torch", "torch").replace("torch._tensor.", "torch."),
    )
    return text, sorted({each.category.__name__ for each in caught})


SAME = [
    "t.cuda.is_available()", "t.cuda.device_count()", "t.cuda.current_device()", "t.cuda.is_initialized()",
    "t.cuda.get_device_name(0)", "t.cuda.get_device_properties(0)", "t.cuda.get_device_capability()",
    "t.cuda.synchronize()", "t.cuda.empty_cache()", "t.cuda.set_device('cuda')", "t.cuda.memory_allocated()",
    "t.cuda.max_memory_allocated()", "t.cuda.memory_reserved()", "t.cuda.mem_get_info()", "t.cuda.memory_stats()",
    "t.cuda.manual_seed(1)", "t.cuda.manual_seed_all(1)", "t.cuda.seed()", "t.cuda.seed_all()",
    "t.cuda.initial_seed()", "t.cuda.init()", "t.cuda.is_bf16_supported()", "t.cuda.get_rng_state()",
    "t.cuda.get_rng_state_all()", "t.cuda.set_rng_state_all([])", "t.cuda.current_stream()", "t.cuda.Stream()",
    "t.cuda.FloatTensor(3)", "t.cuda.FloatTensor", "t.cuda.get_arch_list()", "isinstance(a, t.cuda.FloatTensor)",
    "t.backends.cudnn.enabled", "t.backends.cudnn.benchmark", "t.backends.cudnn.deterministic",
    "t.backends.cudnn.is_available()", "t.backends.cudnn.version()", "t.backends.cudnn.allow_tf32",
    "t.backends.cuda.matmul.allow_tf32", "t.backends.cuda.is_built()", "t.backends.mps.is_available()",
    "t.backends.mps.is_built()", "t.backends.opt_einsum.enabled", "t.mps.is_available()", "t.mps.empty_cache()",
    "t.mps.manual_seed(0)", "t.mps.synchronize()", "t.mps.current_allocated_memory()", "t.xpu.is_available()",
    "t.xpu.device_count()", "t.xpu.manual_seed(1)", "t.xpu.empty_cache()", "t.xpu.synchronize()",
    "t.mtia.is_available()", "t.cpu.is_available()", "t.cpu.device_count()", "t.cpu.synchronize()",
    "t.cpu.current_device()", "t.accelerator.is_available()", "t.accelerator.current_accelerator()",
    "t.accelerator.device_count()", "t.accelerator.synchronize()", "t.accelerator.current_device_index()",
    "t.device('cuda')", "t.device('cuda:0')", "t.device('cuda', 1)", "t.device('mps')", "t.device(type='cuda')",
    "t.device('foo')", "t.device('cuda:x')", "t.device('cuda') == t.device('cuda', 0)", "t.device(0)",
    "t.get_default_device()", "a.pin_memory()", "a.is_pinned()", "t.set_num_threads(0)", "t.set_num_threads(1.5)",
    "t.get_float32_matmul_precision()", "t.set_float32_matmul_precision('foo')",
    "t.are_deterministic_algorithms_enabled()", "t.use_deterministic_algorithms(1)",
    "t.set_deterministic_debug_mode('foo')", "t.set_deterministic_debug_mode(5)", "t.is_warn_always_enabled()",
    "t.version.cuda", "t.version.hip", "t.version.debug", "t.__version__ >= '1.8'", "t.__version__ > (1, 8)",
    "t.__version__ < '2.13.1'", "t.__version__ == '2.13'", "t.__version__.split('+')[0]",
    "type(t.__version__).__name__", "t.distributed.is_initialized()", "t.distributed.destroy_process_group()",
    "t.distributed.is_nccl_available()", "t.distributed.is_torchelastic_launched()",
    "t.is_storage(a.untyped_storage())", "t.is_storage(3)", "t.typename(3)", "t.typename('a')", "t.typename(a)",
    "t.hub.get_dir()", "t.norm_except_dim(t.ones(2, 3), 2, 0)", "t.Tensor(2, 3).shape", "t.Tensor([1, 2])",
    "t.Tensor((1, 2))", "t.Tensor(t.Size([2])).shape", "t.Tensor(t.arange(3))", "t.Tensor(3.5)", "t.Tensor(True)",
    "t.Tensor(None)", "t.Tensor([1, 'a'])", "t.Tensor(np.arange(3))", "t.Tensor(np.arange(3.))", "t.Tensor(-1)",
    "t.Tensor(2, 1, device='cpu').shape", "t.Tensor('a')", "t.Tensor([t.tensor(1.), t.tensor(2.)])",
    "t.LongTensor([1.5])", "t.LongTensor(2, 3).shape", "t.ByteTensor([1])", "t.FloatTensor.dtype",
    "isinstance(a, t.FloatTensor)", "isinstance(a, t.LongTensor)", "a.new(2, 3).shape", "a.new([1, 2])",
    "a.new().shape", "a.new(t.arange(2.))", "a.long().new([1.5])", "a.name", "a.is_sparse_csr",
    "a.to_dense()", "a.resize(1)", "a.sparse_dim()", "a.dense_dim()", "a.as_subclass(t.nn.Parameter)",
    "a.is_distributed()", "t.is_distributed(a)", "a.grad_dtype", "a.is_coalesced()", "a.coalesce()", "a.indices()",
    "a.values()", "a.volatile", "a.resize_as(t.ones(1))", "t.view_as_real_copy(t.ones(1) + 0j)",
    "t.sym_int(2.5), t.sym_float(3), t.sym_max(1, 2.), t.sym_min(1, 2), t.sym_not(True), t.sym_sqrt(4), t.sym_sum([1, 2])",
    "t.cond(True, lambda x: x + 1, lambda x: x - 1, (t.zeros(1),))", "t.channels_last_3d", "t.bfloat16",
    "t.bfloat16.itemsize, t.bfloat16.is_floating_point, t.bfloat16.is_complex, t.bfloat16.is_signed",
    "t.uint16, t.uint32, t.uint64", "t.zeros(2, dtype=t.uint16)", "t.from_numpy(np.arange(3, dtype='u4'))",
    "t.autograd.Variable(a, requires_grad=True).requires_grad", "isinstance(a, t.autograd.Variable)",
    "t.set_default_tensor_type(t.cuda.FloatTensor)", "t.set_default_tensor_type(t.LongTensor)",
    "t.nn.modules.utils._pair(3), t.nn.modules.utils._triple([1, 2, 3])", "t.jit.is_scripting(), t.jit.is_tracing()",
    "t.compiler.is_compiling()", "t.jit.annotate(int, 3)", "t.get_device_module('foo')",
    "t.backends.cuda.flash_sdp_enabled()", "t.multiprocessing.get_sharing_strategy()",
    "sorted(t.multiprocessing.get_all_sharing_strategies())", "t.overrides.has_torch_function((a,))",
    "t.overrides.is_tensor_like(a)", "t.feature_dropout(t.ones(1, 2, 2), 0.0, True)", "t.legacy_contiguous_format",
    # storages
    "a.untyped_storage()", "a.untyped_storage().nbytes()", "a.untyped_storage()[2]", "a[1:].untyped_storage().size()",
    "a.untyped_storage().data_ptr() == a[1:].untyped_storage().data_ptr()", "a.storage().size()",
    "a.storage().tolist()", "a.storage()[1]", "a.storage().data_ptr() == a.data_ptr()", "a.storage().dtype", "a.storage()",
    "a.storage_type()", "isinstance(a.storage(), t.FloatStorage)", "t.FloatStorage([1, 2])", "t.UntypedStorage(4).nbytes()",
    "a.t().storage_offset(), a[1:].storage().tolist()", "a.is_shared()", "a.share_memory_().is_shared()",
]  # fmt: skip


@pytest.mark.parametrize("code", SAME)
@pytest.mark.filterwarnings("ignore")
def test_it_says_what_pytorch_says(code: str) -> None:
    theirs, ours = (said(lib, code) for lib in LIBRARIES)
    if "storage()" in code or "default_tensor_type" in code:
        theirs, ours = (theirs[0], []), (ours[0], [])  # PyTorch warns once in a process
    # Where PyTorch stops we may go on, to say what to do.
    head = theirs[0].rstrip("'\")].")
    assert ours[0].startswith(head), (theirs, ours)
    assert ours[1] == theirs[1]


NEEDS_A_GPU = [
    "a.cuda()", "a.to('cuda')", "a.to('cuda:1')", "t.zeros(2, device='cuda')", "t.rand(2, device='cuda')",
    "t.randn(2, device='cuda')", "t.randint(3, (2,), device='cuda')", "t.tensor([1.], device='cuda')",
    "t.as_tensor([1.], device='cuda')", "t.arange(3, device='cuda')", "t.eye(2, device=t.device('cuda', 0))",
    "t.nn.Linear(2, 2).cuda()", "t.nn.Linear(2, 2).to('cuda')", "t.nn.Linear(2, 2, device='cuda')",
    "t.nn.Linear(2, 2).to(t.device('cuda'))", "a.to('mps')", "a.to('xpu')",
]  # fmt: skip


@pytest.mark.parametrize("code", NEEDS_A_GPU)
def test_what_needs_a_gpu_raises_pytorchs_words(code: str) -> None:
    theirs, ours = (said(lib, code)[0] for lib in LIBRARIES)
    assert ours.startswith(theirs), (theirs, ours)


def test_switches_can_be_set_and_read_back() -> None:
    for T in LIBRARIES:
        before = T.backends.cudnn.benchmark
        T.backends.cudnn.benchmark = True
        assert T.backends.cudnn.benchmark
        with T.backends.cudnn.flags(enabled=False, benchmark=False):
            assert not T.backends.cudnn.benchmark
            assert not T.backends.cudnn.enabled
        assert T.backends.cudnn.benchmark
        T.backends.cudnn.benchmark = before
        T.use_deterministic_algorithms(True, warn_only=True)
        assert T.get_deterministic_debug_mode() == 1
        assert T.is_deterministic_algorithms_warn_only_enabled()
        T.set_deterministic_debug_mode("error")
        assert T.are_deterministic_algorithms_enabled()
        T.use_deterministic_algorithms(False)
        assert T.get_deterministic_debug_mode() == 0
        T.set_float32_matmul_precision("high")
        assert T.get_float32_matmul_precision() == "high"
        T.set_float32_matmul_precision("highest")
        threads = T.get_num_threads()
        T.set_num_threads(2)
        assert T.get_num_threads() == 2
        T.set_num_threads(threads)
    mt.backends.cuda.matmul.allow_tf32 = True
    assert mt.backends.cuda.matmul.allow_tf32
    mt.backends.cuda.matmul.allow_tf32 = False


def test_default_device_and_device_blocks() -> None:
    def program(T: Any) -> list[str]:
        def places() -> list[str]:
            x = T.zeros(1, device="cpu")
            made = (
                T.zeros(2), T.tensor([1.0]), T.arange(3), T.rand(2), T.zeros_like(x), T.rand_like(x),
                T.as_tensor([1.0]), T.from_numpy(np.ones(2)), T.nn.Linear(2, 2).weight, x,
            )  # fmt: skip
            return [str(t.device) for t in made]

        with T.device("meta"):
            found = places()
            with T.device("cpu"):
                found += [*places(), str(T.get_default_device())]
            found += [str(T.get_default_device())]
        T.set_default_device("meta")
        found += places()
        T.set_default_device("cpu")
        found += places()
        T.set_default_device(None)
        return [*found, str(T.get_default_device())]

    assert program(mt) == program(torch)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        mt.set_default_device("cuda")


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_default_tensor_type_and_dtype_decide_what_tensor_makes() -> None:
    for T in LIBRARIES:
        T.set_default_tensor_type("torch.DoubleTensor")
        try:
            assert T.Tensor([1]).dtype is T.Tensor(2, 3).dtype is T.zeros(1).dtype is T.float64
        finally:
            T.set_default_dtype(T.float32)


# ----------------------------------------------------------------------- names that are not there


@pytest.mark.parametrize(
    ("module", "name", "more"),
    [
        (mt, "zeroes", "the nearest is torch.zeros"),
        (mt, "float33", "the nearest is torch.float32"),
        (mt, "xqzw", "minitorch does not have it."),
        (mt, "nested", "pack_sequence"),
        (mt.nn, "Liner", "the nearest is torch.nn.Linear"),
        (mt.nn.functional, "reluu", "the nearest is torch.nn.functional.relu"),
        (mt.optim, "AdamWW", "the nearest is torch.optim.AdamW"),
        (mt.cuda, "graphs", "there is no GPU here"),
        (mt.utils, "dataa", "the nearest is torch.utils.data"),
    ],
)
def test_an_unknown_name_is_named_with_the_nearest(module: Any, name: str, more: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(module, name)
    theirs = module.__name__.replace("minitorch.", "")
    assert str(raised.value).startswith(f"module '{theirs}' has no attribute '{name}'")
    assert more in str(raised.value)
    assert not hasattr(module, name)


def test_modules_are_found_when_they_are_asked_for() -> None:
    for name in ("distributed", "jit", "hub", "onnx", "profiler", "testing", "func", "storage"):
        assert getattr(mt, name).__name__ == f"minitorch.torch.{name}"
        assert name in dir(mt)


def test_bfloat16_is_a_name_whose_use_says_so() -> None:
    assert {mt.bfloat16: 2}[mt.bfloat16] == 2
    assert copy.deepcopy(mt.bfloat16) is pickle.loads(pickle.dumps(mt.bfloat16)) is mt.bfloat16
    for use in (
        lambda: mt.zeros(2).bfloat16(),
        lambda: mt.zeros(2, dtype=mt.bfloat16),
        lambda: mt.zeros(2).to(mt.bfloat16),
        lambda: mt.nn.Linear(2, 2).bfloat16(),
        lambda: mt.tensor([1.0], dtype=mt.bfloat16),
    ):
        with pytest.raises(NotImplementedError, match=r"torch\.bfloat16 is a name only"):
            use()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mt.distributed.init_process_group("gloo"), "minitorch trains in one process"),
        (lambda: mt.hub.load("a/b", "c"), "torch.hub.load is not there: minitorch fetches nothing"),
        (lambda: mt.utils.model_zoo.load_url("x"), "minitorch fetches nothing"),
        (lambda: mt.onnx.export(None, None, "f"), "torch.onnx.export is not there"),
        (lambda: mt.utils.cpp_extension.load("x", []), "no C\\+\\+ interface"),
        (lambda: mt.jit.load("x"), "no TorchScript"),
        (lambda: mt.profiler.profile().export_chrome_trace("x"), "cProfile"),
    ],
)
def test_what_is_not_there_says_what_to_do(call: Any, words: str) -> None:
    with pytest.raises(NotImplementedError, match=words):
        call()


def test_processes_that_were_not_initialised() -> None:
    for T in LIBRARIES:
        for call in (
            T.distributed.get_rank,
            T.distributed.get_world_size,
            T.distributed.barrier,
            lambda T=T: T.distributed.all_reduce(T.ones(1)),
            lambda T=T: T.nn.parallel.DistributedDataParallel(T.nn.Linear(2, 2)),
        ):
            with pytest.raises(ValueError, match="Default process group has not been initialized"):
                call()


# --------------------------------------------------------------------------------- amp, compile


def first(what: str) -> None:
    """Let it be said again, for this test."""
    absent._said.discard(what)


def test_autocast_computes_in_float32_and_says_so_once() -> None:
    first("autocast")
    x = mt.ones(2, 2)
    block = mt.autocast("cpu", dtype=mt.bfloat16)
    with pytest.warns(UserWarning, match="computes in the dtypes that tensors have"):
        block.__enter__()
    assert (x @ x).dtype is mt.float32
    block.__exit__(None, None, None)
    assert block.fast_dtype is mt.bfloat16

    @mt.amp.autocast("cpu")
    def decorated(y: Any) -> Any:
        return y @ y

    assert decorated(x).dtype is mt.float32  # without another warning
    with mt.amp.autocast("cpu", enabled=False):
        assert not mt.is_autocast_enabled("cpu")


AUTOCASTS = [
    "t.amp.autocast('foo')", "t.amp.autocast('cuda').__dict__['_enabled']", "t.amp.autocast(1)",
    "t.amp.autocast('cpu', dtype=t.float32)._enabled", "t.amp.autocast('cpu', dtype=t.float16)._enabled",
    "t.autocast('cpu').fast_dtype", "t.autocast('cuda', enabled=False).fast_dtype", "t.amp.GradScaler().is_enabled()",
    "t.amp.GradScaler('cpu').is_enabled()", "t.amp.GradScaler(enabled=False).state_dict()",
    "t.cuda.amp.autocast()._enabled", "t.cuda.amp.GradScaler().is_enabled()", "t.amp.GradScaler('cpu').state_dict()",
    "t.amp.GradScaler('cpu').scale(3)", "t.amp.GradScaler('cpu', init_scale=4.).scale([a, (a,)])",
    "t.amp.GradScaler('cpu').update()", "t.amp.GradScaler('cpu').load_state_dict({})", "t.amp.is_autocast_available('cpu')",
    "t.get_autocast_dtype('cpu'), t.get_autocast_dtype('cuda'), t.is_autocast_enabled()",
]  # fmt: skip


@pytest.mark.parametrize("code", AUTOCASTS)
def test_autocast_and_scalers_are_made_as_in_pytorch(code: str) -> None:
    assert said(mt, code) == said(torch, code)


def test_a_grad_scaler_on_the_cpu_works_as_pytorchs() -> None:
    def program(T: Any) -> list[Any]:
        scaler = T.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
        p = T.nn.Parameter(T.tensor([1.0, 2.0]))
        optimizer = T.optim.SGD([p], lr=0.1)
        log: list[Any] = []
        for step in range(5):
            optimizer.zero_grad()
            scaler.scale((p * p * (float("inf") if step == 3 else 1)).sum()).backward()
            if step % 2:
                scaler.unscale_(optimizer)
                log.append(p.grad.tolist())
                with pytest.raises(RuntimeError, match="unscale_\\(\\) has already been called"):
                    scaler.unscale_(optimizer)
            log.append(scaler.step(optimizer))
            with pytest.raises(RuntimeError, match="step\\(\\) has already been called"):
                scaler.step(optimizer)
            scaler.update()
            log += [p.tolist(), scaler.state_dict(), scaler.get_scale()]
        other = T.amp.GradScaler("cpu")
        other.load_state_dict(scaler.state_dict())
        return [*log, other.state_dict()]

    assert program(mt) == program(torch)


def test_compile_runs_as_it_is_and_says_so_once() -> None:
    first("compile")
    net = mt.nn.Sequential(mt.nn.Linear(2, 3), mt.nn.ReLU())
    with pytest.warns(UserWarning, match="has no compiler"):
        compiled = mt.compile(net)
    assert list(compiled.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert type(compiled).__name__ == "OptimizedModule"
    x = mt.ones(1, 2)
    assert compiled(x).equal(net(x))
    assert compiled._orig_mod is net
    compiled.eval()
    assert not net.training

    @mt.compile(mode="default")
    def double(y: Any) -> Any:
        return 2 * y

    assert double(x).sum() == 4
    assert mt.compile(disable=True)(net) is net
    net.compile()
    assert net(x).equal(compiled(x))


def test_scripts_and_traces_are_the_thing_itself() -> None:
    first("jit")
    net = mt.nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="no TorchScript"):
        assert mt.jit.script(net) is net
    assert mt.jit.trace(net, mt.ones(1, 2)) is net

    @mt.jit.script
    def f(x: Any) -> Any:
        return x + 1

    @mt.jit.ignore(drop=True)
    def g(x: Any) -> Any:
        return x

    assert f(mt.zeros(1)) == 1
    assert mt.jit.export(g) is mt.jit.unused(g) is mt.jit.ignore(g) is g
    assert issubclass(mt.jit.ScriptModule, mt.nn.Module)
    assert mt.jit.wait(mt.jit.fork(f, mt.ones(1))) == 2


def test_profilers_measure_nothing_and_say_so() -> None:
    first("profile")
    profiler = mt.profiler.profile(activities=[mt.profiler.ProfilerActivity.CPU])
    with pytest.warns(UserWarning, match="cProfile"):
        profiler.start()
    with profiler, mt.profiler.record_function("a"):
        profiler.step()
    assert "cProfile" in profiler.key_averages().table(sort_by="x")
    with mt.autograd.profiler.record_function("b"):
        pass


# ------------------------------------------------------------------------------- torch.testing

CLOSE = [
    "A(a, t.tensor([1., 2., 3.1]))", "A(a, t.tensor([1., 2.5, 3.1]), rtol=0, atol=1e-3)", "A(a, t.tensor([1., 2.]))",
    "A(a, a.double())", "A(a, a.double(), check_dtype=False)", "A(t.tensor(1.), t.tensor(2.))", "A(1., 2.)", "A(1, 1.)",
    "A(t.tensor([1, 2]), t.tensor([1, 3]))", "A(t.tensor([True]), t.tensor([False]))", "A([a, a], [a, a + 1])",
    "A({'a': a}, {'a': a + 1})", "A({'a': a}, {'b': a})", "A([a], [a, a])", "A(a, a + 1, rtol=1e-3)",
    "A(t.tensor([np.nan]), t.tensor([np.nan]))", "A(t.tensor([np.nan]), t.tensor([np.nan]), equal_nan=True)",
    "A(a, a + 1, msg='hey')", "A(a, a + 1, msg=lambda m: 'hey ' + m)", "A('a', 'b')", "A(np.ones(2), np.zeros(2))",
    "A(t.ones(2, 2), t.tensor([[1., 1.], [1., 0.]]))", "A(t.ones(2), t.ones(2, device='meta'))", "A(None, None)",
    "A(1 + 2j, 1 + 3j)", "A(a, [1., 2., 3.])", "A(a, a.clone())", "A(t.tensor([np.inf]), t.tensor([np.inf]))",
    "A(a, a + 1e-6)", "A(a.double(), a.double() + 1e-6)",
]  # fmt: skip


@pytest.mark.parametrize("code", CLOSE)
def test_assert_close_says_what_pytorchs_says(code: str) -> None:
    theirs, ours = (said(lib, code, {"A": lib.testing.assert_close}) for lib in LIBRARIES)
    assert ours == theirs


def test_make_tensor() -> None:
    t = mt.testing.make_tensor(3, 4, dtype=mt.float32, device="cpu", low=1, high=2)
    assert t.shape == (3, 4)
    assert bool(((t >= 1) & (t <= 2)).all())
    t = mt.testing.make_tensor((5,), dtype=mt.int64, noncontiguous=True, exclude_zero=True)
    assert not t.is_contiguous()
    assert bool((t != 0).all())


# ---------------------------------------------------------------------------------- torch.func

FUNCTIONS = [
    "t.func.grad(lambda x: (x ** 3).sum())(a)", "t.func.grad(t.func.grad(lambda x: x ** 3))(t.tensor(2.))",
    "t.func.grad(lambda x: x ** 3)(a)", "t.func.grad(lambda x: 3)(a)", "t.func.grad_and_value(lambda x: (x ** 3).sum())(a)",
    "t.func.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(a, a + 1)", "t.func.grad(lambda d: (d['x'] ** 2).sum())({'x': a})",
    "t.func.grad(lambda x: ((x ** 2).sum(), x * 2), has_aux=True)(a)", "t.func.grad(lambda x, y: (x * 2).sum(), argnums=1)(a, a)",
    "t.func.vjp(lambda x: x ** 2, a)[1](t.ones(3))", "t.func.vjp(lambda x: x ** 2, a)[0]",
    "t.func.jacrev(lambda x: x ** 2)(a)", "t.func.jacrev(lambda x: (x, x.sum()))(a)", "t.func.jacfwd(lambda x: x.sum())(a)",
    "t.func.hessian(lambda x: (x ** 3).sum())(a)", "t.func.vmap(lambda x: x.sum())(t.ones(3, 2))",
    "t.vmap(lambda x, y: x @ y, in_dims=(0, None))(t.ones(3, 2), t.ones(2))",
    "t.vmap(lambda x: (x, x * 2), out_dims=(0, 1))(t.arange(6.).reshape(3, 2))", "t.vmap(lambda x: x, in_dims=None)(a)",
    "t.vmap(lambda x: x)(t.tensor(1.))", "t.vmap(lambda x: 3)(a)", "t.vmap(lambda x, y: x)(t.ones(2), t.ones(3))",
    "t.vmap(lambda d: d['a'])({'a': a})", "t.vmap(t.func.grad(lambda x: x ** 2))(a)",
    "t.vmap(lambda x: x + t.rand(1))(a)", "t.vmap(lambda x: x.sum(), in_dims=1)(t.ones(3, 2))",
    "t.vmap(t.vmap(lambda x, y: x * y))(t.ones(2, 3), t.ones(2, 3))", "t.func.grad(lambda x: x.sum())(a).requires_grad",
    "t.vmap(lambda x: {'y': x + 1})(a)", "t.func.jacrev(t.func.jacrev(lambda x: (x ** 3).sum()))(a)",
]  # fmt: skip


@pytest.mark.parametrize("code", FUNCTIONS)
def test_transforms_give_what_pytorchs_give(code: str) -> None:
    theirs, ours = (said(lib, code)[0] for lib in LIBRARIES)
    assert re.sub(r"\(<inputs>\)|<lambda>", "", ours) == re.sub(
        r"\(<inputs>\)|<lambda>", "", theirs
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_transforms_within_graphs() -> None:
    def program(T: Any) -> list[Any]:
        w = T.tensor([2.0, 3.0], dtype=T.float64, requires_grad=True)
        x = T.tensor([0.5, 1.5], dtype=T.float64)
        found = T.func.grad(lambda y: ((y * w) ** 3).sum())(x)
        found.sum().backward()
        log = [found.requires_grad, w.grad.tolist()]
        z = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        T.func.grad(lambda y: (y**3).sum())(z).sum().backward()
        value, pushed = T.func.jvp(lambda y: y.sin(), (x,), (x,))
        rows = T.func.jacrev(lambda y: (y * w).sum())(z)
        return [*log, z.grad.tolist(), value.tolist(), pushed.tolist(), rows.requires_grad]

    ours, theirs = program(mt), program(torch)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_functional_call() -> None:
    def program(T: Any) -> list[Any]:
        class Tied(T.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a = T.nn.Linear(2, 2, bias=False)
                self.b = T.nn.Linear(2, 2, bias=False)
                self.b.weight = self.a.weight
                self.norm = T.nn.BatchNorm1d(2)

            def forward(self, x: Any) -> Any:
                return self.norm(self.b(self.a(x)))

        net = Tied()
        before = net.a.weight
        new = {"a.weight": T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)}
        x = T.tensor([[1.0, 0.0], [0.0, 3.0]])
        out = T.func.functional_call(net, new, (x,))
        (out**2).sum().backward()
        log = [out.tolist(), new["a.weight"].grad is not None, net.a.weight is before, before.grad]
        buffers = {"norm.running_mean": T.zeros(2), "norm.running_var": T.ones(2)}
        T.func.functional_call(net, (new, buffers), x)
        log += [buffers["norm.running_mean"].tolist(), net.norm.num_batches_tracked.item()]
        with pytest.raises(RuntimeError) as raised:
            T.func.functional_call(net, {"c": x}, x, strict=True)
        with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
            T.func.functional_call(net, (new, new), x)
        parameters, held = T.func.stack_module_state([Tied(), Tied()])
        log.append({name: tuple(t.shape) for name, t in {**parameters, **held}.items()})
        return [
            *log,
            "Unexpected key(s): 'c'" in str(raised.value),
            "Missing key(s)" in str(raised.value),
        ]

    ours, theirs = program(mt), program(torch)
    assert ours[1:] == theirs[1:]
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4, atol=1e-5)


# -------------------------------------------------------------------------------------- sparse

SPARSE = [
    "t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3., 4., 5.], (2, 4)).to_dense()",
    "t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3., 4., 5.], (2, 3)).coalesce()",
    "t.sparse_coo_tensor([[0, 0], [1, 1]], [1., 2.]).coalesce().values()", "t.eye(3).to_sparse()",
    "t.eye(3).to_sparse().is_sparse, t.eye(3).is_sparse", "t.eye(3).to_sparse().layout", "t.eye(3).to_sparse().indices()",
    "t.eye(3).to_sparse() @ a", "t.spmm(t.eye(3).to_sparse(), t.ones(3, 2))", "t.sparse.mm(t.eye(3).to_sparse(), t.ones(3, 2))",
    "t.mm(t.eye(3).to_sparse(), t.ones(3, 2))", "t.ones(3, 3) + t.eye(3).to_sparse()", "t.eye(3).to_sparse()._nnz()",
    "t.sparse.sum(t.eye(3).to_sparse())", "t.sparse_coo_tensor([[0]], [1.], (1,)).to('cpu').shape",
    "t.sparse_coo_tensor(np.array([[0, 1]], dtype='i4'), t.ones(2), (3,), dtype=t.int64).to_dense()",
    "t.eye(3).to_sparse().t().to_dense()", "t.sparse.softmax(t.eye(2).to_sparse(), 1).to_dense()",
]  # fmt: skip


@pytest.mark.parametrize("code", SPARSE)
@pytest.mark.filterwarnings("ignore")
def test_sparse_tensors(code: str) -> None:
    assert said(mt, code)[0] == said(torch, code)[0]


def test_gradients_go_through_sparse_tensors() -> None:
    def program(T: Any) -> list[Any]:
        v = T.tensor([1.0, 2.0], requires_grad=True)
        x = T.tensor([[1.0], [3.0]], requires_grad=True)
        T.sparse.mm(T.sparse_coo_tensor([[0, 1], [1, 1]], v, (2, 2)), x).sum().backward()
        return [v.grad.to_dense().tolist(), x.grad.tolist()]

    assert program(mt) == program(torch)


# --------------------------------------------------------------------------------------- files


def test_summary_writer_writes_event_files(tmp_path: Path) -> None:
    from minitorch.torch.utils.tensorboard import SummaryWriter

    pytest.importorskip("tensorboardX")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with SummaryWriter(log_dir=str(tmp_path)) as writer:
            writer.add_scalar("loss", mt.tensor(1.5), 1)
            writer.add_histogram("w", mt.ones(3), 1)
            writer.add_scalars("both", {"a": mt.tensor(1.0)}, 2)
            assert writer.get_logdir() == str(tmp_path)
            writer.flush()
    data = next(tmp_path.glob("events.*")).read_bytes()
    assert b"loss" in data


def test_from_file_and_dlpack(tmp_path: Path) -> None:
    from minitorch.torch.utils.dlpack import from_dlpack, to_dlpack

    path = str(tmp_path / "x")
    t = mt.from_file(path, shared=True, size=3)
    t.copy_(mt.tensor([1.0, 2.0, 3.0]))
    del t
    assert np.fromfile(path, np.float32).tolist() == [1, 2, 3]
    x = mt.ones(2)
    assert from_dlpack(to_dlpack(x)).data_ptr() == x.data_ptr()
    assert from_dlpack(np.ones(3)).dtype is mt.float64


@pytest.mark.filterwarnings("ignore:__array")
def test_numpys_functions_take_tensors() -> None:
    def program(T: Any) -> list[Any]:
        t = T.arange(4.0)
        found = [
            np.sin(t), np.array([t, t]), np.concatenate([t, t]), np.add.reduce(t), np.sqrt(t, out=np.zeros(4, "f4")),
            np.allclose(t, t), np.arange(5)[T.tensor([1, 2])], np.array(t, dtype=np.int32), np.stack([t, t]),
            np.dot(t, t), np.where(t > 1, 1, 0), np.power(t, 2), np.clip(t.numpy(), 0, 1), np.outer(t, t),
        ]  # fmt: skip
        return [(type(x).__name__, np.asarray(x).dtype.name, np.asarray(x).tolist()) for x in found]

    assert program(mt) == program(torch)


def test_timer() -> None:
    from minitorch.torch.utils.benchmark import Timer

    measured = Timer("x + 1", globals={"x": 1}, label="add").timeit(10)
    assert measured.number_per_run == 10
    assert "add" in repr(measured)


NUMPYS_NAMES = [
    "t.softmax(x, axis=0)", "x.softmax(axis=1)", "t.log_softmax(x, axis=1)", "t.stack([x, x], axis=1)",
    "x.unsqueeze(axis=0)", "t.squeeze(x[:1], axis=0)", "t.prod(x, axis=0, keepdims=True)", "x.sort(axis=0)",
    "t.argsort(x, axis=0)", "t.topk(x, 1, axis=0)", "x.unbind(axis=1)", "t.chunk(x, 2, axis=1)", "t.median(x, axis=0)",
    "t.logsumexp(x, axis=0, keepdims=True)", "t.amax(x, axis=0)", "t.amin(x, axis=(0, 1))", "t.argmin(x, axis=1, keepdims=True)",
    "t.nansum(x, axis=0)", "t.nanmean(x, axis=0)", "t.count_nonzero(x, axis=0)", "t.diff(x, axis=0)", "t.cummax(x, axis=0)",
    "t.quantile(x, 0.5, axis=0)", "t.kthvalue(x, 1, axis=0)", "t.tensor_split(x, 2, axis=1)", "t.mode(x, axis=0)",
    "t.repeat_interleave(x, 2, axis=0)", "t.trapezoid(x, axis=0)", "x.sum(axis=0, keepdims=True)", "x.std(axis=0)",
    "t.cat([x, x], axis=1)", "x.max(axis=0)", "x.unsqueeze()", "t.logsumexp(x)", "t.cummin(x)",
]  # fmt: skip


@pytest.mark.parametrize("code", NUMPYS_NAMES)
def test_numpys_names_of_arguments(code: str) -> None:
    rows = [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]
    theirs, ours = (
        said(lib, code, {"x": lib.tensor(rows, dtype=lib.float64)})[0] for lib in LIBRARIES
    )
    assert ours.replace("'", '"').removesuffix("s") == theirs.replace("'", '"').removesuffix("s")
