"""`torch.ao.quantization`: models that may be quantised elsewhere run here as they are."""

from minitorch.torch.absent import finder, refusing
from minitorch.torch.ao.quantization import stubs
from minitorch.torch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = [
    "DeQuantStub",
    "QuantStub",
    "QuantWrapper",
    "convert",
    "fuse_modules",
    "fuse_modules_qat",
    "prepare",
    "prepare_qat",
    "quantize_dynamic",
    "stubs",
]

_WHY = "minitorch has no quantised tensors; use the model as it is"
convert = refusing("torch.ao.quantization.convert", _WHY)
prepare = refusing("torch.ao.quantization.prepare", _WHY)
prepare_qat = refusing("torch.ao.quantization.prepare_qat", _WHY)
quantize_dynamic = refusing("torch.ao.quantization.quantize_dynamic", _WHY)
fuse_modules = refusing("torch.ao.quantization.fuse_modules", _WHY)
fuse_modules_qat = refusing("torch.ao.quantization.fuse_modules_qat", _WHY)

__getattr__ = finder(__name__)
