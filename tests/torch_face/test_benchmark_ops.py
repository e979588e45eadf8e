"""`benchmarks/ops.py` runs; what it measures is nobody's test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "ops.py"


def test_two_calls_are_measured_and_written(tmp_path: Path) -> None:
    numbers, page = tmp_path / "numbers.json", tmp_path / "page.md"
    command = [sys.executable, str(SCRIPT), "--only", "^(exp|cat)$", "--sizes", "64"]
    command += ["--rounds", "1", "--json", str(numbers), "--markdown", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no bar where there is no terminal
    rows = json.loads(numbers.read_text(encoding="utf-8"))
    assert [(row["call"], row["family"]) for row in rows] == [
        ("exp", "pointwise"),
        ("cat", "shape"),
    ]
    assert all(row["ratio"]["64"] > 0 for row in rows)
    assert "| `exp` | core |" in page.read_text(encoding="utf-8")
