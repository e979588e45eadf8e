"""The command line: `minitorch demo`, `minitorch run`, `minitorch graph`, `minitorch memory`.

Here: reading arguments, and turning what goes wrong into a sentence and an exit code.
The work itself is in `minitorch.demo`, `minitorch.running` and `minitorch.graph`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import minitorch
from minitorch.demo import run_demo
from minitorch.demo.files import prepare_folder, write_atomically
from minitorch.demo.plots import MissingPackageError
from minitorch.demo.steps import draw_step

app = typer.Typer(
    help="One autograd engine over NumPy: train, and look at what was computed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


class Step(StrEnum):
    """What can be drawn: one training step of either task of the demo."""

    tense = "tense"
    xor = "xor"


class Format(StrEnum):
    svg = "svg"
    dot = "dot"
    text = "text"


def main() -> None:
    """The console script."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"minitorch {minitorch.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for curves, graphs and run.json.")] = Path(
        "out"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Two seeds instead of ten.")] = False,
) -> None:
    """Train XOR with scalar Values and the tense classifier with Tensors."""
    with _explained(f"cannot write to the folder {out}", "choose another one with --out"):
        run_demo(out, quick=quick)


@app.command(
    context_settings={
        "allow_extra_args": True,
        "allow_interspersed_args": False,
        "ignore_unknown_options": True,
    }
)
def run(
    context: typer.Context,
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT [ARGUMENTS]...", help="A PyTorch program.")
    ],
    module: Annotated[
        bool, typer.Option("--module", "-m", help="SCRIPT is a module, as with python -m.")
    ] = False,
) -> None:
    """Run a PyTorch program unchanged, with minitorch.torch in the place of torch."""
    from minitorch.running import MissingError, run_module, run_script

    if module:
        run_module(script, context.args)
        return
    path = Path(script)
    if not path.is_file():
        raise typer.BadParameter(f"there is no file {script}.")
    try:
        run_script(path, context.args)
    except MissingError as error:
        _fail(str(error), error)


@app.command()
def graph(
    step: Annotated[Step, typer.Argument(help="The task whose training step is drawn.")],
    format: Annotated[Format, typer.Option("--format", "-f", help="How.")] = Format.svg,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; without it, to stdout.")
    ] = None,
) -> None:
    """Draw the graph of one training step, with values and gradients."""
    try:
        drawing = draw_step(step.value, format.value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if output is None:
        typer.echo(drawing.rstrip("\n"))
        return
    with _explained(f"cannot write {output}", "choose another file with --output"):
        prepare_folder(output.parent)
        write_atomically(output, drawing)


@app.command()
def memory(
    program: Annotated[
        Path | None,
        typer.Argument(
            help="A PyTorch file whose cases() says what to run; without it, a transformer."
        ),
    ] = None,
    batch: Annotated[int, typer.Option(help="Sequences in a batch.", min=1)] = 8,
    length: Annotated[int, typer.Option(help="Tokens in a sequence.", min=2)] = 64,
    seed: Annotated[int, typer.Option(help="Of the weights and the tokens.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw the timeline into this PNG file.")
    ] = None,
) -> None:
    """Explain the peak memory of a program: predicted, and measured."""
    from minitorch.demo import memory_report

    console = Console()
    if program is None:
        programs = memory_report.transformer(batch, length, seed)
    elif not program.is_file():
        raise typer.BadParameter(f"there is no file {program}.")
    else:
        try:
            programs = memory_report.of_file(program)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    found = memory_report.cases(programs, console)
    console.print(memory_report.table(found))
    if output is not None:
        with _explained(f"cannot write {output}", "choose another file with --output"):
            prepare_folder(output.parent)
            write_atomically(output, memory_report.timeline(found))


@contextmanager
def _explained(problem: str, remedy: str) -> Iterator[None]:
    """Turn the errors that a user can do something about into one sentence and exit code 1."""
    try:
        yield
    except MissingPackageError as error:
        _fail(str(error), error)
    except OSError as error:
        _fail(f"{problem}: {error.strerror or error}; {remedy}", error)


def _fail(message: str, cause: Exception) -> None:
    Console(stderr=True).print(f"Error: {message}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1) from cause
