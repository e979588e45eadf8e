"""Every operation, declared once: `declare.py` says how, `record.py` what is made of it.

Functions here take arrays (and run bare) or tensors of any face (and are recorded). What the
families of the second group declare is found by name in `declare.OPS`; the PyTorch face gives
it PyTorch's names.
"""

from minitorch.ops import (
    broadcast,
    complex,
    extrema,
    index,
    loss,
    norm,
    pointwise,
    random,
    reduce,
    rounding,
    shape,
    trig,
)
from minitorch.ops import (
    matmul as matrices,  # the module: the function of this name is imported below
)
from minitorch.ops.broadcast import *
from minitorch.ops.complex import *
from minitorch.ops.extrema import *
from minitorch.ops.index import *
from minitorch.ops.loss import *
from minitorch.ops.matmul import *
from minitorch.ops.norm import *
from minitorch.ops.pointwise import *
from minitorch.ops.random import *
from minitorch.ops.reduce import *
from minitorch.ops.rounding import *
from minitorch.ops.shape import *
from minitorch.ops.trig import *

from minitorch.ops import (  # isort: skip - they build on those above
    activation,
    attention,
    bag,
    calculus,
    conv,
    ctc,
    decompose,
    distance,
    edges,
    fft,
    grid,
    householder,
    least_squares,
    linear_loss,
    lu,
    margin_loss,
    pixels,
    point_loss,
    pool,
    pool_max,
    pool_places,
    products,
    recurrent,
    resample,
    sampling,
    scatter,
    scatter_along,
    segments,
    select,
    solve,
    special,
    taps,
    triangular,
    write,
)

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
