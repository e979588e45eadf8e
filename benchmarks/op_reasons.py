"""Why a call of tier core is more than three times as slow as PyTorch's at some size."""

from __future__ import annotations

_OWN = (
    "PyTorch's gradient is a view of the memory that `backward` was given; ours is a copy of its "
    "own, which nothing else can change (docs/ARCHITECTURE.md): 4 MB are copied."
)
_ORDER = (
    "NumPy selects without the places, which the gradient needs, and with them (argpartition) an "
    "element at a time; PyTorch does both in one vectorised pass."
)

REASONS: dict[str, str] = {
    **dict.fromkeys(("view", "flatten", "transpose", "permute", "squeeze", "movedim"), _OWN),
    **dict.fromkeys(("atleast_3d", "swapaxes", "cat"), _OWN),
    **dict.fromkeys(("median (dim 1)", "kthvalue (dim 1)", "topk"), _ORDER),
    "erfc": (
        "SciPy computes float32 in double; the fit that `erf` uses would lose the small values of "
        "the far side, which erfc is for."
    ),
    "half": "NumPy converts to and from float16 a number at a time, PyTorch eight.",
    "cummax": (
        "NumPy's running maximum gives no places: they take a comparison and a second running "
        "maximum, of indices."
    ),
    "take": "A flat gather and its scatter-add go through int64 places in NumPy, one at a time.",
    "index_put": "Rows that may repeat are sorted and added up; PyTorch adds them where they are.",
    "rot90": "The gradient comes back through a transposed copy, which NumPy does not block.",
}
