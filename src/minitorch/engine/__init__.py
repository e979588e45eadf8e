"""What a graph is and how it is walked; nothing here knows an operation or a user's tensor.

Read `node.py` first, then `walk.py`. The faces (`minitorch.tensor`, `minitorch.torch`) build
nodes through recorders made in `minitorch.ops.record`.
"""
