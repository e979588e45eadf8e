"""`torch.onnx.symbolic_opset11`: what an exporter would write; there is no exporter."""

from minitorch.torch.absent import finder

__getattr__ = finder(__name__)
