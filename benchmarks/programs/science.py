"""Programs of pytorch/examples, tutorials, and about science."""

from __future__ import annotations

from program import Program

SCIENCE: tuple[Program, ...] = ()
