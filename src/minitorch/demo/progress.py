"""Progress of several training runs: a moving bar on a terminal, one plain line a run elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

OnStep = Callable[[int, float], None]
DoneLine = Callable[[str], None]

TITLE_WIDTH = 25
"""Bars of one demo follow each other: titles of one width set them in one column."""


@contextmanager
def progress(console: Console, title: str, updates: int) -> Iterator[tuple[OnStep, DoneLine]]:
    """Show how far `updates` updates in all, over any number of runs, have come.

    Gives two functions: `on_step(k, loss)`, to be handed to the training, and `done(line)`, to be
    called after each run with what is to be said about it where there is no bar.
    """
    if not console.is_terminal:
        console.print(title)

        def nothing(step: int, loss: float) -> None:
            pass

        def done(line: str) -> None:
            console.print(f"  {line}", soft_wrap=True)

        yield nothing, done
        return

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(f"{title:<{TITLE_WIDTH}}", total=updates, loss="")

        def on_step(step: int, loss: float) -> None:
            # Step 0 is the loss before any update.
            bar.update(task, advance=1 if step else 0, loss=f"loss {loss:.4f}")

        def quiet(line: str) -> None:
            pass

        yield on_step, quiet
