"""Every layer of `torch.nn`: constructed and used in both libraries it says and does the same."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

LIBRARIES = (torch, mt)


class Draw:
    """Inputs, the same in both libraries: `case` has them as an expression of these methods."""

    def __init__(self, T: Any) -> None:
        self.T, self.rng = T, np.random.default_rng(3)

    def tensor(self, array: Any) -> Any:
        return self.T.from_numpy(np.array(array))

    def r(self, *shape: int) -> Any:
        """Normally distributed, and asks for a gradient."""
        return self.tensor(self.rng.normal(size=shape)).requires_grad_()

    def u(self, *shape: int) -> Any:
        """Between 0 and 1, and asks for a gradient."""
        return self.tensor(self.rng.uniform(0.1, 0.9, shape)).requires_grad_()

    def c(self, *shape: int) -> Any:
        """Between 0 and 1, a constant."""
        return self.tensor(self.rng.uniform(0.1, 0.9, shape))

    def s(self, *shape: int) -> Any:
        """1 or -1."""
        return self.tensor(self.rng.choice([-1.0, 1.0], shape))

    def i(self, below: int, *shape: int) -> Any:
        """Whole numbers."""
        return self.tensor(self.rng.integers(0, below, shape))


# A layer, and what it is called with. A name can come several times.
CASES = """
Identity(3, a=4) | r(2, 3)
Linear(5, 4) | r(2, 5)
Linear(5, 4, bias=False) | r(2, 3, 5)
Linear(5, 4, dtype=T.float64) | r(5)
Bilinear(2, 3, 4) | r(5, 2), r(5, 3)
LazyLinear(4) | r(3, 5)
LazyLinear(4, bias=False) | r(5)

ReLU() | r(2, 3)
ReLU(inplace=True) | r(2, 3) * 1
ReLU6() | r(2, 3)
Threshold(0.1, 20) | r(2, 3)
RReLU() | r(2, 3)
RReLU(0.1, 0.2) | r(2, 3)
Hardtanh(-2, 0.5) | r(2, 3)
Sigmoid() | r(2, 3)
Hardsigmoid() | r(2, 3)
Tanh() | r(2, 3)
SiLU() | r(2, 3)
Mish() | r(2, 3)
Hardswish() | r(2, 3)
ELU(0.5) | r(2, 3)
CELU(0.5) | r(2, 3)
SELU() | r(2, 3)
GLU() | r(2, 4)
GELU() | r(2, 3)
GELU('tanh') | r(2, 3)
Hardshrink() | r(2, 3)
LeakyReLU(0.2) | r(2, 3)
LogSigmoid() | r(2, 3)
Softplus(2) | r(2, 3)
Softshrink(0.2) | r(2, 3)
PReLU() | r(2, 3)
PReLU(3, 0.1) | r(2, 3)
Softsign() | r(2, 3)
Tanhshrink() | r(2, 3)
Softmin(1) | r(2, 3)
Softmax(dim=-1) | r(2, 3)
Softmax2d() | r(2, 3, 2, 2)
LogSoftmax(dim=0) | r(2, 3)

Dropout() | r(4, 5)
Dropout(0.2, inplace=True) | r(4, 5) * 1
Dropout1d(0.3) | r(4, 5, 3)
Dropout2d(0.3) | r(4, 5, 3, 2)
Dropout3d(0.3) | r(4, 5, 3, 2, 2)
AlphaDropout(0.3) | r(4, 5)
FeatureAlphaDropout(0.3) | r(4, 5, 3)

Embedding(6, 3) | i(6, 2, 4)
Embedding(6, 3, padding_idx=-1) | i(6, 2, 4)
EmbeddingBag(6, 3) | i(6, 2, 4)
EmbeddingBag(6, 3, mode='sum', padding_idx=1) | i(6, 7), T.tensor([0, 3])

LayerNorm(4) | r(2, 3, 4)
LayerNorm((3, 4), bias=False) | r(2, 3, 4)
LayerNorm(4, elementwise_affine=False) | r(2, 3, 4)
GroupNorm(2, 4) | r(2, 4, 3)
GroupNorm(2, 4, affine=False) | r(2, 4, 3)
RMSNorm(4) | r(2, 3, 4)
LocalResponseNorm(3) | r(2, 4, 3)
CrossMapLRN2d(5) | r(2, 2, 3, 3)

BatchNorm1d(3) | r(4, 3)
BatchNorm1d(3) | r(4, 3, 2)
BatchNorm1d(3, momentum=None) | r(4, 3)
BatchNorm1d(3, affine=False) | r(4, 3)
BatchNorm1d(3, bias=False) | r(4, 3)
BatchNorm1d(3, track_running_stats=False) | r(4, 3)
BatchNorm2d(3) | r(4, 3, 2, 2)
BatchNorm2d(3, 1e-3, 0.5) | r(4, 3, 2, 2)
BatchNorm3d(3) | r(2, 3, 2, 2, 2)
SyncBatchNorm(3) | r(4, 3)
SyncBatchNorm(3, 1e-3, None) | r(4, 3, 5)
LazyBatchNorm1d() | r(4, 3)
LazyBatchNorm1d(bias=False) | r(4, 3)
LazyBatchNorm2d(momentum=0.3) | r(4, 3, 2, 2)
LazyBatchNorm3d(affine=False) | r(2, 3, 2, 2, 2)
InstanceNorm1d(3) | r(4, 3, 5)
InstanceNorm1d(3) | r(3, 5)
InstanceNorm1d(3, affine=True, track_running_stats=True) | r(4, 3, 5)
InstanceNorm1d(3, affine=True, track_running_stats=True, momentum=None) | r(4, 3, 5)
InstanceNorm2d(3, affine=True) | r(2, 3, 4, 2)
InstanceNorm2d(3, affine=True, bias=False) | r(3, 4, 2)
InstanceNorm3d(3, track_running_stats=True) | r(2, 3, 2, 2, 2)
LazyInstanceNorm1d() | r(2, 3, 4)
LazyInstanceNorm2d(affine=False) | r(2, 3, 4, 2)
LazyInstanceNorm3d(affine=False, track_running_stats=False) | r(2, 3, 2, 2, 2)

Conv1d(2, 4, 3) | r(2, 2, 7)
Conv1d(2, 4, 3, padding='same', dilation=2) | r(2, 7)
Conv1d(4, 4, 3, 2, 1, groups=2, bias=False) | r(2, 4, 7)
Conv1d(2, 3, 3, padding=2, padding_mode='circular') | r(2, 2, 7)
Conv2d(2, 4, 3) | r(2, 2, 5, 6)
Conv2d(2, 4, (3, 2), (2, 1), [1, 2]) | r(2, 2, 5, 6)
Conv2d(2, 4, 3, padding='valid') | r(2, 5, 6)
Conv2d(4, 4, 3, 2, 1, 1, 4) | r(2, 4, 5, 6)
Conv2d(2, 3, (3, 5), padding='same', padding_mode='reflect') | r(2, 2, 5, 6)
Conv2d(2, 3, 4, padding='same', padding_mode='replicate') | r(2, 2, 5, 6)
Conv2d(2, 3, 3, padding=(1, 2), padding_mode='circular', dilation=(1, 2)) | r(2, 2, 5, 6)
Conv2d(2, 3, 3, padding=1, padding_mode='replicate', stride=2) | r(2, 2, 5, 6)
Conv3d(2, 3, 2) | r(2, 2, 3, 3, 4)
Conv3d(2, 3, (1, 2, 3), padding='same') | r(2, 2, 3, 3, 4)
Conv3d(2, 3, 3, padding=1, padding_mode='reflect') | r(1, 2, 3, 3, 4)
ConvTranspose1d(2, 4, 3, 2) | r(2, 2, 4)
ConvTranspose1d(2, 4, 3, stride=2) | r(2, 2, 4), [10]
ConvTranspose2d(2, 4, 3) | r(2, 2, 3, 4)
ConvTranspose2d(4, 2, 3, 2, 1, 1, groups=2, bias=False, dilation=2) | r(2, 4, 3, 4)
ConvTranspose2d(2, 4, (3, 2), stride=2) | r(2, 2, 3, 4), (8, 9)
ConvTranspose2d(2, 4, 3, stride=2) | r(2, 3, 4), T.Size([4, 8, 9])
ConvTranspose3d(2, 3, 2, 2) | r(1, 2, 2, 3, 2)
ConvTranspose3d(2, 3, 2, (2, 3, 2), output_padding=(0, 2, 1)) | r(1, 2, 2, 3, 2)
LazyConv1d(4, 3) | r(2, 2, 7)
LazyConv2d(4, 3, padding=1, bias=False, padding_mode='reflect') | r(2, 5, 6)
LazyConv3d(4, 2, groups=2) | r(1, 2, 3, 3, 4)
LazyConvTranspose1d(4, 3) | r(2, 2, 7)
LazyConvTranspose2d(4, 3, 2, 1, 1, groups=2) | r(2, 2, 3, 4)
LazyConvTranspose3d(3, 2, bias=False) | r(1, 2, 2, 3, 2)

MaxPool1d(2) | r(2, 3, 7)
MaxPool1d(3, 1, 1, return_indices=True) | r(2, 3, 7)
MaxPool2d(2) | r(2, 3, 5, 6)
MaxPool2d((2, 3), stride=(2, 1), padding=1, ceil_mode=True) | r(3, 5, 6)
MaxPool2d(2, 2, 0, 2, True) | r(2, 3, 5, 6)
MaxPool3d(2) | r(1, 2, 4, 4, 3)
MaxUnpool1d(2) | u(1, 2, 3), T.tensor([[[0, 3, 4], [1, 2, 5]]])
MaxUnpool2d(2, 2) | u(1, 1, 1, 2), T.tensor([[[[1, 6]]]])
MaxUnpool2d((2, 2)) | u(1, 1, 1, 2), T.tensor([[[[1, 6]]]]), (1, 1, 3, 5)
MaxUnpool3d(2) | u(1, 1, 1, 1, 2), T.tensor([[[[[0, 9]]]]])
AvgPool1d(2) | r(2, 3, 7)
AvgPool1d((3,), 2, 1, True, False) | r(2, 3, 7)
AvgPool2d(2) | r(2, 3, 5, 6)
AvgPool2d((2, 3), 1, (1, 0), count_include_pad=False) | r(2, 3, 5, 6)
AvgPool3d(2, divisor_override=3) | r(1, 2, 4, 4, 3)
FractionalMaxPool2d(2, 3) | r(1, 2, 7, 6)
FractionalMaxPool2d(2, output_ratio=(0.5, 0.6), return_indices=True) | r(1, 2, 7, 6)
FractionalMaxPool2d(2, 3, _random_samples=T.ones(1, 2, 2) / 3) | r(1, 2, 7, 6)
FractionalMaxPool3d((2, 1, 2), output_ratio=0.5) | r(1, 2, 7, 6, 5)
LPPool1d(2, 3) | u(2, 3, 7)
LPPool2d(1.5, (3, 2), stride=2) | u(2, 3, 5, 6)
LPPool3d(3, 2, ceil_mode=True) | u(1, 2, 4, 4, 3)
AdaptiveMaxPool1d(3) | r(2, 3, 7)
AdaptiveMaxPool2d((None, 3), return_indices=True) | r(2, 3, 5, 6)
AdaptiveMaxPool3d(2) | r(1, 2, 4, 4, 3)
AdaptiveAvgPool1d(3) | r(2, 3, 7)
AdaptiveAvgPool2d(1) | r(2, 3, 5, 6)
AdaptiveAvgPool2d((2, None)) | r(2, 3, 5, 6)
AdaptiveAvgPool3d((1, 2, 3)) | r(1, 2, 4, 4, 3)

ConstantPad1d(2, 3.5) | r(2, 3, 4)
ConstantPad2d((1, 2, 0, 3), -1) | r(2, 3, 4)
ConstantPad3d(1, 0.5) | r(1, 2, 2, 3, 2)
ZeroPad1d((1, -1)) | r(2, 3)
ZeroPad2d(1) | r(2, 3, 4)
ZeroPad2d((1, 0)) | r(2, 3, 4)
ZeroPad3d((1, 2, 0, 0, 1, 1)) | r(1, 2, 2, 3, 2)
CircularPad1d(2) | r(2, 3, 4)
CircularPad2d((1, 2, 0, 3)) | r(2, 3, 4)
CircularPad3d(1) | r(1, 2, 2, 3, 2)
ReflectionPad1d((2, 1)) | r(2, 3, 4)
ReflectionPad2d(1) | r(2, 3, 4)
ReflectionPad3d(1) | r(1, 2, 2, 3, 2)
ReplicationPad1d(3) | r(2, 3, 4)
ReplicationPad2d([1, 2, 3, 4]) | r(2, 3, 4)
ReplicationPad3d(1) | r(1, 2, 2, 3, 2)

Flatten() | r(2, 3, 4)
Flatten(0, 1) | r(2, 3, 4)
Unflatten(1, (2, 3)) | r(2, 6)
Unflatten(-1, T.Size([3, 2])) | r(2, 6)
Unflatten(1, [2, -1]) | r(2, 6)
Fold((4, 5), (2, 3), padding=1) | r(2, 12, 25)
Unfold(2, 1, 1, 2) | r(2, 2, 4, 5)
Upsample(scale_factor=2) | r(1, 2, 3, 4)
Upsample(scale_factor=(1.5, 2), mode='bilinear', recompute_scale_factor=True) | r(1, 2, 3, 4)
Upsample(size=5, mode='linear', align_corners=True) | r(1, 2, 3)
Upsample((5, 6), mode='bicubic') | r(1, 2, 3, 4)
UpsamplingNearest2d(scale_factor=3) | r(1, 2, 3, 4)
UpsamplingBilinear2d((5, 6)) | r(1, 2, 3, 4)
PixelShuffle(2) | r(1, 8, 2, 3)
PixelUnshuffle(2) | r(1, 2, 4, 6)
ChannelShuffle(2) | r(1, 4, 3)
PairwiseDistance(1, keepdim=True) | r(3, 4), r(3, 4)
CosineSimilarity(dim=0) | r(3, 4), r(3, 4)

L1Loss() | r(3, 4), r(3, 4)
L1Loss(size_average=False) | r(3, 4), r(3, 4)
L1Loss(reduce=False) | r(3, 4), r(3, 4)
MSELoss(reduction='none') | r(3, 4), r(3, 4)
SmoothL1Loss(beta=0.5) | r(3, 4), r(3, 4)
HuberLoss('sum', 0.5) | r(3, 4), r(3, 4)
SoftMarginLoss() | r(3, 4), s(3, 4)
HingeEmbeddingLoss(0.5) | r(3, 4), s(3, 4)
BCELoss() | u(3, 4), c(3, 4)
BCELoss(T.arange(4.0)) | u(3, 4), c(3, 4)
BCEWithLogitsLoss() | r(3, 4), c(3, 4)
BCEWithLogitsLoss(T.arange(4.0), pos_weight=T.tensor([2.0])) | r(3, 4), c(3, 4)
PoissonNLLLoss(full=True) | r(3, 4), c(3, 4) * 3
PoissonNLLLoss(False, eps=1e-3) | u(3, 4), c(3, 4) * 3
GaussianNLLLoss(full=True) | r(3, 4), r(3, 4), u(3, 4)
KLDivLoss(reduction='batchmean') | r(3, 4), c(3, 4)
KLDivLoss(reduction='sum', log_target=True) | r(3, 4), r(3, 4)
CrossEntropyLoss() | r(3, 4), i(4, 3)
CrossEntropyLoss(T.arange(4.0), ignore_index=2, label_smoothing=0.1) | r(5, 4), i(4, 5)
CrossEntropyLoss(reduction='none') | r(3, 4, 2), c(3, 4, 2)
NLLLoss(reduction='sum') | r(3, 4), i(4, 3)
NLLLoss2d(T.arange(4.0) + 1) | r(3, 4, 2, 2), i(4, 3, 2, 2)
LinearCrossEntropyLoss(3, 4) | r(5, 3), i(4, 5)
LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True, ignore_index=1) | r(5, 3), i(4, 5, 2)
LinearCrossEntropyLoss(3, 4, weight=T.arange(4.0), label_smoothing=0.1) | r(5, 3), i(4, 5)
MultiMarginLoss() | r(3, 4), i(4, 3)
MultiMarginLoss(2, 0.5, T.arange(4.0)) | r(3, 4), i(4, 3)
MultiLabelMarginLoss() | r(1, 4), T.tensor([[2, 0, -1, 1]])
MultiLabelSoftMarginLoss(T.arange(4.0)) | r(3, 4), c(3, 4)
CTCLoss(blank=1) | r(5, 2, 4).log_softmax(2), T.tensor([[2, 3], [0, 0]]), (5, 4), (2, 1)
CTCLoss(zero_infinity=True) | r(2, 1, 3).log_softmax(2), T.tensor([[2, 2, 1]]), (2,), (3,)
CosineEmbeddingLoss(0.2) | r(3, 4), r(3, 4), s(3)
MarginRankingLoss(0.5) | r(3), r(3), s(3)
TripletMarginLoss() | r(3, 4), r(3, 4), r(3, 4)
TripletMarginLoss(2.0, 1, swap=True) | r(3, 4), r(3, 4), r(3, 4)
TripletMarginWithDistanceLoss() | r(3, 4), r(3, 4), r(3, 4)
TripletMarginWithDistanceLoss(distance_function=T.nn.CosineSimilarity()) | r(3, 4), r(3, 4), r(3, 4)
AdaptiveLogSoftmaxWithLoss(8, 10, [3, 5], div_value=2.0) | r(6, 8), T.tensor([0, 9, 4, 3, 8, 2])
AdaptiveLogSoftmaxWithLoss(8, 10, (3,), head_bias=True) | r(8), T.tensor(4)
AdaptiveLogSoftmaxWithLoss(8, 10, [3, 5, 7], 1.5) | r(3, 8), T.tensor([0, 1, 2])
DataParallel(T.nn.Linear(3, 2)) | r(4, 3)
""".strip().splitlines()
CASES = [line for line in CASES if line]

ELSEWHERE = {
    "test_torch_modules.py": "Container Module ModuleDict ModuleList ParameterDict ParameterList "
    "Sequential Parameter Buffer UninitializedParameter UninitializedBuffer",
    "test_torch_losses.py": "LinearCrossEntropyOptions",
    "test_torch_rnn.py": "RNN LSTM GRU RNNBase RNNCell RNNCellBase LSTMCell GRUCell",
    "test_torch_transformer.py": "MultiheadAttention Transformer TransformerEncoder "
    "TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer",
}
"""Classes that other files test."""

OURS = sorted({line.partition("(")[0] for line in CASES})


def test_every_layer_of_pytorch_is_tested() -> None:
    elsewhere = {name for names in ELSEWHERE.values() for name in names.split()}
    theirs = {
        name
        for name in dir(torch.nn)
        if isinstance(getattr(torch.nn, name), type) and not name.startswith("_")
    }
    assert theirs - elsewhere == set(OURS)


def parameters(function: Any) -> list[Any]:
    """Names, kinds and defaults."""
    return [
        (p.name, p.kind.name, p.default if p.default is not p.empty else "required")
        for p in inspect.signature(function).parameters.values()
    ]


@pytest.mark.parametrize("name", OURS)
def test_signatures_and_places(name: str) -> None:
    ours, theirs = getattr(mt.nn, name), getattr(torch.nn, name)
    assert ours.__module__ == "minitorch." + theirs.__module__
    assert ours.__qualname__ == theirs.__qualname__
    assert parameters(ours.__init__) == parameters(theirs.__init__)
    assert [p[0] for p in parameters(ours.forward)] == [p[0] for p in parameters(theirs.forward)]
    assert ours._version == theirs._version
    assert ours.__doc__, "no docstring"


class Side:
    """A layer of one library, and what becomes of it."""

    def __init__(self, T: Any, case: str) -> None:
        self.T = T
        made, self.call = case.split(" | ")
        T.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.layer: Any = eval("T.nn." + made, {"T": T})
        self.lazy = made.startswith("Lazy")

    def next_number(self) -> float:
        return float(self.T.rand(1))

    def inputs(self) -> list[Any]:
        draw = Draw(self.T)
        names = {name: getattr(draw, name) for name in "rucsi"}
        return list(eval(f"[{self.call}]", {"T": self.T, **names}))

    def step(self) -> list[Any]:
        """A call and its gradients: all results as arrays."""
        given = self.inputs()
        self.layer.zero_grad()
        for each in given:
            if hasattr(each, "grad_fn") and each.grad_fn is not None:
                each.retain_grad()
        self.T.manual_seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = self.layer(*given)
        outputs = list(out) if isinstance(out, tuple) else [out]
        total, found = None, []
        rng = np.random.default_rng(5)
        for each in outputs:
            found.append(array(each))
            if each.requires_grad:
                part = (each * self.T.from_numpy(np.array(rng.normal(size=each.shape)))).sum()
                total = part if total is None else total + part
        if total is not None:
            total.backward()
        return [
            *found,
            *[array(each.grad) if hasattr(each, "grad_fn") else None for each in given],
            *[array(each.grad) for each in self.layer.parameters()],
            *[array(each) for each in self.layer.buffers()],
        ]

    def attributes(self) -> dict[str, str]:
        own = {k: v for k, v in vars(self.layer).items() if not k.startswith("_")}
        return {k: repr(v).replace("minitorch.", "") for k, v in own.items() if not callable(v)}


def array(t: Any) -> Any:
    return None if t is None else t.detach().numpy().copy()


def same_state(mine: Any, other: Any) -> None:
    assert list(mine) == list(other)
    assert mine._metadata == other._metadata
    for key, value in other.items():
        assert str(mine[key].dtype) == str(value.dtype), key
        assert tuple(mine[key].shape) == tuple(value.shape), key
        if value.dtype.is_floating_point:
            np.testing.assert_array_max_ulp(array(mine[key]), array(value), 1)
        else:
            np.testing.assert_array_equal(array(mine[key]), array(value))


@pytest.mark.parametrize("case", CASES)
def test_a_layer_does_the_same(case: str) -> None:
    theirs, ours = (Side(T, case) for T in LIBRARIES)
    assert repr(ours.layer) == repr(theirs.layer)
    assert ours.attributes() == theirs.attributes()
    assert ours.next_number() == theirs.next_number()
    if ours.lazy:
        lazily(ours, theirs)
    same_state(ours.layer.state_dict(), theirs.layer.state_dict())
    for side in (theirs, ours):
        side.layer.double()
    copied = Side(mt, case)
    copied.layer = pickle.loads(pickle.dumps(copy.deepcopy(ours.layer)))
    for training in (True, True, False):
        theirs.layer.train(training)
        want = theirs.step()
        for side in (ours, copied):
            side.layer.train(training)
            same_results(side.step(), want)
    assert repr(copied.layer) == repr(theirs.layer)


def lazily(ours: Side, theirs: Side) -> None:
    """Let lazy layers see their first input."""
    assert ours.layer.has_uninitialized_params() == theirs.layer.has_uninitialized_params()
    for side in (theirs, ours):
        side.layer.eval()  # which leaves the running statistics as they are
        side.T.manual_seed(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            side.layer(*[each.detach().float() for each in side.inputs()])
    assert type(ours.layer).__name__ == type(theirs.layer).__name__
    assert repr(ours.layer) == repr(theirs.layer)
    assert ours.next_number() == theirs.next_number()


def same_results(mine: list[Any], other: list[Any]) -> None:
    assert len(mine) == len(other)
    for a, b in zip(mine, other, strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, 1e-7, 1e-9)
