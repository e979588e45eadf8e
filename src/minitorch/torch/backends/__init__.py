"""`torch.backends`: switches that programs set at their start.

They are kept, so that they can be read back; none of them changes what is computed here.
"""

from minitorch.torch.absent import finder
from minitorch.torch.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]

fp32_precision = "none"

__getattr__ = finder(__name__)
