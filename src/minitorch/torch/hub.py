"""`torch.hub`: nothing is fetched from the network."""

from __future__ import annotations

import os

from minitorch.torch.absent import finder, refusing

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

_WHY = "minitorch fetches nothing; get the file yourself and read it with torch.load"
_folder: str | None = None


def get_dir() -> str:
    """The folder that PyTorch keeps what it fetched in."""
    if _folder is not None:
        return _folder
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.join(
        os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))), "hub"
    )


def set_dir(d: str | os.PathLike[str]) -> None:
    """Another folder for `get_dir`."""
    global _folder  # noqa: PLW0603 - one setting of the process, as in PyTorch
    _folder = os.path.expanduser(d)


load = refusing("torch.hub.load", _WHY)
load_state_dict_from_url = refusing("torch.hub.load_state_dict_from_url", _WHY)
download_url_to_file = refusing("torch.hub.download_url_to_file", _WHY)
list = refusing("torch.hub.list", _WHY)
help = refusing("torch.hub.help", _WHY)

__getattr__ = finder(__name__)
