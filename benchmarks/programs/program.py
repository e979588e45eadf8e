"""What a row of the table of programs says, and how its copy is prepared.

A program stays as its authors wrote it. A row may shorten it (`edits`: texts of step counts,
replaced in a copy), put files beside it that it would otherwise download (`files`), seed a program
that does not seed itself, and turn a notebook's cells into a script.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Numbers as programs print them; a run of digits inside a word is none.
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"

LOSS = rf"(?:loss|nll|error|mse|elbo)\b[^\d\n]*?({NUMBER}|\bnan\b|-?\binf\b)"


@dataclass(frozen=True)
class Edit:
    """A text of the program, and what stands there in the shortened copy.

    `old` must be there; all its places are replaced.
    """

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Program:
    """A row of the table.

    `repository` is `owner/name`; its clone is `name` in the folder of clones. `commands` are what
    follows the word `python`, run one after the other in `folder` of the copy. `edits` shorten the
    program. `files` are written into the copy: their text, or a function that is given the folder
    of clones and returns the text. `notebooks` (or pages of Markdown with code in them) become
    scripts of the same name with `.py`, without the cells in `left_out` (some were saved after
    others that they need had gone or moved). A program that does not seed itself gets `seed`; of
    one that prints no loss, `watch` prints what it calls `backward` on. `losses` is a pattern whose
    first group is what to compare; `steps` says how many optimizer steps are between two of them;
    `ignore` are patterns of what differs from run to run (seconds are left out anyway). `packages`
    are modules that it imports besides torch. `path` are folders of the copy that go to PYTHONPATH.
    `note` goes to the page.
    """

    name: str
    repository: str
    commands: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    folder: str = "."
    files: Mapping[str, str | Callable[[Path], str]] = field(default_factory=dict)
    notebooks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    seed: int | None = None
    watch: bool = False
    losses: str = LOSS
    steps: int = 1
    ignore: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    note: str = ""


def prepare(program: Program, clones: Path, copy: Path) -> None:
    """Make the shortened copy of a program. Raises ValueError if a text of an edit is not there."""
    source = clones / program.repository.rpartition("/")[2]
    if not source.is_dir():
        raise FileNotFoundError(f"there is no clone of {program.repository}")
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".git"))
    for name in program.notebooks:
        notebook = copy / name
        cells = cells_of(notebook)
        missing = [cell for cell in program.left_out if cell not in map(str.strip, cells)]
        if missing:
            raise ValueError(f"{program.repository}: {name} has no cell {missing[0]!r}")
        script = as_script([cell for cell in cells if cell.strip() not in program.left_out])
        notebook.with_suffix(".py").write_text(script, encoding="utf-8")
    for edit in program.edits:
        path = copy / edit.path
        text = path.read_text(encoding="utf-8")
        if edit.old not in text:
            raise ValueError(f"{program.repository}: {edit.path} does not contain {edit.old!r}")
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    for name, content in program.files.items():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else content(clones)
        path.write_text(text, encoding="utf-8")


def cells_of(path: Path) -> list[str]:
    """The cells of code in a notebook, or the blocks of Python in a page of Markdown."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def as_script(cells: Sequence[str]) -> str:
    """Cells as a script, which prints what a notebook would show below each.

    Lines of IPython (`%matplotlib inline`, `!pip`) are left out.
    """
    return "\n\n".join(_shown(source) for source in cells) + "\n"


def _shown(source: str) -> str:
    kept = re.sub(r"^\s*[%!].*$", "", source, flags=re.M)
    try:
        body = ast.parse(kept).body
    except SyntaxError:
        return kept
    if not body or not isinstance(body[-1], ast.Expr) or kept.rstrip().endswith(";"):
        return kept
    last = body[-1]
    if isinstance(last.value, ast.Call) and ast.unparse(last.value.func) == "print":
        return kept
    before = "\n".join(kept.splitlines()[: last.lineno - 1])
    # A notebook does not show None, nor does this.
    return f"{before}\n(lambda shown: None if shown is None else print(repr(shown)))(\n" + (
        f"{ast.unparse(last.value)})\n"
    )
