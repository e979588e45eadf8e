"""`torch.nn._reduction`: the numbers of "none", "mean" and "sum", and the two arguments of old."""

from __future__ import annotations

import warnings

from minitorch.torch.absent import finder
from minitorch.torch.nn.functional.loss import reduction_of

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number that native functions take for a reduction. ValueError for one there is not."""
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
            UserWarning,
            stacklevel=2,
        )
        reduction = "mean"
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that `size_average` and `reduce` mean; None is True."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = reduction_of(size_average is not False, reduce is not False, "mean")
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{found}' instead.",
            UserWarning,
            stacklevel=2,
        )
    return found


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of `legacy_get_string`."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


__getattr__ = finder(__name__)
