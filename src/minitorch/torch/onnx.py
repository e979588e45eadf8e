"""`torch.onnx`: nothing is exported."""

from minitorch.torch.absent import finder, refusing

_WHY = "minitorch writes no ONNX files; save the weights with torch.save(model.state_dict(), f)"
export = refusing("torch.onnx.export", _WHY)
dynamo_export = refusing("torch.onnx.dynamo_export", _WHY)


def is_in_onnx_export() -> bool:
    """False."""
    return False


__getattr__ = finder(__name__)
