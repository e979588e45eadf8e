"""`torch.onnx`: nothing is exported."""

from typing import Any

from minitorch.torch.absent import finder, refusing

_WHY = "minitorch writes no ONNX files; save the weights with torch.save(model.state_dict(), f)"
export = refusing("torch.onnx.export", _WHY)
dynamo_export = refusing("torch.onnx.dynamo_export", _WHY)


def is_in_onnx_export() -> bool:
    """False."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Nothing: `symbolic_fn` is for the exporter alone."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nothing."""


__getattr__ = finder(__name__)
