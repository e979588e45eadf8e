"""Proofs of derivatives: gradients against finite differences, for our ops and for users' own."""

from minitorch.check.curve import ErrorCurve, error_curve
from minitorch.check.gradcheck import gradcheck, gradgradcheck
from minitorch.ops.samples import Sample, along, binary, calls, draw, reduction, unary

__all__ = [
    "ErrorCurve",
    "Sample",
    "along",
    "binary",
    "calls",
    "draw",
    "error_curve",
    "gradcheck",
    "gradgradcheck",
    "reduction",
    "unary",
]
