"""`torch.optim.lr_scheduler`: learning rates that change as training goes on."""

from minitorch.torch.absent import finder as _finder
from minitorch.torch.optim.lr_scheduler.base import EPOCH_DEPRECATION_WARNING, LRScheduler
from minitorch.torch.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from minitorch.torch.optim.lr_scheduler.cosine import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
)
from minitorch.torch.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from minitorch.torch.optim.lr_scheduler.decay import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from minitorch.torch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minitorch.torch.optim.optimizer import Optimizer


class _LRScheduler(LRScheduler):
    """The old name of `LRScheduler`."""


__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

__getattr__ = _finder(__name__)
