"""`MultiheadAttention`; PyTorch keeps it among the activations, and so its name is there, too."""

from __future__ import annotations

import warnings
from typing import Any

from minitorch.torch.creation import empty, zeros_like
from minitorch.torch.nn import functional as F
from minitorch.torch.nn import init
from minitorch.torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.parameter import Parameter

__all__ = ["MultiheadAttention", "canonical_mask"]


def canonical_mask(mask: Any, name: str, other: Any, other_name: str, dtype: Any) -> Any:
    """A mask as numbers to add: -inf where a boolean one is true. None stays None.

    other  another mask of the same call, which is to be of the same kind: warns if it is not
    AssertionError for a mask that is neither boolean nor floating.
    """
    if mask is None:
        return None
    kind = mask._array.dtype.kind
    if kind not in "bf":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other._array.dtype != mask._array.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=3,
        )
    if kind == "f":
        return mask
    return zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


class MultiheadAttention(Module):
    """Attention with several heads, with the projections of query, key, value and result.

    embed_dim       of query and result, which all heads share: divisible by num_heads
    dropout         of the attention weights, in training
    add_bias_kv     one more key and value, learnt
    add_zero_attn   one more key and value, of zeros
    kdim, vdim      sizes of key and value; None: embed_dim
    batch_first     (count, steps, size) instead of (steps, count, size)

    Source: Vaswani et al., Attention Is All You Need, 2017.
    """

    __constants__ = ("batch_first",)
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options = {"device": device, "dtype": dtype}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty((3 * embed_dim, embed_dim), **options))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(empty((embed_dim, embed_dim), **options))
            self.k_proj_weight = Parameter(empty((embed_dim, self.kdim), **options))
            self.v_proj_weight = Parameter(empty((embed_dim, self.vdim), **options))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(empty(3 * embed_dim, **options))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        if add_bias_kv:
            self.bias_k = Parameter(empty((1, 1, embed_dim), **options))
            self.bias_v = Parameter(empty((1, 1, embed_dim), **options))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Projections by `xavier_uniform_`, biases 0, the further key and value normal."""
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            init.xavier_uniform_(self.q_proj_weight)
            init.xavier_uniform_(self.k_proj_weight)
            init.xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"_qkv_same_embed_dim": True, **state})

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The result, and the weights or None: see `nn.functional.multi_head_attention_forward`."""
        dtype = query.dtype
        names = ("key_padding_mask", "attn_mask")
        padding = canonical_mask(key_padding_mask, names[0], attn_mask, names[1], dtype)
        pairs = canonical_mask(attn_mask, names[1], None, "", dtype)
        turned = self.batch_first and query.dim() == 3
        if turned:
            # What is one tensor stays one: it is projected at once.
            same_key, same_value = query is key, key is value
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        apart: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            apart = {
                "use_separate_proj_weight": True,
                "q_proj_weight": self.q_proj_weight,
                "k_proj_weight": self.k_proj_weight,
                "v_proj_weight": self.v_proj_weight,
            }
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=padding,
            need_weights=need_weights,
            attn_mask=pairs,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **apart,
        )
        return (out.transpose(1, 0) if turned else out), weights


# Where PyTorch has it, so that pickles name the same place.
MultiheadAttention.__module__ = "minitorch.torch.nn.modules.activation"
