"""Operators of your own: `torch.library.custom_op` and what goes with it; docs/custom-ops.md."""

from minitorch.torch.library.custom_op import (
    CustomOpDef,
    Library,
    custom_op,
    define,
    get_ctx,
    impl,
    register_autograd,
    register_fake,
    register_kernel,
    register_vmap,
)
from minitorch.torch.library.opcheck import OpCheckError, opcheck
from minitorch.torch.library.schema import infer_schema

impl_abstract = register_fake

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "custom_op",
    "define",
    "get_ctx",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]
