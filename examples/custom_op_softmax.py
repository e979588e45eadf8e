"""An operator of your own: softmax in plain NumPy, as one node of the graph.

    python examples/custom_op_softmax.py

It is defined with `torch.library.custom_op`, gets a derivative (written in operations that can be
differentiated, so that there is a second one), says what it gives without data, is checked, and
does its part in a small model. The same file runs with PyTorch: change the import.
"""

import numpy as np

import minitorch.torch as torch
from minitorch.torch import Tensor


@torch.library.custom_op("mylib::numpy_softmax", mutates_args=())
def numpy_softmax(x: Tensor, dim: int) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
    array = x.numpy(force=True)
    e = np.exp(array - array.max(axis=dim, keepdims=True))
    return torch.from_numpy(e / e.sum(axis=dim, keepdims=True))


@numpy_softmax.register_fake
def _(x: Tensor, dim: int) -> Tensor:
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    _, ctx.dim = inputs
    ctx.save_for_backward(output)


def backward(ctx, grad):
    (y,) = ctx.saved_tensors
    return y * (grad - (grad * y).sum(ctx.dim, keepdim=True)), None


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A model that uses it: each row of q looks at the rows of k."""
    return numpy_softmax(q @ k.t() / q.shape[-1] ** 0.5, 1) @ v


def main() -> None:
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(3, 4)), requires_grad=True)

    sums = numpy_softmax(x, 1).sum(1)
    print("softmax in NumPy, rows add up to 1:", bool((sums - 1).abs().max() < 1e-12))
    print("by its name:", torch.ops.mylib.numpy_softmax.default)
    print("its node:", numpy_softmax(x, 1).grad_fn.name())

    try:
        numpy_softmax(x, 1).sum().backward()
    except RuntimeError as error:
        print("without a formula:", error)

    numpy_softmax.register_autograd(backward, setup_context=setup_context)

    print("first derivative by finite differences: ", end="")
    print(torch.autograd.gradcheck(numpy_softmax, (x, 1)))
    print("second derivative by finite differences: ", end="")
    print(torch.autograd.gradgradcheck(numpy_softmax, (x, 1)))

    print("without data:", numpy_softmax(torch.empty(1000, 1000, device="meta"), -1))
    for test, result in torch.library.opcheck(numpy_softmax, (x, 1)).items():
        print(f"opcheck {test}: {result}")

    q, k, v = (torch.tensor(rng.normal(size=(3, 4)), requires_grad=True) for _ in range(3))
    attention(q, k, v).sum().backward()
    ours = [t.grad.clone() for t in (q, k, v)]
    for t in (q, k, v):
        t.grad = None
    (torch.softmax(q @ k.t() / 2.0, 1) @ v).sum().backward()
    far = max(float((a - t.grad).abs().max()) for a, t in zip(ours, (q, k, v), strict=True))
    print(f"in a model, its gradients are those of torch.softmax: {far < 1e-12}")


if __name__ == "__main__":
    main()
