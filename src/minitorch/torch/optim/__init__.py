"""`torch.optim`: optimisers, one a file."""

from minitorch.torch.optim.adam import Adam, AdamW
from minitorch.torch.optim.optimizer import Optimizer
from minitorch.torch.optim.sgd import SGD
