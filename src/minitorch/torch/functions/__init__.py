"""Functions of `torch.*`, with PyTorch's signatures, by family; each is a thin layer over ops."""

from minitorch.torch.functions.basic import *
