"""`torch.autograd`: backward, grad, and everything around them."""

from minitorch.torch.absent import finder as _finder
from minitorch.torch.autograd import (
    anomaly_mode,
    function,
    functional,
    grad_mode,
    graph,
    variable,
)
from minitorch.torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from minitorch.torch.autograd.engine import backward, grad
from minitorch.torch.autograd.function import Function
from minitorch.torch.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from minitorch.torch.autograd.gradcheck import gradcheck, gradgradcheck
from minitorch.torch.autograd.variable import Variable

__all__ = [
    "Function",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

__getattr__ = _finder(
    __name__,
    {
        "forward_ad": "there is no forward mode AD here; torch.autograd.functional.jvp computes a "
        "Jacobian-vector product by two backward passes"
    },
)
