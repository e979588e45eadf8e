"""Every operation, declared once: `declare.py` says how, `record.py` what is made of it.

A folder a kind, a file a family. Functions here take arrays (and run bare) or tensors of any face
(and are recorded). What the second group declares is found by name in `declare.OPS`; the PyTorch
face gives it PyTorch's names.
"""

from minitorch.ops import broadcast, random
from minitorch.ops.broadcast import *
from minitorch.ops.elementwise import complex, pointwise, rounding, trig
from minitorch.ops.elementwise.complex import *
from minitorch.ops.elementwise.pointwise import *
from minitorch.ops.elementwise.rounding import *
from minitorch.ops.elementwise.trig import *
from minitorch.ops.indexing import index
from minitorch.ops.indexing.index import *
from minitorch.ops.linalg import matmul as matrices  # the function of this name is taken below
from minitorch.ops.linalg.matmul import *
from minitorch.ops.losses import loss
from minitorch.ops.losses.loss import *
from minitorch.ops.random import *
from minitorch.ops.reduction import extrema, norm, reduce
from minitorch.ops.reduction.extrema import *
from minitorch.ops.reduction.norm import *
from minitorch.ops.reduction.reduce import *
from minitorch.ops.shapes import shape
from minitorch.ops.shapes.shape import *

from minitorch.ops import fft, sampling  # isort: skip - these build on those above
from minitorch.ops.elementwise import activation, special
from minitorch.ops.indexing import scatter, scatter_along, write
from minitorch.ops.linalg import (
    decompose,
    distance,
    householder,
    least_squares,
    lu,
    products,
    solve,
    triangular,
)
from minitorch.ops.losses import ctc, linear_loss, margin_loss, point_loss
from minitorch.ops.neural import (
    attention,
    bag,
    conv,
    grid,
    pool,
    pool_max,
    pool_places,
    recurrent,
    resample,
    taps,
)
from minitorch.ops.reduction import segments
from minitorch.ops.shapes import blocks, edges, pixels, select

__all__ = []
__all__ += broadcast.__all__
__all__ += complex.__all__
__all__ += extrema.__all__
__all__ += index.__all__
__all__ += loss.__all__
__all__ += matrices.__all__
__all__ += norm.__all__
__all__ += pointwise.__all__
__all__ += random.__all__
__all__ += reduce.__all__
__all__ += rounding.__all__
__all__ += shape.__all__
__all__ += trig.__all__
