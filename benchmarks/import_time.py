"""`import minitorch` beside `import torch`, each in a fresh interpreter.

The interpreter's own start is measured by the same means (`-c pass`) and taken off both. The files
are in the system's cache: the first round is not counted.

    python benchmarks/import_time.py [--rounds 9] [--json PATH]
"""

from __future__ import annotations

# First, as it sets the number of threads.
from method import Row, main

# isort: split
import statistics
import subprocess
import sys
import time

REQUIRED = 0.25
ROUNDS = 9


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def measure(rounds: int = ROUNDS) -> list[Row]:
    codes = {"start": "pass", "numpy": "import numpy", "minitorch": "import minitorch"}
    codes["PyTorch"] = "import torch"
    times: dict[str, list[float]] = {name: [] for name in codes}
    for number in range(rounds + 1):
        for name, code in codes.items():
            took = seconds(code)
            if number:
                times[name].append(took)
    net = {
        name: [took - start for took, start in zip(times[name], times["start"], strict=True)]
        for name in ("numpy", "minitorch", "PyTorch")
    }
    return [
        Row(
            "import minitorch",
            "PyTorch",
            "ms",
            1e3 * statistics.median(net["minitorch"]),
            1e3 * statistics.median(net["PyTorch"]),
            statistics.median(a / b for a, b in zip(net["minitorch"], net["PyTorch"], strict=True)),
            REQUIRED,
            f"{1e3 * statistics.median(net['numpy']):.0f} ms of it are NumPy's",
        )
    ]


if __name__ == "__main__":
    main(measure, ROUNDS, "import minitorch beside import torch")
