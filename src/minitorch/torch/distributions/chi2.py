"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squares of normal numbers, for any `df` above 0."""

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}
    _parameters: ClassVar[Any] = {"concentration": 0, "rate": 0}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
