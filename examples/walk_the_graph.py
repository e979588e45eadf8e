"""What y = F.linear(x, W, b) leaves behind: its graph, node by node, and its gradients by hand.

    python examples/walk_the_graph.py

The same file runs with PyTorch: change the imports.
"""

import minitorch.torch as torch
import minitorch.torch.nn.functional as F
from minitorch.torch import Tensor


def shape(value) -> str:
    return f"{tuple(value.shape)}" if isinstance(value, Tensor) else repr(value)


def show(node, depth: int = 0) -> None:
    """A node, what it saved, and those behind it."""
    indent = "    " * depth
    if node is None:
        print(f"{indent}None: no gradient is wanted here")
        return
    if hasattr(node, "variable"):
        print(f"{indent}AccumulateGrad of a leaf of shape {tuple(node.variable.shape)}")
        return
    saved = {name.removeprefix("_saved_"): shape(getattr(node, name)) for name in saved_by(node)}
    tensors = [f"{name} {text}" for name, text in saved.items() if text.startswith("(")]
    print(f"{indent}{node.name()} saved {', '.join(tensors) or 'no tensor'}")
    for behind, _ in node.next_functions:
        show(behind, depth + 1)


def saved_by(node) -> list[str]:
    """The names of the tensors that a node saved; not of sizes and numbers."""
    names = [name for name in dir(node) if name.startswith("_saved_")]
    return [name for name in names if isinstance(getattr(node, name), Tensor)]


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 64, dtype=torch.float64, requires_grad=True)
    W = torch.randn(600, 64, dtype=torch.float64, requires_grad=True)
    b = torch.randn(600, dtype=torch.float64, requires_grad=True)

    y = F.linear(x, W, b)
    print(f"y = F.linear(x, W, b): {tuple(x.shape)}, {tuple(W.shape)}, {tuple(b.shape)}")
    print(f"gives y of shape {tuple(y.shape)}. Its graph, from y back to the leaves:\n")
    show(y.grad_fn)

    addmm = y.grad_fn
    names = [name.removeprefix("_saved_") for name in saved_by(addmm)]
    print(f"\n{addmm.name()} saved {' and '.join(names)}: the two matrices, and not the bias.")

    dy = torch.randn(2, 600, dtype=torch.float64)
    print("\nNow dy goes back by hand, one node after the other:")
    grad_b, grad_x, grad_Wt = addmm(dy)
    if grad_b.shape != b.shape:
        grad_b = grad_b.sum(0)  # PyTorch undoes the broadcast on the edge, after the node
    transpose = addmm.next_functions[2][0]
    grad_W = transpose(grad_Wt)
    print(f"    {addmm.name()}(dy) gives {shape(grad_b)}, {shape(grad_x)} and {shape(grad_Wt)}")
    print(f"    {transpose.name()} turns the last one into {shape(grad_W)}")

    y.backward(dy)
    rows = [
        ("x", "dy @ W", grad_x, dy @ W, x.grad),
        ("W", "dy.T @ x", grad_W, dy.t() @ x, W.grad),
        ("b", "dy.sum(0)", grad_b, dy.sum(0), b.grad),
    ]
    print("\n      by formula   by hand = formula   engine = formula")
    for name, text, by_hand, by_formula, by_engine in rows:
        same = [bool((g - by_formula).abs().max() < 1e-12) for g in (by_hand, by_engine)]
        print(f"    {name}  {text:10}  {same[0]!s:18}  {same[1]}")
        assert all(same)


if __name__ == "__main__":
    main()
