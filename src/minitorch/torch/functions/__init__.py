"""Functions of `torch.*`, with PyTorch's signatures, by family; each is a thin layer over ops."""

from minitorch.torch.functions import basic as _basic
from minitorch.torch.functions import bits as _bits
from minitorch.torch.functions import calculus as _calculus
from minitorch.torch.functions import choices as _choices
from minitorch.torch.functions import combine as _combine
from minitorch.torch.functions import compare as _compare
from minitorch.torch.functions import complex as _complex
from minitorch.torch.functions import convert as _convert
from minitorch.torch.functions import copies as _copies
from minitorch.torch.functions import counting as _counting
from minitorch.torch.functions import einsum as _einsum
from minitorch.torch.functions import elements as _elements
from minitorch.torch.functions import index as _index
from minitorch.torch.functions import joining as _joining
from minitorch.torch.functions import linalg as _linalg
from minitorch.torch.functions import order as _order
from minitorch.torch.functions import parts as _parts
from minitorch.torch.functions import pointwise as _pointwise
from minitorch.torch.functions import products as _products
from minitorch.torch.functions import reduce as _reduce
from minitorch.torch.functions import scatter as _scatter
from minitorch.torch.functions import scatters as _scatters
from minitorch.torch.functions import shape as _shape
from minitorch.torch.functions import spectral as _spectral
from minitorch.torch.functions import statistics as _statistics
from minitorch.torch.functions.basic import *
from minitorch.torch.functions.bits import *
from minitorch.torch.functions.calculus import *
from minitorch.torch.functions.choices import *
from minitorch.torch.functions.combine import *
from minitorch.torch.functions.compare import *
from minitorch.torch.functions.complex import *
from minitorch.torch.functions.convert import *
from minitorch.torch.functions.copies import *
from minitorch.torch.functions.counting import *
from minitorch.torch.functions.einsum import *
from minitorch.torch.functions.elements import *
from minitorch.torch.functions.index import *
from minitorch.torch.functions.joining import *
from minitorch.torch.functions.linalg import *
from minitorch.torch.functions.order import *
from minitorch.torch.functions.parts import *
from minitorch.torch.functions.pointwise import *
from minitorch.torch.functions.products import *
from minitorch.torch.functions.reduce import *
from minitorch.torch.functions.scatter import *
from minitorch.torch.functions.scatters import *
from minitorch.torch.functions.shape import *
from minitorch.torch.functions.spectral import *
from minitorch.torch.functions.statistics import *

__all__: list[str] = []
__all__ += _basic.__all__
__all__ += _bits.__all__
__all__ += _calculus.__all__
__all__ += _choices.__all__
__all__ += _combine.__all__
__all__ += _compare.__all__
__all__ += _complex.__all__
__all__ += _convert.__all__
__all__ += _copies.__all__
__all__ += _counting.__all__
__all__ += _einsum.__all__
__all__ += _elements.__all__
__all__ += _index.__all__
__all__ += _joining.__all__
__all__ += _linalg.__all__
__all__ += _order.__all__
__all__ += _parts.__all__
__all__ += _pointwise.__all__
__all__ += _products.__all__
__all__ += _reduce.__all__
__all__ += _scatter.__all__
__all__ += _scatters.__all__
__all__ += _shape.__all__
__all__ += _spectral.__all__
__all__ += _statistics.__all__
