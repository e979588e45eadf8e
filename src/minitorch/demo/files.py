"""Writing results so that nobody ever finds half of one."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_atomically(path: Path, content: bytes | str) -> None:
    """Put `content` at `path` whole, or leave what is there as it is; text is UTF-8."""
    raw = content.encode() if isinstance(content, str) else content
    # In the same folder: os.replace is atomic only within one file system.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
        # mkstemp lets only the owner read; a result gets what any new file gets.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def prepare_folder(path: Path) -> None:
    """Make the folder, and find out now, not after the training, whether it can be written to.

    Raises `OSError` as the file system gives it.
    """
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass


def _umask() -> int:
    # There is no way to read it but to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
