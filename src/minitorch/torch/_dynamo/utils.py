"""`torch._dynamo.utils`: what libraries ask before they compile."""

from typing import Any

from minitorch.torch.absent import finder


def is_compile_supported(device_type: Any) -> bool:
    """False: what is compiled runs as it is."""
    return False


__getattr__ = finder(__name__)
