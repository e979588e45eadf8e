"""`torch._higher_order_ops`: loops and choices as functions. All are Python's own, recorded step by
step."""

from minitorch.torch._higher_order_ops.associative_scan import associative_scan
from minitorch.torch._higher_order_ops.cond import cond
from minitorch.torch._higher_order_ops.map import map
from minitorch.torch._higher_order_ops.scan import scan
from minitorch.torch._higher_order_ops.while_loop import while_loop
from minitorch.torch.absent import finder

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]

__getattr__ = finder(__name__)
