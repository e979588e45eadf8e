"""Version counters: how a node knows that an array it saved was changed in place since.

All tensors that share memory share one counter, a list of one int (the cheapest thing that can be
shared and counted up). An in-place operation counts it up; a node that saves an array notes the
count, and a backward compares.
"""

from __future__ import annotations

from typing import Any

Counter = list[Any]
"""[how often the memory behind some tensors was written to in place], and in the PyTorch face also
the name of the node that did so last"""
