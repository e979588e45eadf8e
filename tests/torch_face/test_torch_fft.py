"""`torch.fft`, `stft` and `istft`, windows: values, node names, arguments, errors, dtypes, meta."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

RNG = np.random.default_rng(0)
R = RNG.standard_normal((6, 8))
Z = R + 1j * RNG.standard_normal((6, 8))
SIGNAL = RNG.standard_normal((2, 40))

ALONG = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
OVER = [name + end for name in ALONG for end in ("2", "n")]
OF_REAL = {"rfft", "ihfft"}


def bare(t: Any) -> np.ndarray:
    return np.asarray(t.detach().numpy(force=True))


def close(ours: Any, theirs: Any, what: str = "") -> None:
    if ours is None or theirs is None:
        # No gradient is as good as one of zeros.
        assert not any(t is not None and bare(t).any() for t in (ours, theirs)), what
    else:
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1], what
        np.testing.assert_allclose(bare(ours), bare(theirs), rtol=1e-7, atol=1e-9, err_msg=what)


def chain(t: Any) -> list[str]:
    found, node = [], t.grad_fn
    while node is not None:
        found.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def both_orders(lib: Any, function: Callable[..., Any], *arrays: np.ndarray) -> list[Any]:
    xs = [lib.tensor(a, requires_grad=True) for a in arrays]
    out = function(lib, *xs)
    rng = np.random.default_rng(1)
    seed = rng.standard_normal(out.shape)
    if out.is_complex():
        seed = seed + 1j * rng.standard_normal(out.shape)
    g = lib.tensor(np.asarray(seed), requires_grad=True)
    first = lib.autograd.grad(out, xs, g, create_graph=True)
    total = sum((r.abs() ** 2).sum() for r in first)
    second = lib.autograd.grad(total, [*xs, g], allow_unused=True)
    return [out, *first, *second]


def inputs(name: str) -> list[np.ndarray]:
    return [R] if name.rstrip("2n") in OF_REAL else [R, Z]


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize(
    "options",
    [{}, {"n": 5}, {"n": 13, "dim": 0}, {"dim": 0, "norm": "ortho"}, {"norm": "forward"}, {"n": 1}],
    ids=str,
)
def test_along_one_dimension(name: str, options: dict[str, Any]) -> None:
    for x in inputs(name):
        results = [
            both_orders(lib, lambda lib, x: getattr(lib.fft, name)(x, **options), x)
            for lib in (mt, torch)
        ]
        for ours, theirs in zip(*results, strict=True):
            close(ours, theirs, f"{name} {options}")


@pytest.mark.parametrize("name", OVER)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"s": (5, 9)},
        {"s": (3, -1), "dim": (1, 0)},
        {"dim": (0, 1), "norm": "ortho"},
        {"dim": (-1, -2), "norm": "forward"},
    ],
    ids=str,
)
def test_over_several_dimensions(name: str, options: dict[str, Any]) -> None:
    for x in inputs(name):
        results = [
            both_orders(lib, lambda lib, x: getattr(lib.fft, name)(x, **options), x)
            for lib in (mt, torch)
        ]
        for ours, theirs in zip(*results, strict=True):
            close(ours, theirs, f"{name} {options}")


@pytest.mark.parametrize("name", [*ALONG, *OVER])
def test_nodes_have_pytorchs_names(name: str) -> None:
    for x in inputs(name):
        ours, theirs = (
            chain(getattr(lib.fft, name)(lib.tensor(x, requires_grad=True))) for lib in (mt, torch)
        )
        assert ours == theirs
    sizes: Any = {"n": 5, "dim": 0} if name in ALONG else {"s": (4, 13)}
    ours, theirs = (
        chain(getattr(lib.fft, name)(lib.tensor(R, requires_grad=True), **sizes))
        for lib in (mt, torch)
    )
    assert ours == theirs


def test_single_precision_stays_so_and_integers_are_floats() -> None:
    for name in (*ALONG, *OVER):
        for x in (R.astype(np.float32), Z.astype(np.complex64), np.arange(12).reshape(3, 4)):
            if x.dtype.kind == "c" and name.rstrip("2n") in OF_REAL:
                continue
            ours, theirs = (getattr(lib.fft, name)(lib.tensor(x)) for lib in (mt, torch))
            assert str(ours.dtype) == str(theirs.dtype)
            np.testing.assert_allclose(bare(ours), bare(theirs), rtol=1e-4, atol=1e-4)
    leaf: Any = mt.tensor(R.astype(np.float32), requires_grad=True)
    mt.fft.rfft(leaf).abs().sum().backward()
    assert leaf.grad.dtype == mt.float32


VIEWS: list[Callable[[Any], Any]] = [
    lambda t: t.t(),
    lambda t: t[::2, 1::3],
    lambda t: t[0].expand(4, 8),
    lambda t: t[:, :2],
    lambda t: t.flip(0)[:, ::2],
]


@pytest.mark.parametrize("name", [*ALONG, *OVER])
def test_layouts_that_are_awkward(name: str) -> None:
    for view in VIEWS:
        ours, theirs = (
            getattr(lib.fft, name)(view(lib.tensor(inputs(name)[-1]))) for lib in (mt, torch)
        )
        close(ours, theirs)


@pytest.mark.parametrize("name", ALONG)
def test_an_empty_batch_has_the_shape_of_any_other(name: str) -> None:
    """PyTorch's own library refuses it."""
    ours = getattr(mt.fft, name)(mt.zeros(0, 4, requires_grad=True))
    theirs = getattr(torch.fft, name)(torch.zeros(1, 4))
    assert tuple(ours.shape) == (0, theirs.shape[1])
    assert str(ours.dtype) == str(theirs.dtype)
    ours.abs().sum().backward()


def test_zero_dimensions() -> None:
    for lib in (mt, torch):
        assert lib.fft.fftn(lib.tensor(2.0)).item() == 2
        assert lib.fft.ifftn(lib.tensor(2j)).item() == 2j
        assert lib.fft.fftn(lib.ones(2, 3), dim=()).shape == (2, 3)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name: str) -> None:
    for dim in (None, 0, -1, (0, 1), (1,), (0, 0)):
        results = [
            both_orders(lib, lambda lib, z, dim=dim: getattr(lib.fft, name)(z[:5], dim) ** 2, Z)
            for lib in (mt, torch)
        ]
        for ours, theirs in zip(*results, strict=True):
            close(ours, theirs)
    ours, theirs = (getattr(lib.fft, name)(lib.arange(7)) for lib in (mt, torch))
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name: str) -> None:
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((5,), {}),
        ((6, 0.25), {}),
        ((0,), {}),
        ((1,), {}),
        ((7,), {"d": 3.0, "dtype": "float64"}),
        ((4,), {"requires_grad": True}),
        ((4,), {"device": "meta"}),
    ]
    for args, options in calls:
        results: list[Any] = []
        for lib in (mt, torch):
            given = {k: getattr(lib, v) if k == "dtype" else v for k, v in options.items()}
            results.append(getattr(lib.fft, name)(*args, **given))
        ours, theirs = results
        assert ours.shape == theirs.shape
        assert ours.requires_grad == theirs.requires_grad
        assert ours.is_meta == theirs.is_meta
        if not ours.is_meta:
            close(ours, theirs)


def test_out() -> None:
    for lib in (mt, torch):
        out = lib.empty(6, 8, dtype=lib.complex128)
        assert lib.fft.fft(lib.tensor(Z), out=out) is out
        np.testing.assert_allclose(bare(out), np.fft.fft(Z), rtol=1e-9)
        with pytest.raises(RuntimeError, match="expects a complex output"):
            lib.fft.fft(lib.tensor(Z), out=lib.empty(6, 8))


REFUSED = """
lib.fft.fft(lib.tensor(1.0))
lib.fft.fft2(lib.tensor(1.0), dim=0)
lib.fft.rfftn(lib.tensor(1.0))
lib.fft.irfftn(lib.tensor(1.0))
lib.fft.fft(lib.ones(3, 4), dim=2)
lib.fft.fft(lib.ones(3, 4), n=0)
lib.fft.fft(lib.ones(3, 4), n=-1)
lib.fft.fft(lib.ones(3, 4), n=2.5)
lib.fft.fft(lib.ones(3, 4), dim=None)
lib.fft.fft(lib.ones(3, 4), norm="none")
lib.fft.fft(lib.ones(3, 4).half())
lib.fft.fft([1.0])
lib.fft.fft(lib.ones(3, 0))
lib.fft.fftn(lib.ones(3, 4), dim=(0, 0))
lib.fft.fftn(lib.ones(3, 4), s=(1,), dim=(0, 1))
lib.fft.fftn(lib.ones(3, 4), s=(1, 2, 3))
lib.fft.fftn(lib.ones(3, 4), s=(0, 2))
lib.fft.fftn(lib.ones(3, 4), s=(-2, 2))
lib.fft.fftn(lib.ones(3, 4), dim=5)
lib.fft.fft2(lib.ones(3))
lib.fft.rfft(lib.ones(3) * 1j)
lib.fft.ihfft(lib.ones(3) * 1j)
lib.fft.rfftn(lib.ones(3) * 1j)
lib.fft.irfft(lib.ones(1))
lib.fft.irfft(lib.ones(3), n=0)
lib.fft.irfftn(lib.ones(3, 1))
lib.fft.rfftn(lib.ones(3, 4), dim=())
lib.fft.fftfreq(-1)
lib.fft.fftfreq(2.5)
lib.fft.fftfreq(5, dtype=lib.int64)
lib.fft.fftshift(lib.ones(3, 4), dim=7)
lib.stft(lib.ones(20), 8)
lib.stft(lib.ones(20), 80, return_complex=True)
lib.stft(lib.ones(20), 30, return_complex=True, center=False)
lib.stft(lib.ones(20), 8, hop_length=0, return_complex=True)
lib.stft(lib.ones(20), 8, win_length=9, return_complex=True)
lib.stft(lib.ones(20), 8, window=lib.ones(7), return_complex=True)
lib.stft(lib.ones(20, dtype=lib.int64), 8, return_complex=True, center=False)
lib.stft(lib.ones(2, 2, 20), 8, return_complex=True, center=False)
lib.stft(lib.ones(20) * 1j, 8, onesided=True)
lib.istft(lib.ones(5, 9), 8)
lib.istft(lib.ones(4, 9) * 1j, 8, onesided=True)
lib.istft(lib.ones(5, 9) * 1j, 8, hop_length=9)
lib.istft(lib.ones(5, 9) * 1j, 8, win_length=9)
lib.istft(lib.ones(5, 9) * 1j, 8, window=lib.ones(7))
lib.istft(lib.ones(5, 9) * 1j, 8, window=lib.zeros(8))
lib.istft(lib.ones(5, 9) * 1j, 8, return_complex=True)
lib.istft(lib.ones(1, 1, 5, 9) * 1j, 8)
lib.hann_window(-1)
lib.hann_window(3, dtype=lib.int64)
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore:A window was not provided")
@pytest.mark.parametrize("text", REFUSED)
def test_what_pytorch_refuses_is_refused(text: str) -> None:
    with pytest.raises(Exception) as theirs:
        eval(text, {"lib": torch})
    with pytest.raises(theirs.type) as ours:
        eval(text, {"lib": mt})
    assert len(str(ours.value)) > 20


# ----------------------------------------------------------------- pieces of a signal

WINDOW = np.hanning(9)[:8]
STFTS: list[dict[str, Any]] = [
    {"n_fft": 8},
    {"n_fft": 8, "hop_length": 3},
    {"n_fft": 8, "center": False},
    {"n_fft": 8, "normalized": True},
    {"n_fft": 8, "onesided": False},
    {"n_fft": 9, "win_length": 6, "hop_length": 2},
    {"n_fft": 8, "pad_mode": "constant"},
    {"n_fft": 8, "hop_length": 10, "center": False},
]


@pytest.mark.filterwarnings("ignore:A window was not provided")
@pytest.mark.parametrize("options", STFTS, ids=str)
@pytest.mark.parametrize("with_window", [False, True])
def test_stft(options: dict[str, Any], with_window: bool) -> None:
    window = np.hanning(options.get("win_length", options["n_fft"]) + 1)[:-1] + 0.1
    for signal in (SIGNAL, SIGNAL[0]):

        def function(lib: Any, x: Any, *rest: Any, options: Any = options) -> Any:
            return lib.stft(x, window=rest[0] if rest else None, return_complex=True, **options)

        given = [signal, window] if with_window else [signal]
        results = [both_orders(lib, function, *given) for lib in (mt, torch)]
        for ours, theirs in zip(*results, strict=True):
            close(ours, theirs, str(options))


@pytest.mark.filterwarnings("ignore:stft with return_complex=False")
def test_stft_of_complex_signals_and_as_pairs() -> None:
    z = SIGNAL + 1j * SIGNAL[::-1]

    def of_complex(lib: Any, x: Any) -> Any:
        return x.stft(8, window=lib.tensor(WINDOW))

    def of_complex_window(lib: Any, x: Any, w: Any) -> Any:
        return lib.stft(x, 8, window=w)

    def pairs(lib: Any, x: Any) -> Any:
        return lib.stft(x, 8, window=lib.tensor(WINDOW), return_complex=False)

    for function, arrays in (
        (of_complex, [z]),
        (of_complex_window, [SIGNAL, WINDOW * 1j + 0.3]),
        (pairs, [SIGNAL]),
    ):
        results = [both_orders(lib, function, *arrays) for lib in (mt, torch)]
        for ours, theirs in zip(*results, strict=True):
            close(ours, theirs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hop_length": 3},
        {"normalized": True},
        {"length": 20},
        {"length": 24},
        {"onesided": False},
        {"onesided": False, "return_complex": True},
        {"win_length": 6},
    ],
    ids=str,
)
def test_istft(options: dict[str, Any]) -> None:
    window = np.hanning(options.get("win_length", 8) + 1)[:-1] + 0.1
    rows = 8 if options.get("onesided") is False else 5
    for shape in ((2, rows, 11), (rows, 11)):
        spectrum = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)

        def function(lib: Any, x: Any, w: Any, options: Any = options) -> Any:
            return lib.istft(x, 8, window=w, **options)

        results = [both_orders(lib, function, spectrum, window) for lib in (mt, torch)]
        for ours, theirs in zip(*results, strict=True):
            close(ours, theirs, str(options))


def test_istft_undoes_stft_and_fills_up_with_a_warning() -> None:
    ours: Any = mt
    window = ours.hann_window(8, dtype=mt.float64)
    spectrum = ours.stft(mt.tensor(SIGNAL), 8, window=window, return_complex=True)
    np.testing.assert_allclose(bare(ours.istft(spectrum, 8, window=window)), SIGNAL, atol=1e-12)
    for lib in (mt, torch):
        given = lib.tensor(bare(spectrum)), lib.tensor(bare(window))
        with pytest.warns(UserWarning, match="shorter than the length"):
            longer = lib.istft(given[0], 8, window=given[1], length=50)
        assert longer.shape == (2, 50)
        assert not bare(longer)[:, 45:].any()


def test_stft_and_istft_have_pytorchs_nodes() -> None:
    found = []
    for lib in (mt, torch):
        x, w = lib.tensor(SIGNAL, requires_grad=True), lib.tensor(WINDOW)
        spectrum = lib.stft(x, 8, window=w, return_complex=True)
        lone = lib.stft(x, 8, window=w, return_complex=True, center=False, onesided=False)
        back = lib.istft(spectrum.detach().requires_grad_(), 8, window=w)
        found.append((chain(spectrum), chain(lone), chain(back), spectrum.stride()))
    assert found[0] == found[1]


WINDOWS: list[tuple[str, tuple[Any, ...]]] = [
    ("hann_window", ()),
    ("hamming_window", ()),
    ("hamming_window", (True, 0.6)),
    ("hamming_window", (False, 0.6, 0.3)),
    ("blackman_window", ()),
    ("bartlett_window", ()),
    ("kaiser_window", ()),
    ("kaiser_window", (False, 5.0)),
]


@pytest.mark.parametrize(("name", "args"), WINDOWS)
def test_windows(name: str, args: tuple[Any, ...]) -> None:
    for length in (0, 1, 2, 7, 8):
        for more in (args, (False, *args[1:])):
            ours, theirs = (
                getattr(lib, name)(length, *more, dtype=lib.float64) for lib in (mt, torch)
            )
            close(ours, theirs, f"{name}({length}, {more})")
    assert getattr(mt, name)(5).dtype == mt.float32
    assert getattr(mt, name)(5, requires_grad=True).requires_grad
    assert getattr(mt, name)(5, device="meta").is_meta


def test_meta_tensors_and_their_gradients() -> None:
    found = []
    for lib in (mt, torch):
        r = lib.ones(4, 6, device="meta", requires_grad=True)
        z = lib.ones(4, 6, dtype=lib.complex64, device="meta", requires_grad=True)
        rows = []
        for name in (*ALONG, *OVER, "fftshift"):
            for x in [r] if name.rstrip("2n") in OF_REAL else [r, z]:
                out = getattr(lib.fft, name)(x)
                (g,) = lib.autograd.grad(out, x, lib.ones_like(out))
                rows.append((name, tuple(out.shape), str(out.dtype), tuple(g.shape), str(g.dtype)))
        found.append(rows)
    assert found[0] == found[1]


def test_gradients_agree_with_finite_differences() -> None:
    z = mt.tensor(Z[:2, :4], requires_grad=True)
    r = mt.tensor(R[:2, :5], requires_grad=True)
    assert mt.autograd.gradcheck(lambda z: mt.fft.irfft(z, n=7), z)
    assert mt.autograd.gradcheck(mt.fft.rfft2, r)
    assert mt.autograd.gradgradcheck(lambda z: mt.fft.fft(z) ** 2, z)
