"""PyTorch's place for fake tensors; they live in `minitorch.torch.fake`."""

from minitorch.torch.fake import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)

__all__ = ["DynamicOutputShapeException", "FakeTensor", "FakeTensorMode"]
