"""PyTorch's own face on the same engine: `import minitorch.torch as torch`.

Names, arguments and messages are PyTorch 2.13's. What is missing raises AttributeError.
"""

from minitorch.engine.mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minitorch.torch import autograd
from minitorch.torch import face as _face
from minitorch.torch import operators as _operators
from minitorch.torch.dtypes import (
    Size,
    channels_last,
    complex64,
    complex128,
    contiguous_format,
    device,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    layout,
    memory_format,
    preserve_format,
    set_default_dtype,
    strided,
    uint8,
)
from minitorch.torch.dtypes import bool_ as bool
from minitorch.torch.functions import *
from minitorch.torch.tensor import Tensor

half, double, cfloat, cdouble = float16, float64, complex64, complex128
float = float32
short, int, long = int16, int32, int64

__version__ = "2.13.0+minitorch"
