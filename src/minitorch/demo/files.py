"""Writing results so that nobody ever finds half of one."""

import tempfile
from pathlib import Path

from minitorch.files import replacing


def write_atomically(path: Path, content: bytes | str) -> None:
    """Put `content` at `path` whole, or leave what is there as it is; text is UTF-8."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def prepare_folder(path: Path) -> None:
    """Make the folder, and find out now, not after the training, whether it can be written to.

    Raises `OSError` as the file system gives it.
    """
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass
