"""`torch.optim`: optimisers, one a file, and schedules for their learning rates."""

from minitorch.torch.absent import finder as _finder
from minitorch.torch.optim import lr_scheduler, swa_utils
from minitorch.torch.optim._adafactor import Adafactor
from minitorch.torch.optim._muon import Muon
from minitorch.torch.optim.adadelta import Adadelta
from minitorch.torch.optim.adagrad import Adagrad
from minitorch.torch.optim.adam import Adam
from minitorch.torch.optim.adamax import Adamax
from minitorch.torch.optim.adamw import AdamW
from minitorch.torch.optim.asgd import ASGD
from minitorch.torch.optim.lbfgs import LBFGS
from minitorch.torch.optim.nadam import NAdam
from minitorch.torch.optim.optimizer import Optimizer
from minitorch.torch.optim.radam import RAdam
from minitorch.torch.optim.rmsprop import RMSprop
from minitorch.torch.optim.rprop import Rprop
from minitorch.torch.optim.sgd import SGD
from minitorch.torch.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]

__getattr__ = _finder(
    __name__,
    {
        "swap_in_optimizer_params_and_state": "make a second optimizer of those parameters and "
        "give it the state with load_state_dict"
    },
)
