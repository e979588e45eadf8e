"""Every operation, declared once: `declare.py` says how, `record.py` what is made of it.

Functions here take arrays (and run bare) or tensors of any face (and are recorded).
"""

from minitorch.ops import (
    broadcast,
    index,
    loss,
    norm,
    pointwise,
    random,
    reduce,
    shape,
)
from minitorch.ops import (
    matmul as products,
)
from minitorch.ops.broadcast import *
from minitorch.ops.index import *
from minitorch.ops.loss import *
from minitorch.ops.matmul import *
from minitorch.ops.norm import *
from minitorch.ops.pointwise import *
from minitorch.ops.random import *
from minitorch.ops.reduce import *
from minitorch.ops.shape import *

__all__ = []
__all__ += broadcast.__all__
__all__ += index.__all__
__all__ += loss.__all__
__all__ += products.__all__
__all__ += norm.__all__
__all__ += pointwise.__all__
__all__ += random.__all__
__all__ += reduce.__all__
__all__ += shape.__all__

from minitorch.ops import extrema, rounding, trig
from minitorch.ops.extrema import *
from minitorch.ops.rounding import *
from minitorch.ops.trig import *

__all__ += extrema.__all__
__all__ += rounding.__all__
__all__ += trig.__all__

import minitorch.ops.products as _products
from minitorch.ops import activation, attention, point_loss, scatter, select
