"""PyTorch's own face on the same engine: `import minitorch.torch as torch`.

Names, arguments and messages are PyTorch 2.13's. What is missing raises AttributeError.
"""

import warnings as _warnings
from math import e, inf, nan, pi

from minitorch.engine.mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minitorch.torch import (
    _VF,
    _subclasses,
    autograd,
    fft,
    library,
    linalg,
    masked,
    nn,
    ops,
    random,
    return_types,
    special,
    utils,
)
from minitorch.torch import face as _face
from minitorch.torch import operators as _operators
from minitorch.torch.autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
)
from minitorch.torch.creation import *
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
from minitorch.torch.functions.basic import tensor as tensor  # the function, not the module
from minitorch.torch.functions.decompositions import *
from minitorch.torch.grad_modes import inference_mode, is_inference, is_inference_mode_enabled
from minitorch.torch.linalg.products import _old_matrix_exp as matrix_exp
from minitorch.torch.linalg.products import old_vander as vander
from minitorch.torch.linalg.solve import _old_det as det
from minitorch.torch.linalg.solve import _old_slogdet as slogdet
from minitorch.torch.linalg.solve import inverse, logdet, pinverse
from minitorch.torch.nn.functional.recurrent import *
from minitorch.torch.nn.native import *
from minitorch.torch.nn.shared import *
from minitorch.torch.printing import get_printoptions, set_printoptions
from minitorch.torch.random import *
from minitorch.torch.special import igamma, igammac, mvlgamma
from minitorch.torch.serialization import load, save
from minitorch.torch.tensor import Tensor

half, double, cfloat, cdouble = float16, float64, complex64, complex128
float = float32
short, int, long = int16, int32, int64
newaxis = None

__version__ = "2.13.0+minitorch"

# PyTorch says nothing of log(0) or 0/0. NumPy's warnings of what this face computes would be noise;
# those of a program's own NumPy stay. (np.errstate around each call would double its cost.)
_warnings.filterwarnings(
    "ignore",
    category=RuntimeWarning,
    module=r"minitorch\.(torch\.|ops\.(?!generated))",
)
