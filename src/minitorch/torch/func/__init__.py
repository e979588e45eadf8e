"""`torch.func`: transforms of functions, and modules called with other parameters."""

from minitorch.torch.absent import finder
from minitorch.torch.func.batch import stack_module_state, vmap
from minitorch.torch.func.batch_norm_replacement import replace_all_batch_norm_modules_
from minitorch.torch.func.derivatives import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from minitorch.torch.func.functional_call import functional_call
from minitorch.torch.func.functionalization import functionalize

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

__getattr__ = finder(__name__)
