"""The softmax of many classes, rare ones in clusters."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from minitorch.engine.errors import ShapeError
from minitorch.torch.creation import zeros
from minitorch.torch.functions import cat
from minitorch.torch.nn import functional as F
from minitorch.torch.nn.modules.container import ModuleList, Sequential
from minitorch.torch.nn.modules.linear import Linear
from minitorch.torch.nn.modules.module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes ordered by frequency, and their negative mean as a loss.

    The `head` scores the frequent classes and one cluster each for the others; a cluster scores
    its classes from fewer features, div_value times fewer for each cluster.

    cutoffs  where clusters begin: increasing class numbers, less than n_classes
    Source: Grave et al., Efficient softmax approximation for GPUs, 2017. ValueError for other
    cutoffs.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        bounds = list(cutoffs)
        if not bounds:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        increasing = all(a < b for a, b in itertools.pairwise(bounds))
        if (
            not increasing
            or bounds[0] <= 0
            or bounds[-1] > n_classes - 1
            or any(int(bound) != bound for bound in bounds)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*bounds, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = bounds[0]
        self.n_clusters = len(bounds)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for k, (first, last) in enumerate(zip(bounds, self.cutoffs[1:], strict=True), 1):
            narrow = int(in_features // div_value**k)
            self.tail.append(
                Sequential(
                    Linear(in_features, narrow, bias=False, **options),
                    Linear(narrow, last - first, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        """As the linear layers do."""
        self.head.reset_parameters()
        for narrow, wide in self.tail:
            narrow.reset_parameters()
            wide.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        """(output, loss): each target's log-probability, and the negative mean of these."""
        _check(input_, target_)
        alone = target_.dim() == 0
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if alone else (input_, target_)
        inner = zeros(len(target), dtype=x.dtype, device=x.device)
        scored, found = target.clone(), 0
        for k, (first, last) in enumerate(zip([0, *self.cutoffs[:-1]], self.cutoffs, strict=True)):
            rows = ((target >= first) & (target < last)).nonzero().squeeze(1)
            found += len(rows)
            if not k or not len(rows):
                continue
            logp = F.log_softmax(self.tail[k - 1](x.index_select(0, rows)), dim=1)
            own = logp.gather(1, (target[rows] - first).unsqueeze(1)).squeeze(1)
            inner = inner.index_copy(0, rows, own)
            scored[rows] = self.shortlist_size + k - 1
        if found != len(target):
            raise ShapeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(x), dim=1)
        output = inner + head.gather(1, scored.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if alone else output, loss)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for k, cluster in enumerate(self.tail):
            own = F.log_softmax(cluster(input), dim=1)
            parts.append(own + head[:, self.shortlist_size + k].unsqueeze(1))
        return cat(parts, 1)

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The likeliest class of each row, like `log_prob(input).argmax(1)` but cheaper."""
        scores = self.head(input)
        output = scores.argmax(1)
        open_ = output >= self.shortlist_size
        if not open_.any():
            return output
        if open_.all():
            return self._get_full_log_prob(input, scores).argmax(1)
        output[open_] = self._get_full_log_prob(input[open_], scores[open_]).argmax(1)
        return output


def _check(x: Any, target: Any) -> None:
    ndim = target.dim()
    if ndim == 1:
        if x.size(0) != target.size(0):
            raise ShapeError("Input and target should have the same size in the batch dimension.")
        if x.dim() != 2:
            raise ShapeError(
                f"1D target tensor expects 2D input tensors, but found inputs with size {x.size()}"
            )
    elif ndim == 0:
        if x.dim() != 1:
            raise ShapeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size {x.size()}"
            )
    else:
        raise ShapeError("0D or 1D target tensor expected, multi-target not supported")
