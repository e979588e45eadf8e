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
    __config__,
    __future__,
    _subclasses,
    amp,
    autograd,
    backends,
    compiler,
    cuda,
    fft,
    library,
    linalg,
    masked,
    nn,
    ops,
    optim,
    random,
    return_types,
    sparse,
    special,
    utils,
    version,
)
from minitorch.torch import face as _face
from minitorch.torch import operators as _operators
from minitorch.torch._tensor import Tensor
from minitorch.torch.absent import finder as _finder
from minitorch.torch.amp import GradScaler, autocast
from minitorch.torch.amp.autocast_mode import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_autocast_gpu_dtype,
)
from minitorch.torch.autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
)
from minitorch.torch.checks import *
from minitorch.torch.compiler import compile
from minitorch.torch.creation import *
from minitorch.torch.cuda import OutOfMemoryError
from minitorch.torch.dtypes import (
    NAMED as _NAMED,
)
from minitorch.torch.dtypes import (
    Size,
    bfloat16,
    channels_last,
    channels_last_3d,
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
    sparse_coo,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from minitorch.torch.dtypes import bool_ as bool
from minitorch.torch.func import vmap
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
from minitorch.torch.nn.utils.weight_norm import norm_except_dim
from minitorch.torch.older import *
from minitorch.torch.printing import get_printoptions, set_printoptions
from minitorch.torch.random import *
from minitorch.torch.sampling import *
from minitorch.torch.serialization import load, save
from minitorch.torch.sparse import dsmm, sparse_coo_tensor, spmm
from minitorch.torch.special import igamma, igammac, mvlgamma
from minitorch.torch.storage import (
    BoolStorage,
    ByteStorage,
    CharStorage,
    ComplexDoubleStorage,
    ComplexFloatStorage,
    DoubleStorage,
    FloatStorage,
    HalfStorage,
    IntStorage,
    LongStorage,
    ShortStorage,
    TypedStorage,
    UntypedStorage,
    is_storage,
)
from minitorch.torch.torch_version import VERSION as _VERSION
from minitorch.torch.torch_version import TorchVersion as _TorchVersion

# After `functions`, which has a `set_default_tensor_type` too.
from minitorch.torch.environment import *  # isort: skip

half, double, cfloat, cdouble = float16, float64, complex64, complex128
float = float32
short, int, long = int16, int32, int64
newaxis = None
globals().update(_NAMED)
chalf, bit = _NAMED["complex32"], _NAMED["uint1"]

__version__ = _TorchVersion(_VERSION)
legacy_contiguous_format = contiguous_format
has_lapack, has_mkl, has_openmp, has_spectral = True, False, False, True

_LATE = (
    *(
        "_C",
        "accelerator",
        "ao",
        "cpu",
        "distributed",
        "distributions",
        "func",
        "functional",
        "fx",
        "hub",
        "jit",
    ),
    *("mps", "mtia", "multiprocessing", "onnx", "overrides", "profiler", "quasirandom"),
    *("serialization", "signal"),
    *("storage", "testing", "torch_version", "types", "xpu"),
)
"""Modules that are imported when they are first asked for."""

__getattr__ = _finder(
    __name__,
    {
        "export": "there is no exporter; save the weights with torch.save",
        "quantization": "there are no quantised tensors",
        "nested": "there are no nested tensors; pad, or torch.nn.utils.rnn.pack_sequence",
        "sparse_csr_tensor": "torch.sparse_coo_tensor is there",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})


# PyTorch says nothing of log(0) or 0/0. NumPy's warnings of what this face computes would be noise;
# those of a program's own NumPy stay. (np.errstate around each call would double its cost.)
_warnings.filterwarnings(
    "ignore",
    category=RuntimeWarning,
    module=r"minitorch\.(torch\.|ops\.(?!generated))",
)
