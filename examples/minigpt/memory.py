"""What the memory of MiniGPT's training step is made of, by kind of node and by module.

minitorch memory examples/minigpt/memory.py
"""

import torch
from model import LENGTH, VOCABULARY, MiniGPT

BATCH = 32


def loss(model, numbers):
    return model.loss(numbers)


def cases():
    """(name, program, its arguments, whether gradients are wanted) of each run to explain."""
    torch.manual_seed(0)
    model, saving = MiniGPT(), MiniGPT()
    saving.checkpointed = True
    numbers = torch.randint(1, VOCABULARY, (BATCH, LENGTH))
    return [
        ("training", loss, (model, numbers), True),
        ("checkpoint", loss, (saving, numbers), True),
        ("no_grad", loss, (model, numbers), False),
    ]
