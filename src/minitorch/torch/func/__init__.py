"""`torch.func`: transforms of functions, and modules called with other parameters."""

from minitorch.torch.absent import finder
from minitorch.torch.func.batch import stack_module_state, vmap
from minitorch.torch.func.derivatives import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
)
from minitorch.torch.func.functional_call import functional_call

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]

__getattr__ = finder(__name__)
