"""Why a call of tier core is more than three times as slow as PyTorch's at some size."""

from __future__ import annotations

_OWN = (
    "PyTorch's gradient is a view of the memory that `backward` was given; ours is a copy of its "
    "own, which nothing else can change (docs/ARCHITECTURE.md): 4 MB are copied."
)

REASONS: dict[str, str] = {
    **dict.fromkeys(("view", "flatten", "transpose", "permute", "squeeze", "movedim"), _OWN),
    **dict.fromkeys(("atleast_3d", "swapaxes", "reshape", "cat"), _OWN),
    "erfc": "SciPy takes a number at a time, in double precision.",
    "deg2rad": "np.deg2rad takes a number at a time.",
    "half": "NumPy converts to and from float16 a number at a time, PyTorch eight.",
    "cummax": (
        "NumPy's running maximum gives no places: they take a comparison and a second running "
        "maximum, of indices."
    ),
    **dict.fromkeys(
        ("index_put", "take"), "np.add.at adds up what may repeat, an element at a time."
    ),
    "rot90": "Its result and gradient are transposed copies, which NumPy does not do in blocks.",
    "topk": "Nine tenths are np.argpartition, which NumPy has not vectorised.",
}
