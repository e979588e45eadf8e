"""`torch.utils.cpp_extension`: nothing is compiled."""

from minitorch.torch.absent import finder, refusing

_WHY = "minitorch has no C++ interface; torch.library.custom_op takes functions on arrays"
load = refusing("torch.utils.cpp_extension.load", _WHY)
load_inline = refusing("torch.utils.cpp_extension.load_inline", _WHY)
CppExtension = refusing("torch.utils.cpp_extension.CppExtension", _WHY)
CUDAExtension = refusing("torch.utils.cpp_extension.CUDAExtension", _WHY)
BuildExtension = refusing("torch.utils.cpp_extension.BuildExtension", _WHY)
CUDA_HOME = None

__getattr__ = finder(__name__)
