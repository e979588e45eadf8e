"""`torch._dynamo.eval_frame`: where PyTorch has `OptimizedModule`."""

from minitorch.torch.compiler import OptimizedModule

__all__ = ["OptimizedModule"]
