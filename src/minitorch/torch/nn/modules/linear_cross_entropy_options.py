"""`LinearCrossEntropyOptions`, where PyTorch has it."""

from minitorch.torch.nn.functional.linear_loss import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]
