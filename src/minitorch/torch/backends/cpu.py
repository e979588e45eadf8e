"""`torch.backends.cpu`."""

from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from minitorch.torch.absent import finder


def get_cpu_capability() -> str:
    """The widest vectors of this processor: "AVX512", "AVX2" or "DEFAULT", as PyTorch says it."""
    has: dict[str, bool] = getattr(_multiarray_umath, "__cpu_features__", {})
    if has.get("AVX512F") and has.get("AVX512_SKX"):
        return "AVX512"
    return "AVX2" if has.get("AVX2") and has.get("FMA3") else "DEFAULT"


__getattr__ = finder(__name__)
