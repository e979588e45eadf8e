"""Random programs of views, in-place changes and plain operations, run in both libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from side_by_side import array, chain, cotangent

import minitorch.torch as mt

VIEWS = (
    "{x}[0]",
    "{x}[-1]",
    "{x}[1:]",
    "{x}[::2]",
    "{x}[:, 1]",
    "{x}[:, 1:]",
    "{x}[0, 1:]",
    "{x}[..., 0]",
    "{x}[None]",
    "{x}[...]",
    "{x}[:]",
    "{x}.view(-1)",
    "{x}.reshape(-1)",
    "{x}.view(2, -1)",
    "{x}.t()",
    "{x}.transpose(0, 1)",
    "{x}.permute(1, 0)",
    "{x}.unsqueeze(0)",
    "{x}.squeeze()",
    "{x}.squeeze(0)",
    "{x}.expand(2, -1, -1)",
    "{x}.expand(2, -1)",
    "{x}.diagonal()",
    "{x}.narrow(0, 0, 2)",
    "{x}.select(0, 1)",
    "{x}.unfold(0, 2, 2)",
    "{x}.flatten()",
    "{x}.movedim(0, -1)",
    "{x}.as_strided((2, 2), (1, 2))",
    "{x}.detach()",
    "{x}.data",
)
SEVERAL = ("{x}.unbind(0)[{k}]", "{x}.split(1)[{k}]", "{x}.chunk(2)[{k}]", "list({x})[{k}]")
CHANGES = (
    "{x}.mul_(2.0)",
    "{x}.mul_({y})",
    "{x}.add_({y})",
    "{x}.add_({y}, alpha=2)",
    "{x}.sub_({y})",
    "{x}.div_(3.0)",
    "{x}.neg_()",
    "{x}.sigmoid_()",
    "{x}.tanh_()",
    "{x}.relu_()",
    "{x}.clamp_(-0.5, 0.5)",
    "{x}.fill_(1.5)",
    "{x}.fill_({y}.sum())",
    "{x}.zero_()",
    "{x}.copy_({y})",
    "{x}.masked_fill_({x} > 0, 0.25)",
    "{x}.masked_fill_({x} > 0, {y}.sum())",
    "{x}.index_fill_(0, torch.tensor([0]), 2.0)",
    "{x}.index_add_(0, torch.tensor([0, 0]), {y})",
    "{x}.index_copy_(0, torch.tensor([0]), {y})",
    "{x}.pow_(2)",
    "{x}.tril_()",
    "{x}.__setitem__(0, 0.5)",
    "{x}.__setitem__(0, {y})",
    "{x}.__setitem__(slice(None), {y})",
    "{x}.__setitem__((slice(None), 0), {y})",
    "{x}.__setitem__(Ellipsis, {y})",
    "{x}.__setitem__([0], {y})",
    "{x}.__setitem__({x} > 0, 0.1)",
    "{x}.__setitem__((0, 0), {y}.sum())",
    "{x}.__iadd__({y})",
    "{x}.__imul__({y})",
    "{x}.t_()",
    "{x}.unsqueeze_(0)",
    "{x}.squeeze_()",
    "{x}.transpose_(0, 1)",
    "{x}.addcmul_({y}, {y})",
    "{x}.lerp_({y}, 0.25)",
)
PLAIN = (
    "{x} * {y}",
    "{x} + {y}",
    "{x} - 1",
    "{x}.sigmoid()",
    "{x}.tanh()",
    "{x} * {x}",
    "{x}.exp()",
    "{x}.clone()",
    "{x}.sum(0)",
    "{x} / ({y} * {y} + 1)",
    "torch.cat([{x}, {x}])",
    "torch.stack([{x}, {x}])",
    "{x}.pow(3)",
    "{x}[[0]]",
    "{x}.max()",
)
KINDS = (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError)


class Machine:
    """One library's state: variables, and what the last statement raised."""

    def __init__(self, lib: Any, data: dict[str, tuple[np.ndarray, bool]]) -> None:
        self.lib = lib
        self.space: dict[str, Any] = {"torch": lib}
        self.leaves = []
        self.said = ""
        for name, (value, tracked) in data.items():
            t = lib.tensor(value.copy())
            if tracked:
                t.requires_grad_()
            self.leaves.append(t)
            self.space[name] = t

    def step(self, name: str | None, code: str, grad: bool) -> type | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if grad:
                    value = eval(code, self.space)
                else:
                    with self.lib.no_grad():
                        value = eval(code, self.space)
            if name is not None:
                self.space[name] = value
        except Exception as error:
            self.said = str(error)
            return next((kind for kind in KINDS if isinstance(error, kind)), type(error))
        return None

    def state(self, names: list[str]) -> list[tuple[Any, ...]]:
        return [
            (name, t._version, t.requires_grad, tuple(t.shape), t._base is None)
            for name in names
            for t in [self.space[name]]
        ]

    def ends(self, names: list[str]) -> list[Any]:
        """What each variable's history is, or the kind of error that asking for it raises."""
        return [
            self.asked(lambda t=self.space[name]: (chain(t.grad_fn), t.is_leaf)) for name in names
        ]  # type: ignore[misc]

    def asked(self, ask: Callable[[], Any]) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ask()
        except Exception as error:
            return next((kind for kind in KINDS if isinstance(error, kind)), type(error))

    def backward(self, names: list[str]) -> Any:
        def run() -> list[Any]:
            total: Any = None
            for place, name in enumerate(names):
                t = self.space[name]
                if t.requires_grad:
                    seed = self.lib.tensor(cotangent(tuple(t.shape), np.float64, place))
                    part = (t * seed).sum()
                    total = part if total is None else total + part
            if total is not None:
                total.backward()
            return [None if t.grad is None else array(t.grad) for t in self.leaves]

        return self.asked(run)


def same(ours: Machine, theirs: Machine, names: list[str], text: str) -> None:
    assert ours.state(names) == theirs.state(names), text
    for name in names:
        np.testing.assert_allclose(
            array(ours.space[name].detach()),
            array(theirs.space[name].detach()),
            1e-7,
            1e-9,
            err_msg=f"{name} after\n{text}",
        )


def undefined(machine: Machine, x: str, y: str) -> bool:
    """Whether changing `x` by means of `y` has a result that depends on the order of writing:
    they share memory, and one has gaps, or has it by `.data`, so that PyTorch does not look."""
    first, second = machine.space[x], machine.space[y]
    a, b = first.detach().numpy(), second.detach().numpy()
    if x == y or not np.may_share_memory(a, b):
        return False
    return not (a.flags.forc and b.flags.forc) or first._counter is not second._counter


Step = tuple[str | None, str, bool, str, str]


def run_program(data: dict[str, tuple[np.ndarray, bool]], steps: list[Step]) -> list[type | None]:
    """Run a program in both; everything that can be seen agrees after each step and at the end.

    Gives for each step the kind of error it raised, if any.
    """
    ours, theirs = Machine(mt, data), Machine(torch, data)
    names, done = list(data), []
    raised: list[type | None] = []
    with np.errstate(all="ignore"):
        for name, template, grad, x, y in steps:
            if x not in names or y not in names:
                raised.append(NameError)  # what should have made it was refused
                continue
            if template in CHANGES and "{y}" in template and undefined(ours, x, y):
                raised.append(None)
                continue
            code = template.replace("{x}", x).replace("{y}", y)
            done.append(f"{'' if grad else 'no_grad: '}{name or '_'} = {code}")
            head = "; ".join(
                f"{k} {v.shape}{' tracked' if on else ''}" for k, (v, on) in data.items()
            )
            text = "\n".join([head, *done])
            mine, other = ours.step(name, code, grad), theirs.step(name, code, grad)
            raised.append(other)
            # PyTorch asks one of several views for its node before it looks at the arguments.
            if mine is not None and "returns multiple views" in theirs.said:
                other = raised[-1] = mine
            theirs.said = ""
            assert mine == other, f"{text}\n  ours raises {mine}, theirs {other}"
            if name is not None and other is None:
                names = [*(n for n in names if n != name), name]
            same(ours, theirs, names, text)
        mine_ends, other_ends = ours.ends(names), theirs.ends(names)
        for name, a, b in zip(names, mine_ends, other_ends, strict=True):
            assert a == b, f"{text}\n{name}\n  ours   {a}\n  theirs {b}"
        found, wanted = ours.backward(names), theirs.backward(names)
        if isinstance(wanted, type) or isinstance(found, type):
            assert found == wanted, f"{text}\nbackward: ours {found}, theirs {wanted}"
        else:
            for a, b in zip(found, wanted, strict=True):
                assert (a is None) == (b is None), f"{text}\na gradient: {a}, not {b}"
                if b is not None:
                    np.testing.assert_allclose(a, b, 1e-7, 1e-9, err_msg=text)
    return raised
