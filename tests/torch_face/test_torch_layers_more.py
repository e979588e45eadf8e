"""Layers: mistakes, files of old versions, lazy layers and other particulars, in both libraries."""

from __future__ import annotations

import copy
import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

LIBRARIES = (torch, mt)


def array(t: Any) -> Any:
    return t.detach().numpy().copy()


# ------------------------------------------------------------------------------- mistakes

MISTAKES = """
Conv2d(2, 4, 3, groups=0)
Conv2d(3, 4, 3, groups=2)
Conv2d(4, 3, 3, groups=2)
Conv2d(2, 4, 3, padding='full')
Conv2d(2, 4, 3, stride=2, padding='same')
Conv2d(2, 4, 2.5)
Conv2d(2, 4)
Conv2d(2, 4, 3, padding_mode='mirror')
Conv2d(2, 4, 3)(T.ones(1, 3, 5, 5))
Conv2d(2, 4, 3)(T.ones(1, 2, 2, 2))
Conv2d(2, 4, 3)(T.ones(1, 2, 5, 5).double())
Conv2d(2, 4, 3, padding=2, padding_mode='reflect')(T.ones(2, 2, 2))
Conv2d(2, 4, (3,))(T.ones(1, 2, 5, 5))
ConvTranspose2d(2, 4, 3, padding_mode='reflect')
ConvTranspose2d(2, 4, 3, padding='same')(T.ones(1, 2, 3, 3))
ConvTranspose2d(2, 3, 3, stride=2)(T.ones(1, 2, 4, 4), output_size=(3, 10, 10))
ConvTranspose2d(2, 3, 3, stride=2)(T.ones(1, 2, 4, 4), output_size=(11, 11))
ConvTranspose2d(2, 3, 3, stride=2)(T.ones(1, 2, 4, 4), output_size=(8, 9))
ConvTranspose2d(2, 3, 3, stride=2)(T.ones(1, 2, 4, 4), output_size=10)
BatchNorm1d(3)(T.ones(2, 3, 4, 5))
BatchNorm2d(3)(T.ones(2, 3, 4))
BatchNorm3d(3)(T.ones(2, 3, 4))
BatchNorm1d(3)(T.ones(1, 3))
BatchNorm1d(3)(T.ones(2, 4))
SyncBatchNorm(3)(T.ones(3))
InstanceNorm1d(3)(T.ones(3))
InstanceNorm2d(3)(T.ones(2, 3))
InstanceNorm3d(3)(T.ones(2, 3))
InstanceNorm2d(3, affine=True)(T.ones(2, 4, 3, 3))
InstanceNorm1d(3, affine=True)(T.ones(4, 3))
MaxPool2d(0)(T.ones(1, 1, 2, 2))
MaxPool2d()
AvgPool1d((2, 2))(T.ones(1, 1, 4))
FractionalMaxPool2d(2)
FractionalMaxPool2d(2, 3, 0.5)
FractionalMaxPool2d(2, output_ratio=1.5)
FractionalMaxPool3d(2)
FractionalMaxPool3d(2, output_ratio=(0.5, 0, 0.5))
MaxUnpool2d(2)(T.ones(1, 1, 2, 2), T.zeros(1, 1, 2, 2))
ConstantPad2d((1, 2, 3), 0.0)(T.ones(2, 2))
ZeroPad2d(1)(T.ones(3))
CircularPad1d(1)(T.ones(3))
CircularPad2d(1)(T.ones(3, 3))
CircularPad3d(1)(T.ones(3, 3, 3))
ReflectionPad1d(1)(T.ones(3))
ReflectionPad1d(1.5)(T.ones(2, 3))
Unflatten(1, 2)
Unflatten(1, (2, 3.0))
Unflatten('a', (('b', 2), ('c', 3)))
Unflatten(1, (2, 2))(T.ones(2, 5))
Flatten()(T.ones(3))
Upsample(scale_factor='a')
Upsample()(T.ones(1, 1, 2, 2))
Upsample(scale_factor=2, mode='bilinear')(T.ones(1, 1, 2))
PixelShuffle(2)(T.ones(1, 3, 2, 2))
ChannelShuffle(2)(T.ones(1, 3, 2, 2))
Fold(4, 2)(T.ones(1, 4, 8))
MSELoss(reduction='all')(T.ones(2), T.ones(2))
CrossEntropyLoss(weight=[1.0])
CrossEntropyLoss()(T.ones(2, 3), T.tensor([1, 5]))
CrossEntropyLoss()(T.ones(2, 3), T.tensor([1]))
MultiMarginLoss(3)
MultiMarginLoss(weight=T.ones(2, 2))
TripletMarginLoss(margin=-1)
TripletMarginWithDistanceLoss(margin=0)
TripletMarginWithDistanceLoss(lambda a, b: a)
GaussianNLLLoss(True)
LinearCrossEntropyLoss(3, 4, weight=T.ones(3))
LinearCrossEntropyLoss(3, 4, out_features=2)
AdaptiveLogSoftmaxWithLoss(4, 10, [])
AdaptiveLogSoftmaxWithLoss(4, 10, [5, 3])
AdaptiveLogSoftmaxWithLoss(4, 10, [3, 10])
AdaptiveLogSoftmaxWithLoss(4, 10, [3, 5], 2.0)(T.ones(2, 4), T.tensor([3, 50]))
AdaptiveLogSoftmaxWithLoss(4, 10, [3, 5], 2.0)(T.ones(2, 4), T.tensor([3]))
AdaptiveLogSoftmaxWithLoss(4, 10, [3, 5], 2.0)(T.ones(2, 4), T.tensor(3))
AdaptiveLogSoftmaxWithLoss(4, 10, [3, 5], 2.0)(T.ones(2, 4), T.ones(2, 2))
LazyLinear(3).weight.shape
LazyLinear(3).weight + 1
LazyLinear(3).weight.numel()
LazyLinear(3).weight.nothing
LazyLinear(3).share_memory()
LazyConv2d(4, 3)(T.ones(1, 2))
LazyConv2d(4, 3, groups=2)(T.ones(1, 3, 5, 5))
LazyBatchNorm1d()(T.ones(3))
Linear(4, 3).load_state_dict(T.nn.LazyLinear(3).state_dict())
LazyLinear(3).load_state_dict({})
BatchNorm1d(3).load_state_dict({})
""".strip().splitlines()

KINDS = (IndexError, NotImplementedError, TypeError, ValueError, AttributeError, RuntimeError)
OTHER_WORDS = {
    "Conv2d(2, 4, 2.5)",  # PyTorch's own words are about empty(size)
    "Conv2d(2, 4, 3, padding='full')",  # it lists a set, in any order
    "Conv2d(2, 4, 3, padding_mode='mirror')",
    # What functions say is tested with the functions.
    "Conv2d(2, 4, 3)(T.ones(1, 2, 5, 5).double())",
    "Conv2d(2, 4, 3, padding=2, padding_mode='reflect')(T.ones(2, 2, 2))",
    "Conv2d(2, 4, (3,))(T.ones(1, 2, 5, 5))",
    "MaxPool2d(0)(T.ones(1, 1, 2, 2))",
    "AvgPool1d((2, 2))(T.ones(1, 1, 4))",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: str) -> None:
    errors = []
    for T in LIBRARIES:
        warnings.simplefilter("ignore")
        with pytest.raises(KINDS) as caught:
            eval("T.nn." + mistake, {"T": T})
        errors.append(caught.value)
    theirs, ours = errors
    kind = next(kind for kind in KINDS if isinstance(theirs, kind))
    assert isinstance(ours, kind), f"{ours!r} is not {theirs!r}"
    if mistake not in OTHER_WORDS:
        said = str(theirs).split("\n", maxsplit=1)[0][:32].rstrip(".")
        assert said in str(ours), f"{ours!r} is not {theirs!r}"


# ----------------------------------------------------------------------------- particulars


def both(program: Any) -> Any:
    """What a program says, the same in both libraries."""
    theirs, ours = program(torch), program(mt)
    assert len(theirs) == len(ours)
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(b, np.ndarray):
            assert a.dtype == b.dtype
            single = b.dtype == np.float32
            np.testing.assert_allclose(a, b, *((2e-6, 2e-6) if single else (1e-7, 1e-9)))
        else:
            assert a == b
    return ours


def test_windows_that_keep_the_first_channel() -> None:
    x = np.random.default_rng(0).normal(size=(2, 7, 2, 3))
    want, got = (T.nn.CrossMapLRN2d(4, 0.5, 0.6, 1.5)(T.tensor(x)).numpy() for T in LIBRARIES)
    np.testing.assert_allclose(got, want, 1e-7)


def test_warnings_of_old_arguments() -> None:
    def program(T: Any) -> Any:
        said = []
        for make in (
            lambda: T.nn.L1Loss(reduce=False).reduction,
            lambda: T.nn.MSELoss(False).reduction,
            lambda: T.nn.NLLLoss2d().reduction,
            lambda: T.nn.InstanceNorm2d(3)(T.ones(2, 4, 3, 3)).shape[1],
            lambda: T.nn.InstanceNorm1d(3)(T.ones(4, 3)).shape[0],
        ):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = make()
            said.append([value, *[(c.category.__name__, str(c.message)[:60]) for c in caught]])
        return said

    assert all(len(each) == 2 for each in both(program))


def test_state_of_old_versions() -> None:
    """Batch norms of version 1 do not count batches; instance norms kept unused statistics."""

    def program(T: Any) -> Any:
        norm = T.nn.Sequential(T.nn.BatchNorm1d(2))
        norm(T.ones(3, 2))
        old = {k: v + 1 for k, v in norm.state_dict().items() if "num" not in k}
        said = [repr(norm.load_state_dict(old)), int(norm[0].num_batches_tracked)]
        untracked = T.nn.BatchNorm1d(2, track_running_stats=False)
        said.append(list(untracked.state_dict()))
        for layer in (T.nn.InstanceNorm1d(2), T.nn.BatchNorm1d(2)):
            try:
                layer.load_state_dict({"running_mean": T.ones(2), "running_var": T.ones(2)})
                said.append("loaded")
            except RuntimeError as error:
                said.append(str(error)[:120])
        return said

    both(program)


def test_pickles_of_old_versions() -> None:
    def program(T: Any) -> Any:
        conv, up = T.nn.Conv2d(1, 1, 1), T.nn.Upsample(scale_factor=2)
        pool = T.nn.AvgPool3d(2)
        for layer, lost in (
            (conv, "padding_mode"), (up, "recompute_scale_factor"), (pool, "count_include_pad"),
        ):  # fmt: skip
            state = dict(layer.__dict__)
            del state[lost], layer.__dict__[lost]
            layer.__setstate__(state)
        return conv.padding_mode, up.recompute_scale_factor, pool.count_include_pad

    both(program)


def test_batch_norms_made_synchronous() -> None:
    def program(T: Any) -> Any:
        T.manual_seed(0)
        net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4, momentum=None)).eval()
        net[1].running_mean.fill_(0.5)
        before = net[1].weight
        made = T.nn.SyncBatchNorm.convert_sync_batchnorm(net)
        return (
            repr(made), made is net, made[1].weight is before, made[1].training,
            array(made(T.ones(2, 3))),
        )  # fmt: skip

    both(program)


def test_batch_norm_without_statistics() -> None:
    """Statistics that were taken away, or are not tracked any more."""

    def program(T: Any) -> Any:
        x = T.arange(12.0).reshape(4, 3) ** 1.5
        norm = T.nn.BatchNorm1d(3)
        norm.track_running_stats = False
        said = [array(norm(x)), array(norm.running_mean), int(norm.num_batches_tracked)]
        said.append(array(norm.eval()(x)))
        norm.running_mean = norm.running_var = None
        said.append(array(norm(x)))
        norm.train()
        norm.num_batches_tracked = None
        said.append(array(norm(x)))
        norm.reset_running_stats()
        return said

    both(program)


def test_changes_are_counted_and_weights_replaced() -> None:
    def program(T: Any) -> Any:
        T.manual_seed(0)
        conv, norm = T.nn.Conv1d(2, 3, 2), T.nn.BatchNorm1d(2)
        x = T.arange(12.0).reshape(2, 2, 3)
        norm(x)
        norm(x)
        said = [norm.num_batches_tracked._version]
        for layer in (conv, norm):
            weight = layer.weight.detach()
            del layer.weight
            layer.weight = weight * 2
            said += [array(layer(x)), list(layer.state_dict())]
        return said

    both(program)


def test_convolutions_made_by_subclasses() -> None:
    def program(T: Any) -> Any:
        class Standardised(T.nn.Conv2d):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
                return self._conv_forward(x, weight, self.bias)

        T.manual_seed(0)
        layer = Standardised(2, 3, 3, padding=1, padding_mode="circular")
        try:
            T.nn.Conv2d(2, 3, 3, strid=2)
        except TypeError as error:
            said = str(error)
        return repr(layer), array(layer(T.arange(32.0).reshape(1, 2, 4, 4))), said

    both(program)


def test_lazy_layers() -> None:
    def program(T: Any) -> Any:
        nn = T.nn
        said: list[Any] = []
        for make, full, x in (
            (lambda: nn.LazyLinear(2), nn.Linear(3, 2), T.ones(1, 3)),
            (lambda: nn.LazyConv1d(2, 3), nn.Conv1d(4, 2, 3), T.ones(1, 4, 5)),
            (lambda: nn.LazyBatchNorm1d(), nn.BatchNorm1d(3), T.ones(2, 3)),
        ):
            lazy = make()
            said += [
                repr(lazy),
                repr(lazy.weight),
                repr(lazy.state_dict()),
                lazy.weight.dtype.is_complex,
            ]
            said += [
                nn.parameter.is_lazy(lazy.weight),
                lazy.weight.requires_grad,
                len(list(lazy.parameters())),
            ]
            said += [
                repr(lazy.load_state_dict(make().state_dict())),
                lazy.has_uninitialized_params(),
            ]
            twin = make() if "Norm" in repr(lazy) else copy.deepcopy(lazy)
            T.manual_seed(0)
            said += [
                array(twin(x)),
                repr(twin),
                lazy.has_uninitialized_params(),
                str(twin.weight.dtype),
            ]
            said += [
                type(twin).__name__,
                isinstance(twin.weight, nn.Parameter),
                type(lazy).__name__,
            ]
            lazy.double()
            said += [str(lazy.weight.dtype), str(make().to(T.float64).weight.dtype)]
            lazy = make()
            lazy.load_state_dict(full.state_dict())
            lazy.eval()
            said += [bool((lazy(x) == full.eval()(x)).all()), repr(lazy)]
            whole = nn.Sequential(make(), nn.Identity())
            whole(x)
            said += [repr(whole), type(whole[0]).__name__, len(whole[0]._forward_pre_hooks)]
        return said

    both(program)


def test_a_lazy_layer_is_no_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        layer = mt.nn.LazyConv2d(2, 3)
        seen = weakref.ref(layer)
        del layer
        assert seen() is None
    finally:
        gc.enable()


def test_log_probabilities_of_clusters() -> None:
    def program(T: Any) -> Any:
        T.manual_seed(0)
        layer = T.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6], 2.0)
        said = []
        for rows in (1, 30):
            x = T.randn(rows, 8) * 9
            logp = layer.log_prob(x)
            said += [array(logp), layer.predict(x).tolist(), array(logp.exp().sum(1))]
        layer.reset_parameters()
        return [*said, array(layer.tail[1][0].weight)]

    both(program)
