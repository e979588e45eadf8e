"""What every distribution has: shapes, samples, densities, and checks of what it is given."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch._tensor import Tensor
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.utils import lazy_property
from minitorch.torch.dtypes import Size

__all__ = ["Distribution"]

_NONE = Size()


class Distribution:
    """A distribution, or several: one for each place in `batch_shape`.

    event_shape    the shape of one value
    validate_args  whether parameters, and values whose density is asked for, are checked;
                   None: as `set_default_validate_args` says
    ValueError for a parameter that breaks its constraint.
    """

    has_rsample: Any = False
    has_enumerate_support = False
    _validate_args = __debug__
    _parameters: ClassVar[dict[str, int] | None] = None
    """For `expand`: each parameter, and how many of its dimensions belong to one value."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check what they are given, if nothing else is said."""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = _NONE,
        event_shape: Any = _NONE,
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            required = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        for name, constraint in required.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            ):
                continue  # it follows from another one
            value = getattr(self, name)
            if not constraints.holds(constraint, value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch: parameters are expanded, not copied."""
        cls: Any = next((c for c in type(self).__mro__ if "_parameters" in c.__dict__), None)
        if cls is None or cls._parameters is None:
            raise NotImplementedError
        batch_shape = Size(batch_shape)
        new = self._get_checked_instance(cls, _instance)
        for name, dims in cls._parameters.items():
            value = self.__dict__.get(name)
            if value is not None:
                own = value.shape[value.dim() - dims :]
                new.__dict__[name] = value.expand(batch_shape + own)
        self._expand_more(new, batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        """Set on an expanded distribution what is no parameter."""

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        """An empty distribution of this class, for `expand`."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    # ------------------------------------------------------------------------------ the shape

    @property
    def batch_shape(self) -> Any:
        """How many distributions this is, as a shape."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = _NONE) -> Size:
        """The shape of samples."""
        return Size((*Size(sample_shape), *self._batch_shape, *self._event_shape))

    # ----------------------------------------------------------------------- what it is like

    @property
    def arg_constraints(self) -> Any:
        """For each parameter the constraint that it satisfies."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that values satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The value of the highest density."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def entropy(self) -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """exp of the entropy."""
        return torch.exp(self.entropy())

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution along a first dimension.

        expand  whether for each distribution of the batch; else once for all
        """
        raise NotImplementedError

    # ---------------------------------------------------------------------------- samples

    def sample(self, sample_shape: Any = _NONE) -> Any:
        """Samples, as many as the shape says, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = _NONE) -> Any:
        """Samples through which gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """`sample((n,))`, as it was once called."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    # ---------------------------------------------------------------------------- densities

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or probability) of values."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of what is not above a value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """What `cdf` undoes."""
        raise NotImplementedError

    def _validate_sample(self, value: Any) -> None:
        """ValueError for a value that does not fit in shape, or lies outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        given, dims = value.shape, len(self._event_shape)
        if given[len(given) - dims :] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        expected = Size((*self._batch_shape, *self._event_shape))
        for i, j in zip(reversed(given), reversed(expected), strict=False):
            if i not in (1, j) and j != 1:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{given} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not constraints.holds(support, value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        given = [name for name in self.arg_constraints if name in self.__dict__]
        values = [self.__dict__[name] for name in given]
        text = ", ".join(
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in zip(given, values, strict=True)
        )
        return f"{type(self).__name__}({text})"
