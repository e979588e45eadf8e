"""Reverse-mode automatic differentiation of Python floats: the whole idea on one page.

A `Value` is a float that remembers where it came from: the Values it was computed from (`_prev`),
the name of the operation (`_op`), and one *local derivative* for each of them (`_local`): how fast
this number changes when that parent alone changes. The chain rule does the rest. If the final
result changes `grad` times as fast as this node, then it changes `local * grad` times as fast as
the parent *through this node*, and a parent used in several places adds up what each place sends.

A textbook writes that step as a closure, made anew by every operation::

    out = Value(a.data * b.data)

    def _backward():
        a.grad += b.data * out.grad
        b.grad += a.data * out.grad

    out._backward = _backward  # `out` holds the closure, the closure holds `out`: a cycle

Unrolled, the closure is data: its parents are `(a, b)`, its factors are `(b.data, a.data)`, and the
rest is the same two lines for every operation there is. So here a node keeps the two tuples, and
`_backward` is an ordinary method that reads them. The cycle is gone, hence a graph is freed the
moment it is dropped, without waiting for the garbage collector. And a new operation is one line::

    def sin(x: Value) -> Value:
        return Value(math.sin(x.data), (x,), "sin", (math.cos(x.data),))

Nothing may be imported here but the standard library. Next: `nn.py` builds a network out of this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from operator import mul


class Value:
    """One float, its gradient, and how it was made.

    >>> a, b = Value(2.0), Value(3.0)
    >>> c = a * b + a
    >>> c.backward()
    >>> c.data, a.grad, b.grad
    (8.0, 4.0, 2.0)

    Arithmetic is Python's own, so what Python's floats refuse is refused here, with advice:
    division by zero, an overflowing `exp` or `**`, the logarithm of nothing.
    There is no `__eq__`: two Values are the same only if they are one object, as a graph needs.
    """

    __slots__ = ("__weakref__", "_local", "_op", "_prev", "data", "grad")

    data: float
    grad: float
    _prev: tuple[Value, ...]
    _op: str
    _local: tuple[float, ...]

    def __init__(
        self,
        data: float,
        _prev: tuple[Value, ...] = (),
        _op: str = "",
        _local: tuple[float, ...] = (),
    ) -> None:
        if type(data) is not float:
            data = _real(data)
        if len(_prev) != len(_local):
            raise ValueError(
                f"{_op!r} has {len(_prev)} parents and {len(_local)} local derivatives: "
                "an operation gives one for each parent, in the same order"
            )
        self.data = data
        self.grad = 0.0
        self._prev = _prev
        self._op = _op
        self._local = _local

    # Every operation below is its result and, parent by parent, its local derivatives.

    def __add__(self, other: Value | float) -> Value:
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __sub__(self, other: Value | float) -> Value:
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data - other.data, (self, other), "-", (1.0, -1.0))

    def __mul__(self, other: Value | float) -> Value:
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data * other.data, (self, other), "*", (other.data, self.data))

    def __truediv__(self, other: Value | float) -> Value:
        if not isinstance(other, Value):
            other = Value(other)
        if other.data == 0.0:
            raise ZeroDivisionError(
                f"{self.data} / {other.data}: keep the denominator away from zero, "
                "for example by adding a small positive number to it"
            )
        quotient = self.data / other.data
        return Value(quotient, (self, other), "/", (1.0 / other.data, -quotient / other.data))

    def __pow__(self, exponent: float) -> Value:
        """`self ** exponent` for a number exponent; `_op` shows it, as in `"**2"`."""
        try:
            n = _real(exponent)
        except TypeError:
            raise TypeError(
                f"the exponent of ** is a real number, got {type(exponent).__name__}: "
                "for Values a ** b with a > 0 write (b * a.log()).exp()"
            ) from None
        power, slope = _power(self.data, n)
        return Value(power, (self,), f"**{n:g}", (slope,))

    def __neg__(self) -> Value:
        return Value(-self.data, (self,), "neg", (-1.0,))

    def __radd__(self, other: float) -> Value:
        return Value(other) + self

    def __rsub__(self, other: float) -> Value:
        return Value(other) - self

    def __rmul__(self, other: float) -> Value:
        return Value(other) * self

    def __rtruediv__(self, other: float) -> Value:
        return Value(other) / self

    def __rpow__(self, other: float) -> Value:
        raise TypeError(
            f"the exponent of ** is a real number, got Value: for {other} ** b write "
            f"(b * math.log({other})).exp()"
        )

    def exp(self) -> Value:
        try:
            e = math.exp(self.data)
        except OverflowError:
            raise OverflowError(
                f"exp({self.data}) is larger than any float: subtract the largest argument "
                "first, or use sigmoid or tanh, which cannot overflow"
            ) from None
        return Value(e, (self,), "exp", (e,))

    def log(self) -> Value:
        if self.data <= 0.0:
            raise ValueError(
                f"log({self.data}) is undefined: the argument must be above zero, "
                "for example by adding a small positive number to it"
            )
        return Value(math.log(self.data), (self,), "log", (1.0 / self.data,))

    def relu(self) -> Value:
        """`max(0, self)`; at the kink, 0, the derivative is taken to be 0."""
        # Asked this way round, nan answers no and stays nan instead of turning into a healthy 0.
        if self.data <= 0.0:
            return Value(0.0, (self,), "relu", (0.0,))
        return Value(self.data, (self,), "relu", (1.0,))

    def tanh(self) -> Value:
        t = math.tanh(self.data)
        return Value(t, (self,), "tanh", (1.0 - t * t,))

    def sigmoid(self) -> Value:
        """`1 / (1 + exp(-self))`, for any argument: only `exp(-abs(self))` is ever taken."""
        e = math.exp(-abs(self.data))
        s = (1.0 if self.data >= 0.0 else e) / (1.0 + e)
        return Value(s, (self,), "sigmoid", (e / (1.0 + e) ** 2,))

    def _backward(self) -> None:
        """Send this node's gradient on to its parents: the chain rule, once, for every op."""
        grad = self.grad
        # No strict=True: it would double the cost, and __init__ has compared the lengths.
        for parent, local in zip(self._prev, self._local):  # noqa: B905
            parent.grad += local * grad

    def backward(self) -> None:
        """Set the `grad` of every Value below this one to d(this) / d(that Value).

        The gradients of leaves (Values that no operation made) add up over several calls, as
        when a batch is handled example by example: set `grad = 0.0` before starting afresh.
        """
        order = topological(self)
        # Interior gradients belong to one walk: kept for the next, they would be sent on twice.
        # Leaves start from zero as well and get back what they had at the end, because
        # (g + u) + v is not exactly g + (u + v): a second walk then adds the very same number.
        earlier = [(node, node.grad) for node in order if not node._prev]
        for node in order:
            node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
        for leaf, grad in earlier:
            leaf.grad += grad

    def __repr__(self) -> str:
        made_by = f", op={self._op!r}" if self._op else ""
        return f"Value({self.data}, grad={self.grad}{made_by})"


def dot(left: Iterable[Value | float], right: Iterable[Value | float]) -> Value:
    """`left[0] * right[0] + left[1] * right[1] + ...` as one node, however long.

    An operation on many parents needs nothing new: one local derivative for each of them. A neuron
    made of this is one node instead of a `*` and a `+` per input.

    >>> w, x = [Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]
    >>> y = dot(w, x)
    >>> y.backward()
    >>> y.data, [p.grad for p in w], [p.grad for p in x]
    (11.0, [3.0, 4.0], [1.0, 2.0])
    """
    ls = [v if isinstance(v, Value) else Value(v) for v in left]
    rs = [v if isinstance(v, Value) else Value(v) for v in right]
    if len(ls) != len(rs):
        raise ValueError(f"dot needs two sides of one length, got {len(ls)} and {len(rs)}")
    a = [v.data for v in ls]
    b = [v.data for v in rs]
    return Value(sum(map(mul, a, b), 0.0), (*ls, *rs), "dot", (*b, *a))


def topological(root: Value) -> list[Value]:
    """Every Value that `root` depends on and `root` itself, each once, parents before children.

    Depth first with a stack of our own, for a graph is often deeper than Python recurses.

    >>> a = Value(1.0)
    >>> [v._op for v in topological((a * a).exp())]
    ['', '*', 'exp']
    """
    order: list[Value] = []
    placed: dict[Value, bool] = {}  # absent: not met yet; False: on the path; True: in the order
    path: list[Value] = []
    stack: list[Value | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:  # all parents of the path's last node are placed: now that node itself
            node = path.pop()
            placed[node] = True
            order.append(node)
        elif node not in placed:
            placed[node] = False
            path.append(node)
            stack.append(None)
            stack.extend(node._prev)
        elif not placed[node]:
            raise RuntimeError(
                f"{node} depends on itself: a graph of Values has no cycle unless `_prev` was "
                "changed by hand; undo that, or build the graph again"
            )
    return order


def _real(number: object) -> float:
    """`number` as a float, or a TypeError: `float()` alone would also read strings."""
    if not isinstance(number, Real):
        raise TypeError(
            f"a Value holds one real number, got {type(number).__name__}: "
            "pass an int or a float (of a one-element array or tensor, its .item())"
        )
    return float(number)


def _power(x: float, n: float) -> tuple[float, float]:
    """`x ** n` and its derivative in x, `n * x ** (n - 1)`."""
    try:
        power = x**n
    except ZeroDivisionError:
        raise ZeroDivisionError(
            f"{x} ** {n:g} divides by zero: keep the base away from zero"
        ) from None
    except OverflowError:
        raise OverflowError(f"{x} ** {n:g} is larger than any float: scale the base") from None
    if isinstance(power, complex):
        raise ValueError(f"{x} ** {n:g} is not real: a negative base needs a whole exponent")
    if n == 0.0:
        return power, 0.0  # a constant, even at x = 0, where the formula divides by zero
    try:
        return power, n * x ** (n - 1.0)
    except (ZeroDivisionError, OverflowError):
        # The power is a float and its slope is not: sqrt at 0, say. Infinite, with its sign.
        return power, n * power / x if x else math.inf
