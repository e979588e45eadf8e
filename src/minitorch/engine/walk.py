"""The walk: gradients from results back to leaves, each node once, newest first.

Iterative, so depth is no limit. A node is ready when all nodes that used its value have been
walked; among those that are ready the newest goes first. Arrays that came from a formula, a hook
or a user are never written to: only a buffer that the walk allocated itself is added to in place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from heapq import heappop, heappush
from sys import getrefcount
from typing import Any

import numpy as np
from numpy import ndarray

from minitorch.engine import edge, watch
from minitorch.engine.errors import GraphError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.engine.node import ARGS, Node, is_complex, next_seq, pull


def _references_of_one_alone() -> int:
    for _, r in zip((None,), (object(),), strict=True):
        return getrefcount(r)
    raise AssertionError


ALONE = _references_of_one_alone()
"""What `getrefcount` says, in a loop like the walk's, of an object that nothing else refers to."""


def dependencies(roots: Sequence[Node]) -> dict[Node, int]:
    """Every node behind `roots`, with the number of edges that lead to it."""
    counts: dict[Node, int] = dict.fromkeys(roots, 0)
    stack = list(counts)
    while stack:
        for behind in stack.pop().edges:
            if behind is None:
                continue
            if behind in counts:
                counts[behind] += 1
            else:
                counts[behind] = 1
                stack.append(behind)
    return counts


def leading_to(targets: set[Node], roots: Sequence[Node]) -> set[Node]:
    """The nodes behind `roots` (and among them) from which one of `targets` can be reached."""
    return ways(targets, roots)[0]


def ways(targets: set[Node], roots: Sequence[Node]) -> tuple[set[Node], set[Node]]:
    """`leading_to`, and those of it that have to be walked: with a target behind them."""
    users: dict[Node, list[Node]] = {}
    seen, stack = set(roots), list(roots)
    while stack:
        node = stack.pop()
        for behind in node.edges:
            if behind is not None:
                users.setdefault(behind, []).append(node)
                if behind not in seen:
                    seen.add(behind)
                    stack.append(behind)
    useful = {node for node in targets if node in seen}
    passed: set[Node] = set()
    stack = list(useful)
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in passed:
                passed.add(user)
                if user not in useful:
                    useful.add(user)
                    stack.append(user)
    return useful, passed


class Task:
    """One walk, as those see it that are called during it.

    number   no two are the same
    nodes    the nodes whose gradients are computed; to be asked with `in`
    partial  whether only gradients of some targets are wanted
    keeps    whether gradients accumulate
    """

    __slots__ = ("keeps", "nodes", "number", "partial")

    def __init__(self, partial: bool, keeps: bool) -> None:
        self.keeps = keeps
        self.number = next_seq()
        self.nodes: Container[Node] = ()
        self.partial = partial


def run(
    roots: Sequence[Node],
    seeds: Sequence[Any],
    *,
    targets: Sequence[Node] | None = None,
    record: bool = False,
    release: bool = False,
    keep: bool | None = None,
    task: Task | None = None,
) -> dict[Node, Any]:
    """Send the cotangents `seeds` from `roots` back through the graph.

    targets  None: gradients accumulate in the leaves. Else nothing accumulates, only nodes on
             the way to a target are walked, and the targets' gradients are returned.
    record   False: `seeds` are arrays, formulas run bare. True: `seeds` are tensors of the
             roots' face and everything is recorded (PyTorch's create_graph).
    release  Free what each node saved once it has been walked (PyTorch's retain_graph=False).
    keep     True: gradients accumulate although there are targets, but in these only.
    task     what is known of this walk to those called during it, if there are such
    """
    keep = targets is None if keep is None else keep
    # The intermediate 0 * inf of a formula is not the user's business; the result is.
    with np.errstate(all="ignore"):
        if task is None and not record:
            return _run(roots, seeds, targets, False, release, keep, None)
        outer = ambient.get()
        ambient.set(outer.walking(record, task))
        try:
            return _run(roots, seeds, targets, record, release, keep, task)
        finally:
            ambient.set(outer)


def _run(  # noqa: PLR0912, PLR0915 - the one hot loop, in one piece
    roots: Sequence[Node],
    seeds: Sequence[Any],
    targets: Sequence[Node] | None,
    record: bool,
    release: bool,
    keep: bool,
    task: Task | None,
) -> dict[Node, Any]:
    counts = dependencies(roots)
    wanted: set[Node] = set()
    useful: set[Node] | None = None
    passed: Container[Node] = counts
    if targets is not None:
        wanted = set(targets)
        useful, passed = ways(wanted, roots)
        if keep:
            wanted, passed = set(), useful
    if task is not None:
        task.nodes = counts if useful is None else useful
    found: dict[Node, Any] = {}
    due: deque[tuple[Node, Any]] = deque()
    waiting: list[tuple[Node, Any]] = []
    pending: dict[Node, Any] = {}
    owned: set[Node] = set()
    alone: set[Node] = set()
    # The only node that is ready does not go through the heap, nor its gradient through `pending`.
    single: Node | None = None
    ready: Any = None
    heap: list[tuple[int, Node]] = []
    if len(roots) == 1 and roots[0].edges:
        single, ready = roots[0], seeds[0]
    else:
        for root, seed in zip(roots, seeds, strict=True):
            _deliver(pending, owned, root, seed, record)
        heap = sorted((-root.seq, root) for root in set(roots) if not counts[root])
    state = ambient.get()
    debug, anomaly = state.debug, state.anomaly
    # Formulas are called directly until a complex gradient comes up; see `engine.node.pull`.
    plain = not record and anomaly is None
    backward = targets is None and keep
    for seed in seeds:
        if plain and seed.dtype.kind == "c":
            plain = False
    while heap or single is not None or due:
        if due:
            # Leaves go before all else, in the order in which they became ready.
            node, g = due.popleft()
        elif single is None:
            node = heappop(heap)[1]
            g = pending.pop(node, None)
        else:
            node, single, g = single, None, ready
        edges = node.edges
        if g is not None and owned and node in owned:
            shape, dtype = edge.meta(node.like)
            if record:
                g = g.fit(shape, dtype)
            elif g.dtype != dtype:
                g = edge.cast(g, dtype)
        if not edges:
            if g is None and (not node.special or (useful is not None and node not in useful)):
                continue
            if not keep:
                if node in wanted:
                    found[node] = node.capture(g)
            elif node.at_once:
                node.accumulate(g, node in owned or node in alone)
            else:
                waiting.append((node, g))
            continue
        live: Any = edges
        if useful is not None:
            walked = node in passed
            if node in wanted:
                found[node] = g if walked else node.capture(g)
            live = tuple([b if b in useful else None for b in edges]) if walked else None
        if live is None or (g is None and not node.special):
            grads: Sequence[Any] = (None,) * len(edges)
        else:
            if node.extra is not None or type(g) is dict:
                g = node.arrive(g, keep)
            if (
                node.args is None
                and g is not None
                and (useful is None or any(b is not None for b in live))
            ):
                raise GraphError(freed_message(node))
            versions = node.versions
            if versions and (versions[0][0] != versions[1] or len(versions) > 2):
                node.check_versions()
            if debug:
                watch.verify(node)
            if plain:
                op = node.op
                grads = node.step(g, False, live) if node.special else op.pull(g, node.args, live)
                if op.crosses:
                    plain = not any(map(is_complex, grads))
            elif anomaly is not None:
                grads = anomaly.step(node, g, record, live)
            elif node.special:
                grads = node.step(g, record, live)
            else:
                grads = pull(node, g, record, live)
            if release:
                if node.frees == ARGS:
                    node.args = None
                elif node.frees:
                    node.release()
            if debug:
                watch.count(node, grads)
        for behind, r in zip(edges, grads):  # noqa: B905 - strict costs, and the op is checked
            if behind is None:
                continue
            if useful is not None and behind not in useful:
                r = None
            elif type(r) is ndarray and not debug:
                like = behind.like
                if type(like) is tuple:
                    shape, dtype = like
                else:
                    shape, dtype = like.shape, like.dtype
                if r.shape != shape or r.dtype is not dtype:
                    r = _fit(node, behind, r, False, False)
                    if plain and r.dtype.kind == "c":
                        plain = False
            elif r is not None and type(r) is not dict:
                r = _fit(node, behind, r, record, debug)
                if plain and is_complex(r):
                    plain = False
            left = counts[behind] - 1
            if left:
                counts[behind] = left
                if r is not None:
                    _deliver(pending, owned, behind, r, record)
                continue
            if behind in pending:
                if r is not None:
                    _deliver(pending, owned, behind, r, record)
                r = pending.pop(behind)
            elif not behind.edges and type(r) is ndarray:
                # A leaf may keep what nobody else holds.
                free = r.base is None and getrefcount(r) <= ALONE
                if backward and behind.at_once and not due:
                    behind.accumulate(r, free)
                    continue
                if free:
                    alone.add(behind)
            if not behind.edges:
                due.append((behind, r))
                continue
            if single is None and not heap:
                single, ready = behind, r
                continue
            if single is not None:
                pending[single] = ready
                heappush(heap, (-single.seq, single))
                single = None
            pending[behind] = r
            heappush(heap, (-behind.seq, behind))
    for node, g in waiting:
        node.accumulate(g, node in owned or node in alone)
    return found


def _fit(node: Node, behind: Node, r: Any, record: bool, debug: bool) -> Any:
    """A gradient brought to the shape and dtype of the value it belongs to."""
    if debug:
        watch.check(node, behind, r)
    shape, dtype = edge.meta(behind.like)
    if record:
        return r.fit(shape, dtype)
    try:
        return edge.fit(r, shape, dtype)
    except ShapeError:
        watch.check(node, behind, r)  # says whose fault it is
        raise


def _deliver(pending: dict[Node, Any], owned: set[Node], node: Node, r: Any, record: bool) -> None:
    """Add `r` to what has arrived at `node` so far."""
    before = pending.get(node)
    if before is None:
        pending[node] = r
    elif type(before) is dict:
        for port, g in r.items():
            before[port] = g if port not in before else before[port] + g
    elif record:
        pending[node] = node.combine(before, r)
        owned.add(node)
    elif node in owned:
        np.add(before, r, out=before)
    else:
        pending[node] = edge.add(before, r)
        owned.add(node)


def freed_message(node: Node) -> str:
    """PyTorch's words for a second backward through a graph that was freed, and which node's."""
    return (
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        f"calling backward. The first node without its saved values is {name_of(node)}; adding the "
        "losses and calling backward once does too."
    )


def name_of(node: Node) -> str:
    return node.name() if hasattr(node, "name") else str(node.op.name)
