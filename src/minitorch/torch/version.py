"""`torch.version`: which PyTorch this stands for, and that nothing was built for a GPU."""

from minitorch.torch.torch_version import VERSION

__version__ = VERSION
debug = False
cuda = hip = xpu = None
git_version = "minitorch"
