"""`torch.cuda.amp`: the older names of `torch.amp`, for CUDA, which is not there."""

from minitorch.torch.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from minitorch.torch.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
