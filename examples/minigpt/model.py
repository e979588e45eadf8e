"""A GPT on one page: width 64, 4 heads, 2 layers, and a head of 600 scores."""

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH = 600, 64, 4, 2, 40


class Attention(nn.Module):
    """Every token looks at those before it, in `HEADS` ways at once."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.attend = nn.Linear(WIDTH, 3 * WIDTH)
        self.join = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
            for part in self.attend(x).split(width, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dropout(self.join(y.transpose(1, 2).reshape(batch, length, width)))


class Block(nn.Module):
    """Attention, then a small network on each token; both are added to what came in."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention(dropout)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(dropout)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class MiniGPT(nn.Module):
    """Scores of the next token at every place: (batch, length) numbers to (…, 600)."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([Block(dropout) for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.checkpointed = False
        for name, parameter in self.named_parameters():
            if name.endswith("weight") and "norm" not in name:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, numbers):
        places = torch.arange(numbers.shape[1])
        x = self.tokens(numbers) + self.places(places)
        for block in self.blocks:
            if self.checkpointed:
                x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.head(self.norm(x))

    def loss(self, numbers, ignored: int = 0):
        """The mean cross-entropy of each next token; `ignored` does not count."""
        scores = self(numbers[:, :-1])
        return F.cross_entropy(
            scores.reshape(-1, VOCABULARY), numbers[:, 1:].reshape(-1), ignore_index=ignored
        )

    @torch.no_grad()
    def complete(self, start, count: int, temperature: float = 0.0):
        """`count` more tokens for each row: the likeliest, or drawn at a temperature."""
        self.eval()
        numbers = start
        for _ in range(count):
            scores = self(numbers[:, -LENGTH:])[:, -1]
            if temperature:
                shares = F.softmax(scores / temperature, dim=-1)
                following = torch.multinomial(shares, 1)
            else:
                following = scores.argmax(-1, keepdim=True)
            numbers = torch.cat([numbers, following], dim=1)
        self.train()
        return numbers
