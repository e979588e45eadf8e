"""L-BFGS: Newton's method with curvature from the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.mode import enable_grad, no_grad
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.inplace import count_write
from minitorch.torch.optim.arrays import check, check_lr, number, real
from minitorch.torch.optim.line_search import Point, strong_wolfe
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class LBFGS(Optimizer):
    """Goes along -H g, with H the inverse Hessian as the last `history_size` steps show it. One
    `step(closure)` makes up to `max_iter` of them; all parameters are in one group.

    max_eval        how often the closure is called at most; by default 1.25 * max_iter
    tolerance_grad  stop where the largest gradient is at most this
    tolerance_change  stop where the loss or the parameters change less
    line_search_fn  None: steps of the length lr; "strong_wolfe": as a line search finds them
    Source: Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.5.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        check(
            len(self.param_groups) == 1,
            "LBFGS doesn't support per-parameter options (parameter groups)",
        )

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]  # type: ignore[no-any-return]

    def _gradient(self) -> np.ndarray:
        parts = []
        for p in self._params:
            size = real(p._array).size
            grad = p._grad
            parts.append(
                np.zeros(size, real(p._array).dtype)
                if grad is None
                else real(grad._array).reshape(size)
            )
        return np.concatenate(parts)

    def _move(self, t: Any, direction: np.ndarray) -> None:
        at = 0
        for p in self._params:
            x = real(p._array)
            x += (t * direction[at : at + x.size]).reshape(x.shape)
            count_write(p)
            at += x.size

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Make up to `max_iter` iterations.

        closure  clears the gradients, computes the loss, calls backward and returns the loss
        """
        group = self.param_groups[0]
        search = group["line_search_fn"]
        lr, state = number(group["lr"]), self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        calls = 1

        def evaluate() -> float:
            nonlocal calls
            calls += 1
            state["func_evals"] += 1
            with enable_grad():
                return float(closure())

        with enable_grad():
            first = closure()
        loss, g = float(first), self._gradient()
        state["func_evals"] += 1
        if _largest(g) <= group["tolerance_grad"]:
            return first
        memory = _Memory(state, group["history_size"])
        iterations = 0
        with np.errstate(all="ignore"):
            while iterations < group["max_iter"]:
                iterations += 1
                state["n_iter"] += 1
                d = memory.direction(g)
                memory.gradient, memory.loss = g, loss
                memory.t = lr
                if state["n_iter"] == 1:
                    memory.t = min(1.0, 1.0 / abs(g).sum()) * lr
                slope = np.dot(g, d)
                if slope > -group["tolerance_change"]:
                    break
                stop = False
                if search is not None:
                    if search != "strong_wolfe":
                        raise RuntimeError("only 'strong_wolfe' is supported")
                    start, left = Point(0, loss, g, slope), group["max_eval"] - calls
                    loss, g = self._search(evaluate, memory, start, min(25, left))
                    stop = _largest(g) <= group["tolerance_grad"]
                else:
                    self._move(memory.t, d)
                    if iterations != group["max_iter"]:
                        loss, g = evaluate(), self._gradient()
                        stop = _largest(g) <= group["tolerance_grad"]
                if (
                    calls >= group["max_eval"]
                    or stop
                    or _largest(d * memory.t) <= group["tolerance_change"]
                    or abs(loss - memory.loss) < group["tolerance_change"]
                ):
                    break
        memory.save(state)
        return first

    def _search(
        self, evaluate: Callable[[], float], memory: _Memory, start: Point, max_looks: int
    ) -> tuple[float, np.ndarray]:
        """Go as far along the direction as a line search says; the loss and gradient there."""
        d, here = memory.d, [p._array.copy() for p in self._params]

        def look(t: Any) -> Point:
            self._move(t, d)
            loss, g = evaluate(), self._gradient()
            for p, array in zip(self._params, here, strict=True):
                p._array[...] = array
                count_write(p)
            return Point(t, loss, g, np.dot(g, d))

        change = self.param_groups[0]["tolerance_change"]
        point = strong_wolfe(look, start, memory.t, _largest(d), change, max_looks)
        memory.t = point.t
        self._move(point.t, d)
        return point.loss, point.gradient


class _Memory:
    """What is remembered of earlier iterations, in arrays.

    t, d           the last step and its direction
    changes, steps  of the gradient, and of the parameters that went with them
    ro             1 / (change · step)
    scale          of the diagonal matrix that H is built from
    """

    def __init__(self, state: dict[str, Any], size: int) -> None:
        self.size = size
        self.d, self.t = _array(state.get("d")), _array(state.get("t"))
        self.changes, self.steps, self.ro = (
            [_array(each) for each in state.get(name) or ()]
            for name in ("old_dirs", "old_stps", "ro")
        )
        self.scale = _array(state.get("H_diag"))
        self.gradient, self.loss = _array(state.get("prev_flat_grad")), state.get("prev_loss")
        self.al: list[Any] | None = state.get("al")
        self.first = state["n_iter"] == 0

    def direction(self, g: np.ndarray) -> np.ndarray:
        """-H g, with H brought up to date by the last step."""
        if self.first:
            self.first = False
            self.changes, self.steps, self.ro, self.scale = [], [], [], 1
            q = self.d = -g
            return q
        change, step = g - self.gradient, self.d * self.t
        curvature = np.dot(change, step)
        if curvature > 1e-10:
            if len(self.changes) == self.size:
                for each in (self.changes, self.steps, self.ro):
                    each.pop(0)
            self.changes.append(change)
            self.steps.append(step)
            self.ro.append(1.0 / curvature)
            self.scale = curvature / np.dot(change, change)
        if self.al is None:
            self.al = [None] * self.size
        q = -g
        for k in reversed(range(len(self.changes))):
            self.al[k] = np.dot(self.steps[k], q) * self.ro[k]
            q -= self.al[k] * self.changes[k]
        q *= self.scale
        for k, (change, step) in enumerate(zip(self.changes, self.steps, strict=True)):
            q += step * (self.al[k] - np.dot(change, q) * self.ro[k])
        self.d = q
        return q

    def save(self, state: dict[str, Any]) -> None:
        if self.al is not None:
            state["al"] = [_tensor(each) for each in self.al]
        state["d"], state["t"] = _tensor(self.d), _tensor(self.t)
        state["old_dirs"], state["old_stps"], state["ro"] = (
            [_tensor(each) for each in many] for many in (self.changes, self.steps, self.ro)
        )
        state["H_diag"] = _tensor(self.scale)
        state["prev_flat_grad"], state["prev_loss"] = _tensor(self.gradient), self.loss


def _array(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array if value._array.ndim else value._array[()]
    return value


def _tensor(value: Any) -> Any:
    """Arrays, and NumPy's numbers, as tensors; what is neither as it is."""
    return wrap(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def _largest(array: np.ndarray) -> Any:
    return abs(array).max()
