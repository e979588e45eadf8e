"""`SummaryWriter`: writes what TensorBoard shows."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor

_ADDING = (
    *("add_scalar", "add_scalars", "add_histogram", "add_histogram_raw", "add_image", "add_images"),
    *("add_image_with_boxes", "add_figure", "add_video", "add_audio", "add_text", "add_embedding"),
    *("add_pr_curve", "add_mesh", "add_hparams", "add_custom_scalars"),
)


class SummaryWriter:
    """A tensorboardX writer that takes this library's tensors; arguments and methods are its.

    ModuleNotFoundError if tensorboardX is not installed.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        try:
            from tensorboardX import SummaryWriter as Writer
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "torch.utils.tensorboard.SummaryWriter writes through tensorboardX, which is not "
                "installed: pip install tensorboardX"
            ) from error
        self._writer = Writer(
            log_dir and str(log_dir),
            comment=comment,
            purge_step=purge_step,
            max_queue=max_queue,
            flush_secs=flush_secs,
            filename_suffix=filename_suffix,
        )
        self.log_dir = self._writer.logdir
        for name in _ADDING:
            setattr(self, name, _converting(getattr(self._writer, name)))

    def add_graph(self, model: Any, *args: Any, **kwargs: Any) -> None:
        """NotImplementedError: there is no tracer that would make the graph."""
        raise NotImplementedError(
            "SummaryWriter.add_graph: modules are not traced here; `minitorch graph` draws one step"
        )

    def get_logdir(self) -> str:
        """The folder of the event files."""
        return str(self.log_dir)

    def flush(self) -> None:
        """Write what is waiting."""
        self._writer.flush()

    def close(self) -> None:
        """Write what is waiting, and close the files."""
        self._writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'SummaryWriter' object has no attribute {name!r}")


def _converting(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_plain, args), **{key: _plain(each) for key, each in kwargs.items()})

    return call


def _plain(value: Any) -> Any:
    """Tensors as arrays, also within lists and dicts."""
    if isinstance(value, Tensor):
        return value.detach().numpy()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value
