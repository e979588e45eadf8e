"""What a DataLoader is made of: batches from samples, fetching, and workers.

`pool` and `wire` are imported with the first workers: what they stand on is slow to import.
"""

from minitorch.torch.utils.data._utils import collate, errors, fetch, worker

__all__ = ["collate", "errors", "fetch", "worker"]
