"""`torch.hub`: nothing is fetched from the network."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlparse

from minitorch.torch import serialization
from minitorch.torch.absent import finder, refusing

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
    "tqdm",
]

_WHY = "minitorch fetches nothing; get the file yourself and read it with torch.load"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
"""Where the name of a file has the beginning of its SHA-256."""

_folder: str | None = None


def get_dir() -> str:
    """The folder that PyTorch keeps what it fetched in."""
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Another folder for `get_dir`."""
    global _folder  # noqa: PLW0603 - one setting of the process, as in PyTorch
    _folder = os.path.expanduser(d)


load = refusing("torch.hub.load", _WHY)
download_url_to_file = refusing("torch.hub.download_url_to_file", _WHY)
list = refusing("torch.hub.list", _WHY)
help = refusing("torch.hub.help", _WHY)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """What is in the file of `url`, if it is in `model_dir` (`get_dir()`/checkpoints) already.

    file_name  its name there, if it is not the last part of `url`
    NotImplementedError, which says where the file is to be put, if it is not there.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        raise NotImplementedError(
            f"torch.hub.load_state_dict_from_url: minitorch fetches nothing. Put {url} into "
            f"{path} yourself, and it is read from there."
        )
    return serialization.load(path, map_location=map_location, weights_only=weights_only)


class _Silent:
    """What `tqdm` gives where tqdm is not installed: it counts, and shows nothing."""

    def __init__(self, iterable: Any = (), total: float | None = None, **kwargs: Any) -> None:
        self.iterable, self.total, self.n = iterable, total, 0.0

    def update(self, n: float = 1) -> None:
        self.n += n

    def close(self) -> None:
        pass

    def set_description(self, desc: str | None = None, refresh: bool = True) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def tqdm(*args: Any, **kwargs: Any) -> Any:
    """A bar of the package tqdm; one that shows nothing if that is not installed."""
    try:
        bar = importlib.import_module("tqdm").tqdm
    except ImportError:
        bar = _Silent
    return bar(*args, **kwargs)


__getattr__ = finder(__name__)
