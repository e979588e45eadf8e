"""A two-layer transformer written with plain functions: parameters in a dict, no modules.

Vocabulary 600, width 64, 4 heads, 2 layers; the language-model head is `Linear(64, 600)`. It is
the example of `minitorch memory`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch import torch
from minitorch.torch.nn import functional as F
from minitorch.torch.utils.checkpoint import checkpoint

VOCABULARY, WIDTH, HEADS, LAYERS = 600, 64, 4, 2


def parameters(seed: int = 0, length: int = 64) -> dict[str, Any]:
    """All weights, float32, requiring gradients: normal of deviation 0.02, norms at 1, biases 0."""
    rng = np.random.default_rng(seed)

    def weight(*shape: int) -> Any:
        values = (0.02 * rng.standard_normal(shape)).astype(np.float32)
        return torch.tensor(values, requires_grad=True)

    def constant(value: float, *shape: int) -> Any:
        return torch.tensor(np.full(shape, value, np.float32), requires_grad=True)

    found = {"tokens": weight(VOCABULARY, WIDTH), "places": weight(length, WIDTH)}
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("attend", 3 * WIDTH, WIDTH),
            ("join", WIDTH, WIDTH),
            ("widen", 4 * WIDTH, WIDTH),
            ("narrow", WIDTH, 4 * WIDTH),
        ):
            found[f"{layer}.{name}.weight"] = weight(rows, columns)
            found[f"{layer}.{name}.bias"] = constant(0.0, rows)
        for name in ("norm1", "norm2"):
            found[f"{layer}.{name}.weight"] = constant(1.0, WIDTH)
            found[f"{layer}.{name}.bias"] = constant(0.0, WIDTH)
    found["norm.weight"], found["norm.bias"] = constant(1.0, WIDTH), constant(0.0, WIDTH)
    found["head.weight"], found["head.bias"] = weight(VOCABULARY, WIDTH), constant(0.0, VOCABULARY)
    return found


def attention(p: dict[str, Any], layer: int, x: Any) -> Any:
    """Causal self-attention with `HEADS` heads: (batch, length, width) in and out."""
    batch, length, width = x.shape
    parts = F.linear(x, p[f"{layer}.attend.weight"], p[f"{layer}.attend.bias"])
    q, k, v = (
        part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
        for part in parts.split(width, 2)
    )
    scores = (q @ k.transpose(2, 3)) * (1 / math.sqrt(width // HEADS))
    later = torch.tensor(np.triu(np.ones((length, length), bool), 1))
    weights = F.softmax(scores.masked_fill(later, -math.inf), dim=-1)
    joined = (weights @ v).transpose(1, 2).reshape(batch, length, width)
    return F.linear(joined, p[f"{layer}.join.weight"], p[f"{layer}.join.bias"])


def norm(p: dict[str, Any], name: str, x: Any) -> Any:
    return F.layer_norm(x, (WIDTH,), p[f"{name}.weight"], p[f"{name}.bias"])


def block(p: dict[str, Any], layer: int, x: Any) -> Any:
    """One layer: attention and a two-layer network, each added to what it was given."""
    x = x + attention(p, layer, norm(p, f"{layer}.norm1", x))
    hidden = F.gelu(
        F.linear(norm(p, f"{layer}.norm2", x), p[f"{layer}.widen.weight"], p[f"{layer}.widen.bias"])
    )
    return x + F.linear(hidden, p[f"{layer}.narrow.weight"], p[f"{layer}.narrow.bias"])


def logits(p: dict[str, Any], tokens: Any, *, save: str = "all") -> Any:
    """Scores of the next token: (batch, length) integers in, (batch, length, 600) out.

    save  "all", or "blocks": only what goes in and out of each layer is kept for the backward
          pass, which computes the rest again (checkpointing).
    """
    x = F.embedding(tokens, p["tokens"]) + p["places"][: tokens.shape[1]]
    for layer in range(LAYERS):
        if save == "blocks":
            x = checkpoint(block, p, layer, x, use_reentrant=False)
        else:
            x = block(p, layer, x)
    return F.linear(norm(p, "norm", x), p["head.weight"], p["head.bias"])


def loss(p: dict[str, Any], tokens: Any, targets: Any, *, save: str = "all") -> Any:
    """The mean cross-entropy of the next tokens."""
    scores = logits(p, tokens, save=save)
    return F.cross_entropy(scores.view(-1, VOCABULARY), targets.view(-1))


def loss_with_checkpoints(p: dict[str, Any], tokens: Any, targets: Any) -> Any:
    """`loss`, computing each layer again in the backward pass."""
    return loss(p, tokens, targets, save="blocks")


def batch(seed: int = 0, size: int = 8, length: int = 64) -> tuple[Any, Any]:
    """Random tokens and the ones that follow: two (size, length) integer tensors."""
    tokens = np.random.default_rng(seed).integers(0, VOCABULARY, (size, length + 1))
    return torch.tensor(tokens[:, :-1]), torch.tensor(tokens[:, 1:])
