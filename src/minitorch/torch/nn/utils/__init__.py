"""`torch.nn.utils`: gradients clipped, sequences packed, weights parametrised."""

from minitorch.torch.nn.utils import rnn
