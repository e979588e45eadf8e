"""Scalar reverse-mode autograd, standard library only. Start reading in `scalar.py`."""

from minigrad.draw import to_dot, to_svg
from minigrad.nn import MLP, Layer, Neuron, binary_cross_entropy
from minigrad.scalar import Value, dot, topological

__all__ = [
    "MLP",
    "Layer",
    "Neuron",
    "Value",
    "binary_cross_entropy",
    "dot",
    "to_dot",
    "to_svg",
    "topological",
]
